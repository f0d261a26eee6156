import { describe, expect, it } from 'vitest';
import { batchLabel } from '../../src/batches/batch-label.js';
import { ClaimLostError } from '../../src/batches/batch-claim.js';
import type { Batch } from '../../src/batches/batch.js';
import type { BatchProgress } from '../../src/batches/batch-progress.js';
import { planned } from '../../src/batches/known-batch.js';
import type { LineResults } from '../../src/results/batch-results.js';
import { OutcomeTable } from '../../src/results/outcome-table.js';
import type { RunEntry } from '../../src/runs/run-entries.js';
import type { RunClaim, RunStore } from '../../src/runs/run-store.js';

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
const ready = { ...exported, stage: 'ready' } as const;
const launching = { ...exported, stage: 'launching', saidError: false } as const;
const charge = { spent: 5, refunded: 1, net: 4 };
const at = '2026-01-02T03:04:05.000Z';
const other: Batch = { ...whole, id: 7 };
const calls: Batch = { ...whole, id: 8, lane: { type: 'phone', country: 'US' } };
const three = [whole, other, calls];

function progress(batch: Batch, known: BatchProgress['known'] = exported): BatchProgress {
  return { batch, known, name: `n-${batch.id}`, charge: undefined };
}

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

/** Claims all that this process may have of some batches. */
async function claimAll(store: RunStore, wanted: readonly Batch[]): Promise<readonly RunClaim[]> {
  const claims: RunClaim[] = [];
  for (;;) {
    const more = await store.claim(wanted);
    if (more.length === 0) return claims;
    claims.push(...more);
    // Until the service has taken one, a store may keep the others back.
    for (const claim of more) {
      if (!claim.entry) await claim.record(progress(claim.batch, ready));
    }
  }
}

async function claimOne(store: RunStore, batch: Batch): Promise<RunClaim> {
  const [claim] = await store.claim([batch]);
  if (!claim) throw new Error(`batch ${batch.id} is not to be had`);
  return claim;
}

async function keep(store: RunStore, batch: Batch, kept: LineResults): Promise<void> {
  await (await claimOne(store, batch)).keepResults(kept, outcomes);
}

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

/** What a store keeps things in, in a test. */
export interface StorePlace {
  /** Opens the test's store as the next process would. */
  open(): Promise<RunStore>;
  /** Where many processes share it. */
  readonly shared?: {
    /** Opens it as a process that is frozen from now on, and still has its say when it wakes. */
    openFrozen(): Promise<RunStore>;
    /** Lets the claims of frozen processes run out. */
    outlastClaims(): Promise<void>;
  };
}

/** What every store of a run must do, whatever it keeps things in. */
export function describeRunStore(name: string, { open: openAnew, shared }: StorePlace): void {
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
        const claim = await claimOne(store, whole);
        await claim.record({ ...driven, known: { ...tries, stage: 'planned' } });
        const { uuid } = exported;
        await claim.record({ ...driven, known: { ...tries, stage: 'split', uuid } });
        const ofPart = await claimOne(store, part);
        await ofPart.record({ batch: part, name: 'n.5-5', charge, known: exported }, at);
      });
      await inProcess(async (store) => {
        const known = [...store.known.batches.values()];
        expect(known).toMatchObject([
          { batch: 6, name: 'n', charge: null, known: { stage: 'split' } },
          { batch: 6, name: 'n.5-5', charge, known: exported, start: 5, addresses: 5, at },
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

    const itIsAlone = shared ? undefined : it;
    itIsAlone?.('is held by one process at a time', async () => {
      await inProcess(async () => {
        await expect(openAnew()).rejects.toMatchObject({ code: 'state_locked' });
      });
      await inProcess(async (store) => store.record(runEntry));
    });

    it('keeps results, and those of a part beside them, for the next process', async () => {
      await inProcess(async (store) => {
        await keep(store, whole, results);
        await keep(store, part, otherResults);
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
        const claim = await claimOne(store, whole);
        await claim.keepResults(none, outcomes);
        expect(await told(store, whole)).toEqual([]);
        await claim.keepResults(results, outcomes);
      });
      await inProcess(async (store) => {
        expect(await told(store, whole)).toEqual(whatWasTold);
      });
    });

    it('is empty when it starts over, and goes on from there', async () => {
      await inProcess(async (store) => {
        await store.record(runEntry);
        await keep(store, whole, results);
        await store.startOver();
        expect(store.known.run).toBeUndefined();
        await expect(told(store, whole)).rejects.toThrow();
        if (!shared) await expect(openAnew()).rejects.toMatchObject({ code: 'state_locked' });
        await store.record({ ...runEntry, id: 'fedcba9876543210' });
      });
      const { run } = await inProcess(async (store) => store.known);
      expect(run?.id).toBe('fedcba9876543210');
    });

    it('tells what was known until it is removed, and nothing from then on', async () => {
      await inProcess(async (store) => {
        await store.record(runEntry);
        await keep(store, whole, results);
        await store.clear();
      });
      const store = await openAnew();
      expect(store.known.run).toEqual(runEntry);
      await expect(told(store, whole)).rejects.toThrow();
      await store.clear();
      await store.remove();
      expect((await inProcess(async (next) => next.known)).run).toBeUndefined();
    });

    it('gives each batch to one claim, with what was known of it before', async () => {
      await inProcess(async (store) => {
        await store.record(runEntry);
        const claims = await claimAll(store, three);
        expect(claims.map(({ batch, entry }) => [batch.id, entry])).toEqual([
          [6, undefined],
          [7, undefined],
          [8, undefined],
        ]);
        await claims[1]?.record(progress(other, launching), at);
        expect(await store.claim(three)).toEqual([]);
      });
      await inProcess(async (store) => {
        const claims = await claimAll(store, three);
        expect(claims.map(({ batch }) => batch.id)).toEqual([6, 7, 8]);
        expect(claims.map(({ entry }) => entry?.known)).toEqual([ready, launching, ready]);
        expect(claims[1]?.entry).toMatchObject({ name: 'n-7', at });
        expect(claims[1]?.times).toMatchObject({ launched_at: at });
        for (const claim of claims) await claim.confirm();
      });
    });

    it('reserves the credits of a launch once, and those of each type for themselves', async () => {
      await inProcess(async (store) => {
        await store.record(runEntry);
        const [first, second, third] = await claimAll(store, three);
        const granted = { isGranted: true, credits: 10 };
        expect(await first?.reserve(19)).toEqual(granted);
        expect(await first?.reserve(19)).toEqual(granted);
        expect(await second?.reserve(19)).toEqual({ isGranted: false, credits: 20 });
        expect(await third?.reserve(19)).toEqual(granted);
        expect(await second?.reserve(20)).toEqual({ isGranted: true, credits: 20 });
      });
    });

    it('gives credits back where nothing was launched, and keeps those of what may be paid', async () => {
      await inProcess(async (store) => {
        await store.record(runEntry);
        const [first, second] = await claimAll(store, three);
        await first?.reserve(10);
        await first?.record(progress(whole, launching));
        await first?.record(progress(whole, ready));
        expect(await second?.reserve(10)).toEqual({ isGranted: true, credits: 10 });
        await second?.record(progress(other, launching));
      });
      await inProcess(async (store) => {
        const [first, second] = await claimAll(store, [whole, other]);
        expect(await first?.reserve(19)).toEqual({ isGranted: false, credits: 20 });
        expect((await second?.reserve(1))?.isGranted).toBe(true);
      });
    });

    it('never reserves more than is allowed, however many ask at once', async () => {
      const many = Array.from({ length: 32 }, (_, id) => ({ ...whole, id }));
      await inProcess(async (store) => {
        await store.record(runEntry);
        const claims = await claimAll(store, many);
        const asked = await Promise.all(claims.map(async (claim) => claim.reserve(75)));
        expect(asked.filter(({ isGranted }) => isGranted)).toHaveLength(7);
      });
    });
  });

  if (shared) describeSharing(name, openAnew, shared);
}

function describeSharing(
  name: string,
  open: () => Promise<RunStore>,
  { openFrozen, outlastClaims }: NonNullable<StorePlace['shared']>,
): void {
  /** Batches that nobody has, where the service has taken one already. */
  async function withStores(
    count: number,
    work: (stores: readonly RunStore[]) => Promise<void>,
    opened = open,
  ): Promise<void> {
    const stores: RunStore[] = [];
    for (let index = 0; index < count; index += 1) stores.push(await opened());
    await first(stores).record(runEntry);
    const taken = await claimOne(first(stores), { ...whole, id: 0 });
    await taken.record(progress({ ...whole, id: 0 }));
    try {
      await work(stores);
    } finally {
      for (const store of stores) await store.close();
    }
  }

  describe(`${name} that many processes share`, () => {
    it('gives each batch to one of 32 that want it at once', async () => {
      const many = Array.from({ length: 20 }, (_, id) => ({ ...whole, id: id + 1 }));
      await withStores(32, async (stores) => {
        const claims = await Promise.all(stores.map(async (store) => store.claim(many)));
        const ids = claims.flat().map(({ batch }) => batch.id);
        expect(ids.toSorted((a, b) => a - b)).toEqual(many.map(({ id }) => id));
      });
    });

    it('lets one batch go ahead until the service has taken it', async () => {
      const [one, two] = [await open(), await open()];
      await one.record(runEntry);
      const ahead = await claimOne(one, whole);
      expect(await two.claim(three)).toEqual([]);
      expect(await one.claim(three)).toEqual([]);
      await ahead.record(progress(whole, { ...exported, stage: 'uploaded' }));
      expect(await two.claim(three)).toEqual([]);
      await ahead.record(progress(whole, ready));
      expect(await two.claim(three)).toMatchObject([{ batch: { id: 7 } }]);
      await one.close();
      await two.close();
    });

    it('reserves for all of them together', async () => {
      await withStores(2, async ([one, two]) => {
        const ours = await claimOne(one as RunStore, whole);
        const theirs = await claimOne(two as RunStore, other);
        await ours.reserve(30);
        // The first batch was verified.
        expect(await theirs.reserve(29)).toEqual({ isGranted: false, credits: 30 });
      });
    });

    it('gives what a process lets go of to the next at once, and nothing that has ended', async () => {
      await withStores(2, async ([one, two]) => {
        const claim = await claimOne(one as RunStore, whole);
        await claim.record(progress(whole, launching));
        await (await claimOne(one as RunStore, other)).record(progress(other));
        expect(await two?.claim(three)).toMatchObject([{ batch: { id: 8 } }]);
        expect(await two?.claim(three)).toEqual([]);
        await one?.close();
        const [taken] = (await two?.claim(three)) ?? [];
        expect(taken).toMatchObject({ batch: { id: 6 }, entry: { known: launching } });
        expect(await two?.claim(three)).toEqual([]);
      });
    });

    it('hears what others have done', async () => {
      await withStores(2, async ([one, two]) => {
        const claim = await claimOne(one as RunStore, whole);
        const { signal } = new AbortController();
        const news = two?.news?.(signal);
        await claim.record(progress(whole, ready));
        await outlastClaims();
        await news;
        expect(two?.known.batches.get(batchLabel(whole))?.known).toEqual(ready);
        await claim.record(progress(whole));
        await outlastClaims();
        // What came before it was asked for is told at once.
        await two?.news?.(signal);
        expect(two?.known.batches.get(batchLabel(whole))?.known).toEqual(exported);
      });
    });

    it('refuses whatever a frozen process has to say when another has its batch', async () => {
      const frozen = await openFrozen();
      await withStores(1, async ([next]) => {
        const before = await claimOne(frozen, whole);
        await before.record(progress(whole, ready));
        expect(await next?.claim([whole])).toEqual([]);
        await outlastClaims();
        const after = await claimOne(next as RunStore, whole);
        expect(after.entry?.known).toEqual(ready);
        await after.record(progress(whole, launching));
        const said = [
          async () => before.record(progress(whole, planned)),
          async () => before.confirm(),
          async () => before.reserve(1e6),
          async () => before.keepResults(otherResults, outcomes),
        ];
        for (const say of said) await expect(say()).rejects.toBeInstanceOf(ClaimLostError);
        expect(before.lost?.aborted).toBe(true);
        await after.keepResults(results, outcomes);
        await after.record(progress(whole));
        expect(await told(next as RunStore, whole)).toEqual(whatWasTold);
        // What it lets go of is not its own any more.
        await frozen.close();
        await after.confirm();
      });
    });

    it('keeps the claims of a process for as long as it gives signs of life', async () => {
      await withStores(1, async ([store]) => {
        const claim = await claimOne(store as RunStore, whole);
        await outlastClaims();
        await claim.confirm();
        expect(claim.lost?.aborted).toBe(false);
      });
    });
  });
}

function first<Item>([item]: readonly Item[]): Item {
  if (item === undefined) throw new Error('there is none');
  return item;
}
