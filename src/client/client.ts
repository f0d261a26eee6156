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
import { createDispatcher } from './http/connections.js';
import type { UploadFile } from './http/multipart.js';
import { type ExportAnswer, readExport, readJson } from './http/response.js';
import { type CallInput, createWireRequest, type WireSettings } from './http/request.js';
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

  /** Reads the account's balances. */
  async credits(options: CallOptions = {}): Promise<CreditBalance> {
    return this.#ask('credits', operations.credits.response.schema, {}, options);
  }

  /** Reads one page of the account's batches, in the service's own order. */
  async listBatches(query: ListQuery = {}, options: CallOptions = {}): Promise<BatchSummary[]> {
    const { from_date, to_date } = query;
    const dated = { ...query, from_date: inWords(from_date), to_date: inWords(to_date) };
    return this.#ask('listBatches', readBatchList, { query: dated }, options);
  }

  /** Reads the account's batches, page by page, each once, in the service's own order. */
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

  /** Uploads a batch's file, streamed. Not repeated once it may have arrived. */
  async uploadBatch(
    form: UploadFormInput & { readonly file: UploadFile },
    options: CallOptions = {},
  ): Promise<UploadAnswer> {
    return this.#ask('uploadBatch', operations.uploadBatch.response.schema, { form }, options);
  }

  async batchStatus(batchUuid: string, options: CallOptions = {}): Promise<BatchStatusAnswer> {
    const { schema } = operations.batchStatus.response;
    return this.#ask('batchStatus', schema, { batchUuid }, options);
  }

  /** Replaces a batch's parameters before its launch. */
  async updateBatch(
    batchUuid: string,
    parameters: BatchParametersInput,
    options: CallOptions = {},
  ): Promise<SuccessAnswer> {
    const { schema } = operations.updateBatch.response;
    return this.#ask('updateBatch', schema, { batchUuid, json: parameters }, options);
  }

  /** Has a batch parsed and prepared; may be called any number of times before its launch. */
  async prepareBatch(batchUuid: string, options: CallOptions = {}): Promise<PrepareAnswer> {
    const { schema } = operations.prepareBatch.response;
    return this.#ask('prepareBatch', schema, { batchUuid }, options);
  }

  /** Launches a batch, which is paid for. Not repeated once it may have arrived. */
  async launchBatch(batchUuid: string, options: CallOptions = {}): Promise<LaunchAnswer> {
    const { schema } = operations.launchBatch.response;
    return this.#ask('launchBatch', schema, { batchUuid }, options);
  }

  /** Deletes a batch; a repeated deletion may find nothing and answer 404 (`not_found`). */
  async deleteBatch(batchUuid: string, options: CallOptions = {}): Promise<SuccessAnswer> {
    const { schema } = operations.deleteBatch.response;
    return this.#ask('deleteBatch', schema, { batchUuid }, options);
  }

  /**
   * Opens a batch's results as a stream. What breaks after its beginning breaks the stream, and is not
   * repeated: the caller asks again.
   */
  async exportBatch(
    batchUuid: string,
    query: ExportQueryInput,
    options: CallOptions = {},
  ): Promise<ExportAnswer> {
    checkCallOptions(options);
    const request = createWireRequest(
      'exportBatch',
      { batchUuid, query, sent: options.sent },
      this.#wire,
    );
    return this.#requests.perform(
      request,
      (answer) => readExport(request, answer, query.format),
      options,
    );
  }

  /** Reads what the service knows of a batch, its uploaded content included. */
  async batchDetails(batchUuid: string, options: CallOptions = {}): Promise<BatchDetails> {
    const { schema } = operations.batchDetails.response;
    return this.#ask('batchDetails', schema, { batchUuid }, options);
  }

  /** Verifies one address at once, which is paid for. Not repeated once it may have arrived. */
  async verifyUnit(request: UnitRequest, options: CallOptions = {}): Promise<UnitAnswer> {
    const { schema } = operations.verifyUnit.response;
    return this.#ask('verifyUnit', schema, { json: request }, options);
  }

  /** Normalizes the format of a file's addresses. The key is not sent. */
  async format(
    form: FormatForm & { readonly file: UploadFile },
    options: CallOptions = {},
  ): Promise<FormatAnswer> {
    return this.#ask('format', operations.format.response.schema, { form }, options);
  }

  /**
   * Polls until a batch has a status, or one that comes after it. `internal_error` ends it, too: no batch
   * leaves that.
   *
   * @throws DeadlineError `deadline_exceeded` after `timeoutMs`; as `batchStatus()` does
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
   *   with its batch_uuid
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
   */
  async finishBatch(batchUuid: string, options: RoundOptions = {}): Promise<FinishedBatch> {
    return this.#round(options).finish(batchUuid);
  }

  #round(options: RoundOptions): BatchRound {
    return new BatchRound(this, this.#requests.time, options);
  }

  /**
   * Ends the client: what waits and what comes is refused, and its own connections are closed, those
   * of requests under way included. A given dispatcher is left alone.
   */
  async close(): Promise<void> {
    this.#requests.close();
    await this.#closeConnections();
  }

  /** The address alone: an inspection is a print, too. */
  [inspect.custom](): string {
    return `Client { ${this.baseUrl} }`;
  }

  async #ask<Schema extends z.ZodType>(
    operation: OperationName,
    schema: Schema,
    input: CallInput,
    options: CallOptions,
  ): Promise<z.output<Schema>> {
    checkCallOptions(options);
    const request = createWireRequest(operation, { ...input, sent: options.sent }, this.#wire);
    return this.#requests.perform(
      request,
      async (answer, reading) => readJson(request, answer, schema, reading),
      options,
    );
  }
}

/** A date that is none is left to the contract, which says what is wanted. */
function inWords(date: string | Date | undefined): string | undefined {
  if (!(date instanceof Date)) return date;
  return Number.isNaN(date.getTime()) ? 'Invalid Date' : date.toISOString();
}
