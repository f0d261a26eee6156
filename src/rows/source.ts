import type { RowChunk } from './row-chunk.js';

export interface OpenSourceOptions {
  readonly signal?: AbortSignal;
  /**
   * Names the columns whose cells will be asked for, once the header is known: positions in it. A
   * reader need not find any other cell.
   */
  wanted(header: readonly string[]): readonly number[];
}

/** One reading of a source. */
export interface SourceReading<Chunk extends RowChunk = RowChunk> {
  /** Names of the columns, in order. */
  readonly header: readonly string[];
  /** The rows, once; closing the iterator closes the reading. */
  readonly chunks: AsyncIterable<Chunk>;
  /**
   * What tells this content from any other, to be asked when the last row was read; absent where the
   * source's own bytes are not seen.
   */
  contentDigest?(): string;
}

/** Where rows come from. */
export interface Source<Chunk extends RowChunk = RowChunk> {
  /** How messages call it; holds no password. */
  readonly name: string;
  /** @throws InputError `input_unreadable`, `input_malformed` */
  open(options: OpenSourceOptions): Promise<SourceReading<Chunk>>;
  /**
   * Only on a source that can be read once: reads all of it into a new file and gives the source that
   * reads this file, as often as asked.
   *
   * @throws InputError, OutputError
   */
  keep?(path: string, signal?: AbortSignal): Promise<Source<Chunk>>;
  /** Only beside `keep`: the source that reads a file which an earlier `keep` has written whole. */
  kept?(path: string): Source<Chunk>;
}
