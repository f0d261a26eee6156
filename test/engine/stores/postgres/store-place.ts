import { expect, inject, vi } from 'vitest';
import type { BatchProgress } from '../../../../src/engine/batches/claim.js';
import type { Batch } from '../../../../src/engine/batches/batch.js';
import {
  postgresStore,
  type PostgresStoreOptions,
} from '../../../../src/engine/stores/postgres/postgres-store.js';
import { OutcomeTable } from '../../../../src/engine/results/outcome-table.js';
import type { RunEntry } from '../../../../src/engine/stores/journal-entries.js';
import type {
  RunClaim,
  RunStore,
  SharedRunStore,
} from '../../../../src/engine/stores/run-store.js';
import { systemClock, type Clock } from '../../../../src/platform/waiting/clock.js';
import { exampleSummary } from '../../../report/page/example-report.js';
import { newName } from '../../../lists/sql/harness/new-name.js';
import { exported, planEntry, runEntry as exampleEntry } from '../example-entries.js';

const { signal } = new AbortController();

/** Opens a run as one more process, on the tests' server unless another is named. */
export async function openStore(
  options: Pick<PostgresStoreOptions, 'run'> & Partial<PostgresStoreOptions>,
  clock: Clock = systemClock,
): Promise<SharedRunStore> {
  const connectionString = inject('postgresUrl');
  return postgresStore({ connectionString, ...options }).open({ signal, clock });
}

export const runEntry: RunEntry = {
  ...exampleEntry,
  // Whatever a list's columns are called.
  decides: { email: ['E-Mail', 'Почта', '\u0000', '\ud83d\ude00', '\ud83d'] },
};

export function batch(id: number): Batch {
  const group = { type: 'email', country: 'US' } as const;
  return { id, group, addresses: 10, sizeBytes: 100, checksum: 0, open: () => [] };
}

export const stages = {
  ready: { ...exported, stage: 'ready' },
  launching: { ...exported, stage: 'launching', answeredError: false },
  exported,
} as const;

export function progress(of: Batch, stage: keyof typeof stages): BatchProgress {
  return { batch: of, state: stages[stage], name: `n-${of.id}`, charge: undefined };
}

/** Looks until it is to be had: nobody has a batch at once whose row another call just holds. */
export async function claimOne(store: RunStore, wanted: Batch): Promise<RunClaim> {
  return vi.waitFor(
    async () => {
      const [claim] = await store.claim([wanted]);
      if (!claim) throw new Error(`batch ${wanted.id} is not to be had`);
      return claim;
    },
    { timeout: 60_000 },
  );
}

/** Results that fill more than one block. */
const lines = Uint32Array.from({ length: 300_000 }, (_, index) => index);

/** All that is asked of a store, by two processes of which one takes over from the other. */
export async function liveThrough(options: Partial<PostgresStoreOptions>): Promise<void> {
  const run = newName();
  // What it claims is its own also on a machine that is busy.
  const kept = { run, leaseMs: 600_000, ...options };
  const one = await openStore(kept);
  const two = await openStore(kept);
  try {
    await one.begin(runEntry, planEntry);
    expect((await two.begin({ ...runEntry, id: 'f'.repeat(16) }, planEntry)).run).toEqual(runEntry);
    const before = await claimOne(one, batch(0));
    expect(await before.reserve(10)).toEqual({ isGranted: true, credits: 10 });
    await before.record(progress(batch(0), 'launching'));
    await one.close();
    const after = await claimOne(two, batch(0));
    expect(after.entry?.state).toEqual(stages.launching);
    await after.confirm();
    expect(await after.reserve(10)).toEqual({ isGranted: true, credits: 10 });
    const outcomes = new OutcomeTable();
    const failed = outcomes.idOf('failed', 'batch_failed');
    await after.keepResults(
      { lines, outcomes: new Uint32Array(lines.length).fill(failed) },
      outcomes,
    );
    await after.record(progress(batch(0), 'exported'));
    expect(await two.readResults(batch(0), outcomes)).toMatchObject({ lines });
    await two.record({ entry: 'balance', credits: null });
    await (await two.claimOutput())?.finish(exampleSummary());
    await two.clear();
    while (!two.state.finished) await two.others.waitForUpdates(signal);
    expect(two.state).toMatchObject({ run: runEntry, finished: { summary: exampleSummary() } });
    await two.remove();
  } finally {
    await one.close();
    await two.close();
  }
}
