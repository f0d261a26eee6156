import type { RowChunk } from './row-chunk.js';
import type { SourceReading } from './source.js';

/** What an output cell holds. */
export type OutputCell = string | boolean | number | null;

/** Rows whose verification is settled, in order: a stretch of a chunk with the outcome of each cell. */
export interface JoinedRows<Chunk extends RowChunk = RowChunk> {
  readonly chunk: Chunk;
  /** First row of the stretch, and the one after its last. */
  readonly from: number;
  readonly to: number;
  /**
   * Outcome ids, `width` of them for each row from `from` on: the id of the k-th verified column of row
   * r stands at `(r - from) * width + k`.
   */
  readonly outcomes: Uint32Array;
  /** Number of verified columns. */
  readonly width: number;
}

export interface OpenSinkOptions {
  /** The reading whose rows come: its header and what else its format knows of the input's form. */
  readonly reading: SourceReading;
  /** Names of the columns to add, for each verified column. */
  readonly added: readonly (readonly string[])[];
  /** Cells to add for an outcome in the k-th verified column, as many as `added[k]` has names. */
  cellsOf(outcome: number, column: number): readonly OutputCell[];
}

/** Where rows go. */
export interface Sink {
  /** How messages call it; holds no password. */
  readonly name: string;
  /**
   * Says early what would fail late.
   *
   * @throws ConfigurationError, OutputError
   */
  check(): Promise<void>;
  /** @throws OutputError */
  open(options: OpenSinkOptions): Promise<SinkWriting>;
}

/** One writing of an output. */
export interface SinkWriting {
  /** @throws OutputError `output_failed` */
  write(rows: JoinedRows): Promise<void>;
  /** Makes the output stand: until then nothing of it is seen where the sink can hold it back. */
  finish(): Promise<void>;
  /** Drops what was written. */
  abort(): Promise<void>;
}
