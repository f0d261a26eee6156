import { pipeline, type Duplex } from 'node:stream';
import { checkHistoryService } from '../batches/check-history-service.js';
import type { BatchProgress } from '../batches/batch-progress.js';
import { checkOptions } from '../options/check-options.js';
import { DriveBatches } from './drive-batches.js';
import type { AddedField } from '../results/columns.js';
import type { Row } from '../rows/object-chunk.js';
import { joinChunks, joinResults } from './join-results.js';
import { PatientDuplex } from './patient-duplex.js';
import type { EnrichedRow, RowStream, TextColumn } from './enriched-row.js';
import type { VerifyOptions, VerifySettings } from './stream-options.js';
import { verifyShape } from './stream-shape.js';
import { StreamPlan } from './stream-plan.js';
import { rowsToBatches } from './rows-to-batches.js';
import { batchProgress, RowCount } from './verify-progress.js';

/**
 * A Duplex: row objects in, enriched row objects out, as many and in the same order. Rows wait in
 * memory for their results, at most `maxWaitingRows` of them. Not durable: what was paid is lost with
 * the process.
 *
 * Rows of a type of their own keep it: `verify<Contact>()(options)`.
 *
 * @throws ConfigurationError at once; as the stream's error whatever stops the run
 *
 * @example
 * ```ts
 * const rows = Readable.from([{ id: 1, email: 'good@sluice.test' }]);
 * for await (const row of rows.pipe(verify({ client, email: ['email'], country: 'US' }))) {
 *   console.log(row.id, row.email_valid); // 1 true
 * }
 * ```
 */
export function verify<Input extends object>(): VerifyRows<Input>;
export function verify<
  const Email extends string = never,
  const Phone extends string = never,
  const Prefix = unknown,
  const Chosen extends AddedField = never,
>(
  options: TypedOptions<Email, Phone, Prefix, Chosen>,
): RowStream<Row, EnrichedRow<Row, Email, Phone, Prefix, Chosen>>;
export function verify(
  ...given: readonly [] | readonly [VerifyOptions]
): Duplex | ((options: VerifyOptions) => Duplex) {
  return given.length === 0 ? createVerify : createVerify(given[0]);
}

/**
 * Takes the options of `verify()` where the rows have a type of their own: all else follows from the
 * options, as no call can have some of its types given and the others inferred.
 */
export type VerifyRows<Input extends object> = <
  const Email extends TextColumn<Input> = never,
  const Phone extends TextColumn<Input> = never,
  const Prefix = unknown,
  const Chosen extends AddedField = never,
>(
  options: TypedOptions<Email, Phone, Prefix, Chosen>,
) => RowStream<Input, EnrichedRow<Input, Email, Phone, Prefix, Chosen>>;

/** Options whose values decide the type of the rows. */
type TypedOptions<Email, Phone, Prefix, Chosen> = VerifyOptions & {
  readonly email?: readonly Email[];
  readonly phone?: readonly Phone[];
  readonly prefix?: Prefix;
  readonly columns?: readonly Chosen[];
};

function createVerify(options: VerifyOptions): Duplex {
  checkOptions(options, verifyShape);
  const { client, history } = options;
  if ('baseUrl' in client) checkHistoryService(history, String(client.baseUrl));
  const plan = new StreamPlan(options);
  const { onProgress } = options;
  if (!onProgress) return new Verify(plan, joinResults(plan), options);
  const onBatch = (progress: BatchProgress): void => {
    options.onBatch?.(progress);
    onProgress(batchProgress(progress));
  };
  const count = new RowCount(onProgress);
  return new Verify(plan, joinResults(plan), { ...options, onBatch }, count);
}

/** The same for rows that travel as chunks: stretches of them come out, to be released when written. */
export function verifyChunks(
  plan: StreamPlan,
  options: Omit<VerifySettings, 'onProgress'>,
): Duplex {
  return new Verify(plan, joinChunks(plan), options);
}

type Done = (error?: Error | null) => void;

/** A coat over the three streams: one end of the pipeline to write to, the other to read from. */
class Verify extends PatientDuplex {
  readonly #head: Duplex;
  readonly #drive: Duplex;
  readonly #tail: Duplex;
  /** Settled when all three are closed. */
  readonly #closed: Promise<void>;
  readonly #signal: AbortSignal | undefined;
  readonly #count: RowCount | undefined;
  /** Whether the reader takes more. */
  #isWanted = false;
  /** Held back while the head takes no more. */
  #written: Done | undefined;
  readonly #onAbort = (): void => {
    this.destroy(this.#signal?.reason as Error);
  };

  constructor(
    plan: StreamPlan,
    tail: Duplex,
    options: Omit<VerifySettings, 'onProgress'>,
    count?: RowCount,
  ) {
    super({ objectMode: true });
    this.#count = count;
    this.#head = rowsToBatches(plan);
    this.#tail = tail;
    const drive = new DriveBatches({
      ...options,
      collect: async (batch, open) => plan.plan.join.match(batch, open),
    });
    this.#drive = drive;
    this.#closed = new Promise((resolve) => {
      pipeline(this.#head, drive, tail, (error) => {
        // Rows whose results were paid for come out before the error that says why no more come.
        if (error && error === drive.stoppedBy) this.whenAsked(() => this.destroy(error));
        else if (error) this.destroy(error);
        resolve();
      });
    });
    this.#head.on('drain', () => this.#drained());
    tail.on('readable', () => this.#pull());
    tail.on('end', () => {
      this.#count?.allOut();
      this.push(null);
    });
    this.#signal = options.signal;
    // Not at once: nobody would hear of it yet.
    if (this.#signal?.aborted === true) process.nextTick(this.#onAbort);
    else this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  override _write(item: unknown, _encoding: string, done: Done): void {
    this.#count?.in();
    if (this.#head.write(item)) done();
    else this.#written = done;
  }

  override _final(done: Done): void {
    this.#count?.allIn();
    this.#head.end();
    done();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#pull();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    // Each of them: one that has ended passes nothing on to those behind it.
    for (const stream of [this.#head, this.#drive, this.#tail]) stream.destroy(error ?? undefined);
    void this.#closed.then(() => done(error));
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
