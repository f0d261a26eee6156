import type { Duplex } from 'node:stream';
import type { Row } from '../../lists/rows/chunks/object-chunk.js';
import type { JoinedRows } from '../../lists/rows/sink.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { ContractError } from '../../platform/errors/service-errors.js';
import { faultOfExport } from '../../platform/text/notices.js';
import type { Batch } from '../batches/batch.js';
import { askingsForFew, checkExport, tallyOf } from '../batches/export-check.js';
import type { Outcome } from '../results/outcome-table.js';
import type { BatchEnding } from '../plan/result-join.js';
import { RowEnricher, type RowStream } from './enriched-row.js';
import {
  type Parcel,
  type RowsParcel,
  isCompared,
  type SettledParcel,
  strangerError,
  PatientDuplex,
} from './parcel.js';
import { checkPlan, type StreamPlan } from './stream-plan.js';
import { RowQueue } from './row-queue.js';

/**
 * Joins results onto rows: parcels in (rows and settled batches), enriched rows out, one by one, in their
 * order.
 *
 * @example
 * ```ts
 * const plan = new StreamPlan({ email: ['email'], country: 'US' });
 * await pipeline(
 *   Readable.from([{ email: 'good@sluice.test' }]),
 *   rowsToBatches(plan),
 *   driveBatches({ client }),
 *   joinResults(plan),
 *   async (rows) => {
 *     for await (const row of rows) console.log(row.email_valid); // true
 *   },
 * );
 * ```
 */
export function joinResults(plan: StreamPlan): RowStream<Parcel, Row>;
export function joinResults(plan: StreamPlan): Duplex {
  checkPlan(plan);
  const enricher = new RowEnricher(plan.plan);
  return new JoinResults(plan, (joined) =>
    enricher.rowsOf(joined, () => releaseStretch(plan, joined)),
  );
}

/** The same for chunks: stretches of rows out, which the consumer releases when written. */
export function joinChunks(plan: StreamPlan): Duplex {
  return new JoinResults(plan, (joined) => [joined].values());
}

/** Frees the room of a stretch's rows. */
export function releaseStretch(plan: StreamPlan, joined: JoinedRows): void {
  const isLast = joined.to === joined.chunk.length;
  plan.window.release(joined.to - joined.from, isLast ? joined.chunk.byteSize : 0);
}

type Done = (error?: Error | null) => void;

/** Emits `settled` with each batch whose results are stored. */
class JoinResults extends PatientDuplex {
  readonly #plan: StreamPlan;
  readonly #queue: RowQueue;
  #rows = 0;
  /** The items to push for a stretch. */
  readonly #itemsOf: (joined: JoinedRows) => Iterator<unknown>;
  #leaving: Iterator<unknown> | undefined;
  /** By batch: its settled addresses, while some of its parts are unsettled. */
  readonly #settledInParts = new Map<number, number>();
  /** Whether the reader wants more. Parcels are accepted in any case: the window bounds their rows. */
  #isWanted = false;
  /** Releasing rows lets more come in at once, within the push. */
  #isPushing = false;
  /** Called when everything settled has left. */
  #onAllGone: (() => void) | undefined;

  constructor(plan: StreamPlan, itemsOf: (joined: JoinedRows) => Iterator<unknown>) {
    // One parcel at a time, so that nothing is read past the one that announces the stop.
    super({ objectMode: true, writableHighWaterMark: 1 });
    this.#plan = plan;
    this.#queue = new RowQueue(plan.plan.book, plan.plan.width);
    this.#itemsOf = itemsOf;
    plan.window.close();
  }

  override _write(parcel: Parcel, _encoding: string, done: Done): void {
    switch (parcel.kind) {
      case 'rows':
        done(this.#add(parcel));
        return;
      case 'settled':
        this.#settle(parcel).then(() => done(), done);
        return;
      case 'stopped':
        this.#stop(() => done(parcel.error));
        return;
      case 'batch':
        done(
          new ConfigurationError(
            'a batch came to joinResults() without having been driven',
            misuse,
          ),
        );
        return;
      default:
        done(strangerError('joinResults() takes what driveBatches() gives', parcel));
    }
  }

  override _final(done: Done): void {
    this.#onAllGone = () => {
      if (this.#rows !== this.#plan.window.nextRow) this.destroy(rowsMissing(this.#rows));
      else if (this.#queue.isEmpty) this.push(null);
      else {
        const why = 'rows are left whose batches never came to joinResults(): pass every parcel on';
        this.destroy(new ConfigurationError(why, misuse));
      }
    };
    this.#pushSettled();
    done();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#pushSettled();
  }

  /** Paid results come out before the error, also of rows with another, unlaunched address: that one becomes `failed`. */
  #stop(done: () => void): void {
    const { outcomes } = this.#plan.plan;
    this.#onAllGone = () => {
      this.#queue.settleUpToLast(
        (outcome) => isResult(outcomes.get(outcome)),
        outcomes.idOf('failed', 'not_finished'),
      );
      this.#onAllGone = () => this.whenAsked(done);
      this.#pushSettled();
    };
    this.#pushSettled();
  }

  /** Rows without possible results must neither wait for them nor be lost. */
  #add({ plan, firstRow, chunk, tickets }: RowsParcel): Error | undefined {
    if (plan !== this.#plan) {
      return new ConfigurationError('rows of another plan came to joinResults()', misuse);
    }
    if (firstRow !== this.#rows) return rowsMissing(this.#rows);
    this.#rows += chunk.length;
    this.#queue.add(chunk, tickets);
    this.#pushSettled();
    return undefined;
  }

  async #settle(parcel: SettledParcel): Promise<void> {
    const { plan, storage, window, history } = this.#plan;
    const { batch, batchUuid, charge } = parcel;
    if (!storage.has(batch.id)) {
      throw new ConfigurationError(
        `batch ${batch.id} came to joinResults() twice, or is of another plan`,
        misuse,
      );
    }
    const ending = await this.#heldToBatch(parcel);
    // Rows come out once their paid results are in the history.
    await plan.settle(batch, ending, {
      verifiedAt: new Date().toISOString(),
      batchUuid,
      charge,
      history,
    });
    if (this.#isLastOf(batch)) {
      storage.drop(batch.id);
      window.batchSettled();
    }
    this.emit('settled', parcel);
    this.#pushSettled();
  }

  /** Checks that a saved export is the batch's: rows at other times make other batches. @throws ContractError */
  async #heldToBatch({ batch, ending }: SettledParcel): Promise<BatchEnding> {
    if ('failure' in ending || isCompared(ending.results, batch)) return ending;
    if (typeof ending.results !== 'function') {
      const why = `the results of batch ${batch.id} are not its own: pass each parcel on as it came`;
      throw new ConfigurationError(why, misuse);
    }
    const results = await this.#plan.plan.join.match(batch, ending.results);
    const tally = { ...tallyOf(results), counted: null };
    const { doubt, exported } = await checkExport(batch, tally, askingsForFew - 1);
    const { strangers, missing = 0 } = exported;
    if (!doubt && (strangers === 0 || missing === 0)) return { results };
    const hint = tally.fault
      ? faultOfExport(tally.fault)
      : 'mergeExports() puts exports back onto rows by address';
    throw new ContractError(
      `what came as the export of batch ${batch.id} is not that: it lacks ${missing} of ${batch.addresses} addresses, and has ${strangers} others; ${hint}`,
      { operation: 'exportBatch' },
    );
  }

  /** Whether all of a batch is settled: its file is kept while a part is not. */
  #isLastOf({ id, addresses, part }: Batch): boolean {
    if (!part) return true;
    const settled = (this.#settledInParts.get(id) ?? 0) + addresses;
    if (settled < part.of) this.#settledInParts.set(id, settled);
    else this.#settledInParts.delete(id);
    return settled >= part.of;
  }

  #pushSettled(): void {
    if (this.#isPushing || this.destroyed) return;
    this.#isPushing = true;
    try {
      while (this.#isWanted) {
        const item = this.#next();
        if (item === undefined) break;
        this.#isWanted = this.push(item);
      }
    } catch (error) {
      this.destroy(error as Error);
    }
    this.#isPushing = false;
    if (this.#isWanted && !this.destroyed) this.#allGone();
  }

  #allGone(): void {
    const onAllGone = this.#onAllGone;
    this.#onAllGone = undefined;
    onAllGone?.();
  }

  #next(): unknown {
    for (;;) {
      const next = this.#leaving?.next();
      if (next && next.done !== true) return next.value;
      const joined = this.#queue.take();
      this.#leaving = joined && this.#itemsOf(joined);
      if (!joined) return undefined;
    }
  }
}

/** A stage between the Transforms has lost, repeated or mixed parcels. */
const misuse = { option: 'plan' } as const;

function rowsMissing(row: number): ConfigurationError {
  return new ConfigurationError(
    `row ${row + 1} did not come to joinResults() in its place: pass every parcel on, once and in order`,
    { ...misuse, rows: [row + 1], fault: 'missing' },
  );
}

function isResult({ verification }: Outcome): boolean {
  return verification === 'verified' || verification === 'no_result';
}
