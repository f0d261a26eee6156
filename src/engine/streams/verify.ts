import { pipeline, type Duplex } from 'node:stream';
import type { VerificationService } from '../../client/client.js';
import { addCleanUp, cleanUpMs } from '../../client/clean-ups.js';
import type { OnNotice } from '../../platform/text/notices.js';
import { checkHistoryService } from '../plan/result-cache.js';
import { CalledBack, onAbort } from '../../platform/waiting/promises.js';
import { checkOptions } from '../../platform/check-options.js';
import type { Needed } from '../../platform/option-kinds.js';
import { SettledDeletions } from './stream-deletions.js';
import { DriveBatches } from './drive-batches.js';
import { type SettledParcel, PatientDuplex } from './parcel.js';
import type { AddedField } from '../columns/added-fields.js';
import type { Row } from '../../lists/rows/chunks/object-chunk.js';
import { joinChunks, joinResults } from './join-results.js';
import { inScope, publish, codeOf, ObservedRun } from '../../platform/observability.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { mayHaveLaunched } from '../batches/batch-state.js';
import { batchStage } from '../batches/claim.js';
import { LaunchNotes } from '../driver/collect-launched.js';
import type { EnrichedRow, OpenFields, RowStream, SureFields } from './enriched-row.js';
import {
  type TargetChoice,
  type VerifyProgress,
  type VerifySettings,
  verifyShape,
  type NoRowType,
  type Prefixes,
  type Refused,
  type TypedOptions,
  type TypedVerify,
} from './stream-options.js';
import { StreamPlan } from './stream-plan.js';
import { rowsToBatches } from './rows-to-batches.js';

/**
 * A Duplex: row objects in, enriched row objects out, as many and in the same order. At most `maxWaitingRows`
 * rows wait in memory for their results. Not durable without a history: results of rows that have not come
 * out are lost when the stream ends early.
 *
 * Typed rows keep their type: `verify<Contact>()(options)`. For a loop over a program's rows {@link
 * verifyRows} is shorter.
 *
 * @throws ConfigurationError at once; as the stream's error whatever stops the run
 *
 * @example
 * ```ts
 * const rows = [{ id: 1, email: 'good@sluice.test' }];
 * await pipeline(rows, verify({ client, email: ['email'], country: 'US' }), async (verified) => {
 *   for await (const row of verified) console.log(row.id, row.email_valid); // 1 true
 * });
 * ```
 */
export function verify<Input extends object>(): TypedVerify<Input>;
export function verify<
  const Email extends string | object = never,
  const Phone extends string = never,
  const Prefix extends Prefixes = {},
  const Chosen extends AddedField = never,
  const Given = unknown,
>(
  options: TypedOptions<Row, Email, Phone, Prefix, Chosen> &
    Needed<Given, TargetChoice> &
    Refused<Given> &
    NoRowType<Email>,
): RowStream<
  Row,
  EnrichedRow<
    Row,
    Extract<Email, string>,
    Phone,
    Prefix,
    Chosen,
    SureFields<Given>,
    OpenFields<Given>
  >
>;
export function verify(
  ...given: readonly [] | readonly [VerifySettings]
): Duplex | ((options: never) => Duplex) {
  return given.length === 0 ? createVerify : createVerify(given[0]);
}

function createVerify(options: VerifySettings): Duplex {
  const plan = planOf(options);
  return new Verify(plan, joinResults(plan), options);
}

export function planOf(options: VerifySettings): StreamPlan {
  checkOptions(options, verifyShape);
  const { client, history } = options;
  checkHistoryService(history, 'baseUrl' in client ? String(client.baseUrl) : undefined);
  return new StreamPlan(options, undefined);
}

/** The same for chunks: stretches of rows come out, to be released when written. */
export function verifyChunks(
  plan: StreamPlan,
  options: Omit<VerifySettings, 'onProgress'> & PlanningOptions,
): Duplex {
  return new Verify(plan, joinChunks(plan), { ...options, isPartOfRun: true });
}

interface PlanningOptions {
  readonly onNotice?: OnNotice | undefined;
  /** Called when all rows are in and their batches made. */
  readonly onPlanned?: () => void;
  /** Whether it belongs to a run that reports itself. */
  readonly isPartOfRun?: boolean;
}

type Done = (error?: Error | null) => void;

/** A wrapper of the three streams: written at one end of the pipeline, read at the other. */
export class Verify extends PatientDuplex {
  readonly #client: VerificationService;
  readonly #head: Duplex;
  readonly #drive: Duplex;
  readonly #tail: Duplex;
  readonly #forgetSignal: () => void;
  /** Undefined in a run that reports itself. */
  readonly #count: RowCount | undefined;
  /** From the first row on. */
  #run: ObservedRun | undefined;
  #hasFailed = false;
  /** Whether something was launched that no history keeps. */
  #isPaid = false;
  readonly #calledBack = new CalledBack((error) => this.destroy(error as Error));
  readonly #notes: LaunchNotes;
  readonly #deletions: SettledDeletions | undefined;
  #isWanted = false;
  /** Withheld while the head accepts no more. */
  #written: Done | undefined;

  constructor(plan: StreamPlan, tail: Duplex, options: VerifySettings & PlanningOptions) {
    super({ objectMode: true });
    this.#client = options.client;
    const onProgress = this.#calledBack.watch(options.onProgress);
    const onBatch = this.#calledBack.watch(options.onBatch);
    const onLeftBehind = this.#calledBack.watch(options.onLeftBehind);
    if (options.isPartOfRun !== true) {
      this.#count = new RowCount((progress) => {
        if (this.#run) publish('sluice:run:stage', { run: this.#run.id, ...progress });
        onProgress?.(progress);
      });
    }
    if (options.deleteBatches === true) {
      const watched = { ...options, onLeftBehind };
      this.#deletions = new SettledDeletions(watched, (error) => this.destroy(error));
    }
    this.#head = rowsToBatches(plan);
    this.#tail = tail;
    this.#notes = new LaunchNotes({ ...options, onLeftBehind });
    const drive = new DriveBatches(
      {
        ...options,
        keepsBatches: options.deleteBatches !== true,
        inRun: (work) => (this.#run ? inScope({ run: this.#run.id }, work) : work()),
        onBatch: (progress) => {
          this.#deletions?.note(progress);
          this.#isPaid ||= options.history === undefined && mayHaveLaunched(progress.state);
          onBatch?.(progress);
          onProgress?.(batchStage(progress));
        },
        match: async (batch, open) => plan.plan.join.match(batch, open),
      },
      this.#notes,
    );
    this.#drive = drive;
    this.#join(drive);
    this.#head.on('end', () => options.onPlanned?.());
    const { signal } = options;
    const abort = (): void => void this.destroy(signal?.reason as Error);
    this.#forgetSignal = onAbort(signal, abort);
    // Deferred: nobody listens to the stream yet.
    if (signal?.aborted === true) process.nextTick(abort);
  }

  /** Joins the three streams, and this one's ends to theirs. */
  #join(drive: DriveBatches): void {
    const tail = this.#tail;
    tail.on('settled', (parcel: SettledParcel) => {
      if ('failure' in parcel.ending) this.#hasFailed = true;
      this.#deletions?.settled(parcel);
    });
    this.once('end', () => {
      this.#run?.finish({ rows: this.#count?.rowsOut ?? 0, hasFailed: this.#hasFailed });
    });
    const fail = (error: Error): void => {
      // The same rows in another stream would be paid again.
      if (this.#isPaid && isSluiceError(error)) Object.assign(error, { retryable: false });
      // Paid rows come out before the error that explains the missing ones.
      if (error === drive.stoppedBy) this.whenAsked(() => this.destroy(error));
      else this.destroy(error);
    };
    // The pipeline is over when all results are in: failures of rows on their way out are reported here.
    tail.on('error', fail);
    pipeline(this.#head, drive, tail, (error) => {
      if (error) fail(error);
    });
    this.#head.on('drain', () => this.#drained());
    tail.on('readable', () => this.#pull());
    tail.on('end', () => {
      this.#count?.allOut();
      const deleted = this.#deletions?.done() ?? Promise.resolve();
      deleted
        .then(async () => this.#calledBack.settled())
        .then(
          () => this.push(null),
          () => undefined,
        );
    });
  }

  override _write(item: unknown, _encoding: string, done: Done): void {
    this.#begin();
    this.#count?.in();
    const collected = this.#notes.collect();
    if (collected) collected.then(() => this.#pass(item, done), done);
    else this.#pass(item, done);
  }

  override _final(done: Done): void {
    this.#begin();
    this.#count?.allIn();
    this.#head.end();
    done();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#pull();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#forgetSignal();
    // Each of them: a finished one passes nothing on.
    const streams = [this.#head, this.#drive, this.#tail];
    for (const stream of streams) stream.destroy(error ?? undefined);
    this.#notes.leave(error ?? new Error('the stream was closed'));
    // The pipeline would wait for ever for a stream that was closed early.
    const closed = streams.map(async (stream) => {
      if (!stream.closed) await new Promise((resolve) => void stream.once('close', resolve));
    });
    const cleanUp = Promise.all(closed)
      .then(async () => this.#deletions?.leave(cleanUpMs))
      .finally(() => this.#run?.fail(error ? codeOf(error) : 'aborted'));
    addCleanUp(this.#client, cleanUp);
    void cleanUp.then(() => done(error), done);
  }

  #begin(): void {
    if (!this.#count) return;
    this.#run ??= new ObservedRun({ kind: 'streaming', input: 'rows', output: 'rows' });
  }

  #pass(item: unknown, done: Done): void {
    if (this.#head.write(item)) done();
    else this.#written = done;
  }

  #drained(): void {
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }

  #pull(): void {
    while (this.#isWanted) {
      const item: unknown = this.#tail.read();
      if (item === null) return;
      this.#count?.out();
      this.#isWanted = this.push(item);
    }
  }
}

type CountedProgress = Exclude<VerifyProgress, { readonly stage: 'batch' }>;

/** Rows are reported in hundreds: single reports would cost too much. */
const rowsBetween = 100;

class RowCount {
  readonly #onProgress: (progress: CountedProgress) => void;
  #in = 0;
  #out = 0;

  constructor(onProgress: (progress: CountedProgress) => void) {
    this.#onProgress = onProgress;
  }

  get rowsOut(): number {
    return this.#out;
  }

  in(): void {
    this.#in += 1;
    if (this.#in % rowsBetween === 0) this.#onProgress({ stage: 'reading', rows: this.#in });
  }

  allIn(): void {
    this.#onProgress({ stage: 'read', rows: this.#in });
  }

  out(): void {
    this.#out += 1;
    if (this.#out % rowsBetween === 0) this.#onProgress({ stage: 'writing', rows: this.#out });
  }

  allOut(): void {
    this.#onProgress({ stage: 'written', rows: this.#out });
  }
}
