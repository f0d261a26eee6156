import type { ColumnChunk, RowGroup } from 'hyparquet';
import type { ByteWriter } from 'hyparquet-writer';
import type { CopiedChunk } from './hyparquet.js';
import type { ParquetChunk, StoredGroup } from './stored-group.js';

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

  /** Loads the values of all columns. */
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

/** The footer entry of a column part at its new position. */
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

/** Prepends columns to a row group of the footer. */
export function addColumns(group: RowGroup, columns: readonly ColumnChunk[]): void {
  group.columns.unshift(...columns);
  const sizeOf = (size: 'total_uncompressed_size' | 'total_compressed_size'): bigint =>
    group.columns.reduce((all, { meta_data: data }) => all + (data?.[size] ?? 0n), 0n);
  group.total_byte_size = sizeOf('total_uncompressed_size');
  group.total_compressed_size = sizeOf('total_compressed_size');
}
