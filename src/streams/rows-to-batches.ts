import { Transform, type TransformCallback } from 'node:stream';
import { ObjectChunk, type Row } from '../rows/object-chunk.js';
import type { RowChunk } from '../rows/row-chunk.js';
import type { Parcel } from './parcel.js';
import type { StreamPlan } from './stream-plan.js';

/** Single rows are gathered into chunks of so many. */
const chunkRows = 256;

/**
 * Makes batches of rows: rows in (objects, one by one, or chunks of them), parcels out (the rows, and
 * each batch as it is closed). It takes no more rows while too many wait, and then closes early the
 * batches that hold up the oldest of them.
 *
 * @example
 * const plan = new StreamPlan({ email: ['email'], country: 'US' });
 * for await (const parcel of Readable.from(rows).compose(rowsToBatches(plan))) {
 *   if (parcel.kind === 'batch') await writeFile(`${parcel.batch.id}.txt`, parcel.batch.open());
 * }
 */
export function rowsToBatches(plan: StreamPlan): Transform {
  return new RowsToBatches(plan);
}

class RowsToBatches extends Transform {
  readonly #plan: StreamPlan;
  #gathered: Row[] = [];
  #isChecked = false;
  #flushSoon: NodeJS.Immediate | undefined;
  #waitTimer: NodeJS.Timeout | undefined;
  /** Held back while too many rows wait. */
  #resume: TransformCallback | undefined;

  constructor(plan: StreamPlan) {
    super({ objectMode: true, writableHighWaterMark: 1, readableHighWaterMark: 1 });
    this.#plan = plan;
    plan.window.onChange = () => this.#windowChanged();
  }

  override _transform(item: Row | RowChunk, _encoding: string, done: TransformCallback): void {
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
    this.#takeGathered();
    this.#plan.plan.cutter.closeAll();
    this.#pushClosed();
    this.#stopTimers();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#stopTimers();
    done(error);
  }

  #gather(row: Row): void {
    if (!this.#isChecked) this.#plan.checkFirstRow(row);
    this.#isChecked = true;
    this.#gathered.push(row);
    if (this.#gathered.length >= Math.min(chunkRows, this.#plan.window.roomForRows)) {
      this.#takeGathered();
    } else {
      // Rows that trickle in are not held back for the chunk to fill.
      this.#flushSoon ??= setImmediate(() => this.#takeGathered());
    }
  }

  #takeGathered(): void {
    clearImmediate(this.#flushSoon);
    this.#flushSoon = undefined;
    if (this.#gathered.length === 0 || this.destroyed) return;
    const chunk = new ObjectChunk(this.#gathered, this.#plan.readColumns);
    this.#gathered = [];
    this.#take(chunk);
  }

  #take(chunk: RowChunk): void {
    const { plan, window } = this.#plan;
    const tickets = plan.planner.plan(chunk, performance.now());
    window.takeIn(chunk.length, chunk.byteSize);
    this.#pushParcel({ kind: 'rows', chunk, tickets });
    this.#pushClosed();
    this.#watchTheClock();
  }

  #pushClosed(): void {
    for (const batch of this.#plan.plan.cutter.take()) {
      this.#plan.window.batchClosed();
      this.#pushParcel({ kind: 'batch', batch });
    }
  }

  #pushParcel(parcel: Parcel): void {
    this.push(parcel);
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
   * The batch that has been open longest is the one the oldest waiting row waits for, if that row waits
   * for an open one at all. As many are closed as the service has places for.
   */
  #closeHeldUp(): void {
    const { window, concurrency } = this.#plan;
    const { cutter } = this.#plan.plan;
    while (window.underWay < concurrency && cutter.oldestOpenedAt() !== undefined) {
      cutter.closeOldest();
      this.#pushClosed();
    }
  }

  #watchTheClock(): void {
    const { maxWaitMs } = this.#plan;
    const { cutter } = this.#plan.plan;
    const openedAt = cutter.oldestOpenedAt();
    if (maxWaitMs === undefined || openedAt === undefined || this.#waitTimer) return;
    const left = Math.max(0, openedAt + maxWaitMs - performance.now());
    this.#waitTimer = setTimeout(() => this.#closeOverdue(maxWaitMs), left);
  }

  #closeOverdue(maxWaitMs: number): void {
    this.#waitTimer = undefined;
    const { cutter } = this.#plan.plan;
    for (;;) {
      const openedAt = cutter.oldestOpenedAt();
      if (openedAt === undefined || performance.now() < openedAt + maxWaitMs) break;
      cutter.closeOldest();
    }
    this.#pushClosed();
    this.#watchTheClock();
  }

  #stopTimers(): void {
    clearImmediate(this.#flushSoon);
    clearTimeout(this.#waitTimer);
    this.#waitTimer = undefined;
  }
}

function isRowChunk(item: Row | RowChunk): item is RowChunk {
  return typeof item['text'] === 'function' && typeof item.length === 'number';
}
