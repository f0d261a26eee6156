import { expect, it, onTestFinished, vi } from 'vitest';
import type { Batch } from '../../../../src/engine/batches/batch.js';
import { planned, type BatchState } from '../../../../src/engine/batches/batch-state.js';
import { LaunchGate } from '../../../../src/engine/driver/launch-limits.js';
import { JournalReplay, emptyRunState } from '../../../../src/engine/stores/run-state.js';
import { batchEntryOf } from '../../../../src/engine/stores/journal-entries.js';
import { WorkerLoop } from '../../../../src/engine/runs/execution/worker-loop.js';
import { BudgetError } from '../../../../src/platform/errors/errors.js';
import { makeBatch } from '../../driver/driving.js';
import { stateOf } from '../../batches/any-event.js';
import { exported, runEntry } from '../../stores/example-entries.js';
import { TestClock } from '../../../../src/testing/test-clock.js';
import { MemoryDatabase } from '../../../trials/simulation/memory/memory-database.js';
import { openMemoryStore } from '../../../trials/simulation/memory/memory-store.js';

const many = 2000;
const batches = Array.from({ length: many }, (_, id) => makeBatch(id));
const at = '2026-01-02T03:04:05.000Z';
const progress = (batch: Batch, state: BatchState = exported) => ({
  batch,
  state,
  name: 'n',
  charge: undefined,
});

it('takes in an entry at the same cost, however many batches are known', () => {
  const journal = new JournalReplay('journal');
  journal.apply([runEntry]);
  const set = vi.spyOn(Map.prototype, 'set');
  onTestFinished(() => set.mockRestore());
  for (const batch of batches) journal.apply([batchEntryOf(progress(batch), at)]);
  const steps = set.mock.calls.length;
  expect(journal.state.batches.size).toBe(many);
  // What is known of a batch, and since when; and what the parser needs.
  expect(steps).toBeLessThan(many * 20);
});

it('looks at a batch when something is heard of it, not in every round', async () => {
  let looks = 0;
  const known = new Map<Batch, BatchState>();
  const settled = new Set<Batch>();
  const reported = [...batches];
  let changed = new Set(batches);
  // What the loop does not ask for is left out.
  const parts = {
    run: { signal: new AbortController().signal },
    store: {
      state: { ...emptyRunState, run: runEntry },
      others: {
        haveEndedRun: false,
        onStop: () => undefined,
        waitForUpdates: async () => {
          const batch = reported.pop() as Batch;
          known.set(batch, exported);
          changed.add(batch);
        },
      },
    },
    drive: {
      stoppedBy: undefined,
      gate: new LaunchGate(),
      hasRoom: false,
      add: () => undefined,
      isIdle: true,
      idle: async () => undefined,
    },
    batches: {
      all: batches,
      changed: () => {
        const now = changed;
        changed = new Set();
        return now;
      },
      claimMore: async () => [],
      applyRemote: async () => {
        looks += 1;
      },
      state: (batch: Batch) => {
        looks += 1;
        return known.get(batch) ?? planned;
      },
    },
    isOpen: (batch: Batch) => {
      looks += 1;
      return !settled.has(batch);
    },
    settle: async (batch: Batch) => void settled.add(batch),
  };
  const drive = new WorkerLoop(parts as unknown as ConstructorParameters<typeof WorkerLoop>[0]);
  await drive.toEnd(() => true);
  expect(settled.size).toBe(many);
  expect(looks).toBeLessThan(many * 15);
});

it('records for all that its credits ran out, also where that happened while it claimed', async () => {
  const gate = new LaunchGate();
  const recorded: unknown[] = [];
  let changed = new Set(batches.slice(0, 1));
  const parts = {
    run: { signal: new AbortController().signal },
    store: {
      state: { ...emptyRunState, run: runEntry },
      others: {
        haveEndedRun: false,
        onStop: () => undefined,
        announce: () => undefined,
        record: async (entry: unknown) => void recorded.push(entry),
      },
    },
    drive: { stoppedBy: undefined, gate, hasRoom: true, hasPlace: true, add() {}, isIdle: true },
    batches: {
      all: batches.slice(0, 1),
      changed: () => {
        const now = changed;
        changed = new Set();
        return now;
      },
      claimMore: async () => {
        gate.close(new BudgetError('used up'));
        return [];
      },
      applyRemote: async () => undefined,
      state: () => planned,
    },
    isOpen: () => true,
  };
  const loop = new WorkerLoop(parts as unknown as ConstructorParameters<typeof WorkerLoop>[0]);
  await loop.toEnd(() => true);
  expect(recorded).toMatchObject([{ entry: 'stopped', code: 'budget_exhausted' }]);
});

it('asks without room only for what others may have let go of, not whenever they record something', async () => {
  const two = batches.slice(0, 2);
  const [, theirs] = two;
  let changed = new Set<Batch>();
  let changes = 0;
  const asked: Batch[] = [];
  const others = {
    haveEndedRun: false,
    mayTakeOver: true,
    onStop: () => undefined,
    waitForUpdates: async () => {
      changes += 1;
      others.mayTakeOver = changes === 10;
      if (changes === 20) changed = new Set(two);
    },
  };
  const parts = {
    run: { signal: new AbortController().signal },
    store: { state: { ...emptyRunState, run: runEntry }, others },
    drive: {
      stoppedBy: undefined,
      gate: new LaunchGate(),
      hasRoom: false,
      hasPlace: true,
      add: () => undefined,
      isIdle: true,
      idle: async () => undefined,
    },
    batches: {
      all: two,
      changed: () => {
        const now = changed;
        changed = new Set();
        return now;
      },
      claimMore: async (wanted: Iterable<Batch>) => {
        asked.push(...wanted);
        return [];
      },
      state: (batch: Batch) => (batch === theirs ? stateOf.verifying : planned),
    },
    isOpen: () => changes < 20,
  };
  const loop = new WorkerLoop(parts as unknown as ConstructorParameters<typeof WorkerLoop>[0]);
  await loop.toEnd(() => true);
  expect(asked).toEqual([theirs, theirs]);
});

it('says after a claim in vain that nothing may be taken over, until another has let go of something', async () => {
  const clock = new TestClock();
  const database = new MemoryDatabase(() => clock.now());
  const open = async () => openMemoryStore(database, { clock, leaseMs: 30_000 });
  const [other, store] = [await open(), await open()];
  await other.begin(runEntry, { entry: 'plan', rows: 3, content: null, batches: [] });
  const [first] = await other.claim(batches.slice(0, 1));
  await first?.record(progress(makeBatch(0), stateOf.verifying));
  expect(await store.claim(batches.slice(0, 1))).toEqual([]);
  expect(store.others.mayTakeOver).toBe(false);
  await clock.runUntil(store.refresh());
  expect(store.others.mayTakeOver).toBe(false);
  await other.close();
  await clock.runUntil(store.refresh());
  expect(store.others.mayTakeOver).toBe(true);
  await store.close();
});

it('asks for as many batches as others have at the front, and speaks only of those that it drives', async () => {
  const clock = new TestClock();
  const database = new MemoryDatabase(() => clock.now());
  const call = vi.spyOn(database, 'call');
  const named = (step: string): readonly number[] =>
    call.mock.calls
      .filter(([name]) => name === step)
      .map(([, given]) => (given as { batches: readonly string[] }).batches.length);
  const [other, store] = [
    await openMemoryStore(database, { clock, leaseMs: 30_000 }),
    await openMemoryStore(database, { clock, leaseMs: 30_000 }),
  ];
  await other.begin(runEntry, { entry: 'plan', rows: 3, content: null, batches: [] });
  const [first] = await other.claim(batches);
  await first?.record(progress(makeBatch(0)));
  for (let held = 0; held < 100; held += 1) await other.claim(batches);
  call.mockClear();
  const claims = 100;
  for (let done = 0; done < claims; done += 1) {
    const [claim] = await store.claim(batches);
    await claim?.record(progress(claim.batch));
  }
  expect(store.state.batches.size).toBeGreaterThanOrEqual(claims);
  expect(named('claim').reduce((sum, labels) => sum + labels, 0)).toBeLessThan(claims * 400);
  call.mockClear();
  await clock.advance(2000);
  const signs = named('beat');
  expect(Math.min(...signs)).toBe(0);
  expect(Math.max(...signs)).toBe(100);
  await store.close();
  await other.close();
});
