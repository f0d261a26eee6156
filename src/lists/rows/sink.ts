import type { FilePermissions } from '../../platform/files/file-system.js';
import type { RowChunk } from './chunks/row-chunk.js';
import type { SourceReading } from './source.js';
import type { Kind } from './values/kinds.js';
import type { Notice } from '../../platform/text/notices.js';

/** What an output cell holds. */
export type OutputCell = string | boolean | number | null;

/** Rows whose verification is settled, in order: a stretch of a chunk with the outcome of each cell. */
export interface JoinedRows<Chunk extends RowChunk = RowChunk> {
  /** The rows as they were read. */
  readonly chunk: Chunk;
  /** First row of the stretch. */
  readonly from: number;
  /** The row after its last. */
  readonly to: number;
  /**
   * Outcome ids, `width` of them for each row from `from` on: the id of the k-th verified column of row
   * r is at `(r - from) * width + k`.
   */
  readonly outcomes: Uint32Array;
  /** Number of verified columns. */
  readonly width: number;
}

/** A column that the output has beside those of the input. */
export interface AddedColumn {
  /** Its name in the output's header. */
  readonly name: string;
  /** What it holds of a result: a field of the service's record, or one of Sluice's own. */
  readonly field: string;
  /** A column of kind `boolean` may hold null, and what the service has sent in a flag's place. */
  readonly kind: 'text' | 'boolean';
}

/** A column that an output cannot keep as it is: its cells become text, in the source's own form. */
export interface TextColumn {
  /** Its name. */
  readonly column: string;
  /** What it holds; `undefined` when its cells have nothing in common. */
  readonly kind: Kind | undefined;
  /** How messages call the output. */
  readonly output: string;
}

/** What is added to rows: its columns, and what is in them. */
export interface AddedCells {
  /** The columns to add, for each verified column. */
  readonly added: readonly (readonly AddedColumn[])[];
  /**
   * Cells to add for an outcome in the k-th verified column, one for each of `added[k]`; asked for while
   * rows with that outcome are written. Where cells depend on the row (`submitted`, `suggestion`), each
   * has an outcome id of its own.
   */
  cellsOf(outcome: number, column: number): readonly OutputCell[];
}

/** Slots for the forms of outcomes asked for lately; there are a few dozen, or millions. */
const recentSlots = 1024;

/** What a format makes of the added cells of an outcome, made once for those that come often. */
export class OutcomeForms<Form> {
  readonly #opening: AddedCells;
  readonly #make: (cells: readonly OutputCell[], column: number) => Form;
  readonly #recent: readonly { readonly outcome: number; readonly form: Form }[][];

  constructor(opening: AddedCells, make: (cells: readonly OutputCell[], column: number) => Form) {
    this.#opening = opening;
    this.#make = make;
    this.#recent = opening.added.map(() => []);
  }

  /** @param column position among the verified columns */
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

/** What a writing of an output is given. */
export interface OpenSinkOptions extends AddedCells {
  /**
   * The address in the k-th verified column of a row, in its normal form; `undefined` where it holds none.
   * Only for a sink that `readsAddresses`, while the rows are being written.
   */
  addressOf?(chunk: RowChunk, row: number, column: number): string | undefined;
  /** Which run writes: the same for each process that resumes it. Absent where nothing is kept. */
  readonly runId?: string;
  /** Those of the file that the rows come from: a new file is no more open. Absent where there is none. */
  readonly permissions?: FilePermissions;
  /** The reading whose rows come: its header and what else its format knows of the input's form. */
  readonly reading: SourceReading;
  /** Positions of the verified columns in the reading's header. */
  readonly verified: readonly number[];
  /**
   * Whether it is a new list of chosen rows: the lines above the header are those of the other one.
   * @default false
   */
  readonly isNewList?: boolean;
  /**
   * The same with every column of the results, where only chosen ones are added: for anyone who decides by
   * what is not written. @default what is added
   */
  readonly whole?: AddedCells;
  /** Called once for each column that becomes text. @default nobody is */
  readonly onTextColumn?: ((column: TextColumn) => void) | undefined;
  /** Called with what keeps the writing waiting, or is not done as expected. */
  readonly onNotice?: (notice: Notice | string) => void;
  /** Ends what waits for long, with its reason; `abort()` is called after it in any case. */
  readonly signal?: AbortSignal;
}

/** The output's columns, as far as known before anything is verified. */
export interface ColumnsToValidate extends Pick<
  OpenSinkOptions,
  'runId' | 'verified' | 'added' | 'isNewList' | 'onTextColumn' | 'onNotice' | 'signal'
> {
  /** For each verified column, the cells that it may add: results of every kind. */
  readonly samples: readonly (readonly (readonly OutputCell[])[])[];
}

/** Looks at rows before anything is paid for them. */
export interface RowValidator {
  (chunk: RowChunk): void;
  /** All rows were seen. @throws as a writing would fail */
  readonly end?: () => Promise<void>;
}

/** Where rows go. */
export interface Sink {
  /** How messages call it, such as its path; holds no password. */
  readonly name: string;
  /** What distinguishes it from other sinks of its name, by option: compared when a run is resumed. */
  readonly decides?: Readonly<Record<string, string>>;
  /** Whether it asks for the addresses of rows. @default it does not */
  readonly readsAddresses?: boolean;
  /** Most rows it takes. @default any number */
  readonly maxRows?: number;
  /**
   * Says early what would fail late.
   *
   * @param verifiedColumns how many columns are verified
   * @throws ConfigurationError, OutputError
   */
  check(verifiedColumns: number): Promise<void>;
  /**
   * Keeps other runs from writing the same output, until what it resolves with is called. Asked before
   * anything is sent.
   *
   * @param patience how long to wait for another run. @default not at all
   * @throws StateError `state_locked` when another run has it
   */
  hold?(patience?: LockWait): Promise<() => Promise<void>>;
  /**
   * Gives what looks at every row before the first batch is sent, so that a row for which the sink has
   * no form ends the run while it costs nothing; `undefined` where any row will do.
   *
   * @throws ConfigurationError, OutputError; the examiner InputError `input_malformed`
   */
  validate?(
    reading: SourceReading,
    columns: ColumnsToValidate,
  ): RowValidator | undefined | Promise<RowValidator | undefined>;
  /**
   * Whether a writing may begin while batches are still verified, for hours if need be: nothing of it is
   * seen before it is finished, and nobody waits for what it holds.
   *
   * @default it may not
   */
  mayBeginEarly?(): Promise<boolean>;
  /**
   * How long a writing may wait for the last batches, in milliseconds, where it may not begin early: nothing
   * of it is seen before it is finished, but others may have to wait for what it holds. Asked when the list
   * was read. A writing that has waited so long is aborted, and begun again when all batches are verified.
   *
   * @default 0
   */
  mayWaitMs?(): number;
  /**
   * Whether rows of a run are there, as far as the output itself knows: of any run, where none is named.
   *
   * @default nobody knows
   */
  hasWritten?(runId?: string): Promise<boolean>;
  /** Begins a writing of all rows. @throws OutputError */
  open(options: OpenSinkOptions): Promise<SinkWriting>;
  /** How many rows the last writing left out of the output. @default 0 */
  rowsLeftOut?(): number;
  /** How many of these repeat an address of a row above them. @default 0 */
  rowsRepeated?(): number;
  /**
   * By verified column: rows that the last writing left out although that column is valid, because
   * another one, not chosen to decide, is not. @default none
   */
  validLeftOut?(): readonly number[];
  /** Where the rows of the last writing are, where that is more than one place. @default all in `name` */
  outputs?(): readonly OutputRows[] | undefined;
  /** Rows that the last writing left alone. @default none */
  skippedUpdates?(): SkippedUpdates | undefined;
}

/** How long to wait for another run that writes the same output. */
export interface LockWait {
  /** In milliseconds. @default 0: it is an error at once */
  readonly waitLockMs?: number | undefined;
  /** Ends the wait, with its reason. @default never */
  readonly signal?: AbortSignal | undefined;
}

/** A file, a table or an object, and how many rows it got. */
export interface OutputRows {
  /** As messages call it. */
  readonly name: string;
  /** How many rows it got. */
  readonly rows: number;
}

/** Rows of a table that were left as they are: since they were read, their verified cells changed or they went. */
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
   * Whether rows are their owner's again once the write of them has resolved.
   * @default they may be kept for as long as the writing lasts
   */
  readonly givesBack?: boolean;
  /** Takes the next rows, in order. @throws OutputError `output_failed` */
  write(rows: JoinedRows): Promise<void>;
  /** Completes the output: until then nothing of it is seen where the sink can hold it back. */
  finish(): Promise<void>;
  /** Drops what was written. */
  abort(): Promise<void>;
}

/** Holds several outputs until what comes is called, or none. */
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
