import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { OperationName } from '../../../src/contract/operations.js';
import type { VerificationType } from '../../../src/contract/enums.js';
import { toApiError } from '../../../src/client/http/response.js';
import { onAbort } from '../../../src/platform/waiting/promises.js';
import type { VerificationService } from '../../../src/client/client.js';
import {
  ContractError,
  TransportError,
  type ApiError,
} from '../../../src/platform/errors/service-errors.js';

/** One request as the service sees it. */
export interface FakeRequest {
  /** From 0, over all operations. */
  readonly number: number;
  /** From 0, among those of this operation. */
  readonly ofItsKind: number;
  readonly operation: OperationName;
  /** Name of the batch, where it has one. */
  readonly name: string | undefined;
  readonly uuid: string | undefined;
}

/** What goes wrong with a request: whether it is carried out, and what the client gets of it. */
export type Fault =
  | { readonly commits: boolean; readonly error: unknown }
  | { readonly commits: boolean; readonly answer: unknown }
  /** No answer, until the client ends the request. */
  | { readonly commits: boolean; readonly hangs: true };

export interface Charge {
  readonly uuid: string;
  readonly type: VerificationType;
  readonly address: string;
}

export interface FakeBatch {
  readonly uuid: string;
  readonly name: string;
  readonly type: VerificationType;
  readonly lines: readonly string[];
  status: string;
  isPrepared: boolean;
  /** Status readings before it is parsed, and before it is verified. */
  pollsLeft: number;
  launches: number;
}

export interface FakeServiceOptions {
  /** What goes wrong, and when. */
  readonly faultOf?: (request: FakeRequest) => Fault | undefined;
  readonly credits?: number;
  readonly giveUpAfterMs?: number;
  /** Status readings that say `parsing_content`, and as many that say `verification_ongoing`. */
  readonly polls?: number;
  /** Parses a batch at once, before it is asked to. */
  readonly parsesOnUpload?: boolean;
  /** Leaves `batch_uuid` out of the answer to an upload, or puts it elsewhere. */
  readonly tellsUuid?: 'yes' | 'no' | 'nested';
  /** Called before each request. */
  readonly onRequest?: (request: FakeRequest) => void;
}

/** The error of an answer with this status, as the client makes it. */
export function refusal(status: number, operation: string, words?: string): ApiError {
  return toApiError({
    subject: operation,
    operation,
    repeatable: !['uploadBatch', 'launchBatch', 'verifyUnit'].includes(operation),
    status,
    serviceMessage: words,
    retryAfterMs: undefined,
  });
}

/** No answer: whether the request arrived is not known. */
export function lostAnswer(operation: string): TransportError {
  return new TransportError(`${operation}: reset`, {
    code: 'connection_lost',
    operation,
    sent: 'unknown',
  });
}

/** An answer that says success and is none that is shown. */
export function oddAnswer(operation: string): ContractError {
  return new ContractError(`${operation}: odd`, { operation });
}

/**
 * The service in memory, true to the specification (spec 3): what it has charged stands in its
 * ledger, whatever its clients get to hear. Faults are scripted request by request.
 */
export class FakeService implements VerificationService {
  readonly batches = new Map<string, FakeBatch>();
  readonly requests: FakeRequest[] = [];
  readonly ledger: Charge[] = [];
  /** Most requests under way at once. */
  mostAtOnce = 0;
  credit: number;
  readonly giveUpAfterMs?: number;
  readonly #options: FakeServiceOptions;
  readonly #counts = new Map<OperationName, number>();
  #underWay = 0;

  constructor(options: FakeServiceOptions = {}) {
    this.#options = options;
    this.credit = options.credits ?? Infinity;
    if (options.giveUpAfterMs !== undefined) this.giveUpAfterMs = options.giveUpAfterMs;
  }

  /** The operations asked for, in order. */
  get asked(): OperationName[] {
    return this.requests.map(({ operation }) => operation);
  }

  count(operation: OperationName): number {
    return this.#counts.get(operation) ?? 0;
  }

  /** How often each address was charged. */
  chargesPerAddress(): Map<string, number> {
    const charges = new Map<string, number>();
    for (const { type, address } of this.ledger) {
      const key = `${type} ${address}`;
      charges.set(key, (charges.get(key) ?? 0) + 1);
    }
    return charges;
  }

  /** The batches that were launched, and so paid. */
  launched(): FakeBatch[] {
    return [...this.batches.values()].filter(({ launches }) => launches > 0);
  }

  /** Puts a batch there without a request. */
  add(batch: Pick<FakeBatch, 'name'> & Partial<FakeBatch>): FakeBatch {
    const added: FakeBatch = {
      uuid: randomUUID(),
      type: 'email',
      lines: [],
      status: 'parsing_content',
      isPrepared: this.#options.parsesOnUpload ?? false,
      pollsLeft: this.#options.polls ?? 0,
      launches: 0,
      ...batch,
    };
    this.batches.set(added.uuid, added);
    return added;
  }

  credits: VerificationService['credits'] = async (options) =>
    this.#serve('credits', {}, options, () => ({
      email_credit: this.credit,
      phone_credit: this.credit,
    }));

  listBatches: VerificationService['listBatches'] = async (query, options) =>
    this.#serve('listBatches', {}, options, () => {
      const { limit = 100, offset = 0 } = query ?? {};
      return this.listed()
        .slice(offset, offset + limit)
        .map(({ uuid, name, status }) => ({
          batch_uuid: uuid,
          name,
          description: null,
          status,
          created_at: '2026-11-21T09:00:00Z',
          updated_at: '2026-11-21T09:00:00Z',
        }));
    });

  uploadBatch: VerificationService['uploadBatch'] = async (form, options) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of form.file.open()) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    return this.#serve('uploadBatch', { name: form.name }, options, () => {
      if (Buffer.byteLength(text) !== form.file.sizeBytes) throw refusal(400, 'uploadBatch');
      const lines = text.split('\n').filter(Boolean);
      const { uuid } = this.add({ name: form.name, type: form.type, lines });
      switch (this.#options.tellsUuid ?? 'yes') {
        case 'yes':
          return { status: 'ok', batch_uuid: uuid };
        case 'no':
          return { status: 'ok' };
        case 'nested':
          return { status: 'ok', batch: { batch_uuid: uuid } };
      }
    });
  };

  batchStatus: VerificationService['batchStatus'] = async (uuid, options) =>
    this.#serve('batchStatus', { uuid }, options, () => {
      const batch = this.#find(uuid, 'batchStatus');
      this.#moveOn(batch);
      const answer = { status: batch.status };
      if (batch.status !== 'verification_done') return answer;
      return { ...answer, cost: this.#costOf(batch) };
    });

  updateBatch: VerificationService['updateBatch'] = async (uuid, _parameters, options) =>
    this.#serve('updateBatch', { uuid }, options, () => {
      this.#find(uuid, 'updateBatch');
      return {};
    });

  prepareBatch: VerificationService['prepareBatch'] = async (uuid, options) =>
    this.#serve('prepareBatch', { uuid }, options, () => {
      const batch = this.#find(uuid, 'prepareBatch');
      if (batch.status === 'parsing_content') batch.isPrepared = true;
      return { status: 'ok' };
    });

  launchBatch: VerificationService['launchBatch'] = async (uuid, options) =>
    this.#serve('launchBatch', { uuid }, options, () => {
      const batch = this.#find(uuid, 'launchBatch');
      switch (batch.status) {
        case 'parsing_content':
          return { status: 'not_ready_for_verification' };
        case 'verification_ongoing':
          return { status: 'verification_already_ongoing' };
        case 'verification_done':
          return { status: 'verification_already_done' };
        case 'ready_for_verification':
          this.#launch(batch);
          return { status: 'ok' };
        default:
          return { status: 'error' };
      }
    });

  deleteBatch: VerificationService['deleteBatch'] = async (uuid, options) =>
    this.#serve('deleteBatch', { uuid }, options, () => {
      this.#find(uuid, 'deleteBatch');
      this.batches.delete(uuid);
      return {};
    });

  exportBatch: VerificationService['exportBatch'] = async (uuid, _query, options) =>
    this.#serve('exportBatch', { uuid }, options, () => {
      const batch = this.#find(uuid, 'exportBatch');
      if (batch.status !== 'verification_done') throw refusal(400, 'exportBatch');
      const records = Object.fromEntries(batch.lines.map((line) => [line, { valid: true }]));
      return {
        body: Readable.from([Buffer.from(JSON.stringify(records))]),
        contentType: 'application/json',
      };
    });

  batchDetails: VerificationService['batchDetails'] = async (uuid, options) =>
    this.#serve('batchDetails', { uuid }, options, () => {
      const batch = this.#find(uuid, 'batchDetails');
      return { status: batch.status };
    });

  verifyUnit: VerificationService['verifyUnit'] = async (_request, options) =>
    this.#serve('verifyUnit', {}, options, () => ({ status: 'ok' }));

  format: VerificationService['format'] = async (_form, options) =>
    this.#serve('format', {}, options, () => undefined);

  /** What the list shows, in its order; a test may show it otherwise. */
  listed: () => readonly FakeBatch[] = () => [...this.batches.values()];

  #find(uuid: string, operation: OperationName): FakeBatch {
    const batch = this.batches.get(uuid);
    if (!batch) throw refusal(404, operation);
    return batch;
  }

  #moveOn(batch: FakeBatch): void {
    const isMoving =
      batch.status === 'verification_ongoing' ||
      (batch.status === 'parsing_content' && batch.isPrepared);
    if (!isMoving) return;
    if (batch.pollsLeft > 0) {
      batch.pollsLeft -= 1;
      return;
    }
    batch.pollsLeft = this.#options.polls ?? 0;
    batch.status =
      batch.status === 'parsing_content' ? 'ready_for_verification' : 'verification_done';
  }

  #launch(batch: FakeBatch): void {
    if (this.credit < batch.lines.length) throw refusal(402, 'launchBatch');
    this.credit -= batch.lines.length;
    const { uuid, type } = batch;
    for (const address of batch.lines) this.ledger.push({ uuid, type, address });
    batch.launches += 1;
    batch.status = 'verification_ongoing';
  }

  #costOf({ type, lines }: FakeBatch): Record<string, number> {
    return {
      [`total_${type}_cost`]: lines.length,
      [`net_${type}_cost`]: lines.length,
      [`${type}_cache_account_return`]: 0,
      [`${type}_cache_global_return`]: 0,
    };
  }

  async #serve<Answer>(
    operation: OperationName,
    about: { readonly name?: string; readonly uuid?: string },
    options: { readonly signal?: AbortSignal | undefined } | undefined,
    commit: () => Answer,
  ): Promise<Answer> {
    const signal = options?.signal;
    signal?.throwIfAborted();
    const ofItsKind = this.count(operation);
    this.#counts.set(operation, ofItsKind + 1);
    const request: FakeRequest = {
      number: this.requests.length,
      ofItsKind,
      operation,
      uuid: about.uuid,
      name: about.name ?? (about.uuid && this.batches.get(about.uuid)?.name),
    };
    this.requests.push(request);
    this.#options.onRequest?.(request);
    this.#underWay += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#underWay);
    try {
      await Promise.resolve();
      const fault = this.#options.faultOf?.(request);
      if (!fault) return commit();
      if (fault.commits) commit();
      if ('hangs' in fault) return await hang(signal);
      if ('error' in fault) throw fault.error;
      return fault.answer as Answer;
    } finally {
      this.#underWay -= 1;
    }
  }
}

async function hang(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    // The reason is the caller's, whatever it is.
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    onAbort(signal, (reason) => reject(reason));
  });
}

/** One with so many batches of others. */
export function serviceWith(count: number): FakeService {
  const service = new FakeService();
  for (let index = 0; index < count; index += 1) service.add({ name: `other-${index}` });
  return service;
}
