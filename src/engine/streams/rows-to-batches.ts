import { type Duplex, Transform, type TransformCallback } from 'node:stream';
import { ObjectChunk, type Row } from '../../lists/rows/chunks/object-chunk.js';
import type { RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import { Alarm } from '../../platform/waiting/clock.js';
import type { Batch } from '../batches/batch.js';
import type { Parcel } from './parcel.js';
import type { RowStream } from './enriched-row.js';
import { checkPlan, type StreamPlan } from './stream-plan.js';

/** Single rows are gathered into chunks of this size. */
const chunkRows = 256;

/**
 * Makes batches of rows: rows in (objects or chunks), parcels out (the rows, and each batch when closed). It
 * accepts no more rows while too many wait, and then closes the batches that hold up the oldest of them.
 *
 * @throws ConfigurationError at once, for a plan that is in use
 *
 * @example
 * ```ts
 * const plan = new StreamPlan({ email: ['email'], country: 'US' });
 * const rows = Readable.from([{ email: 'good@sluice.test' }, { email: 'good@sluice.test' }]);
 * for await (const parcel of rows.compose(rowsToBatches(plan))) {
 *   if (parcel.kind === 'batch') console.log(parcel.batch.addresses); // 1
 * }
 * ```
 */
export function rowsToBatches(plan: StreamPlan): RowStream<object, Parcel>;
export function rowsToBatches(plan: StreamPlan): Duplex {
  checkPlan(plan);
  return new RowsToBatches(plan);
}

class RowsToBatches extends Transform {
  readonly #plan: StreamPlan;
  #gathered: Row[] = [];
  #flushSoon: NodeJS.Immediate | undefined;
  /** For the rows that have waited longest: in an open batch, or for their columns to be found. */
  readonly #overdue: Alarm;
  readonly #arrivals: ArrivalTimes;
  /** Withheld while too many rows wait. */
  #resume: TransformCallback | undefined;

  constructor(plan: StreamPlan) {
    super({ objectMode: true, writableHighWaterMark: 1, readableHighWaterMark: 1 });
    this.#plan = plan;
    this.#overdue = new Alarm(plan.clock, () => this.#closeOverdue());
    this.#arrivals = new ArrivalTimes(plan.maxWaitMs ?? 0);
    plan.window.onChange(() => this.#windowChanged());
  }

  override _transform(item: unknown, _encoding: string, done: TransformCallback): void {
    try {
      if (isRowChunk(item)) this.#take(item);
      else this.#gather(item);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (this.#plan.window.roomForRows > 0) {
      done();
    } else {
      this.#resume = done;
      this.#closeHeldUp();
    }
  }

  override _flush(done: TransformCallback): void {
    try {
      this.#takeGathered();
    } catch (error) {
      done(error as Error);
      return;
    }
    this.#plan.plan.cutter.closeAll();
    this.#pushClosed();
    this.#stopTimers();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#stopTimers();
    this.#gathered = [];
    done(error);
  }

  #gather(row: unknown): void {
    this.#plan.checkRow(row);
    this.#gathered.push(row);
    const { rowColumns, maxWaitMs, clock } = this.#plan;
    if (!rowColumns.areFound) {
      // Their columns are not found yet, so they wait here.
      if (maxWaitMs !== undefined && !this.#overdue.isSet) {
        this.#overdue.set(clock.now() + maxWaitMs);
      }
    } else if (this.#gathered.length >= Math.min(chunkRows, this.#plan.window.roomForRows)) {
      this.#takeGathered();
    } else {
      // Rows that trickle in are not held back until the chunk is full.
      this.#flushSoon ??= setImmediate(() => this.#flushGathered());
    }
  }

  #flushGathered(): void {
    try {
      this.#takeGathered();
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #takeGathered(): void {
    clearImmediate(this.#flushSoon);
    this.#flushSoon = undefined;
    if (this.#gathered.length === 0 || this.destroyed) return;
    this.#plan.rowColumns.settle();
    const chunk = new ObjectChunk(this.#gathered, this.#plan.readColumns);
    this.#gathered = [];
    this.#take(chunk);
  }

  #take(chunk: RowChunk): void {
    const { plan, window } = this.#plan;
    const firstRow = window.nextRow;
    const tickets = plan.planner.plan(chunk, firstRow);
    window.takeIn(chunk.length, chunk.byteSize);
    if (this.#plan.maxWaitMs !== undefined) this.#arrivals.note(firstRow, this.#plan.clock.now());
    this.push({ kind: 'rows', plan: this.#plan, firstRow, chunk, tickets } satisfies Parcel);
    this.#pushClosed();
    this.#watchTheClock();
  }

  #pushClosed(): void {
    const { window, plan } = this.#plan;
    for (const batch of plan.cutter.take()) {
      window.batchClosed();
      this.push({
        kind: 'batch',
        batch: window.isOpen ? this.#handOver(batch) : batch,
      } satisfies Parcel);
    }
  }

  /** No join will drop the file: the batch keeps it for itself. */
  #handOver(batch: Batch): Batch {
    const { storage } = this.#plan;
    const blocks = [...storage.open(batch.id)];
    storage.drop(batch.id);
    return { ...batch, open: () => blocks };
  }

  #windowChanged(): void {
    if (!this.#resume || this.destroyed) return;
    if (this.#plan.window.roomForRows > 0) {
      const resume = this.#resume;
      this.#resume = undefined;
      resume();
    } else {
      this.#closeHeldUp();
    }
  }

  /**
   * The oldest waiting row, if it waits for an open batch, waits for the one open longest. As many are closed
   * as the service has places for, but none that only younger rows wait for: it may still fill while older
   * batches are under way.
   */
  #closeHeldUp(): void {
    const { window, concurrency } = this.#plan;
    const { cutter } = this.#plan.plan;
    while (window.underWay < concurrency) {
      const opener = cutter.oldestOpenedAt();
      if (opener === undefined || !window.isOld(opener)) return;
      cutter.closeOldest();
      this.#pushClosed();
    }
  }

  #watchTheClock(): void {
    if (this.#plan.maxWaitMs === undefined || this.#overdue.isSet) return;
    const dueAt = this.#dueAt(this.#plan.maxWaitMs);
    if (dueAt === undefined) this.#arrivals.forget();
    else this.#overdue.set(dueAt);
  }

  #closeOverdue(): void {
    this.#flushGathered();
    const { maxWaitMs = 0, clock, plan } = this.#plan;
    if (this.destroyed) return;
    while ((this.#dueAt(maxWaitMs) ?? Infinity) <= clock.now()) plan.cutter.closeOldest();
    this.#pushClosed();
    this.#watchTheClock();
  }

  /** When the oldest open batch must be sent. */
  #dueAt(maxWaitMs: number): number | undefined {
    const opener = this.#plan.plan.cutter.oldestOpenedAt();
    return opener === undefined ? undefined : this.#arrivals.of(opener) + maxWaitMs;
  }

  #stopTimers(): void {
    clearImmediate(this.#flushSoon);
    this.#overdue.stop();
  }
}

function isRowChunk(item: unknown): item is RowChunk {
  return (
    typeof item === 'object' &&
    item !== null &&
    'text' in item &&
    typeof item.text === 'function' &&
    'length' in item &&
    typeof item.length === 'number'
  );
}

/** When rows came in, to about a thousandth of their longest wait. */
export class ArrivalTimes {
  readonly #grainMs: number;
  /** First rows of stretches that came in at about the same time. */
  #noted: { readonly row: number; readonly at: number }[] = [];

  constructor(maxWaitMs: number) {
    this.#grainMs = maxWaitMs / 1000;
  }

  /** @param row number of the first row that came in then, in ascending order */
  note(row: number, at: number): void {
    const latest = this.#noted.at(-1);
    // Single notes would outnumber the waiting rows.
    if (!latest || at - latest.at >= this.#grainMs) this.#noted.push({ row, at });
  }

  /** When a row came in, or a little before. Notes of earlier ones are dropped. @throws RangeError without a note */
  of(row: number): number {
    const place = this.#noted.findLastIndex((noted) => noted.row <= row);
    const noted = this.#noted[place];
    if (!noted) throw new RangeError(`nothing is noted of row ${row}`);
    this.#noted = this.#noted.slice(place);
    return noted.at;
  }

  forget(): void {
    this.#noted = [];
  }
}
