import { randomUUID } from 'node:crypto';
import type { ServiceOptions } from '../../../src/service/index.js';
import type { KilledRun, Started } from './killed-run.js';

export const leaseMs = 3000;
/** Some requests are carried out so long after their connection was reset. */
export const lateMs = 1500;

/** What a process may have written down last when it is killed or frozen. */
export const stages = [
  'uploading',
  'uploaded',
  'parsing',
  'ready',
  'launching',
  'verifying',
  'done',
  'exported',
  'finished',
] as const;

/** Starts one of the processes that share a run. */
export function startSharedProcess(
  run: KilledRun,
  {
    name,
    store,
    env = {},
  }: { name: string; store: string; env?: Readonly<Record<string, string>> },
): Started {
  const shared = ['--store', 'env:SLUICE_STORE', '--run', name, '--lease', String(leaseMs / 1000)];
  const small = ['--batch-size', '3', '--concurrency', '2', '--poll-interval', '50'];
  return run.start({
    preload: './stop-after-record.mjs',
    args: [...shared, ...small, '--state', `state-${randomUUID()}`, '--moved', '--verbose'],
    env: { ...env, SLUICE_STORE: store },
  });
}

/** Of uploads and launches some answers are lost, and some requests carried out late; some exports are cut off. */
export function troubledService(seed: number): ServiceOptions {
  return {
    parseDelayMs: 100,
    verifyDelayMs: 400,
    faults: {
      seed,
      faults: [
        { operation: 'launchBatch', probability: 0.2, when: 'after', what: { reset: true } },
        { operation: 'launchBatch', probability: 0.1, what: { commitAfterMs: lateMs } },
        { operation: 'uploadBatch', probability: 0.1, when: 'after', what: { reset: true } },
        { operation: 'uploadBatch', probability: 0.1, what: { commitAfterMs: lateMs } },
        { operation: 'exportBatch', probability: 0.1, what: { cutAtByte: 100 } },
      ],
    },
  };
}
