import { describe, expect, it } from 'vitest';
import type { BatchState } from '../../../src/engine/batches/batch-state.js';
import { replayJournal } from '../../../src/engine/stores/run-state.js';
import { sharedStatusOf } from '../../../src/engine/stores/shared/shared-status.js';
import { electedAs } from '../batches/any-event.js';
import { runEntry as run } from './example-entries.js';

const tries = { attempt: 1, fresh: 0, uploads: 1 };
const elected = { ...electedAs, uuid: 'e1c0ffee-0000-4000-8000-000000000000' };

/** One of each stage, as it is written down. */
const stages: readonly BatchState[] = [
  { stage: 'planned', ...tries },
  { stage: 'uploading', ...tries, accepted: false, looks: 0 },
  { stage: 'uploaded', ...elected },
  { stage: 'parsing', ...elected, prepared: true, polls: 0 },
  { stage: 'ready', ...elected },
  { stage: 'launching', ...elected, answeredError: false },
  { stage: 'verifying', ...elected, readies: 0 },
  { stage: 'done', ...elected, broken: 0 },
  { stage: 'exported', ...elected },
  { stage: 'split', ...tries, uuid: undefined },
  { stage: 'failed', ...tries, reason: 'internal_error', uuid: undefined, launched: true },
];

function entryOf(state: object): Record<string, unknown> {
  const entry = {
    entry: 'batch',
    batch: 0,
    name: 'sluice-0123456789abcdef-000001-1',
    state,
    charge: null,
    at: '2026-01-01T00:00:01.000Z',
  };
  return JSON.parse(JSON.stringify(entry)) as Record<string, unknown>;
}

function expectDamaged(entries: readonly unknown[], what: string): void {
  expect(() => replayJournal(entries, 'journal'), what).toThrow(
    expect.objectContaining({
      code: 'state_damaged',
      fault: 'damaged',
      file: 'journal',
      message: expect.stringMatching(/\b\d+\b.*`fresh`/) as string,
    }) as Error,
  );
}

it('a damaged journal in a database has no advice on a state directory', () => {
  const stored = { run: 'a', madeAt: '', entries: [{ entry: 'new' }], workers: [] };
  expect(() => sharedStatusOf(stored, 'run a')).toThrow(
    expect.objectContaining({
      code: 'state_damaged',
      message: expect.not.stringMatching(/state directory|fresh/) as string,
    }) as Error,
  );
});

describe('an entry with a right checksum', () => {
  it('is taken in whatever stage it tells of', () => {
    for (const state of stages) {
      const entry = entryOf(state);
      expect([...replayJournal([run, entry], 'journal').batches.values()]).toEqual([entry]);
    }
  });

  it('is damage where a field of a batch is missing or of another kind', () => {
    for (const state of stages) {
      for (const field of Object.keys(entryOf(state)['state'] as object)) {
        const { [field]: _, ...without } = state as unknown as Record<string, unknown>;
        expectDamaged([run, entryOf(without)], `${state.stage} without ${field}`);
        for (const value of [null, [], {}, -1, 0.5, '']) {
          expectDamaged([run, entryOf({ ...state, [field]: value })], `${state.stage}.${field}`);
        }
      }
    }
  });

  it('is damage where a stage or a reason is one that this version does not know', () => {
    for (const stage of ['paid', 'toString', '__proto__']) {
      expectDamaged([run, entryOf({ ...elected, stage })], stage);
    }
    const failed = { stage: 'failed', ...tries, reason: 'of_later', launched: false };
    expectDamaged([run, entryOf(failed)], 'reason');
  });

  it('is damage where an entry has another shape', () => {
    const planned = entryOf({ stage: 'planned', ...tries });
    const wrong = [
      null,
      7,
      { entry: 'later' },
      { ...planned, batch: -1 },
      { ...planned, at: 'yesterday' },
      { ...planned, charge: 3 },
      { ...planned, entry: 'part', start: -1, addresses: 2 },
      { entry: 'plan', rows: 3, content: null, batches: [{ type: 'email' }] },
      { entry: 'finished', summary: { rows: 'all' } },
    ];
    for (const entry of wrong) expectDamaged([run, entry], JSON.stringify(entry));
  });

  it('is damage where nothing says which run it is of', () => {
    expectDamaged([entryOf({ stage: 'planned', ...tries })], 'without a run');
  });
});

describe('a run that takes the place of another', () => {
  const plan = {
    entry: 'plan',
    rows: 2,
    content: null,
    batches: [{ type: 'email', country: 'US', addresses: 2, checksum: 1 }],
  };
  const next = { ...run, id: 'fedcba9876543210' };
  const exported = entryOf({ stage: 'exported', ...elected });

  it('knows nothing but what the other had sent, the input on disk, and whether the service gives wrong uuids', () => {
    const notes = [{ entry: 'carry' }, { entry: 'distrusted' }];
    const entries = [run, { entry: 'kept', file: 'input.2' }, plan, ...notes, exported];
    const state = replayJournal([...entries, next], 'journal');
    expect(state).toMatchObject({
      run: next,
      plan: undefined,
      isCarried: false,
      isDistrusted: true,
      kept: { file: 'input.2' },
      generation: 2,
    });
    expect(state.batches.size).toBe(0);
    expect(state.earlier).toMatchObject([{ run, plan, generation: 1 }]);
    expect([...(state.earlier[0]?.batches.values() ?? [])]).toEqual([exported]);
    // What has sent nothing is not remembered, what was before it is.
    const third = { ...run, id: '0000000000000003' };
    const after = replayJournal([...entries, next, plan, third], 'journal');
    expect(after.earlier).toEqual(state.earlier);
    expect(after.generation).toBe(3);
  });
});
