import { electedAs } from '../batches/any-event.js';
import type { PlanEntry, RunEntry } from '../../../src/engine/stores/journal-entries.js';

export const runEntry: RunEntry = {
  entry: 'run',
  id: '0123456789abcdef',
  seed: '0'.repeat(64),
  startedAt: '2026-01-01T00:00:00.000Z',
  service: 'local',
  account: 'a',
  decides: { input: 'list.csv', prefix: { email: 'x' } },
  writes: {},
};

export const planEntry: PlanEntry = { entry: 'plan', rows: 3, content: null, batches: [] };

/** A batch whose results are there, after one attempt. */
export const exported = {
  stage: 'exported',
  ...electedAs,
  uuid: '11111111-2222-4333-8444-555555555555',
  prepares: 1,
  launches: 1,
} as const;
