import type { Clock } from '../platform/waiting/clock.js';
import type { BatchJobs } from './batches/batch-jobs.js';
import type { FaultReport } from './faults/fault-schedule.js';
import type { RequestLog } from './http/request-log.js';
import type { AnswerCache } from './storage/answer-cache.js';
import type { ResultCaches } from './storage/result-caches.js';
import type { Store } from './storage/store.js';
import type { Variants } from './variants.js';
import type { VerificationEngine } from './verification/engine.js';

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

/** Lets what concerns one name happen one after another; what concerns others goes on meanwhile. */
export interface KeyedMutex {
  take<Result>(name: string, act: () => Promise<Result>): Promise<Result>;
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return {
    take(name, act) {
      const before = last.get(name) ?? Promise.resolve();
      const turn = before.then(act, act);
      // A turn that fails is its taker's concern; the next one only waits for its end.
      const ended = turn.then(
        () => undefined,
        () => undefined,
      );
      last.set(name, ended);
      void ended.then(() => {
        if (last.get(name) === ended) last.delete(name);
      });
      return turn;
    },
  };
}
