import type { IncomingMessage } from 'node:http';
import { notFound, type Reply } from '../http/reply.js';
import { batchUuid } from '../../contract/bodies.js';
import { validationError } from '../http/read-request.js';
import type { Batch } from '../storage/batch.js';
import type { AnswerCache } from '../storage/answer-cache.js';
import type { ResultCaches } from '../storage/result-caches.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { VerificationEngine } from '../verification/engine.js';
import type { FaultReport } from '../faults/fault.js';
import type { BatchJobs, KeyedMutex } from '../batches/batch-jobs.js';
import type { Store } from '../storage/store.js';
import type { Variants } from '../variants.js';

export interface Call {
  readonly request: IncomingMessage;
  /** Name of the key's account; empty where no key is required. */
  readonly account: string;
  /** The unchecked `{batch_uuid}` of the path. */
  readonly uuid: string | undefined;
  readonly query: ReadonlyMap<string, string>;
  /** Awaited by an upload between its last byte and its effect. */
  readonly onReceived?: () => Promise<void>;
}

export type Handler = (call: Call, service: ServiceContext) => Promise<Reply>;

/** The batch of a call. Another account's is answered like a missing one. */
export function accountBatch(call: Call, service: ServiceContext): Batch {
  const batch = service.store.state.batches.get(parseUuid(call.uuid));
  if (batch === undefined || batch.account !== call.account) throw notFound('Not Found');
  return batch;
}

/** Opens a file of a batch for an answer. The batch may be deleted before that; open files can be read to their end. */
export async function openAccountBatch<Opened>(
  { uuid }: Batch,
  { store }: ServiceContext,
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (store.state.batches.has(uuid)) throw error;
    throw notFound('Not Found');
  }
}

/** Validates a `{batch_uuid}` before use. */
function parseUuid(given: string | undefined): string {
  const parsed = batchUuid.safeParse(given);
  if (parsed.success) return parsed.data.toLowerCase();
  throw validationError([{ field: 'batch_uuid', message: 'is not a uuid' }]);
}

/** Acts on a call's batch in its turn: no other change of the batch intervenes. */
export function inTurn<Result>(
  call: Call,
  service: ServiceContext,
  act: (batch: Batch) => Promise<Result>,
): Promise<Result> {
  return service.mutex.take(parseUuid(call.uuid), async () => act(accountBatch(call, service)));
}

/** An answered request, for people: without its content. */
export interface LoggedRequest {
  readonly atMs: number;
  readonly method: string;
  /** The known path, or null. */
  readonly path: string | null;
  /** Name of the key's account; empty without a valid key. */
  readonly account: string;
  /** Null when the connection ended before an answer began. */
  readonly status: number | null;
  readonly tookMs: number;
}

const mostRemembered = 50;

export class RequestLog {
  #total = 0;
  #last: readonly LoggedRequest[] = [];

  get total(): number {
    return this.#total;
  }

  /** The latest first. */
  get last(): readonly LoggedRequest[] {
    return this.#last;
  }

  add(request: LoggedRequest): void {
    this.#total += 1;
    this.#last = [request, ...this.#last.slice(0, mostRemembered - 1)];
  }
}

export interface ServiceContext {
  readonly store: Store;
  readonly caches: ResultCaches;
  /** Earlier answers from the network; empty for an engine without one. */
  readonly answers: AnswerCache;
  readonly engine: VerificationEngine;
  readonly jobs: BatchJobs;
  /** Serialises changes of a batch, so that two launches never cross. */
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  readonly variants: Variants;
  /** The latest requests, for people. */
  readonly requests: RequestLog;
  readonly maxFileSizeBytes: number;
  readonly maxFormatBytes: number;
  /** Planned faults; `undefined` without any. */
  readonly faults: { report(): readonly FaultReport[] } | undefined;
}
