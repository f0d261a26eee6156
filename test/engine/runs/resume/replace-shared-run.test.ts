import { expect, it, onTestFinished } from 'vitest';
import type { VerificationService } from '../../../../src/client/client.js';
import { type Batch, batchName } from '../../../../src/engine/batches/batch.js';
import type { BatchState } from '../../../../src/engine/batches/batch-state.js';
import type { History } from '../../../../src/engine/history/history.js';
import type { ResolvedRun } from '../../../../src/engine/runs/options/run-options.js';
import { SharedReplacement } from '../../../../src/engine/runs/resume/replace-shared-run.js';
import type { SharedRunStore } from '../../../../src/engine/stores/run-store.js';
import { systemClock } from '../../../../src/platform/waiting/clock.js';
import { MemoryDatabase } from '../../../trials/simulation/memory/memory-database.js';
import { openMemoryStore } from '../../../trials/simulation/memory/memory-store.js';
import { exported, planEntry, runEntry } from '../../stores/example-entries.js';

const leaseMs = 3_600_000;
const size = { type: 'email', country: 'US', addresses: 10, checksum: 0 };
const plan = { ...planEntry, batches: [size, size] };
const [first, second] = [0, 1].map((id): Batch => {
  const group = { type: 'email', country: 'US' } as const;
  return { id, group, addresses: 10, sizeBytes: 100, checksum: 0, open: () => [] };
}) as [Batch, Batch];
const ready: BatchState = { ...exported, stage: 'ready' };
const launching: BatchState = { ...exported, stage: 'launching', answeredError: false };
const uploading: BatchState = { ...exported, stage: 'uploading', accepted: false, looks: 0 };
const { signal } = new AbortController();

let leaptMs = 0;
const clock = { ...systemClock, now: () => systemClock.now() + leaptMs };
const waits: number[] = [];
/** What another process does while one waits. */
let meanwhile = async (): Promise<void> => undefined;
/** Of the process that waits. */
const leaping = {
  ...clock,
  sleep: async (ms: number): Promise<void> => {
    leaptMs += ms;
    waits.push(ms);
    await meanwhile();
  },
};

const nameOf = (batch: Batch): string =>
  batchName('x', { runId: runEntry.id, batch, attempt: exported.attempt });

async function openRun() {
  const database = new MemoryDatabase(() => clock.now());
  const open = async (lease = leaseMs): Promise<SharedRunStore> => {
    const store = await openMemoryStore(database, { clock, leaseMs: lease });
    await store.begin(runEntry, plan);
    return store;
  };
  const record = async (batch: Batch, state: BatchState, store?: SharedRunStore) => {
    const by = store ?? (await open());
    const [claim] = await by.claim([batch]);
    await claim?.record({ batch, state, name: nameOf(batch), charge: undefined });
    if (!store) await by.close();
    return claim;
  };
  return { open, record };
}

async function givingUp(store: SharedRunStore, status?: string) {
  const run = { signal, clock: leaping } as unknown as ResolvedRun;
  const giving = new SharedReplacement(run, 'shared', store);
  const listed = { batch_uuid: exported.uuid, name: nameOf(first), status };
  const client = { listBatches: async () => (status === undefined ? [] : [listed]) };
  const isGivenUp = await giving.giveUp(
    client as unknown as VerificationService,
    runEntry,
    [first, second],
    {} as History,
  );
  return { isGivenUp, giving };
}

it('leaves a run to another process that uploads a batch of it', async () => {
  const { open, record } = await openRun();
  await record(first, ready);
  const other = await open();
  const claim = await record(second, uploading, other);
  meanwhile = async () => claim?.confirm();
  onTestFinished(() => {
    meanwhile = async () => undefined;
  });
  const store = await open();
  expect(await givingUp(store)).toMatchObject({ isGivenUp: false });
  await other.close();
  await store.close();
});

it.each([3000, 3_600_000])(
  'waits for what a process that was killed has, as long as its lease is: %i ms',
  async (lease) => {
    const { open, record } = await openRun();
    await record(first, ready);
    await record(second, uploading, await open(lease));
    const store = await open(30_000);
    waits.length = 0;
    expect(await givingUp(store)).toMatchObject({ isGivenUp: true });
    expect(waits.filter((ms) => ms === 1000).length).toBeLessThanOrEqual(lease / 1000 + 1);
    await store.close();
  },
);

it('has nothing to replace where another process has gone on with a batch since', async () => {
  const { open, record } = await openRun();
  for (const batch of [first, second]) await record(batch, ready);
  const store = await open();
  const { isGivenUp, giving } = await givingUp(store);
  expect(isGivenUp).toBe(true);
  expect(giving.entries()).toHaveLength(4);
  // The process was frozen meanwhile.
  leaptMs += leaseMs;
  await record(second, launching);
  await store.record({ entry: 'approved' });
  expect(giving.entries()).toBeUndefined();
  await store.close();
});

it('gives up a batch whose launch is in doubt and that is broken on the service', async () => {
  const { open, record } = await openRun();
  await record(first, launching);
  const store = await open();
  const { isGivenUp, giving } = await givingUp(store, 'internal_error');
  expect(isGivenUp).toBe(true);
  expect(giving.entries()?.at(-1)).toMatchObject({ state: { stage: 'launching' } });
  await store.close();
});
