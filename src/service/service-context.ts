import type { AnswerCache } from './caches/answer-cache.js';
import type { ResultCaches } from './caches/result-caches.js';
import type { RequestLog } from './http/request-log.js';
import type { Clock } from '../platform/waiting/clock.js';
import type { VerificationEngine } from './verification/engine.js';
import type { FaultReport } from './faults/fault-schedule.js';
import type { BatchJobs } from './jobs/batch-jobs.js';
import type { Turns } from './jobs/keyed-mutex.js';
import type { Store } from './store/store.js';
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
  readonly turns: Turns;
  readonly clock: Clock;
  readonly variants: Variants;
  /** The last requests, for people to look at. */
  readonly requests: RequestLog;
  readonly maxFileSizeBytes: number;
  readonly maxFormatBytes: number;
  /** What was made to go wrong; `undefined` when nothing is to. */
  readonly faults: { report(): readonly FaultReport[] } | undefined;
}
