import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { batchLabel, type Batch } from '../../../src/engine/batches/batch.js';
import { ClaimRevokedError, type BatchProgress } from '../../../src/engine/batches/claim.js';
import { planned } from '../../../src/engine/batches/batch-state.js';
import type { LineResults } from '../../../src/engine/results/match-export.js';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import type { PlanEntry, RunEntry } from '../../../src/engine/stores/journal-entries.js';
import { exampleSummary } from '../../report/page/example-report.js';
import { exported, planEntry, runEntry } from './example-entries.js';
import { RunReplacedError } from '../../../src/engine/stores/shared/store-protocol.js';
import type { RateUpdate } from '../../../src/client/rate/shared-rate.js';
import type {
  RunClaim,
  RunStore,
  SharedRunStore,
  SourceCopy,
} from '../../../src/engine/stores/run-store.js';

const balance = { entry: 'balance', credits: { email_credit: 1.5, phone_credit: 1e15 } } as const;

const whole: Batch = {
  id: 6,
  group: { type: 'email', country: 'US' },
  addresses: 10,
  sizeBytes: 100,
  checksum: 0,
  open: () => [],
};
const part: Batch = { ...whole, addresses: 5, part: { start: 5, of: 10 } };
const ready = { ...exported, stage: 'ready' } as const;
const launching = { ...exported, stage: 'launching', answeredError: false } as const;
const broken = {
  stage: 'failed',
  attempt: 1,
  fresh: 0,
  uploads: 1,
  reason: 'internal_error',
  uuid: undefined,
  launched: true,
} as const;
const again = { stage: 'planned', attempt: 2, fresh: 0, uploads: 0 } as const;
const charge = { spent: 5, refunded: 1, net: 4 };
const at = '2026-01-02T03:04:05.000Z';
const other: Batch = { ...whole, id: 7 };
const calls: Batch = { ...whole, id: 8, group: { type: 'phone', country: 'US' } };
const three = [whole, other, calls];

function progress(batch: Batch, state: BatchProgress['state'] = exported): BatchProgress {
  return { batch, state, name: `n-${batch.id}`, charge: undefined };
}

const summary = exampleSummary();
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

/** What a process is notified of the budget counts from now on, also for what others reserve. */
async function limit(store: RunStore, most: number | null): Promise<void> {
  await store.record({ entry: 'budget', most });
}

/** Results as another process sees them, which numbers outcomes in its own way. */
async function reported(
  store: RunStore,
  batch: Batch,
): Promise<readonly (readonly [number, string])[]> {
  const table = new OutcomeTable();
  table.idOf('not_submitted', 'empty');
  const read = await store.readResults(batch, table);
  if (!('lines' in read)) throw new Error('they were kept by line');
  return Array.from(read.lines, (line, at) => [line, table.get(read.outcomes[at] ?? -1).reason]);
}
const reportedBy = [
  [3, 'no_record'],
  [4_000_000_000, 'batch_failed'],
  [0, 'no_record'],
];

function copyOf(store: RunStore): SourceCopy {
  return (store as SharedRunStore).copy;
}

/** More than fits into two blocks, no two of them the same. */
async function* copied(): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < 21; piece += 1) yield Buffer.alloc(100_001, piece);
}

async function* none(): AsyncGenerator<Uint8Array> {}

async function digestOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of bytes) hash.update(piece);
  return hash.digest('hex');
}

async function copyIn(store: RunStore): Promise<object | undefined> {
  const copy = await copyOf(store).read();
  return copy && { of: copy.of, digest: await digestOf(copy.bytes) };
}

/** What a store keeps things in, in a test. */
export interface StorePlace<Store extends RunStore = RunStore> {
  /** Opens the test's store as the next process would. */
  open(): Promise<Store>;
  /** Begins a run in it. */
  begin(store: Store, run: RunEntry, plan: PlanEntry): Promise<unknown>;
  /** Where many processes share it. */
  readonly shared?: {
    /** Opens it as a process that is frozen from now on, and still has its say when it wakes. */
    openFrozen(): Promise<Store>;
    /** Lets the claims of frozen processes run out, and others look at what there is. */
    outlastClaims(): Promise<void>;
  };
}

/** What every store of a run must do, whatever it keeps things in. */
export function describeRunStore<Store extends RunStore>(
  name: string,
  { open: openAnew, begin: beginRun, shared }: StorePlace<Store>,
): void {
  const begin = async (store: Store, run: RunEntry): Promise<void> => {
    await beginRun(store, run, planEntry);
  };
  /** Works in the store as a process of its own. */
  async function inProcess<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await openAnew();
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  describe(`${name} as the store of a run`, () => {
    it('knows nothing at first', async () => {
      const { run, plan, finished, batches } = await inProcess(async (store) => store.state);
      expect({ run, plan, finished }).toEqual({});
      expect(batches.size).toBe(0);
    });

    it('tells the next process what was recorded, the latest of each batch', async () => {
      await inProcess(async (store) => {
        await begin(store, runEntry);
        await store.record(balance);
      });
      await inProcess(async (store) => {
        expect(store.state).toMatchObject({ run: runEntry, balance: { credits: balance.credits } });
        const driven = { batch: whole, name: 'n', charge: undefined };
        const tries = { attempt: 1, fresh: 0, uploads: 1 };
        const claim = await claimOne(store, whole);
        await claim.record({ ...driven, state: { ...tries, stage: 'planned' } });
        const { uuid } = exported;
        await claim.record({ ...driven, state: { ...tries, stage: 'split', uuid } });
        const ofPart = await claimOne(store, part);
        await ofPart.record({ batch: part, name: 'n.5-5', charge, state: exported }, at);
      });
      await inProcess(async (store) => {
        const known = [...store.state.batches.values()];
        expect(known).toMatchObject([
          { batch: 6, name: 'n', charge: null, state: { stage: 'split' } },
          { batch: 6, name: 'n.5-5', charge, state: exported, start: 5, addresses: 5, at },
        ]);
      });
    });

    it('takes many entries at once', async () => {
      const credits = Array.from({ length: 50 }, (_, index) => ({
        entry: 'balance' as const,
        credits: { email_credit: index, phone_credit: 0 },
      }));
      await inProcess(async (store) => {
        await begin(store, runEntry);
        await Promise.all(credits.map(async (entry) => store.record(entry)));
      });
      const { state } = await inProcess(async (store) => ({ state: store.state }));
      // It was read before anything was launched.
      expect(state.balance).toEqual(credits[0]);
    });

    const itIsAlone = shared ? undefined : it;
    itIsAlone?.('is held by one process at a time', async () => {
      await inProcess(async () => {
        await expect(openAnew()).rejects.toMatchObject({ code: 'state_locked' });
      });
      await inProcess(async (store) => begin(store, runEntry));
    });

    it('keeps results, and those of a part beside them, for the next process', async () => {
      await inProcess(async (store) => {
        await begin(store, runEntry);
        await keep(store, whole, results);
        await keep(store, part, otherResults);
      });
      await inProcess(async (store) => {
        expect(await reported(store, whole)).toEqual(reportedBy);
        expect(await reported(store, whole)).toEqual(reportedBy);
        expect(await reported(store, part)).toEqual([[7, 'batch_failed']]);
      });
    });

    it('keeps results of nothing at all, and later ones in the place of earlier ones', async () => {
      await inProcess(async (store) => {
        const none = { lines: new Uint32Array(0), outcomes: new Uint32Array(0) };
        await begin(store, runEntry);
        const claim = await claimOne(store, whole);
        await claim.keepResults(none, outcomes);
        expect(await reported(store, whole)).toEqual([]);
        await claim.keepResults(results, outcomes);
      });
      await inProcess(async (store) => {
        expect(await reported(store, whole)).toEqual(reportedBy);
      });
    });

    it('tells what was known until it is removed, and nothing from then on', async () => {
      await inProcess(async (store) => {
        await begin(store, runEntry);
        await keep(store, whole, results);
        await (await store.claimOutput())?.finish(summary);
        await store.clear();
      });
      const store = await openAnew();
      expect(store.state.run).toEqual(runEntry);
      await expect(reported(store, whole)).rejects.toThrow();
      await store.clear();
      await store.remove();
      expect((await inProcess(async (next) => next.state)).run).toBeUndefined();
    });

    it('gives each batch to one claim, with what was known of it before', async () => {
      await inProcess(async (store) => {
        await begin(store, runEntry);
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
        expect(claims.map(({ entry }) => entry?.state)).toEqual([ready, launching, ready]);
        expect(claims[1]?.entry).toMatchObject({ name: 'n-7', at });
        expect(claims[1]?.times).toMatchObject({ launched_at: at });
        for (const claim of claims) await claim.confirm();
      });
    });

    it('gives the last step to a process, and knows the end once it is done', async () => {
      await inProcess(async (store) => {
        await begin(store, runEntry);
        const last = await store.claimOutput();
        await last?.confirm();
        expect(store.state.finished).toBeUndefined();
      });
      await inProcess(async (store) => (await store.claimOutput())?.finish(summary));
      await inProcess(async (store) => {
        expect(store.state.finished?.summary).toEqual(summary);
      });
    });

    it('reserves the credits of a launch once, and those of each type for themselves', async () => {
      await inProcess(async (store) => {
        await begin(store, runEntry);
        const [first, second, third] = await claimAll(store, three);
        const granted = { isGranted: true, credits: 10 };
        await limit(store, 19);
        expect(await first?.reserve(19)).toEqual(granted);
        expect(await first?.reserve(19)).toEqual(granted);
        expect(await second?.reserve(19)).toEqual({
          isGranted: false,
          credits: 20,
          most: 19,
          open: 10,
        });
        expect(await third?.reserve(19)).toEqual(granted);
        await limit(store, 20);
        expect(await second?.reserve(20)).toEqual({ isGranted: true, credits: 20 });
      });
    });

    it('gives credits back where nothing was launched, and keeps those of what may be paid', async () => {
      await inProcess(async (store) => {
        await begin(store, runEntry);
        const [first, second] = await claimAll(store, three);
        await first?.reserve(10);
        await first?.record(progress(whole, launching));
        await first?.record(progress(whole, ready));
        expect(await second?.reserve(10)).toEqual({ isGranted: true, credits: 10 });
        await second?.record(progress(other, launching));
      });
      await inProcess(async (store) => {
        const [first, second] = await claimAll(store, [whole, other]);
        await limit(store, 19);
        expect(await first?.reserve(19)).toEqual({
          isGranted: false,
          credits: 20,
          most: 19,
          open: 10,
        });
        expect((await second?.reserve(19))?.isGranted).toBe(true);
      });
    });

    it('counts a launch with its cost once that is known, and what it replaces, too', async () => {
      const charge = { spent: 4, refunded: 1, net: 3 };
      await inProcess(async (store) => {
        await begin(store, runEntry);
        const [first, second] = await claimAll(store, three);
        await limit(store, 13);
        await first?.reserve(13);
        await first?.record(progress(whole, launching));
        const refused = { isGranted: false, credits: 20, most: 13, open: 10 };
        expect(await second?.reserve(13)).toEqual(refused);
        await first?.record({
          ...progress(whole, { ...exported, stage: 'done', broken: 0 }),
          charge,
        });
        expect(await second?.reserve(13)).toEqual({ ...refused, credits: 14, open: 0 });
        await first?.record({ ...progress(whole, planned), replacedCharge: charge });
        expect(await first?.reserve(13)).toEqual({ ...refused, credits: 14, open: 0 });
        await limit(store, 14);
        expect(await second?.reserve(14)).toEqual({ isGranted: true, credits: 14 });
      });
    });

    it('sets a launch aside that is beyond a smaller limit, so that another that is reserved may fit', async () => {
      await inProcess(async (store) => {
        await begin(store, runEntry);
        const [first, second] = await claimAll(store, three);
        await limit(store, 1e6);
        await first?.reserve(1e6);
        await second?.reserve(1e6);
        await limit(store, 10);
        const refused = { isGranted: false, credits: 20, most: 10, open: 0 };
        expect(await first?.reserve(10)).toEqual(refused);
        expect(await second?.reserve(10)).toEqual({ isGranted: true, credits: 10 });
        expect(await first?.reserve(10)).toEqual(refused);
        // It was carried out after all: now both count.
        await first?.record(progress(whole, launching));
        expect(await second?.reserve(10)).toEqual(refused);
      });
    });

    it('never reserves more than is allowed, however many ask at once', async () => {
      const many = Array.from({ length: 32 }, (_, id) => ({ ...whole, id }));
      await inProcess(async (store) => {
        await begin(store, runEntry);
        const claims = await claimAll(store, many);
        await limit(store, 75);
        const asked = await Promise.all(claims.map(async (claim) => claim.reserve(75)));
        expect(asked.filter(({ isGranted }) => isGranted)).toHaveLength(7);
      });
    });
  });

  if (shared) describeSharing(name, { open: openAnew, begin, ...shared });
}

function describeSharing<Store extends RunStore>(
  name: string,
  {
    open,
    begin,
    openFrozen,
    outlastClaims,
  }: Pick<StorePlace<Store>, 'open'> & {
    readonly begin: (store: Store, run: RunEntry) => Promise<void>;
  } & NonNullable<StorePlace<Store>['shared']>,
): void {
  /** Batches that nobody has, where the service has taken one already. */
  async function withStores(
    count: number,
    work: (stores: readonly Store[]) => Promise<void>,
    opened = open,
  ): Promise<void> {
    const stores: Store[] = [];
    for (let index = 0; index < count; index += 1) stores.push(await opened());
    await begin(first(stores), runEntry);
    const taken = await claimOne(first(stores), { ...whole, id: 0 });
    await taken.record(progress({ ...whole, id: 0 }));
    try {
      await work(stores);
    } finally {
      for (const store of stores) await store.close();
    }
  }

  /** Processes of a run that none of them has begun yet. */
  async function withUnbegun(
    work: (stores: readonly [Store, Store]) => Promise<void>,
  ): Promise<void> {
    const stores = await Promise.all([open(), open()]);
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
      await begin(one, runEntry);
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

    it('reserves for all of them together, within what the newest was notified', async () => {
      await withStores(2, async ([one, two]) => {
        const ours = await claimOne(one as Store, whole);
        const theirs = await claimOne(two as Store, other);
        await ours.reserve(0);
        // The first batch was verified.
        await limit(two as Store, 29);
        const refused = { isGranted: false, credits: 30, most: 29, open: 10 };
        expect(await theirs.reserve(1e6)).toEqual(refused);
        await limit(one as Store, 30);
        expect(await theirs.reserve(29)).toEqual({ isGranted: true, credits: 30 });
        // What is reserved stays so, and is not granted beyond a smaller limit.
        await limit(one as Store, 0);
        const beyond = { isGranted: false, credits: 30, most: 0, open: 0 };
        expect(await theirs.reserve(29)).toEqual(beyond);
        const last = await claimOne(one as Store, { ...whole, id: 9 });
        expect(await last.reserve(1e6)).toEqual({
          isGranted: false,
          credits: 40,
          most: 0,
          open: 20,
        });
        await limit(one as Store, null);
        expect(await last.reserve(0)).toEqual({ isGranted: true, credits: 40 });
        await outlastClaims();
        await until(two, () => two?.state.budget?.most === null);
        expect(two?.state.budget).toEqual({ entry: 'budget', most: null });
      });
    });

    it('gives what a process lets go of to the next at once, and nothing that has ended', async () => {
      await withStores(2, async ([one, two]) => {
        const claim = await claimOne(one as Store, whole);
        await claim.record(progress(whole, launching));
        // Whether or not the store answers another heartbeat, this process knows what it has recorded.
        expect(one?.state.batches.get(batchLabel(whole))?.state).toEqual(launching);
        await (await claimOne(one as Store, other)).record(progress(other));
        expect(await two?.claim(three)).toMatchObject([{ batch: { id: 8 } }]);
        expect(await two?.claim(three)).toEqual([]);
        expect((two as unknown as SharedRunStore).heldForMs).toBeGreaterThan(0);
        await one?.close();
        const [taken] = (await two?.claim(three)) ?? [];
        expect(taken).toMatchObject({ batch: { id: 6 }, entry: { state: launching } });
        expect(await two?.claim(three)).toEqual([]);
        expect((two as unknown as SharedRunStore).heldForMs).toBe(0);
      });
    });

    it('hears what others have done', async () => {
      await withStores(2, async ([one, two]) => {
        const claim = await claimOne(one as Store, whole);
        const stage = () => two?.state.batches.get(batchLabel(whole))?.state.stage;
        const received = until(two, () => stage() === 'ready');
        await claim.record(progress(whole, ready));
        await outlastClaims();
        await received;
        expect(two?.state.batches.get(batchLabel(whole))?.state).toEqual(ready);
        await claim.record(progress(whole));
        await outlastClaims();
        // What came before it was asked for is notified at once.
        await until(two, () => stage() === 'exported');
        expect(two?.state.batches.get(batchLabel(whole))?.state).toEqual(exported);
      });
    });

    it('refuses whatever a frozen process has to say when another has its batch', async () => {
      const frozen = await openFrozen();
      await withStores(1, async ([next]) => {
        const before = await claimOne(frozen, whole);
        await before.record(progress(whole, ready));
        expect(await next?.claim([whole])).toEqual([]);
        await outlastClaims();
        const after = await claimOne(next as Store, whole);
        expect(after.entry?.state).toEqual(ready);
        await after.record(progress(whole, launching));
        const printed = [
          async () => before.record(progress(whole, planned)),
          async () => before.confirm(),
          async () => before.reserve(1e6),
          async () => before.keepResults(otherResults, outcomes),
        ];
        for (const say of printed) await expect(say()).rejects.toBeInstanceOf(ClaimRevokedError);
        expect(before.revoked?.aborted).toBe(true);
        await after.keepResults(results, outcomes);
        await after.record(progress(whole));
        expect(await reported(next as Store, whole)).toEqual(reportedBy);
        // What it lets go of is not its own any more.
        await frozen.close();
        await after.confirm();
      });
    });

    it('is begun by one of many, and all hear which', async () => {
      const stores = await Promise.all(Array.from({ length: 8 }, open));
      await Promise.all(
        stores.map(async (store, at) => begin(store, { ...runEntry, id: `${at}`.repeat(16) })),
      );
      const ids = stores.map(({ state }) => state.run?.id);
      expect(new Set(ids).size).toBe(1);
      expect(ids[0]).toMatch(/^\d{16}$/);
      for (const store of stores) {
        expect(store.state.plan).toEqual(planEntry);
        await store.close();
      }
    });

    it('gives the last step to one at a time, and to the next when that lets go or falls silent', async () => {
      const frozen = await openFrozen();
      await withStores(8, async (stores) => {
        const asked = await Promise.all(stores.map(async (store) => store.claimOutput()));
        const [joiner] = asked.filter((claim) => claim !== undefined);
        expect(asked.filter((claim) => claim !== undefined)).toHaveLength(1);
        await stores[asked.findIndex((claim) => claim !== undefined)]?.close();
        await expect(joiner?.finish(summary)).rejects.toBeInstanceOf(ClaimRevokedError);
        const before = await frozen.claimOutput();
        await before?.confirm();
        const rest = stores.filter((_, at) => asked[at] === undefined);
        const [next, other] = [first(rest), rest[1] as Store];
        expect(await next.claimOutput()).toBeUndefined();
        await outlastClaims();
        const after = await next.claimOutput();
        await expect(before?.confirm()).rejects.toBeInstanceOf(ClaimRevokedError);
        await expect(before?.finish(summary)).rejects.toBeInstanceOf(ClaimRevokedError);
        expect(before?.revoked?.aborted).toBe(true);
        await after?.finish(summary);
        expect(await other.claimOutput()).toBeUndefined();
        await outlastClaims();
        await until(other, () => other.state.finished !== undefined);
        expect(other.state.finished?.summary).toEqual(summary);
        await frozen.close();
      });
    });

    it('gives nothing away once the run has finished or is removed, to whoever has it open', async () => {
      await withStores(3, async ([one, two, three]) => {
        const held = await claimOne(one as Store, whole);
        await (await two?.claimOutput())?.finish(summary);
        expect(await three?.claim([other])).toEqual([]);
        await two?.clear();
        // Results that are not there any more are no damage.
        await expect(reported(one as Store, whole)).rejects.toBeInstanceOf(ClaimRevokedError);
        expect(await three?.claim([other])).toEqual([]);
        expect(await three?.claimOutput()).toBeUndefined();
        await expect(held.record(progress(whole, launching))).rejects.toBeInstanceOf(
          ClaimRevokedError,
        );
        await two?.remove();
        expect(await three?.claim([other])).toEqual([]);
        expect(await three?.claimOutput()).toBeUndefined();
        await outlastClaims();
        await until(three, () => three?.state.run === undefined);
      });
    });

    it('tells all of a stop, and of its end', async () => {
      await withStores(2, async ([one, two]) => {
        const stop = { entry: 'stopped', code: 'payment_required', message: 'none', at } as const;
        await one?.record(stop);
        await outlastClaims();
        await until(two, () => two?.state.stopped !== undefined);
        expect(two?.state.stopped).toEqual(stop);
        await two?.record({ entry: 'resumed' });
        await outlastClaims();
        await until(one, () => one?.state.stopped === undefined);
      });
    });

    it('gives a batch to nobody after five processes that had it were lost, until the run is resumed', async () => {
      await withStores(1, async ([store]) => {
        // What is let go of is no loss.
        const asked = await open();
        await claimOne(asked, whole);
        await asked.close();
        const lost: Store[] = [];
        for (let times = 0; times < 5; times += 1) {
          const frozen = await openFrozen();
          lost.push(frozen);
          await claimOne(frozen, whole);
          await outlastClaims();
        }
        expect(await store?.claim([whole])).toEqual([]);
        await outlastClaims();
        await until(store, () => store?.state.stopped !== undefined);
        expect(store?.state.stopped).toMatchObject({
          code: 'processes_lost',
          message: expect.stringContaining(batchLabel(whole)) as string,
        });
        await store?.record({ entry: 'resumed' });
        expect(await store?.claim([whole])).toMatchObject([{ batch: { id: whole.id } }]);
        for (const frozen of lost) await frozen.close();
      });
    });

    it('gives all processes of an account one pace: the lowest rate, and the pause of any', async () => {
      await withStores(2, async ([one, two]) => {
        const account = async (salt: string): Promise<string> =>
          `${salt} of the suite, ${runEntry.id}`;
        const [ours, theirs] = [
          await (one as unknown as SharedRunStore).joinPace({ account, intervalMs: 60_000 }),
          await (two as unknown as SharedRunStore).joinPace({ account, intervalMs: 0 }),
        ];
        const received: RateUpdate[] = [];
        theirs.listen((update) => received.push(update));
        expect(received).toEqual([{ intervalMs: 60_000, pausedMs: 0 }]);
        const slots = await Promise.all(
          [ours, theirs, theirs, ours].map(async (pace) => pace.takeSlot()),
        );
        const apart = slots.toSorted((a, b) => a - b).map((at, index) => at - index * 60_000);
        // A slot is counted from the answer on.
        for (const ms of apart) expect(Math.abs(ms)).toBeLessThan(30_000);
        ours.pause(600_000);
        await outlastClaims();
        await expect.poll(() => received.at(-1)?.pausedMs).toBeGreaterThan(500_000);
        expect(await ours.takeSlot()).toBeGreaterThan(500_000);
      });
    });

    it('opens a finished run again for the first of many that want it', async () => {
      await withStores(3, async (stores) => {
        const [one, two, three] = stores as unknown as [
          SharedRunStore,
          SharedRunStore,
          SharedRunStore,
        ];
        const claim = await claimOne(one, whole);
        await claim.record(progress(whole, launching));
        await claim.record(progress(whole, broken));
        await (await one.claimOutput())?.finish(summary);
        await outlastClaims();
        for (const store of [two, three]) {
          await until(store, () => store.state.finished !== undefined);
        }
        // What is said of the run is nothing of its batches.
        await limit(one, 20);
        await Promise.all(
          [two, three].map(async (store, at) => {
            await store.others.reopen([progress(whole, { ...again, attempt: 2 + at })]);
          }),
        );
        const attempts = [two, three].map(({ state }) => {
          expect(state.finished).toBeUndefined();
          return state.batches.get(batchLabel(whole))?.state.attempt;
        });
        expect(new Set(attempts).size).toBe(1);
        await three.others.reopen([progress(whole, { ...again, attempt: 9 })]);
        const taken = await claimOne(three, whole);
        expect(taken.entry?.state).toEqual({ ...again, attempt: attempts[0] });
        // What was surely not launched is not paid for.
        expect(await taken.reserve(20)).toEqual({ isGranted: true, credits: 20 });
        await taken.record(progress(whole));
        await (await two.claimOutput())?.finish(summary);
      });
    });

    it('keeps what of a history the plan that counts uses, until the run has ended', async () => {
      await withUnbegun(async (stores) => {
        const [one, two] = stores as unknown as [SharedRunStore, SharedRunStore];
        const text = async (store: SharedRunStore) =>
          Buffer.from(await store.readRecalled()).toString();
        await one.keepRecalled(Buffer.alloc(100, 'x'));
        await two.keepRecalled(Buffer.from('of the other'));
        const kept = `counts${'y'.repeat(50)}`;
        await one.keepRecalled(Buffer.from(kept));
        await begin(one as unknown as Store, runEntry);
        await begin(two as unknown as Store, { ...runEntry, id: 'f'.repeat(16) });
        for (const store of [one, two]) {
          expect(await text(store)).toBe(kept);
          await store.keepRecalled(Buffer.from('too late'));
        }
        expect(await text(two)).toBe(kept);
        await (await one.claimOutput())?.finish(summary);
        await one.clear();
        await expect(text(two)).rejects.toBeInstanceOf(ClaimRevokedError);
      });
    });

    it('gives way to another run where no other process has a batch, with what that one has cost', async () => {
      await withUnbegun(async (stores) => {
        const [one, two] = stores as unknown as [SharedRunStore, SharedRunStore];
        const size = { type: 'email', country: 'US', addresses: 10, checksum: 0 };
        const plan = { ...planEntry, batches: Array.from({ length: 9 }, () => size) };
        const next = { ...runEntry, id: 'f'.repeat(16), keepsBudget: true };
        const replace = async (): Promise<boolean> =>
          one.replace({
            earlier: [runEntry, plan, ...one.state.batches.values()],
            run: next,
            plan,
            budget: { entry: 'budget', most: 15 },
          });
        for (const store of [two, one]) await store.begin(runEntry, plan);
        const claim = await claimOne(two, whole);
        await claim.record(progress(whole, launching));
        expect(await replace()).toBe(false);
        await claim.record({ ...progress(whole), charge });
        expect(await one.claim([whole])).toEqual([]);
        await one.keepRecalled(Buffer.from('of the next'));
        expect(await replace()).toBe(true);
        await expect(two.readRecalled()).rejects.toBeInstanceOf(RunReplacedError);
        for (const store of [one, two]) {
          await expect(store.record({ entry: 'approved' })).rejects.toBeInstanceOf(
            RunReplacedError,
          );
        }
        const joined = (await open()) as unknown as SharedRunStore;
        const { state } = joined;
        expect([state.run, state.budget?.most]).toEqual([next, 15]);
        expect(state.earlier).toMatchObject([{ run: runEntry, batches: { size: 1 } }]);
        expect(Buffer.from(await joined.readRecalled()).toString()).toBe('of the next');
        const [again, more] = await claimAll(joined, [whole, other]);
        expect(again?.entry).toBeUndefined();
        expect(await again?.reserve(99)).toEqual({ isGranted: true, credits: 15 });
        expect(await more?.reserve(99)).toMatchObject({ isGranted: false, credits: 25 });
        await (await joined.claimOutput())?.finish(summary);
        await joined.clear();
        const last = await open();
        expect(last.state).toMatchObject({ run: next, finished: { summary } });
        await last.close();
        await joined.close();
      });
    });

    it('has one process copy the source, and gives nobody half a copy', async () => {
      const frozen = await openFrozen();
      await withUnbegun(async ([next, other]) => {
        const before = await copyOf(frozen).claim();
        expect(await copyOf(next).claim()).toBeUndefined();
        let goOn = (): void => undefined;
        const isAsked = new Promise<void>((resolve) => (goOn = resolve));
        let tellHalf = (): void => undefined;
        const isHalf = new Promise<void>((resolve) => (tellHalf = resolve));
        const slow = async function* (): AsyncGenerator<Uint8Array> {
          yield Buffer.alloc(3 * 2 ** 20, 1);
          tellHalf();
          await isAsked;
          yield Buffer.from('late');
        };
        const half = expect(before?.write(slow(), 'half')).rejects.toBeInstanceOf(
          ClaimRevokedError,
        );
        await isHalf;
        expect(await copyOf(next).read()).toBeUndefined();
        await outlastClaims();
        const after = await copyOf(next).claim();
        await after?.write(copied(), 'list');
        goOn();
        await half;
        for (const store of [next, other, frozen]) {
          expect(await copyOf(store).claim()).toBeUndefined();
          expect(await copyIn(store)).toEqual({ of: 'list', digest: await digestOf(copied()) });
        }
        await frozen.close();
      });
    });

    it('copies nothing of a run that is begun, and keeps no copy of one that has ended', async () => {
      await withUnbegun(async ([one, two]) => {
        await (await copyOf(one).claim())?.write(none(), 'nothing');
        expect(await copyIn(two)).toEqual({ of: 'nothing', digest: await digestOf(none()) });
        await begin(one, runEntry);
        await (await one.claimOutput())?.finish(summary);
        expect(await copyIn(two)).toMatchObject({ of: 'nothing' });
        await one.clear();
        expect(await copyIn(two)).toBeUndefined();
        expect(await copyOf(two).claim()).toBeUndefined();
        await one.remove();
      });
    });

    it('is told from a run of its name that was dropped before, but not from one that was never begun', async () => {
      const identityOf = async (isBegun: boolean): Promise<string> => {
        const store = (await open()) as unknown as Store & SharedRunStore;
        if (isBegun) await begin(store, runEntry);
        const { identity } = store;
        await store.remove();
        await store.close();
        return identity;
      };
      const unbegun = await identityOf(false);
      expect(await identityOf(true)).toBe(unbegun);
      expect(await identityOf(false)).not.toBe(unbegun);
    });

    it('gives the copying to the next when a process lets go of it', async () => {
      await withUnbegun(async ([one, two]) => {
        expect(await copyOf(one).claim()).toBeDefined();
        expect(await copyOf(two).claim()).toBeUndefined();
        await one.close();
        await (await copyOf(two).claim())?.write(copied(), 'list');
        expect(await copyIn(two)).toMatchObject({ of: 'list' });
      });
    });

    it('keeps the claims of a process for as long as it gives signs of life', async () => {
      await withStores(1, async ([store]) => {
        const claim = await claimOne(store as Store, whole);
        await outlastClaims();
        await claim.confirm();
        expect(claim.revoked?.aborted).toBe(false);
      });
    });
  });
}

/** Waits until a process has heard something of others, as it would without a clock of its own. */
async function until(store: RunStore | undefined, isReceived: () => boolean): Promise<void> {
  const { signal } = new AbortController();
  while (!isReceived()) await store?.others.waitForUpdates(signal);
}

function first<Item>([item]: readonly Item[]): Item {
  if (item === undefined) throw new Error('there is none');
  return item;
}
