import { inspect } from 'node:util';
import type { z } from 'zod';
import type {
  BatchDetails,
  BatchStatusAnswer,
  BatchSummary,
  CreditBalance,
  FormatAnswer,
  LaunchAnswer,
  PrepareAnswer,
  SuccessAnswer,
  UnitAnswer,
  UploadAnswer,
} from '../contract/bodies.js';
import { type OperationName, operations } from '../contract/operations.js';
import type {
  BatchParametersInput,
  ExportQueryInput,
  FormatForm,
  UnitRequest,
  UploadFormInput,
} from '../contract/parameters.js';
import type { BatchStatus } from '../contract/enums.js';
import { KeyRing } from './api-key.js';
import {
  BatchRound,
  type FileParameters,
  type FinishedBatch,
  type RoundOptions,
  type WaitOptions,
} from './batch-round.js';
import {
  type CallOptions,
  checkCallOptions,
  type ClientOptions,
  parseBaseUrl,
  parseClientOptions,
} from './client-options.js';
import { cleanedUp } from './clean-ups.js';
import { createDispatcher } from './http/connections.js';
import type { UploadFile } from './http/multipart.js';
import { type ExportAnswer, readExport, readJson } from './http/response.js';
import {
  type CallInput,
  createWireRequest,
  type WireRequest,
  type WireSettings,
} from './http/request.js';
import { intervalOf } from './rate/rate-limiter.js';
import type { SharedRate } from './rate/shared-rate.js';
import { Requests } from './requests.js';
import { type ListQuery, readBatchList, scanBatches } from './batch-list.js';

/**
 * The operations as methods, without a connection in them: what drives batches asks for this, so that a
 * service in memory can replace the one on the wire.
 */
export type VerificationService = Pick<Client, OperationName> &
  Partial<Pick<Client, 'giveUpAfterMs' | 'keyFingerprint'>>;

/**
 * The service's twelve operations. All calls of one client share its connections, its rate and its
 * concurrency, and wait together when the service asks for it. What may be repeated without harm is
 * repeated; an upload, a launch or a unit verification whose answer is lost is never sent again.
 *
 * Every method throws ConfigurationError (nothing was sent), ApiError (the service said no),
 * TransportError (no whole answer), ContractError (an answer unlike the specification), DeadlineError
 * `service_unavailable` (it has failed for `giveUpAfterMs`), or the signal's own reason.
 *
 * @example
 * ```ts
 * const client = new Client(service);
 * const { email_credit } = await client.credits();
 * console.log(email_credit > 0); // true
 * await client.close();
 * ```
 */
export class Client {
  readonly #wire: WireSettings;
  readonly #requests: Requests;
  readonly #keys: KeyRing | undefined;
  readonly #closeConnections: () => Promise<void>;
  /** From one request to the next, as it was given, in milliseconds; 0 where it was not. */
  readonly intervalMs: number;
  /** How long the service may fail at what it is asked for, in milliseconds. */
  readonly giveUpAfterMs: number;

  /** @throws ConfigurationError `invalid_option` */
  constructor(options: ClientOptions) {
    const settings = parseClientOptions(options);
    const base = parseBaseUrl(options.baseUrl, options);
    const keys = options.apiKey === undefined ? undefined : new KeyRing(options.apiKey);
    this.#keys = keys;
    const connections = options.dispatcher
      ? { dispatcher: options.dispatcher, close: async () => undefined }
      : createDispatcher({ ...settings, isLoopback: base.isLoopback });
    this.#wire = {
      base,
      hasKey: keys !== undefined,
      userAgent: settings.userAgent,
      isDefaultDispatcher: options.dispatcher === undefined,
    };
    this.#requests = new Requests({
      settings,
      dispatcher: connections.dispatcher,
      origin: base.origin,
      keys,
    });
    this.#closeConnections = connections.close;
    const { requestsPerMinute, giveUpAfterMs } = settings;
    this.giveUpAfterMs = giveUpAfterMs;
    this.intervalMs = requestsPerMinute === undefined ? 0 : intervalOf(requestsPerMinute);
  }

  /** Where the service is, as requests reach it. */
  get baseUrl(): string {
    return `${this.#wire.base.origin}${this.#wire.base.prefix}`;
  }

  /**
   * Distinguishes one key from another without holding it: a keyed hash, in hex; empty without a key.
   *
   * @param salt secret and random, so that a key cannot be found by trying
   * @throws ConfigurationError `invalid_option`: the function `apiKey` gives none
   */
  async keyFingerprint(salt: string): Promise<string> {
    return (await this.#keys?.get())?.fingerprint(salt) ?? '';
  }

  /**
   * From now on it keeps the pace that it shares with other processes, beside what it learns itself.
   *
   * @returns ends that
   */
  shareRate(pace: SharedRate): () => void {
    return this.#requests.shareRate(pace);
  }

  /**
   * Reads the account's balances (spec 2.1), in credits: an email or a phone that is verified costs one of its type,
   * half of it where a cache of the service has its result (spec 1).
   *
   * @example
   * ```ts
   * const { email_credit, phone_credit } = await client.credits();
   * console.log(email_credit > 0, phone_credit > 0); // true true
   * ```
   */
  async credits(options: CallOptions = {}): Promise<CreditBalance> {
    return this.#ask('credits', {}, options);
  }

  /**
   * Reads one page of the account's batches (spec 2.2), in the service's own order; `batches()` reads all.
   *
   * @param query `limit` (1 to 1000, default 100), `offset` (default 0), and the dates `from_date` and `to_date`;
   *   which of a batch's dates these are about, the specification does not show (spec 4, note 1)
   *
   * @example
   * ```ts
   * const from_date = new Date(Date.now() - 86_400_000);
   * const page = await client.listBatches({ limit: 10, from_date });
   * for (const { batch_uuid, name, status } of page) console.log(batch_uuid, name, status);
   * ```
   */
  async listBatches(query: ListQuery = {}, options: CallOptions = {}): Promise<BatchSummary[]> {
    const { from_date, to_date } = query;
    const dated = { ...query, from_date: inWords(from_date), to_date: inWords(to_date) };
    return this.#ask('listBatches', { query: dated }, options, readBatchList);
  }

  /**
   * Reads all the account's batches (spec 2.2), page by page, each once, in the service's own order.
   *
   * @example
   * ```ts
   * for await (const { batch_uuid, status } of client.batches()) {
   *   if (status === 'internal_error') console.log('for the support:', batch_uuid);
   * }
   * ```
   */
  async *batches(
    query: Pick<ListQuery, 'from_date' | 'to_date'> = {},
    options: CallOptions = {},
  ): AsyncGenerator<BatchSummary, undefined> {
    const seen = new Set<string>();
    for await (const batch of scanBatches(this, options, query)) {
      if (seen.has(batch.batch_uuid)) continue;
      seen.add(batch.batch_uuid);
      yield batch;
    }
  }

  /**
   * Uploads a batch's file, streamed: one address a line, UTF-8, no header, no commas (spec 1, 2.9). It costs nothing.
   * Not repeated once it may have arrived.
   *
   * @param form the `file`, its `type`, `target_country` and `name` (1 to 255 characters), and what is not as by
   *   default (spec 2.3): `description`, targets, caches, what is removed
   * @returns `ok`; or `parse_error`, `error`. The specification does not show `batch_uuid` in it: where it is
   *   missing, the batch is in the list by its name
   * @throws ApiError `bad_request`, `validation_failed`, `too_large`. Where `sent` of an error is `unknown`, look
   *   for the name in `batches()` before you upload again
   *
   * @example
   * ```ts
   * const lines = Buffer.from('good@sluice.test\nbad@sluice.test\n');
   * const file = { sizeBytes: lines.length, open: () => [lines] };
   * const form = { name: 'spring', type: 'email', target_country: 'US', file } as const;
   * console.log((await client.uploadBatch(form)).status); // ok
   * ```
   */
  async uploadBatch(
    form: UploadFormInput & { readonly file: UploadFile },
    options: CallOptions = {},
  ): Promise<UploadAnswer> {
    return this.#ask('uploadBatch', { form }, options);
  }

  /**
   * Reads the status of a batch (spec 2.5, 3). Costs, results and counts are in it once the service has them; which
   * of them when, the specification does not show. `waitFor()` polls.
   *
   * @throws ApiError `not_found`
   *
   * @example
   * ```ts
   * const { status } = await client.batchStatus(uuid);
   * console.log(status); // parsing_content
   * ```
   */
  async batchStatus(batchUuid: string, options: CallOptions = {}): Promise<BatchStatusAnswer> {
    return this.#ask('batchStatus', { batchUuid }, options);
  }

  /**
   * Replaces a batch's parameters before its launch (spec 2.3, 3 rule 2): those that are not given are as by default
   * again. `prepareBatch()` then parses the file with them.
   *
   * @throws ApiError `bad_request`, `validation_failed`, `not_found`
   *
   * @example
   * ```ts
   * const parameters = { type: 'email', target_country: 'DE', use_global_cache: false } as const;
   * await client.updateBatch(uuid, parameters);
   * await client.prepareBatch(uuid);
   * ```
   */
  async updateBatch(
    batchUuid: string,
    parameters: BatchParametersInput,
    options: CallOptions = {},
  ): Promise<SuccessAnswer> {
    return this.#ask('updateBatch', { batchUuid, json: parameters }, options);
  }

  /**
   * Has a batch parsed and prepared, which costs nothing; may be called any number of times before its launch
   * (spec 3, rule 1).
   *
   * @returns `ok`: `waitFor()` shows when it is ready; or `parse_error`, `error`
   * @throws ApiError `not_found`
   *
   * @example
   * ```ts
   * const { status } = await client.prepareBatch(uuid);
   * if (status === 'ok') await client.waitFor(uuid, 'ready_for_verification');
   * ```
   */
  async prepareBatch(batchUuid: string, options: CallOptions = {}): Promise<PrepareAnswer> {
    return this.#ask('prepareBatch', { batchUuid }, options);
  }

  /**
   * Launches a batch that is ready, which is paid for: one credit for each address (spec 1, 3). Not repeated once it
   * may have arrived.
   *
   * @returns `ok`; `not_ready_for_verification`, `verification_already_ongoing`, `verification_already_done` (spec 3,
   *   rule 3), or `error`
   * @throws ApiError `payment_required` (too few credits), `not_found`. Where `sent` of an error is `unknown`, read
   *   the status before you launch again
   *
   * @example
   * ```ts
   * await client.prepareBatch(uuid);
   * await client.waitFor(uuid, 'ready_for_verification');
   * console.log((await client.launchBatch(uuid)).status); // ok
   * ```
   */
  async launchBatch(batchUuid: string, options: CallOptions = {}): Promise<LaunchAnswer> {
    return this.#ask('launchBatch', { batchUuid }, options);
  }

  /**
   * Deletes a batch and its results, before or after its verification, not meanwhile (spec 3, rule 4). If an answer is
   * lost, it is repeated, and may find nothing.
   *
   * @throws ApiError `not_found`, of a repeated deletion, too; another where the batch is being processed
   *
   * @example
   * ```ts
   * await client.deleteBatch(uuid);
   * console.log((await client.listBatches()).length); // 0
   * ```
   */
  async deleteBatch(batchUuid: string, options: CallOptions = {}): Promise<SuccessAnswer> {
    return this.#ask('deleteBatch', { batchUuid }, options);
  }

  /**
   * Opens the results of a batch that is done as a stream (spec 2.7, 4): JSON keyed by the address, or a spreadsheet.
   * It costs nothing. What breaks after its beginning breaks the stream, and is not repeated: the caller asks again.
   *
   * @param query `format`, `'json'` or `'xlsx'`; `include_details` and `include_statistics` (default true) add
   *   sections to the JSON whose shape the specification does not show
   * @returns `body`, to be read to its end or destroyed, and `contentType`
   * @throws ApiError `not_found`; another where the batch is not done
   *
   * @example
   * ```ts
   * await client.finishBatch(uuid);
   * const query = { format: 'json', include_details: false, include_statistics: false } as const;
   * const { body } = await client.exportBatch(uuid, query);
   * await pipeline(body, createWriteStream('results.json'));
   * ```
   */
  async exportBatch(
    batchUuid: string,
    query: ExportQueryInput,
    options: CallOptions = {},
  ): Promise<ExportAnswer> {
    const request = this.#request('exportBatch', { batchUuid, query }, options);
    return this.#requests.perform(
      request,
      (answer) => readExport(request, answer, query.format),
      options,
    );
  }

  /**
   * Reads what the service knows of a batch, its uploaded content included (spec 2.6). Its fields depend on `status`;
   * those of a batch that is ready or being verified are not shown.
   *
   * @throws ApiError `not_found`
   *
   * @example
   * ```ts
   * const details = await client.batchDetails(uuid);
   * console.log(details.status); // parsing_content
   * ```
   */
  async batchDetails(batchUuid: string, options: CallOptions = {}): Promise<BatchDetails> {
    return this.#ask('batchDetails', { batchUuid }, options);
  }

  /**
   * Verifies one address at once, which takes up to 5 seconds (spec 4, note 4) and costs a credit. Not repeated once it
   * may have arrived. `verifyAddress()` reads the verdict, too.
   *
   * @param request any object: the specification does not show its fields. The usual ones are `type`, `email` or
   *   `phone`, and `target_country`, as of `defaultUnitRequest()`
   * @returns `ok`, or `empty`, `parse_error`, `error` (spec 2.9); where the verdict is in it is not shown
   * @throws ConfigurationError `invalid_option` of an email and a phone without a `type`; ApiError
   *   `payment_required`, `validation_failed`. Where `sent` of an error is `unknown`, it may have been charged
   *
   * @example
   * ```ts
   * const unit = { type: 'email', email: 'good@sluice.test', target_country: 'US' };
   * const { status } = await client.verifyUnit(unit, { timeoutMs: 10_000 });
   * console.log(status); // ok
   * ```
   */
  async verifyUnit(request: UnitRequest, options: CallOptions = {}): Promise<UnitAnswer> {
    return this.#ask('verifyUnit', { json: request }, options);
  }

  /**
   * Normalizes the format of a file's addresses, one a line (spec 2.9). The key is not sent (spec 4, note 5).
   *
   * @returns what the service answers: the specification does not show its shape
   * @throws ApiError `bad_request`, `validation_failed`, `too_large`
   *
   * @example
   * ```ts
   * const lines = Buffer.from('(202) 555-0123\n');
   * const file = { sizeBytes: lines.length, open: () => [lines] };
   * console.log(await client.format({ type: 'phone', target_country: 'US', file }));
   * ```
   */
  async format(
    form: FormatForm & { readonly file: UploadFile },
    options: CallOptions = {},
  ): Promise<FormatAnswer> {
    return this.#ask('format', { form }, options);
  }

  /**
   * Polls until a batch has a status, or one that comes after it. `internal_error` ends it, too: no batch
   * leaves that.
   *
   * @throws DeadlineError `deadline_exceeded` after `timeoutMs`; as `batchStatus()` does
   *
   * @example
   * ```ts
   * await client.prepareBatch(uuid);
   * const { status } = await client.waitFor(uuid, 'ready_for_verification');
   * console.log(status); // ready_for_verification
   * ```
   */
  async waitFor(
    batchUuid: string,
    status: BatchStatus,
    options: WaitOptions = {},
  ): Promise<BatchStatusAnswer> {
    return this.#round(options).waitFor(batchUuid, status);
  }

  /**
   * Uploads a file of addresses, one a line, or its bytes, has it prepared, launches it, which is paid for, and waits
   * until it is verified. If an answer is lost, the service is asked what became of it: nothing is paid
   * twice. `exportBatch()` then gives the results.
   *
   * @throws DeadlineError `deadline_exceeded` after `timeoutMs`, `service_unavailable` where the service always answers
   *   with `error`; InputError `input_malformed` where it makes no batch of the file, as it cannot parse it; ApiError
   *   `payment_required` and the others of each step. The batch stays on the service then: `onBatch` was called
   *   with its batch_uuid. Where `sent` is `unknown`, it may be launched, and paid for: `finishBatch()` resumes
   *   it, and another `verifyFile()` would pay again
   *
   * @example
   * ```ts
   * const lines = Buffer.from('good@sluice.test\nbad@sluice.test\n');
   * const { status } = await client.verifyFile(lines, { type: 'email', target_country: 'US' });
   * console.log(status); // verification_done
   * ```
   */
  async verifyFile(
    file: UploadFile | Uint8Array,
    parameters: FileParameters,
    options: RoundOptions = {},
  ): Promise<FinishedBatch> {
    return this.#round(options).verifyFile(file, parameters);
  }

  /**
   * Brings a batch that is on the service to its end, whatever its status: has it prepared, launches it if
   * it was not, which is paid for, and waits until it is verified.
   *
   * @throws as `verifyFile()` does
   *
   * @example
   * ```ts
   * const { status } = await client.finishBatch(uuid, { pollIntervalMs: 500 });
   * console.log(status); // verification_done
   * ```
   */
  async finishBatch(batchUuid: string, options: RoundOptions = {}): Promise<FinishedBatch> {
    return this.#round(options).finish(batchUuid);
  }

  #round(options: RoundOptions): BatchRound {
    return new BatchRound(this, this.#requests.settings, options);
  }

  /**
   * Ends the client: what waits and what comes is refused, and its own connections are closed, those
   * of requests under way included. A given dispatcher is left alone. Streams that have failed or were
   * aborted first delete what they have not launched, for 10 seconds at most.
   */
  async close(): Promise<void> {
    await cleanedUp(this, this.#requests.settings.clock);
    this.#requests.close();
    await this.#closeConnections();
  }

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The address alone: an inspection is a print, too. */
  [inspect.custom](): string {
    return `Client { ${this.baseUrl} }`;
  }

  #request(operation: OperationName, input: CallInput, options: CallOptions): WireRequest {
    checkCallOptions(options);
    return createWireRequest(operation, { ...input, sent: options.sent }, this.#wire);
  }

  /** @param schema of the answer. @default the contract's */
  async #ask<Name extends JsonOperation>(
    operation: Name,
    input: CallInput,
    options: CallOptions,
    schema: z.ZodType = operations[operation].response.schema,
  ): Promise<AnswerOf<Name>> {
    const request = this.#request(operation, input, options);
    const answer = this.#requests.perform(
      request,
      async (given, reading) => readJson(request, given, schema, reading),
      options,
    );
    return answer as Promise<AnswerOf<Name>>;
  }
}

type JsonOperation = Exclude<OperationName, 'exportBatch'>;
type AnswerOf<Name extends JsonOperation> = z.output<
  (typeof operations)[Name]['response']['schema']
>;

/** A date that is none is left to the contract, which says what is wanted. */
function inWords(date: string | Date | undefined): string | undefined {
  if (!(date instanceof Date)) return date;
  return Number.isNaN(date.getTime()) ? 'Invalid Date' : date.toISOString();
}
