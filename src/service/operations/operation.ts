import type { IncomingMessage } from 'node:http';
import { notFound, type Reply } from '../http/reply.js';
import { parseUuid } from '../http/router.js';
import type { Batch } from '../storage/batch.js';
import type { AnswerCache } from '../storage/answer-cache.js';
import type { ResultCaches } from '../storage/result-caches.js';
import type { RequestLog } from '../http/request-log.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { VerificationEngine } from '../verification/engine.js';
import type { FaultReport } from '../faults/fault.js';
import type { BatchJobs, KeyedMutex } from '../batches/batch-jobs.js';
import type { Store } from '../storage/store.js';
import type { Variants } from '../variants.js';

/** A request for its operation. */
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

/** Carries an operation out. */
export type Handler = (call: Call, service: ServiceContext) => Promise<Reply>;

/** The batch of a call. Another account's is answered like a missing one. */
export function accountBatch(call: Call, service: ServiceContext): Batch {
  const batch = service.store.state.batches.get(parseUuid(call.uuid));
  if (batch === undefined || batch.account !== call.account) throw notFound('Not Found');
  return batch;
}

/**
 * Opens a file of a batch for an answer. The batch may be deleted before that; open files can be read to
 * their end.
 */
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

/** Acts on a call's batch in its turn: no other change of the batch intervenes. */
export function inTurn<Result>(
  call: Call,
  service: ServiceContext,
  act: (batch: Batch) => Promise<Result>,
): Promise<Result> {
  return service.mutex.take(parseUuid(call.uuid), async () => act(accountBatch(call, service)));
}

/** What the operations work with. */
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
