import type { AnswerCache } from './storage/answer-cache.js';
import type { ResultCaches } from './storage/result-caches.js';
import type { RequestLog } from './http/request-log.js';
import type { Clock } from '../platform/waiting/clock.js';
import type { VerificationEngine } from './verification/engine.js';
import type { FaultReport } from './faults/fault-schedule.js';
import type { BatchJobs, KeyedMutex } from './batches/batch-jobs.js';
import type { Store } from './storage/store.js';
import type { Variants } from './variants.js';

/** What the operations work with. */
export interface ServiceContext {
  readonly store: Store;
  readonly caches: ResultCaches;
  /** What a network answered earlier; empty for an engine that asks none. */
  readonly answers: AnswerCache;
  readonly engine: VerificationEngine;
  readonly jobs: BatchJobs;
  /** Turns by batch: whoever changes a batch takes one, so that two launches never cross. */
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  readonly variants: Variants;
  /** The last requests, for people to look at. */
  readonly requests: RequestLog;
  readonly maxFileSizeBytes: number;
  readonly maxFormatBytes: number;
  /** What was made to go wrong; `undefined` when nothing is to. */
  readonly faults: { report(): readonly FaultReport[] } | undefined;
}
