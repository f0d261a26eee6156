import type { AsyncBuffer, ColumnChunk, DecodedArray, FileMetaData, RowGroup } from 'hyparquet';
import { InputError } from '../../platform/errors/errors.js';
import type { RandomFile } from '../../platform/files/random-file.js';
import { readByteColumn } from './byte-column.js';
import { attempt, type Hyparquet } from './hyparquet.js';
import {
  type CopiedChunk,
  isFlat,
  type ParquetColumn,
  type StoredValues,
} from './parquet-column.js';
import { readNestedColumn } from './nested-column.js';
import { elementsToRead } from './schema-node.js';

/** A file whose footer was read. */
export interface OpenParquet {
  readonly file: RandomFile;
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: readonly ParquetColumn[];
  readonly hyparquet: Hyparquet;
}

/** A row group: of each column its values, once they are loaded, or its bytes, once they are kept. */
export class StoredGroup {
  readonly rows: number;
  readonly #from: OpenParquet;
  readonly #group: RowGroup;
  readonly #chunks = new Map<string | undefined, ColumnChunk[]>();
  readonly #values: StoredValues[] = [];
  #kept: readonly (readonly CopiedChunk[])[] | undefined;

  constructor(from: OpenParquet, group: RowGroup) {
    this.rows = Number(group.num_rows);
    this.#from = from;
    this.#group = group;
    for (const chunk of group.columns) {
      const name = chunk.meta_data?.path_in_schema[0];
      const own = this.#chunks.get(name);
      if (own) own.push(chunk);
      else this.#chunks.set(name, [chunk]);
    }
  }

  /**
   * For each column its parts as they are in the file, where they were kept; the parts of a nested column
   * in the schema's order.
   */
  get kept(): readonly (readonly CopiedChunk[])[] | undefined {
    return this.#kept;
  }

  /** The values of a column that was loaded. */
  values(column: number): StoredValues {
    const values = this.#values[column];
    if (values) return values;
    throw new Error(`column ${String(column)} of the row group was not loaded`);
  }

  /**
   * Reads the values of these columns. One after the other: what the reader makes of a column is garbage
   * before the next one is read.
   *
   * @throws InputError `input_malformed`
   */
  async load(columns: readonly number[] = this.#from.columns.map((_, at) => at)): Promise<void> {
    if (this.rows === 0) return;
    for (const at of columns) {
      const column = this.#from.columns[at];
      if (column) this.#values[at] ??= await this.#read(column, at);
    }
  }

  /** Reads the bytes of all columns, and the values of these; others can be loaded when the file is closed. */
  async keep(columns: readonly number[]): Promise<void> {
    const kept: (readonly CopiedChunk[])[] = [];
    for (const column of this.#from.columns) kept.push(await this.#bytesOf(column));
    this.#kept = kept;
    await this.load(columns);
  }

  async #bytesOf({ name }: ParquetColumn): Promise<readonly CopiedChunk[]> {
    const parts: CopiedChunk[] = [];
    for (const { meta_data: data } of this.#chunks.get(name) ?? []) {
      if (!data) continue;
      const start = startOf(data);
      const end = start + data.total_compressed_size;
      parts.push({ data, start, bytes: await this.#from.file.read(Number(start), Number(end)) });
    }
    return parts;
  }

  async #read(column: ParquetColumn, at: number): Promise<StoredValues> {
    const { file, hyparquet } = this.#from;
    const { rows } = this;
    const { elements } = column;
    const [element] = elements;
    if (isFlat(elements) && element?.type !== 'BYTE_ARRAY') return this.#readAny(column);
    const parts = this.#kept?.[at] ?? (await this.#bytesOf(column));
    const values = await attempt(file, async () => {
      if (!isFlat(elements)) {
        return readNestedColumn(parts, elementsToRead(elements), rows, hyparquet);
      }
      const form = { rows, isOptional: element?.repetition_type !== 'REQUIRED' };
      return parts[0] && readByteColumn(parts[0], form, hyparquet);
    });
    return values ?? this.#readAny(column);
  }

  async #readAny({ name, elements }: ParquetColumn): Promise<StoredValues> {
    const { file, buffer, metadata, hyparquet } = this.#from;
    const { rows } = this;
    const [root] = metadata.schema;
    const pieces: unknown[] = [];
    let whole: DecodedArray | undefined;
    let filled = 0;
    await attempt(file, async () =>
      hyparquet.reader.parquetRead({
        file: this.#kept ? bufferOf(this.#kept.flat(), buffer.byteLength) : buffer,
        metadata: {
          ...metadata,
          // Values are read as they are stored: what they stand for is decided here, without rounding.
          schema: [
            ...(root === undefined ? [] : [{ ...root, num_children: 1 }]),
            ...elementsToRead(elements),
          ],
          num_rows: this.#group.num_rows,
          row_groups: [{ ...this.#group, columns: this.#chunks.get(name) ?? [] }],
        },
        compressors: hyparquet.compressors,
        utf8: false,
        geoparquet: false,
        onChunk({ columnData, rowStart }) {
          if (columnData.length === rows) whole = columnData;
          else {
            for (let row = 0; row < columnData.length; row += 1) {
              pieces[rowStart + row] = columnData[row];
            }
          }
          filled += columnData.length;
        },
      }),
    );
    if (filled !== rows) {
      throw new InputError(`${file.name} is damaged: a column has fewer values than rows`);
    }
    return whole ?? pieces;
  }
}

/** Where a part of a column begins; a dictionary at 0 is none. */
export function startOf(data: CopiedChunk['data']): bigint {
  return data.dictionary_page_offset || data.data_page_offset;
}

/** A file of which only these parts are there. */
function bufferOf(parts: readonly CopiedChunk[], byteLength: number): AsyncBuffer {
  return {
    byteLength,
    slice(from, to = byteLength) {
      const slice = new Uint8Array(to - from);
      for (const { start, bytes } of parts) {
        const at = Number(start) - from;
        if (at >= slice.length || at + bytes.length <= 0) continue;
        slice.set(bytes.subarray(Math.max(0, -at), slice.length - at), Math.max(0, at));
      }
      return slice.buffer;
    },
  };
}
