import { pipeline, Stream, type Duplex, type Readable } from 'node:stream';
import { checkHistoryService } from '../batches/check-history-service.js';
import type { BatchProgress } from '../batches/batch-progress.js';
import type { ColumnOptions } from '../batches/column-layout.js';
import { ConfigurationError } from '../errors/family.js';
import { checkOptions } from '../options/check-options.js';
import type { Needed } from '../options/needed.js';
import { DriveBatches } from './drive-batches.js';
import type { AddedField } from '../results/columns.js';
import type { Row } from '../rows/object-chunk.js';
import { joinChunks, joinResults } from './join-results.js';
import { PatientDuplex } from './patient-duplex.js';
import type { RowsInput } from '../rows/rows-source.js';
import { checkRow } from './first-rows.js';
import type { EnrichedRow, PhoneColumn, RowStream, TextColumn } from './enriched-row.js';
import type { LaneChoice, VerifySettings } from './stream-options.js';
import { verifyShape } from './stream-shape.js';
import { StreamPlan } from './stream-plan.js';
import { rowsToBatches } from './rows-to-batches.js';
import { batchProgress, RowCount } from './verify-progress.js';

/**
 * A Duplex: row objects in, enriched row objects out, as many and in the same order. Rows wait in
 * memory for their results, at most `maxWaitingRows` of them. Not durable: what was paid is lost with
 * the process.
 *
 * Rows of a type of their own keep it: `verify<Contact>()(options)`. For a loop over rows that a program
 * has, {@link verifyRows} is the shorter way.
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
  const Prefix = unknown,
  const Chosen extends AddedField = never,
  Given = unknown,
>(
  options: TypedOptions<Row, Email | AnyOfRowType<Email>, Phone, Prefix, Chosen> &
    Needed<Given, LaneChoice> &
    NoRowType<Email>,
): RowStream<Row, EnrichedRow<Row, Extract<Email, string>, Phone, Prefix, Chosen>>;
export function verify(
  ...given: readonly [] | readonly [VerifySettings]
): Duplex | ((options: never) => Duplex) {
  return given.length === 0 ? createVerify : createVerify(given[0]);
}

/**
 * Takes the options of `verify()` where the rows have a type of their own: all else follows from the
 * options, as no call can have some of its types given and the others inferred.
 */
export type TypedVerify<Input extends object> = <
  const Email extends TextColumn<Input> = never,
  const Phone extends PhoneColumn<Input> = never,
  const Prefix = unknown,
  const Chosen extends AddedField = never,
  Given = unknown,
>(
  options: TypedOptions<Input, Email, Phone, Prefix, Chosen> & Needed<Given, LaneChoice>,
) => RowStream<Input, EnrichedRow<Input, Email, Phone, Prefix, Chosen>>;

/** Options whose values decide the type of the rows. */
export interface TypedOptions<Input, Email, Phone, Prefix, Chosen>
  extends
    Omit<VerifySettings, keyof ColumnOptions>,
    ColumnOptions<
      Email,
      Phone,
      TextColumn<Input>,
      Prefix & PrefixedColumns<Prefix, Email | Phone>,
      Chosen
    > {}

/** Where the type of the rows is given in place of the columns: any, for that is not the mistake. */
type AnyOfRowType<Email> = [Email] extends [string] ? never : string;

/** The mistake: whoever makes it is told where the type belongs. */
type NoRowType<Email> = [Email] extends [string]
  ? unknown
  : { readonly error: 'write verify<Row>()(options), with a call for the type of the rows alone' };

/** Only what is verified has added columns: any other name is refused, with the reason in its type. */
type PrefixedColumns<Prefix, Verified> = {
  readonly [Column in Exclude<keyof Prefix, Verified> & string]: {
    readonly error: `${Column} is not verified`;
  };
};

/** Checks the options. */
export function createVerify(options: VerifySettings): Verify {
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

/** A field that some rows lack is in one of so many; a misspelt one is in none. */
const firstRows = 100;

type Done = (error?: Error | null) => void;

/** A coat over the three streams: one end of the pipeline to write to, the other to read from. */
class Verify extends PatientDuplex {
  readonly #plan: StreamPlan;
  readonly #head: Duplex;
  readonly #drive: Duplex;
  readonly #tail: Duplex;
  /** Settled when all three are closed. */
  readonly #closed: Promise<void>;
  readonly #signal: AbortSignal | undefined;
  readonly #count: RowCount | undefined;
  /** Begins to write the rows that it has of its own. */
  #feed: (() => void) | undefined;
  /** Whether the reader takes more. */
  #isWanted = false;
  /** Whether it has had rows of its own. */
  #isFed = false;
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
    this.#plan = plan;
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

  /** Has it take these rows, from the moment that its reader asks for the first. */
  over(rows: RowsInput): this {
    this.#isFed = true;
    this.#plan.firstRows.most = firstRows;
    const given = rows instanceof Stream ? (rows as Readable) : rowByRow(rows);
    this.#feed = () => pipeline(given, this as Duplex, () => undefined);
    // An error that comes before its reader is kept for it, and ends no process.
    return this.on('error', () => undefined);
  }

  /** @throws ConfigurationError in a second loop over rows of its own: they are gone */
  override [Symbol.asyncIterator](): ReturnType<Duplex[typeof Symbol.asyncIterator]> {
    if (this.#isFed && this.#feed === undefined) {
      throw new ConfigurationError(
        'these rows can be looped over once: keep them in an array, or call verifyRows() again, which pays again',
      );
    }
    return super[Symbol.asyncIterator]();
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
    const feed = this.#feed;
    this.#feed = undefined;
    feed?.();
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

/** Rows by their numbers: a stream takes no null, and says nothing of the row. */
function rowByRow(rows: RowsInput): Iterable<object> | AsyncIterable<object> {
  let number = 0;
  const checked = (row: unknown): object => {
    number += 1;
    checkRow(row, number);
    return row;
  };
  if (!(Symbol.asyncIterator in rows)) return mapEach(rows as Iterable<unknown>, checked);
  return mapEachAsync(rows as AsyncIterable<unknown>, checked);
}

function* mapEach<To>(items: Iterable<unknown>, map: (item: unknown) => To): Generator<To> {
  for (const item of items) yield map(item);
}

async function* mapEachAsync<To>(
  items: AsyncIterable<unknown>,
  map: (item: unknown) => To,
): AsyncGenerator<To> {
  for await (const item of items) yield map(item);
}
