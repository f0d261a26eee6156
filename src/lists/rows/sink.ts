import type { LockWait } from '../../platform/files/file-lock.js';
import type { FilePermissions } from '../../platform/files/file-system.js';
import type { RowChunk } from './chunks/row-chunk.js';
import type { SourceReading } from './source.js';
import type { Kind } from './values/kinds.js';
import type { Notice } from '../../platform/text/notices.js';

export type { LockWait } from '../../platform/files/file-lock.js';

export type OutputCell = string | boolean | number | null;

/** Rows of a chunk, from one of them on. */
export interface RowsFrom<Chunk extends RowChunk = RowChunk> {
  /** The rows as read. */
  readonly chunk: Chunk;
  /** First row of the stretch. */
  readonly from: number;
}

/** Settled rows, in order: a stretch of a chunk with the outcome of each cell. */
export interface JoinedRows<Chunk extends RowChunk = RowChunk> extends RowsFrom<Chunk> {
  /** The row after its last. */
  readonly to: number;
  /**
   * Outcome ids, `width` of them for each row from `from` on: row r has that of its k-th verified column at
   * `(r - from) * width + k`.
   */
  readonly outcomes: Uint32Array;
  /** Number of verified columns. */
  readonly width: number;
}

/** A column that the output adds to those of the input. */
export interface AddedColumn {
  /** Its name in the output's header. */
  readonly name: string;
  /** The field of the service's record, or of Sluice's own. */
  readonly field: string;
  /** A `boolean` column may also hold null, and what the service sent in place of a flag. */
  readonly kind: 'text' | 'boolean';
}

/** A column whose type an output cannot keep: its cells become text in the source's form. */
export interface TextColumn {
  /** Its name. */
  readonly column: string;
  /** Its kind; `undefined` when its cells have nothing in common. */
  readonly kind: Kind | undefined;
  /** The output's name in messages. */
  readonly output: string;
}

/** The columns and cells added to rows. */
export interface AddedCells {
  /** The columns to add, for each verified column. */
  readonly added: readonly (readonly AddedColumn[])[];
  /**
   * Cells that an outcome adds in the k-th verified column, one for each of `added[k]`; valid while rows with
   * that outcome are written. Where cells depend on the row (`submitted`, `suggestion`), each has an outcome
   * id of its own.
   */
  cellsOf(outcome: number, column: number): readonly OutputCell[];
}

/** Slots for the forms of recent outcomes; there are a few dozen, or millions. */
const recentSlots = 1024;

/** A format's form of an outcome's added cells, made once for frequent ones. */
export class OutcomeForms<Form> {
  readonly #opening: AddedCells;
  readonly #make: (cells: readonly OutputCell[], column: number) => Form;
  readonly #recent: readonly { readonly outcome: number; readonly form: Form }[][];

  constructor(opening: AddedCells, make: (cells: readonly OutputCell[], column: number) => Form) {
    this.#opening = opening;
    this.#make = make;
    this.#recent = opening.added.map(() => []);
  }

  /** @param column its position among the verified columns */
  of(column: number, outcome = -1): Form {
    const slots = this.#recent[column];
    const slot = outcome % recentSlots;
    const known = slots?.[slot];
    if (known?.outcome === outcome) return known.form;
    const cells = this.#opening.cellsOf(outcome, column);
    if (slots === undefined || cells.length !== this.#opening.added[column]?.length) {
      throw new RangeError(`no cells for outcome ${String(outcome)} of column ${String(column)}`);
    }
    const form = this.#make(cells, column);
    if (outcome >= 0) slots[slot] = { outcome, form };
    return form;
  }
}

/** Options of a writing. */
export interface OpenSinkOptions extends AddedCells {
  /**
   * The normalised address in the k-th verified column of a row; `undefined` without one. Only for a sink
   * that `readsAddresses`, while the rows are being written.
   */
  addressOf?(chunk: RowChunk, row: number, column: number): string | undefined;
  /** The run that writes: the same for each process that resumes it. Absent where nothing is kept. */
  readonly runId?: string | undefined;
  /** Permissions of the input's file: a new file is no more open. Absent without one. */
  readonly permissions?: FilePermissions | undefined;
  /** The reading of the rows: its header and the input's form. */
  readonly reading: SourceReading;
  /** Positions of the verified columns in the reading's header. */
  readonly verified: readonly number[];
  /**
   * Whether it is a new list of chosen rows, without the lines above the input's header.
   * @default false
   */
  readonly isNewList?: boolean | undefined;
  /**
   * The same with every column of the results, for decisions by columns that are not written. @default the
   * added ones
   */
  readonly whole?: AddedCells | undefined;
  /** Called once for each column that becomes text. */
  readonly onTextColumn?: ((column: TextColumn) => void) | undefined;
  /** Called with what keeps the writing waiting, or is not done as expected. */
  readonly onNotice?: (notice: Notice | string) => void;
  /** Ends long waits, with its reason; `abort()` is called after it in any case. */
  readonly signal?: AbortSignal | undefined;
}

/** The output's columns, as far as known before anything is verified. */
export interface ColumnsToValidate extends Pick<
  OpenSinkOptions,
  'runId' | 'verified' | 'added' | 'isNewList' | 'onTextColumn' | 'onNotice' | 'signal'
> {
  /** For each verified column sample cells: results of every kind. */
  readonly samples: readonly (readonly (readonly OutputCell[])[])[];
  /** Options by which rows are left out. @default none: all rows are written */
  readonly leftOutBy?: readonly string[] | undefined;
}

/** Checks rows before anything is paid for them. */
export interface RowValidator {
  (chunk: RowChunk): void;
  /** All rows were seen. @throws like a writing */
  readonly end?: (() => Promise<void>) | undefined;
}

/** A destination of rows. */
export interface Sink {
  /** Its name in messages, such as its path, without a password. */
  readonly name: string;
  /** Distinguishes it from other sinks of its name, by option: compared when a run is resumed. */
  readonly decides?: Readonly<Record<string, string>> | undefined;
  /** Whether it reads the addresses of rows. @default false */
  readonly readsAddresses?: boolean | undefined;
  /** Most rows that it accepts. @default any */
  readonly maxRows?: number | undefined;
  /**
   * Fails early where a writing would fail late.
   *
   * @param verifiedColumns number of verified columns
   * @throws ConfigurationError, OutputError
   */
  check(verifiedColumns: number): Promise<void>;
  /**
   * Keeps other runs from writing the same output, until the returned function is called. Called before
   * anything is sent.
   *
   * @param patience how long to wait for another run. @default no wait
   * @throws StateError `state_locked` when another run has it
   */
  hold?(patience?: LockWait): Promise<() => Promise<void>>;
  /**
   * Returns a check of every row before the first batch is sent, so that a row that the sink cannot represent
   * ends the run while it costs nothing; `undefined` where any row will do.
   *
   * @throws ConfigurationError, OutputError; the check InputError `input_malformed`
   */
  validate?(
    reading: SourceReading,
    columns: ColumnsToValidate,
  ): RowValidator | undefined | Promise<RowValidator | undefined>;
  /**
   * Whether a writing may begin while batches are still verified, possibly for hours: it is invisible until
   * finished, and locks nothing that others need.
   *
   * @default false
   */
  mayBeginEarly?(): Promise<boolean>;
  /**
   * How long a writing may wait for the last batches, in milliseconds, where it may not begin early because
   * others may need what it locks. Called when the list was read. A writing that has waited longer is
   * aborted, and repeated when all batches are verified.
   *
   * @default 0
   */
  mayWaitMs?(): number;
  /**
   * Whether the output holds rows of this run, or without `runId` of any run, as far as it knows.
   *
   * @default unknown
   */
  hasWritten?(runId?: string): Promise<boolean>;
  /** Begins a writing of all rows. @throws OutputError */
  open(options: OpenSinkOptions): Promise<SinkWriting>;
  /** Number of rows that the last writing left out. @default 0 */
  rowsLeftOut?(): number;
  /** Those that repeat an address of an earlier row. @default 0 */
  rowsRepeated?(): number;
  /** The options that may leave rows out: `keep`, `keepQuality`, `unique`. @default not known */
  leftOutBy?(): readonly string[];
  /**
   * By verified column: rows that the last writing has not among the valid ones although that column is, because
   * another is not. @default none
   */
  validLeftOut?(): readonly number[];
  /** The outputs of the last writing, if several. @default all rows are in `name` */
  outputs?(): readonly OutputRows[] | undefined;
  /** Rows that the last writing skipped. @default none */
  skippedUpdates?(): SkippedUpdates | undefined;
}

/** A file, a table or an object, and its number of rows. */
export interface OutputRows {
  /** Its name in messages. */
  readonly name: string;
  /** Number of rows written to it. */
  readonly rows: number;
}

/** Rows of a table that were not updated: they were changed or deleted since they were read. */
export interface SkippedUpdates {
  /** Rows whose verified cells changed. */
  readonly changed: number;
  /** Rows that were deleted. */
  readonly gone: number;
  /** Keys of the first of them. */
  readonly keys: readonly string[];
}

/** One writing of an output. */
export interface SinkWriting {
  /**
   * Whether written rows may be reused once the write has resolved.
   * @default false: they may be held until the writing ends
   */
  readonly givesBack?: boolean | undefined;
  /** Takes the next rows, in order. @throws OutputError `output_failed` */
  write(rows: JoinedRows): Promise<void>;
  /** Completes the output: before that a sink that can hold it back shows nothing. */
  finish(): Promise<void>;
  /** Drops what was written. */
  abort(): Promise<void>;
}

/** Holds several outputs or none. @returns releases them */
export async function holdSinks(
  sinks: readonly (Sink | undefined)[],
  patience?: LockWait,
): Promise<() => Promise<void>> {
  const held: (() => Promise<void>)[] = [];
  const releaseAll = async (): Promise<void> => {
    for (const release of held) await release();
  };
  try {
    for (const sink of sinks) {
      const release = await sink?.hold?.(patience);
      if (release) held.push(release);
    }
  } catch (error) {
    await releaseAll();
    throw error;
  }
  return releaseAll;
}
