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
import type { ByteWriter } from 'hyparquet-writer';

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
      const sameName = byName.get(name);
      if (sameName) sameName.push(chunk);
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
  /** From now on loads only the wanted and needed columns, and the bytes of all: for an only reader, before the first row. */
  copyGroups(): void;
}

export function isParquetReading(reading: SourceReading): reading is ParquetReading {
  return reading.storedForm !== undefined && 'columns' in reading && Array.isArray(reading.columns);
}

/** Rows of a row group, with values in stored form. */
export class ParquetChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  readonly columns: readonly ParquetColumn[];
  readonly group: StoredGroup;
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

  stored(row: number, column: number): unknown {
    return this.group.values(column).at(this.from + row);
  }
}

/** Smaller row groups of the input are not copied: they are merged into large ones. */
const leastCopiedRows = 10_000;

/** The rows of a Parquet input for the next row group of the output. */
export class CopiedRows {
  /** Whether row groups can be copied unread. */
  readonly #canCopy: boolean;
  #chunks: { readonly chunk: ParquetChunk; readonly from: number; readonly to: number }[] = [];
  /** The input's row group of which they are the first rows, if they are. */
  #group: StoredGroup | undefined;
  #length = 0;

  constructor(canCopy: boolean) {
    this.#canCopy = canCopy;
  }

  add(chunk: ParquetChunk, from: number, to: number): void {
    const { group } = chunk;
    if (this.#length === 0) {
      const isCopied = this.#canCopy && group.kept !== undefined && group.rows >= leastCopiedRows;
      this.#group = isCopied ? group : undefined;
    }
    if (group !== this.#group || chunk.from + from !== this.#length) this.#group = undefined;
    this.#chunks.push({ chunk, from, to });
    this.#length += to - from;
  }

  /** Whether they are a complete row group; `undefined` where no further row can make them one. */
  get isWhole(): boolean | undefined {
    return this.#group && this.#length === this.#group.rows;
  }

  async load(): Promise<void> {
    for (const { chunk } of this.#chunks) await chunk.group.load();
  }

  cells(cell: (chunk: ParquetChunk, row: number) => unknown): unknown[] {
    const cells: unknown[] = [];
    for (const { chunk, from, to } of this.#chunks) {
      for (let row = from; row < to; row += 1) cells.push(cell(chunk, row));
    }
    return cells;
  }

  /**
   * Copies the columns of the row group unchanged, and returns their footer entries.
   *
   * @param send called after each part, with what was written
   */
  async copyGroup(bytes: ByteWriter, send: () => Promise<void>): Promise<readonly ColumnChunk[]> {
    const copied: ColumnChunk[] = [];
    for (const part of this.#group?.kept?.flat() ?? []) {
      copied.push(movedTo(BigInt(bytes.offset), part));
      bytes.appendBytes(part.bytes);
      await send();
    }
    return copied;
  }

  clear(): void {
    this.#chunks = [];
    this.#group = undefined;
    this.#length = 0;
  }
}

function movedTo(place: bigint, { data, start }: CopiedChunk): ColumnChunk {
  return {
    file_offset: place,
    meta_data: {
      type: data.type,
      encodings: data.encodings,
      path_in_schema: data.path_in_schema,
      codec: data.codec,
      num_values: data.num_values,
      total_uncompressed_size: data.total_uncompressed_size,
      total_compressed_size: data.total_compressed_size,
      data_page_offset: data.data_page_offset - start + place,
      // A dictionary at 0 does not exist.
      ...(data.dictionary_page_offset && {
        dictionary_page_offset: data.dictionary_page_offset - start + place,
      }),
      ...(data.encoding_stats && { encoding_stats: data.encoding_stats }),
    },
  };
}

export function addColumns(group: RowGroup, columns: readonly ColumnChunk[]): void {
  group.columns.unshift(...columns);
  const sizeOf = (size: 'total_uncompressed_size' | 'total_compressed_size'): bigint =>
    group.columns.reduce((all, { meta_data: data }) => all + (data?.[size] ?? 0n), 0n);
  group.total_byte_size = sizeOf('total_uncompressed_size');
  group.total_compressed_size = sizeOf('total_compressed_size');
}
