import { describe, expect, it } from 'vitest';
import type { Batch } from '../../src/batches/batch.js';
import type { LineResults } from '../../src/results/batch-results.js';
import { OutcomeTable } from '../../src/results/outcome-table.js';
import type { RunEntry } from '../../src/runs/run-entries.js';
import type { RunStore } from '../../src/runs/run-store.js';

const runEntry: RunEntry = {
  entry: 'run',
  id: '0123456789abcdef',
  seed: '0'.repeat(64),
  startedAt: '2026-01-01T00:00:00.000Z',
  service: 'local',
  account: 'a',
  decides: { input: 'list.csv', prefix: { email: 'x' } },
};
const balance = { entry: 'balance', credits: { email_credit: 1.5, phone_credit: 1e15 } } as const;

const whole: Batch = {
  id: 6,
  lane: { type: 'email', country: 'US' },
  addresses: 10,
  sizeBytes: 100,
  checksum: 0,
  open: () => [],
};
const part: Batch = { ...whole, addresses: 5, part: { start: 5, of: 10 } };
const exported = {
  stage: 'exported',
  uuid: '11111111-2222-4333-8444-555555555555',
  attempt: 1,
  fresh: 0,
  uploads: 1,
  isFound: false,
  misses: 0,
  prepares: 1,
  launches: 1,
  doubt: false,
} as const;
const charge = { spent: 5, refunded: 1, net: 4 };

const outcomes = new OutcomeTable();
const failed = outcomes.idOf('failed', 'batch_failed');
const noResult = outcomes.idOf('no_result', 'no_record');
const results: LineResults = {
  lines: Uint32Array.of(3, 4_000_000_000, 0),
  outcomes: Uint32Array.of(noResult, failed, noResult),
};
const otherResults: LineResults = {
  lines: Uint32Array.of(7),
  outcomes: Uint32Array.of(failed),
};

/** Results as another process sees them, which numbers outcomes in its own way. */
async function told(
  store: RunStore,
  batch: Batch,
): Promise<readonly (readonly [number, string])[]> {
  const table = new OutcomeTable();
  table.idOf('not_submitted', 'empty');
  const read = await store.readResults(batch, table);
  if (!('lines' in read)) throw new Error('they were kept by line');
  return Array.from(read.lines, (line, at) => [line, table.get(read.outcomes[at] ?? -1).reason]);
}
const whatWasTold = [
  [3, 'no_record'],
  [4_000_000_000, 'batch_failed'],
  [0, 'no_record'],
];

/**
 * What every store of a run must do, whatever it keeps things in.
 *
 * @param openAnew opens the test's store as the next process would
 */
export function describeRunStore(name: string, openAnew: () => Promise<RunStore>): void {
  /** Works in the store as a process of its own. */
  async function inProcess<Result>(work: (store: RunStore) => Promise<Result>): Promise<Result> {
    const store = await openAnew();
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  describe(`${name} as the store of a run`, () => {
    it('knows nothing at first', async () => {
      const { run, plan, finished, batches } = await inProcess(async (store) => store.known);
      expect({ run, plan, finished }).toEqual({});
      expect(batches.size).toBe(0);
    });

    it('tells the next process what was recorded, the latest of each', async () => {
      await inProcess(async (store) => {
        await store.record(runEntry);
        await store.record(balance);
      });
      await inProcess(async (store) => {
        expect(store.known).toMatchObject({ run: runEntry, balance: { credits: balance.credits } });
        const driven = { batch: whole, name: 'n', charge: undefined };
        const tries = { attempt: 1, fresh: 0, uploads: 1 };
        await store.recordBatch({ ...driven, known: { ...tries, stage: 'planned' } });
        const { uuid } = exported;
        await store.recordBatch({ ...driven, known: { ...tries, stage: 'split', uuid } });
        await store.recordBatch({ batch: part, name: 'n.5-5', charge, known: exported });
      });
      await inProcess(async (store) => {
        const known = [...store.known.batches.values()];
        expect(known).toMatchObject([
          { batch: 6, name: 'n', charge: null, known: { stage: 'split' } },
          { batch: 6, name: 'n.5-5', charge, known: exported, start: 5, addresses: 5 },
        ]);
      });
    });

    it('takes many entries at once', async () => {
      const credits = Array.from({ length: 50 }, (_, index) => ({
        entry: 'balance' as const,
        credits: { email_credit: index, phone_credit: 0 },
      }));
      await inProcess(async (store) => {
        await store.record(runEntry);
        await Promise.all(credits.map(async (entry) => store.record(entry)));
      });
      const { known } = await inProcess(async (store) => ({ known: store.known }));
      expect(known.balance).toEqual(credits.at(-1));
    });

    it('is held by one process at a time', async () => {
      await inProcess(async () => {
        await expect(openAnew()).rejects.toMatchObject({ code: 'state_locked' });
      });
      await inProcess(async (store) => store.record(runEntry));
    });

    it('keeps results, and those of a part beside them, for the next process', async () => {
      await inProcess(async (store) => {
        await store.keepResults(whole, results, outcomes);
        await store.keepResults(part, otherResults, outcomes);
      });
      await inProcess(async (store) => {
        expect(await told(store, whole)).toEqual(whatWasTold);
        expect(await told(store, whole)).toEqual(whatWasTold);
        expect(await told(store, part)).toEqual([[7, 'batch_failed']]);
      });
    });

    it('keeps results of nothing at all, and later ones in the place of earlier ones', async () => {
      await inProcess(async (store) => {
        const none = { lines: new Uint32Array(0), outcomes: new Uint32Array(0) };
        await store.keepResults(whole, none, outcomes);
        expect(await told(store, whole)).toEqual([]);
        await store.keepResults(whole, results, outcomes);
      });
      await inProcess(async (store) => {
        expect(await told(store, whole)).toEqual(whatWasTold);
      });
    });

    it('is empty when it starts over, and goes on from there', async () => {
      await inProcess(async (store) => {
        await store.record(runEntry);
        await store.keepResults(whole, results, outcomes);
        await store.startOver();
        expect(store.known.run).toBeUndefined();
        await expect(told(store, whole)).rejects.toThrow();
        await expect(openAnew()).rejects.toMatchObject({ code: 'state_locked' });
        await store.record({ ...runEntry, id: 'fedcba9876543210' });
      });
      const { run } = await inProcess(async (store) => store.known);
      expect(run?.id).toBe('fedcba9876543210');
    });

    it('tells what was known until it is removed, and nothing from then on', async () => {
      await inProcess(async (store) => {
        await store.record(runEntry);
        await store.keepResults(whole, results, outcomes);
        await store.clear();
      });
      const store = await openAnew();
      expect(store.known.run).toEqual(runEntry);
      await expect(told(store, whole)).rejects.toThrow();
      await store.clear();
      await store.remove();
      expect((await inProcess(async (next) => next.known)).run).toBeUndefined();
    });
  });
}
