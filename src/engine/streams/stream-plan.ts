import { kindOfRow, refuseSameObjects, type Row } from '../../lists/rows/chunks/object-chunk.js';
import { checkOptions, checkValue } from '../../platform/check-options.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { type Clock, systemClock } from '../../platform/waiting/clock.js';
import {
  type ColumnLayout,
  type ColumnOptions,
  layOutColumns,
  namedColumns,
  checkColumnNames,
} from '../columns/column-layout.js';
import { defaults } from '../driver/driver-options.js';
import { MemoryStorage } from '../plan/batch-cutter.js';
import { checkCountries, Plan } from '../plan/plan.js';
import type { Suppressed } from '../plan/suppressed.js';
import type { ResultHistory } from '../plan/result-cache.js';
import { type StreamPlanOptions, streamShape, type TargetChoice } from './stream-options.js';
import { isSame } from '../../lists/rows/sources/combine-headers.js';

/**
 * Shared by the three Transforms of one stream: the columns, the addresses and their outcomes, and the bound
 * on waiting rows. One plan serves one stream.
 *
 * @example
 * ```ts
 * const plan = new StreamPlan({ email: ['email'], country: 'US', batchSize: 10_000 });
 * const steps = [rowsToBatches(plan), driveBatches({ client }), joinResults(plan)];
 * console.log(steps.length); // 3
 * ```
 */
export class StreamPlan {
  /** @internal */
  readonly plan: Plan;
  /** @internal */
  readonly storage = new MemoryStorage();
  /** @internal */
  readonly window: Window;
  /** @internal */
  readonly concurrency: number;
  /** @internal */
  readonly maxWaitMs: number | undefined;
  /** @internal */
  readonly clock: Clock;
  /** @internal */
  readonly history: ResultHistory | undefined;
  /**
   * The columns of row objects.
   *
   * @internal
   */
  readonly rowColumns: RowColumns;
  readonly #options: ColumnOptions;
  readonly #isLaidOut: boolean;

  /** @throws ConfigurationError `invalid_option`, `country_missing` */
  constructor(options: StreamPlanOptions & TargetChoice);
  /**
   * For chunks of a source with a header; row objects have their columns by name.
   *
   * @internal
   */
  constructor(
    options: StreamPlanOptions,
    run: { readonly layout: ColumnLayout; readonly suppressed: Suppressed | undefined } | undefined,
  );
  constructor(
    options: StreamPlanOptions,
    run?: { readonly layout: ColumnLayout; readonly suppressed: Suppressed | undefined },
  ) {
    // A run has checked its own, larger set.
    if (!run) checkOptions(options, streamShape);
    checkCountries(options);
    const { history, batchSize = defaults.batchSize } = options;
    this.concurrency = options.concurrency ?? defaults.concurrency;
    this.maxWaitMs = options.maxWaitMs;
    this.clock = options.clock ?? systemClock;
    this.history = history;
    this.#options = options;
    this.#isLaidOut = run !== undefined;
    const laidOut = run?.layout ?? layOutColumns(namedColumns(options), options);
    const added = new Set(laidOut.added.flat().map(({ name }) => name));
    this.rowColumns = new RowColumns(options, this.readColumns, added);
    this.plan = new Plan({
      ...options,
      layout: laidOut,
      batchSize,
      storage: this.storage,
      suppressed: run?.suppressed,
      ...(history && {
        seed: history.seed,
        recall: (outcomes) => history.recall(outcomes, laidOut.withOrigin),
      }),
    });
    this.window = new Window({
      maxRows: options.maxWaitingRows ?? (this.concurrency + 1) * batchSize,
      maxBytes: options.maxWaitingBytes ?? defaults.maxWaitingBytes,
    });
  }

  /**
   * Names of the columns that are read of a row object.
   *
   * @internal
   */
  get readColumns(): readonly string[] {
    return namedColumns(this.#options);
  }

  /**
   * @throws ConfigurationError `invalid_option`, `column_not_found`, `column_exists`
   *
   * @internal
   */
  checkRow(row: unknown): asserts row is Row {
    if (this.#isLaidOut) throw new TypeError('this plan is for rows that travel as chunks');
    this.rowColumns.look(row);
  }
}

export function checkPlan(plan: unknown): void {
  checkValue('plan', plan, {
    what: 'a StreamPlan',
    isRight: (value) => value instanceof StreamPlan,
  });
}

function planInUse(): ConfigurationError {
  return new ConfigurationError('a plan serves one stream: make another plan', {
    option: 'plan',
    fault: 'repeated',
  });
}

/** Bounds the rows in memory between the stream that accepts them and the consumer that releases them. */
export class Window {
  readonly #maxRows: number;
  readonly #maxBytes: number;
  #rows = 0;
  #bytes = 0;
  #taken = 0;
  /** Closed batches that are not settled yet. */
  #underWay = 0;
  #onChange: (() => void) | undefined;
  #isOpen = true;

  constructor(options: { readonly maxRows: number; readonly maxBytes: number }) {
    this.#maxRows = options.maxRows;
    this.#maxBytes = options.maxBytes;
  }

  /** Whether all rows may come in: no join takes part that would release them. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** How many rows may still come in; 0 when the bytes are used up. */
  get roomForRows(): number {
    if (this.isOpen) return Infinity;
    return this.#bytes >= this.#maxBytes ? 0 : Math.max(0, this.#maxRows - this.#rows);
  }

  get nextRow(): number {
    return this.#taken;
  }

  /** Whether a row is in the older half of the waiting ones. */
  isOld(row: number): boolean {
    const oldest = this.#taken - this.#rows;
    return (row - oldest) * 2 < this.#rows;
  }

  /** From now on rows are held until released. @throws ConfigurationError when they are already */
  close(): void {
    if (!this.#isOpen) throw planInUse();
    this.#isOpen = false;
  }

  /** Batches on their way to the service or on it. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Calls a listener after every release and every settled batch. @throws ConfigurationError for a second listener */
  onChange(listener: () => void): void {
    if (this.#onChange) throw planInUse();
    this.#onChange = listener;
  }

  takeIn(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
    this.#taken += rows;
  }

  release(rows: number, bytes: number): void {
    this.#rows -= rows;
    this.#bytes -= bytes;
    this.#onChange?.();
  }

  batchClosed(): void {
    this.#underWay += 1;
  }

  batchSettled(): void {
    this.#underWay -= 1;
    this.#onChange?.();
  }
}

/** The columns of row objects: the first rows together must have all that are read; none may have an added one. */
class RowColumns {
  /** How many rows are examined until all columns are found. */
  most = 1;
  /** Whether the same object may come several times, unchanged. */
  mayRepeat = false;
  readonly #options: ColumnOptions;
  readonly #columns: readonly string[];
  readonly #names = new Set<string>();
  readonly #added: ReadonlySet<string>;
  /** Names of the previous row, which nearly every row shares. */
  #before: readonly string[] = [];
  #rows = 0;
  #areFound = false;
  readonly #refuseSame = refuseSameObjects('the list');

  /** @param columns the columns that are read @param added names of the added columns */
  constructor(options: ColumnOptions, columns: readonly string[], added: ReadonlySet<string>) {
    this.#options = options;
    this.#columns = columns;
    this.#added = added;
  }

  /** Whether all columns were found: until then no row may be sent. */
  get areFound(): boolean {
    return this.#areFound;
  }

  look(row: unknown): asserts row is Row {
    this.#rows += 1;
    checkRow(row, this.#rows);
    if (!this.mayRepeat) this.#refuseSame(row);
    const names = Object.keys(row);
    if (!isSame(names, this.#before)) {
      this.#before = names;
      if (names.some((name) => this.#added.has(name))) this.#refuse(names);
    }
    if (this.#areFound) return;
    for (const name of names) this.#names.add(name);
    const isFull = this.#rows >= this.most;
    if (isFull || this.#columns.every((column) => this.#names.has(column))) this.settle();
  }

  /** No more rows are examined. */
  settle(): void {
    if (this.#areFound) return;
    checkColumnNames([...this.#names], this.#options, this.#rows);
    this.#areFound = true;
  }

  /** A cell of the caller's own would be overwritten. */
  #refuse(names: readonly string[]): void {
    const header = [...new Set([...this.#columns, ...names])];
    layOutColumns(header, this.#options, `row ${this.#rows}`);
  }
}

/** @param number counted from 1 */
export function checkRow(row: unknown, number: number): asserts row is Row {
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return;
  throw new ConfigurationError(
    `row ${number} must be an object of columns, not ${kindOfRow(row)}`,
    { option: 'rows', rows: [number] },
  );
}
