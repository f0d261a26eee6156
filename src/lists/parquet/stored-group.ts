import type { ColumnChunk, FileMetaData, KeyValue, RowGroup } from 'hyparquet';
import type { RandomFile } from '../files/bytes/random-file.js';
import { readByteColumn } from './byte-column.js';
import { attempt, type CopiedChunk, type Hyparquet, type StoredValues } from './hyparquet.js';
import type { ParquetColumn } from './parquet-values.js';
import { readColumn } from './read-column.js';
import { elementsToRead, isFlat } from './schema-node.js';
import { textOfValue } from '../rows/values/print-value.js';
import type { CellText, RowChunk } from '../rows/chunks/row-chunk.js';
import type { SourceReading } from '../rows/source.js';

/** A file with its footer. */
export interface OpenParquet {
  readonly file: RandomFile;
  readonly metadata: FileMetaData;
  readonly columns: readonly ParquetColumn[];
  readonly hyparquet: Hyparquet;
}

/** A row group: of each column its values, once loaded, or its bytes, once kept. */
export class StoredGroup {
  readonly rows: number;
  readonly #from: OpenParquet;
  readonly #chunks: readonly (readonly ColumnChunk[])[];
  readonly #values: StoredValues[] = [];
  #kept: readonly (readonly CopiedChunk[])[] | undefined;

  constructor(from: OpenParquet, group: RowGroup) {
    this.rows = Number(group.num_rows);
    this.#from = from;
    const byName = new Map<string | undefined, ColumnChunk[]>();
    for (const chunk of group.columns) {
      const name = chunk.meta_data?.path_in_schema[0];
      const own = byName.get(name);
      if (own) own.push(chunk);
      else byName.set(name, [chunk]);
    }
    // Columns may share a name: their chunks come in order.
    this.#chunks = from.columns.map(({ name, elements }) => {
      const leaves = elements.filter(({ num_children: children }) => !children);
      return byName.get(name)?.splice(0, leaves.length) ?? [];
    });
  }

  /** For each column its unchanged parts, where kept; those of a nested column in the schema's order. */
  get kept(): readonly (readonly CopiedChunk[])[] | undefined {
    return this.#kept;
  }

  values(column: number): StoredValues {
    const values = this.#values[column];
    if (values) return values;
    throw new Error(`column ${String(column)} of the row group was not loaded`);
  }

  /**
   * Reads the values of these columns, one after the other: each column's intermediate objects are garbage
   * before the next.
   *
   * @throws InputError `input_malformed`
   */
  async load(columns: readonly number[] = this.#from.columns.map((_, at) => at)): Promise<void> {
    if (this.rows === 0) return;
    for (const at of columns) {
      const column = this.#from.columns[at];
      if (column) this.#values[at] ??= await this.#read(at, column);
    }
  }

  /** Reads the bytes of all columns, and the values of these; others can be loaded after the file is closed. */
  async keep(columns: readonly number[]): Promise<void> {
    const kept: (readonly CopiedChunk[])[] = [];
    for (const at of this.#from.columns.keys()) kept.push(await this.#bytesOf(at));
    this.#kept = kept;
    await this.load(columns);
  }

  async #bytesOf(column: number): Promise<readonly CopiedChunk[]> {
    const parts: CopiedChunk[] = [];
    for (const { meta_data: data } of this.#chunks[column] ?? []) {
      if (!data) continue;
      const start = startOf(data);
      const end = start + data.total_compressed_size;
      parts.push({ data, start, bytes: await this.#from.file.read(Number(start), Number(end)) });
    }
    return parts;
  }

  async #read(at: number, { elements }: ParquetColumn): Promise<StoredValues> {
    const { file, hyparquet } = this.#from;
    const { rows } = this;
    const [element] = elements;
    const parts = this.#kept?.[at] ?? (await this.#bytesOf(at));
    return attempt(file, async () => {
      const [part] = parts;
      if (part && isFlat(elements) && element?.type === 'BYTE_ARRAY') {
        const form = { rows, isOptional: element.repetition_type !== 'REQUIRED' };
        const values = readByteColumn(part, form, hyparquet);
        if (values) return values;
      }
      return readColumn(parts, elementsToRead(elements), rows, hyparquet);
    });
  }
}

/** Start of a column's part; a dictionary at 0 does not exist. */
export function startOf(data: CopiedChunk['data']): bigint {
  return data.dictionary_page_offset || data.data_page_offset;
}

/** One reading of a Parquet file, which knows the columns' kinds even without rows. */
export interface ParquetReading extends SourceReading<ParquetChunk> {
  readonly columns: readonly ParquetColumn[];
  /** What its writer notes of the whole file. */
  readonly notes: readonly KeyValue[];
  /**
   * From now on loads only the wanted columns and these, and keeps the bytes of all: for an only reader,
   * before the first row.
   */
  copyGroups(columns: readonly number[]): void;
}

export function isParquetReading(reading: SourceReading): reading is ParquetReading {
  return 'columns' in reading && Array.isArray(reading.columns);
}

/** Rows of a row group, with values in stored form. */
export class ParquetChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  readonly columns: readonly ParquetColumn[];
  readonly group: StoredGroup;
  /** Its first row in the group. */
  readonly from: number;

  constructor(columns: readonly ParquetColumn[], group: StoredGroup, from: number, to: number) {
    this.columns = columns;
    this.group = group;
    this.from = from;
    this.length = to - from;
    this.byteSize = this.length * columns.length * 24;
  }

  text(row: number, column: number): CellText {
    return textOfValue(this.value(row, column));
  }

  value(row: number, column: number): unknown {
    return this.columns[column]?.read(this.stored(row, column));
  }

  /** A value in stored form. */
  stored(row: number, column: number): unknown {
    return this.group.values(column).at(this.from + row);
  }
}
