import { Transform, type TransformCallback } from 'node:stream';
import { ObjectChunk, type Row } from '../rows/object-chunk.js';
import type { JoinedRows } from '../rows/sink.js';
import { RowEnricher } from './row-enricher.js';
import { RowQueue } from './row-queue.js';
import type { Parcel, SettledParcel } from './parcel.js';
import type { StreamPlan } from './stream-plan.js';

/**
 * Joins results onto rows: parcels in (rows, and settled batches), enriched rows out, one by one, in
 * the order in which they came.
 */
export function joinResults(plan: StreamPlan): Transform {
  const enricher = new RowEnricher(plan.plan);
  return new JoinResults(plan, (joined, push) => {
    if (!(joined.chunk instanceof ObjectChunk)) {
      throw new TypeError('rows that are no objects are joined as stretches of their chunks');
    }
    let more = true;
    for (let row = joined.from; row < joined.to; row += 1) {
      more = push(enricher.enrich(joined.chunk.rows[row] as Row, joined, row));
    }
    releaseStretch(plan, joined);
    return more;
  });
}

/** The same for rows that travel as chunks: stretches out, which the consumer releases when written. */
export function joinChunks(plan: StreamPlan): Transform {
  return new JoinResults(plan, (joined, push) => push(joined));
}

/** Makes room for as many rows as a stretch holds. */
export function releaseStretch(plan: StreamPlan, joined: JoinedRows): void {
  const isLast = joined.to === joined.chunk.length;
  plan.window.release(joined.to - joined.from, isLast ? joined.chunk.byteSize : 0);
}

type Emit = (joined: JoinedRows, push: (item: unknown) => boolean) => boolean;

class JoinResults extends Transform {
  readonly #plan: StreamPlan;
  readonly #queue: RowQueue;
  readonly #emit: Emit;
  /** Held back while the consumer does not read. */
  #resume: TransformCallback | undefined;
  readonly #push = (item: unknown): boolean => this.push(item);

  constructor(plan: StreamPlan, emit: Emit) {
    super({ objectMode: true });
    this.#plan = plan;
    this.#queue = new RowQueue(plan.plan.book, plan.plan.width);
    this.#emit = emit;
  }

  override _transform(parcel: Parcel, _encoding: string, done: TransformCallback): void {
    switch (parcel.kind) {
      case 'rows':
        this.#queue.add(parcel.chunk, parcel.tickets);
        this.#pump(done);
        return;
      case 'settled':
        this.#settle(parcel).then(() => this.#pump(done), done);
        return;
      case 'batch':
        done(new TypeError('a batch came to the join without having been driven'));
    }
  }

  override _flush(done: TransformCallback): void {
    this.#pump((error) => {
      if (error || this.#queue.isEmpty) done(error);
      else done(new TypeError('rows are left whose batches never came to the join'));
    });
  }

  override _read(size: number): void {
    const resume = this.#resume;
    if (!resume) {
      super._read(size);
      return;
    }
    this.#resume = undefined;
    this.#pump(resume);
  }

  async #settle(parcel: SettledParcel): Promise<void> {
    const { plan, storage, window } = this.#plan;
    await plan.join.settle(parcel.batch, parcel.ending);
    storage.drop(parcel.batch.id);
    window.batchSettled();
  }

  #pump(done: TransformCallback): void {
    try {
      for (let joined = this.#queue.take(); joined; joined = this.#queue.take()) {
        if (!this.#emit(joined, this.#push)) {
          this.#resume = done;
          return;
        }
      }
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  }
}
