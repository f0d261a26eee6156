import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { batchLabel } from '../../../../src/engine/batches/batch.js';
import type { Client } from '../../../../src/client/client.js';
import { uploadedBatch } from '../../../../src/contract/bodies.js';
import { rowsSource } from '../../../../src/lists/rows/sources/rows-source.js';
import { fileSink } from '../../../../src/lists/files/file-sink.js';
import type { Sink } from '../../../../src/lists/rows/sink.js';
import type { Source } from '../../../../src/lists/rows/source.js';
import type { RunOptions, RunSettings } from '../../../../src/engine/runs/options/run-options.js';
import { replayJournal, type RunState } from '../../../../src/engine/stores/run-state.js';
import { History } from '../../../../src/engine/history/history.js';
import { joinAtWork } from '../../../../src/engine/history/planned-elsewhere.js';
import type { FileLock } from '../../../../src/platform/files/file-lock.js';
import { systemFiles } from '../../../../src/platform/files/file-system.js';
import { abandonRun } from '../../../../src/engine/runs/abandon-run.js';
import { estimateRun } from '../../../../src/engine/runs/estimate.js';
import { run } from '../../../../src/engine/runs/run.js';
import type { Summary } from '../../../../src/engine/summary/summary.js';
import type { Service, ServiceOptions } from '../../../../src/service/index.js';
import type { Clock } from '../../../../src/platform/waiting/clock.js';
import { createFastClock } from '../../../../src/testing/test-clock.js';
import { startFront } from '../../../cli/harness/front.js';
import {
  ServiceClock,
  withFolder,
  withService,
  paidAddresses,
  expectPaidOnce,
} from '../../../service/with-service.js';
import { MemoryDatabase } from '../../../trials/simulation/memory/memory-database.js';
import { createFile, eventually, openClient, uploadFields } from '../../../client/test-client.js';
import { memoryStore, openMemoryStore } from '../../../trials/simulation/memory/memory-store.js';

const addresses = 40;
const list = [
  'id,email',
  ...Array.from({ length: addresses }, (_, index) => `${index},good${index}@sluice.test`),
  `${addresses},good1@sluice.test`,
  '',
].join('\n');
/** Never over by itself within a test. */
const leaseMs = 3_600_000;
/** The time between two signs of life. */
const beatMs = 1000;
const hasty = createFastClock(20);
let leaptMs = 0;
/** Of all processes and their database. */
const clock: Clock = { ...hasty, now: () => hasty.now() + leaptMs };

let folder: string;
let service: Service;
let shared: MemoryDatabase;
beforeEach(async () => {
  folder = await withFolder();
  await writeFile(join(folder, 'list.csv'), list);
  shared = new MemoryDatabase(() => clock.now());
});

function state(): RunState {
  return replayJournal(shared.entries, 'in memory');
}

async function serve(changes: ServiceOptions = {}): Promise<void> {
  const account = changes.accounts ? {} : { apiKey: 'a-key' };
  ({ service } = await withService({ verifyDelayMs: 20, ...account, ...changes }));
}

/** A process's way to the store: closed, whatever it asks waits. */
class Way {
  readonly store = memoryStore(shared, leaseMs, async (call) => {
    await this.#open;
    const answer = call();
    await this.#open;
    return answer;
  });
  #open: Promise<void> = Promise.resolve();

  /** @returns what opens it again */
  close(): () => void {
    let open = (): void => undefined;
    this.#open = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  }
}

function clientOf(apiKey = 'a-key'): Client {
  return openClient({ baseUrl: service.baseUrl, apiKey });
}

function options(): RunOptions {
  return {
    source: join(folder, 'list.csv'),
    sink: join(folder, 'out.csv'),
    client: clientOf(),
    email: ['email'],
    country: 'US',
    batchSize: 5,
    concurrency: 2,
    pollIntervalMs: 100,
    clock,
  };
}

/** What one process of a run does. */
async function work(changes: Partial<RunSettings> = {}): Promise<Summary> {
  return run({ ...options(), store: new Way().store, ...changes } as RunOptions);
}

/** Rows that no other process is given. */
function oddSource(of: number, onRead: () => void = () => undefined): Source {
  return rowsSource(
    (async function* rows() {
      onRead();
      for (let id = 0; id < addresses; id += 1) {
        yield { id: `${of}-${id}`, email: `good${id}@sluice.test` };
      }
    })(),
  );
}

let alone: Buffer | undefined;

/** What a state directory's run writes of the list: the same for each test. */
async function writtenAlone(): Promise<Buffer> {
  if (alone) return alone;
  const before = service;
  await serve();
  const sink = join(await withFolder(), 'alone.csv');
  await run({ ...options(), sink });
  service = before;
  return (alone = await readFile(sink));
}

describe('run() with a store that many processes share', () => {
  it.each([1, 2, 4, 7])(
    'writes the bytes of a state directory with %i of them, and pays once',
    async (workers) => {
      await serve();
      const summaries = await Promise.all(Array.from({ length: workers }, async () => work()));
      await expectPaidOnce(service, addresses);
      for (const summary of summaries) expect(summary).toEqual(summaries[0]);
      expect(summaries[0]).toMatchObject({ rows: addresses + 1, email: { addresses } });
      expect(summaries[0]?.batches).toHaveLength(addresses / 5);
      expect(await readFile(join(folder, 'out.csv'))).toEqual(await writtenAlone());
      expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
    },
  );

  it('goes on with other batches at once when the service has taken the first', async () => {
    const time = new ServiceClock();
    await serve({ clock: time, verifyDelayMs: 1000 });
    // The next sign of life never comes.
    const sleep: Clock['sleep'] = async (ms, signal) =>
      clock.sleep(ms === beatMs ? 3_600_000 : ms, signal);
    const launched = new Set<string>();
    const onProgress: RunSettings['onProgress'] = (progress) => {
      if (progress.stage !== 'batch' || progress.state.stage !== 'verifying') return;
      launched.add(batchLabel(progress.batch));
    };
    const summary = work({
      concurrency: addresses / 5,
      clock: { ...clock, sleep },
      onProgress,
    });
    await expect.poll(() => launched.size, { message: 'launched batches' }).toBe(addresses / 5);
    await time.run();
    await summary;
  });

  it('outlives a process that is ended and one that is frozen, which then tells the same', async () => {
    await serve();
    const [ended, frozen] = [new AbortController(), new Way()];
    let thaw = (): void => undefined;
    // It has paid for a batch itself when nobody else works beside it, and nobody had it before.
    const untilPaid = async (act: () => void, begin: (on: Partial<RunSettings>) => void) => {
      const before = state().batches;
      return new Promise<void>((resolve) => {
        let isDone = false;
        begin({
          onProgress: (progress) => {
            if (isDone || progress.stage !== 'batch' || progress.state.stage !== 'verifying')
              return;
            if (before.has(batchLabel(progress.batch))) return;
            isDone = true;
            act();
            resolve();
          },
        });
      });
    };
    let [first, second]: [Promise<unknown>, Promise<unknown>] = [
      Promise.resolve(),
      Promise.resolve(),
    ];
    await untilPaid(
      () => (thaw = frozen.close()),
      (on) => {
        first = work({ ...on, store: frozen.store });
      },
    );
    await untilPaid(
      () => ended.abort(new Error('ended')),
      (on) => {
        second = work({ ...on, signal: ended.signal }).catch((error: unknown) => error);
      },
    );
    expect(await second).toMatchObject({ message: 'ended' });
    leaptMs += leaseMs;
    const summaries = await Promise.all([work(), work()]);
    const output = await readFile(join(folder, 'out.csv'));
    thaw();
    expect(await first).toEqual(summaries[0]);
    expect(summaries[1]).toEqual(summaries[0]);
    await expectPaidOnce(service, addresses);
    expect(shared.handedOver).toBeGreaterThan(0);
    expect(await readFile(join(folder, 'out.csv'))).toEqual(output);
    expect(output).toEqual(await writtenAlone());
  });

  it('keeps the names that its batches began with where a process that comes later has another prefix', async () => {
    await serve();
    const ended = new AbortController();
    const first = work({
      batchName: 'monday',
      signal: ended.signal,
      onProgress: (progress) => {
        const isLaunched = progress.stage === 'batch' && progress.state.stage === 'verifying';
        if (isLaunched) ended.abort(new Error('ended'));
      },
    });
    await expect(first).rejects.toThrow('ended');
    const summaries = ['tuesday', 'wednesday'].map(async (batchName) => work({ batchName }));
    for (const { batches } of await Promise.all(summaries)) {
      expect(batches).toHaveLength(addresses / 5);
      for (const { name } of batches) expect(name).toMatch(/^monday-/);
    }
    await expectPaidOnce(service, addresses);
  });

  it('begins no second writing before the one is cleaned up whose claim it has lost', async () => {
    await serve();
    let exported = 0;
    let [open, most, calls] = [0, 0, 0];
    let endAbort: (() => void) | undefined;
    const store = memoryStore(shared, leaseMs, async (call) => {
      // All is driven by now, and another writing would have begun.
      if (exported === addresses / 5) calls += 1;
      if (calls === 20) endAbort?.();
      return call();
    });
    const file = fileSink(join(folder, 'out.csv'));
    const sink: Sink = {
      name: file.name,
      check: async (columns) => file.check(columns),
      mayBeginEarly: async () => true,
      async open(options) {
        open += 1;
        most = Math.max(most, open);
        const writing = await file.open(options);
        return {
          write: async (rows) => writing.write(rows),
          finish: async () => writing.finish(),
          async abort() {
            await new Promise<void>((resolve) => (endAbort = resolve));
            open -= 1;
            await writing.abort();
          },
        };
      },
    };
    await work({
      store,
      sink,
      onProgress: (progress) => {
        if (progress.stage !== 'batch' || progress.state.stage !== 'exported') return;
        exported += 1;
        if (exported === 2) leaptMs += leaseMs;
      },
    });
    expect(endAbort).toBeDefined();
    expect(most).toBe(1);
    await expectPaidOnce(service, addresses);
  });

  it.each(['uploaded', 'verifying', 'exported'])(
    'pays once when its store is restored from before the first batch was %s',
    async (stage) => {
      await serve({ verifyDelayMs: stage === 'exported' ? 0 : 50 });
      const ended = new AbortController();
      let reached = 0;
      const first = work({
        signal: ended.signal,
        onProgress: (progress) => {
          if (progress.stage !== 'batch' || progress.state.stage !== stage) return;
          reached += 1;
          if (reached === 2) ended.abort(new Error('ended'));
        },
      });
      await expect(first).rejects.toThrow('ended');
      const { run: begun, plan } = state();
      shared = new MemoryDatabase(() => clock.now());
      const restored = await openMemoryStore(shared, { clock, leaseMs });
      if (begun && plan) await restored.begin(begun, plan);
      await restored.close();
      const learned: string[] = [];
      const onProgress: RunSettings['onProgress'] = (progress) => {
        if (progress.stage === 'older_state') learned.push(...progress.learned);
      };
      await Promise.all([work({ onProgress }), work({ onProgress })]);
      await expectPaidOnce(service, addresses);
      // Each is recognized by the one that goes on with it.
      expect(learned.length).toBeGreaterThanOrEqual(1);
      expect(new Set(learned).size).toBe(learned.length);
      expect(await readFile(join(folder, 'out.csv'))).toEqual(await writtenAlone());
    },
  );

  async function stopWhenLaunched(): Promise<readonly string[]> {
    const ended = new AbortController();
    const first = work({
      signal: ended.signal,
      onProgress: (progress) => {
        const isLaunched = progress.stage === 'batch' && progress.state.stage === 'verifying';
        if (isLaunched) ended.abort(new Error('ended'));
      },
    });
    await expect(first).rejects.toThrow('ended');
    const paid = await paidAddresses(service);
    expect(paid.length).toBeGreaterThan(0);
    return paid;
  }

  it('goes on with what it has launched where its store is restored from before its beginning, once told so', async () => {
    await serve({ verifyDelayMs: 50 });
    await stopWhenLaunched();
    shared = new MemoryDatabase(() => clock.now());
    const learned: string[] = [];
    const onProgress: RunOptions['onProgress'] = (progress) => {
      if (progress.stage === 'older_state') learned.push(...progress.learned);
    };
    const moved = { moved: true, onProgress };
    await Promise.all([work(moved), work(moved)]);
    expect(learned).not.toEqual([]);
    await expectPaidOnce(service, addresses);
    expect(await readFile(join(folder, 'out.csv'))).toEqual(await writtenAlone());
  });

  it.each([
    ['without a word', { moved: false }],
    ['with other batches', { batchSize: 4, moved: true }],
    ['with other parameters', { settings: { use_account_cache: false }, moved: true }],
  ])(
    'is not begun again %s where its store is restored from before its beginning',
    async (_, changes) => {
      await serve({ verifyDelayMs: 50 });
      const before = await stopWhenLaunched();
      shared = new MemoryDatabase(() => clock.now());
      for (const end of await Promise.allSettled([work(changes), work(changes)])) {
        expect(end).toMatchObject({
          status: 'rejected',
          reason: { code: 'state_mismatch', option: changes.moved ? 'run' : 'moved' },
        });
      }
      expect(shared.isBegun).toBe(false);
      expect(await paidAddresses(service)).toEqual(before);
    },
  );

  it('is begun again, and paid again, where it was abandoned', async () => {
    await serve({ verifyDelayMs: 50 });
    const before = await stopWhenLaunched();
    await abandonRun({ store: new Way().store, client: clientOf() });
    await work();
    expect(await paidAddresses(service)).toHaveLength(before.length + addresses);
  });

  it('counts launches that a restored store does not know of within a budget, before any other', async () => {
    await serve({ verifyDelayMs: 50 });
    const before = await stopWhenLaunched();
    const { run: begun, plan } = state();
    shared = new MemoryDatabase(() => clock.now());
    const restored = await openMemoryStore(shared, { clock, leaseMs });
    if (begun && plan) await restored.begin(begun, plan);
    await restored.close();
    const limited = { maxCredits: before.length };
    for (const end of await Promise.allSettled([work(limited), work(limited)])) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'budget_exhausted' } });
    }
    expect(await paidAddresses(service)).toEqual(before);
  });

  it.each([1, 4])(
    'gives all of %i processes the rows that one of them was given, where each is given others',
    async (workers) => {
      await serve();
      const readings: number[] = [];
      const summaries = await Promise.all(
        Array.from({ length: workers }, async (_, at) =>
          work({ source: oddSource(at, () => readings.push(at)) }),
        ),
      );
      await expectPaidOnce(service, addresses);
      for (const summary of summaries) expect(summary).toEqual(summaries[0]);
      expect(readings).toHaveLength(1);
      const output = await readFile(join(folder, 'out.csv'), 'utf8');
      const ids = output
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',')[0]);
      expect(ids).toEqual(
        Array.from({ length: addresses }, (_, index) => `${readings[0]}-${index}`),
      );
      expect(shared.copyPart(0)).toBeUndefined();
    },
  );

  it('has another process copy the source when the one that did has failed', async () => {
    await serve();
    const broken = rowsSource(
      (async function* broken() {
        yield { id: 1, email: 'good1@sluice.test' };
        throw new Error('the connection is lost');
      })(),
    );
    await expect(work({ source: broken })).rejects.toMatchObject({ code: 'input_unreadable' });
    await work({ source: oddSource(1) });
    await expectPaidOnce(service, addresses);
  });

  it('refuses a source that is too large for a copy, or another than was copied, before anything is sent', async () => {
    await serve();
    const large = rowsSource(
      (async function* large() {
        for (let id = 0; id < 1e9; id += 1) yield { id, email: `good${id}@sluice.test` };
      })(),
    );
    await expect(work({ source: large })).rejects.toMatchObject({
      code: 'invalid_option',
      option: 'copyLimitBytes',
      fault: 'too_large',
    });
    const ended = new AbortController();
    const first = work({
      source: oddSource(1),
      signal: ended.signal,
      onProgress: ({ stage }) => {
        if (stage === 'read') ended.abort(new Error('ended'));
      },
    });
    await expect(first).rejects.toThrow('ended');
    const other = { ...oddSource(2), decides: { query: 'select 2' } };
    await expect(work({ source: other })).rejects.toMatchObject({ code: 'state_mismatch' });
    expect(await paidAddresses(service)).toEqual([]);
  });

  it('refuses a source that is read once where the run was begun with a file', async () => {
    await serve();
    const ended = new AbortController();
    const first = work({
      signal: ended.signal,
      onProgress: ({ stage }) => {
        if (stage === 'read') ended.abort(new Error('ended'));
      },
    });
    await expect(first).rejects.toThrow('ended');
    await expect(work({ source: oddSource(1) })).rejects.toMatchObject({ code: 'state_mismatch' });
    expect(await paidAddresses(service)).toEqual([]);
  });

  it('ends, and goes on when called again, where its store is restored in the last step', async () => {
    await serve();
    const restored = work({
      onProgress: ({ stage }) => {
        if (stage === 'written') shared.failOver(3, { isReported: true, isAhead: true });
      },
    });
    await expect(restored).rejects.toMatchObject({ code: 'store_restored' });
    expect(await work()).toMatchObject({ rows: addresses + 1 });
    await expectPaidOnce(service, addresses);
    expect(await readFile(join(folder, 'out.csv'))).toEqual(await writtenAlone());
  });

  it('ends, and goes on when called again, where its store is restored before it reads earlier results', async () => {
    await serve();
    const stop = new AbortController();
    const first = work({
      signal: stop.signal,
      onProgress: (event) => {
        const isKept = event.stage === 'batch' && event.state.stage === 'exported';
        if (isKept) stop.abort(new Error('stopped'));
      },
    });
    await expect(first).rejects.toThrow('stopped');
    let isRestored = false;
    const restored = work({
      onProgress: (event) => {
        if (isRestored || event.stage !== 'batch' || event.state.stage !== 'exported') return;
        isRestored = true;
        shared.failOver(12, { isReported: true, isAhead: true });
      },
    });
    await expect(restored).rejects.toMatchObject({ code: 'store_restored' });
    leaptMs += leaseMs;
    expect(await work()).toMatchObject({ rows: addresses + 1 });
    await expectPaidOnce(service, addresses);
  });

  it('tells a finished run again to the same call, refuses another, and sends nothing', async () => {
    await serve();
    const summary = await work();
    await writeFile(join(folder, 'list.csv'), 'email\nother@sluice.test\n');
    const output = await readFile(join(folder, 'out.csv'));
    const reported: Summary[] = [];
    const printed: string[] = [];
    const onProgress: RunOptions['onProgress'] = ({ stage }) => void printed.push(stage);
    const onSummary = async (again: Summary): Promise<void> => void reported.push(again);
    const again = { ...summary, already_finished: true };
    expect(await work({ onSummary, onProgress })).toEqual(again);
    expect(reported).toEqual([again]);
    expect(printed).toEqual(['already_finished']);
    const other = work({ onSummary, sink: join(folder, 'other.csv'), country: 'DE' });
    await expect(other).rejects.toMatchObject({
      code: 'state_mismatch',
      option: 'run',
      differs: ['country', 'sink'],
    });
    await writeFile(join(folder, 'another.csv'), list);
    const anotherList = work({ onSummary, source: join(folder, 'another.csv') });
    await expect(anotherList).rejects.toMatchObject({ differs: ['source'] });
    const settings = { use_account_cache: false };
    const differs = ['settings.use_account_cache'];
    await expect(work({ settings })).rejects.toMatchObject({ differs });
    expect(reported).toHaveLength(1);
    expect(await readdir(folder)).not.toContain('other.csv');
    expect(await readFile(join(folder, 'out.csv'))).toEqual(output);
    await expectPaidOnce(service, addresses);
  });

  it('ends a process whose list, options, account or version are others, and goes on in the others', async () => {
    const time = new ServiceClock();
    await serve({
      clock: time,
      verifyDelayMs: 1000,
      accounts: ['a-key', 'b-key'].map((key, at) => ({
        name: `${at}`,
        key,
        emailCredits: 1000,
        phoneCredits: 0,
      })),
    });
    let onLaunched = (): void => undefined;
    const launched = new Promise<void>((resolve) => (onLaunched = resolve));
    const summary = work({
      onProgress: (progress) => {
        if (progress.stage === 'batch' && progress.state.stage === 'verifying') onLaunched();
      },
    });
    await Promise.race([launched, summary]);
    const other = join(folder, 'other.csv');
    await writeFile(other, list.replace('good7@', 'good77@'));
    const refused = [
      [{ source: other }, { option: 'run', differs: ['source'] }],
      [{ batchSize: 6 }, { option: 'run', differs: ['batchSize'] }],
      [{ sink: join(folder, 'elsewhere.csv') }, { option: 'run', differs: ['sink'] }],
      [
        { settings: { use_account_cache: false } },
        { option: 'run', differs: ['settings.use_account_cache'] },
      ],
      [{ client: clientOf('b-key') }, { option: 'apiKey' }],
    ] as const;
    for (const [changes, named] of refused) {
      await expect(work(changes)).rejects.toMatchObject({ code: 'state_mismatch', ...named });
    }
    await time.run();
    expect(await summary).toMatchObject({ rows: addresses + 1 });
    await expectPaidOnce(service, addresses);
  });

  it('stops all when the credits are used up, and goes on when called again', async () => {
    await serve({ emailCredits: 23 });
    const ends = await Promise.allSettled([work(), work(), work()]);
    for (const end of ends) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'payment_required' } });
    }
    expect(await paidAddresses(service)).toHaveLength(20);
    const again = await Promise.allSettled([work(), work()]);
    for (const end of again) expect(end.status).toBe('rejected');
    expect(await paidAddresses(service)).toHaveLength(20);
  });

  it('keeps one budget for all, and takes the word of the next', async () => {
    await serve();
    const ends = await Promise.allSettled([1, 2, 3].map(async () => work({ maxCredits: 32 })));
    for (const end of ends) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'budget_exhausted' } });
    }
    expect(await paidAddresses(service)).toHaveLength(30);
    const { stopped, budget } = state();
    await expect(work({ batchSize: 4 })).rejects.toMatchObject({ code: 'state_mismatch' });
    expect(state()).toMatchObject({ stopped, budget });
    await Promise.all([work(), work({ maxCredits: addresses })]);
    await expectPaidOnce(service, addresses);
  });

  it('leaves nothing that is launched when a budget is used up, whichever process has it', async () => {
    await serve({ verifyDelayMs: 300 });
    await Promise.all(
      [1, 2].map(async () => {
        await expect(work({ maxCredits: 7 })).rejects.toMatchObject({ code: 'budget_exhausted' });
        const stages = [...state().batches.values()].map((batch) => batch.state.stage);
        expect(stages).toContain('exported');
      }),
    );
    expect(await paidAddresses(service)).toHaveLength(5);
  });

  it('keeps why it stopped for both types, whichever process met which of the two budgets', async () => {
    await serve();
    const rows = Array.from(
      { length: 20 },
      (_, id) => `good${id}@sluice.test,+121337342${id + 10}`,
    );
    await writeFile(join(folder, 'list.csv'), ['email,phone', ...rows, ''].join('\n'));
    const both = { phone: ['phone'], concurrency: 1, maxCredits: 7 };
    await Promise.allSettled([1, 2, 3].map(async () => work(both)));
    expect(state().stopped).toMatchObject({
      code: 'budget_exhausted',
      message: expect.stringMatching(/ email .* phone | phone .* email /) as string,
    });
    expect(await paidAddresses(service)).toHaveLength(10);
  });

  it('goes on without a budget where the last batch was too large for the one before', async () => {
    await serve();
    await expect(work({ batchSize: 1000, maxCredits: 1 })).rejects.toMatchObject({
      code: 'budget_exhausted',
    });
    await work({ batchSize: 1000 });
    await expectPaidOnce(service, addresses);
  });

  it('never overshoots a budget for any number of its batches, with eight processes', async () => {
    await writeFile(join(folder, 'list.csv'), list.split('\n').slice(0, 13).join('\n'));
    await serve();
    for (let batches = 0; batches < 6; batches += 1) {
      const maxCredits = 2 * batches + 1;
      const changes = { batchSize: 2, concurrency: 1, maxCredits };
      const ends = await Promise.allSettled(Array.from({ length: 8 }, async () => work(changes)));
      for (const end of ends) {
        expect(end).toMatchObject({ status: 'rejected', reason: { code: 'budget_exhausted' } });
      }
      expect(await paidAddresses(service)).toHaveLength(2 * batches);
    }
    expect(await work({ batchSize: 2, concurrency: 1, maxCredits: 12 })).toMatchObject({
      rows: 12,
    });
    expect(new Set(await paidAddresses(service)).size).toBe(12);
  });

  it('says what to do with the name when the service refuses the form of the first batch', async () => {
    await serve();
    const front = await startFront({ ...service, apiKey: 'a-key' }, (request) =>
      request === 'POST /v1/batch' ? { status: 422, body: { detail: 'no' } } : undefined,
    );
    const client = openClient({ baseUrl: front.baseUrl, apiKey: 'a-key' });
    await expect(work({ client })).rejects.toMatchObject({
      code: 'batch_refused',
      option: 'run',
    });
    expect(await paidAddresses(service)).toEqual([]);
  });

  it('keeps those, too, to a budget that were notified of none', async () => {
    const time = new ServiceClock();
    await serve({ clock: time, verifyDelayMs: 1000 });
    const works = Promise.allSettled([work({ maxCredits: 10 }), work(), work()]);
    await expect.poll(() => state().budget, { message: 'a budget' }).toMatchObject({ most: 10 });
    await time.run();
    for (const end of await works) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'budget_exhausted' } });
    }
    expect((await paidAddresses(service)).length).toBeLessThan(addresses);
  });

  it('stops those, too, whose own key is still taken, when that of one is not', async () => {
    // Nothing that is launched ends within the test.
    await serve({ verifyDelayMs: 3_600_000 });
    let launches = 0;
    const joined = new Set<number>();
    const { baseUrl } = await startFront({ ...service, apiKey: 'a-key' }, async (request) => {
      if (!/^POST .v1.batch.[^/]+$/.test(request)) return undefined;
      launches += 1;
      if (launches > 1) return undefined;
      // Who joins later takes the run up again.
      await vi.waitFor(() => expect(joined.size).toBe(3), 60_000);
      return { status: 403, body: { detail: 'no' } };
    });
    const ends = await Promise.allSettled(
      [1, 2, 3].map(async (process) => {
        const client = openClient({ baseUrl, apiKey: 'a-key' });
        const { store } = new Way();
        const open: typeof store.open = async (opening) => {
          const opened = await store.open(opening);
          const claim = opened.claim.bind(opened);
          opened.claim = async (wanted) => {
            joined.add(process);
            return claim(wanted);
          };
          return opened;
        };
        return work({ client, store: { ...store, open } });
      }),
    );
    for (const end of ends) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'forbidden' } });
    }
  });

  it('stops a process, too, that has all that is left in hand', async () => {
    await serve({ verifyDelayMs: 3_600_000 });
    const stop = async (): Promise<void> => {
      const other = await openMemoryStore(shared, { clock, leaseMs });
      const at = new Date().toISOString();
      await other.record({ entry: 'stopped', code: 'abandoned', message: 'abandoned', at });
      await other.close();
    };
    let launches = 0;
    await expect(
      work({
        batchSize: addresses / 2,
        onProgress: (progress) => {
          if (progress.stage !== 'batch' || progress.state.stage !== 'verifying') return;
          launches += 1;
          if (launches === 2) void stop();
        },
      }),
    ).rejects.toMatchObject({ code: 'state_mismatch' });
  });

  it.each(['by one', 'by two', 'not, but given up'])(
    'is paid once when the last process dies with four launches under way, and is gone on with %s',
    async (way) => {
      await serve();
      const launch = async (uuid: string | undefined) =>
        clientOf()
          .launchBatch(uuid ?? '')
          .catch((error: unknown) => error);
      const killed = new Way();
      let wakeUp = (): void => undefined;
      const launches: string[] = [];
      let second: Promise<unknown> | undefined;
      // The first arrives before the process dies, the second when others look, the third later, the fourth never.
      const { baseUrl } = await startFront({ ...service, apiKey: 'a-key' }, async (request) => {
        const [, method, uuid = ''] = /^(\w+) .v1.batch.([^/]+)$/.exec(request) ?? [];
        if (method === 'GET' && uuid === launches[1] && !second) {
          return { change: (body) => ((second = launch(uuid)), body) };
        }
        if (method !== 'POST' || launches.length === 4) return undefined;
        launches.push(uuid);
        if (launches.length === 1) await launch(uuid);
        if (launches.length === 4) wakeUp = killed.close();
        return new Promise(() => undefined);
      });
      const client = (): Client => openClient({ baseUrl, apiKey: 'a-key' });
      const dying = { store: killed.store, client: client() };
      const first = work({ ...dying, concurrency: 4 });
      await expect.poll(() => launches.length).toBe(4);
      leaptMs += leaseMs;
      const isGivenUp = way === 'not, but given up';
      if (isGivenUp) await abandonRun({ store: new Way().store, client: client() });
      else {
        const works = Array.from({ length: way === 'by two' ? 2 : 1 }, async () =>
          work({ client: client() }),
        );
        await Promise.all(works);
        expect(await readFile(join(folder, 'out.csv'))).toEqual(await writtenAlone());
      }
      await second;
      expect(second).toBeDefined();
      expect(await launch(launches[2])).toMatchObject(isGivenUp ? { status: 404 } : {});
      wakeUp();
      await dying.client.close();
      await first.catch(() => undefined);
      await expectPaidOnce(service, isGivenUp ? 10 : addresses);
    },
  );

  it('is paid once where its last launch arrives when another run with its history has looked', async () => {
    await serve();
    let launched: string | undefined;
    let isOver = false;
    let looks = 0;
    let arrived: Promise<unknown> | undefined;
    const stop = new AbortController();
    const { baseUrl } = await startFront({ ...service, apiKey: 'a-key' }, (request) => {
      const [, uuid] = /^POST .v1.batch.([^/]+)$/.exec(request) ?? [];
      if (uuid !== undefined && launched === undefined) {
        launched = uuid;
        stop.abort(new Error('ended'));
        return new Promise(() => undefined);
      }
      if (isOver && request === 'GET /v1/batch') looks += 1;
      // The list is read until it is the same twice.
      if (looks < 2 || arrived) return undefined;
      return { change: (body) => ((arrived = clientOf().launchBatch(launched ?? '')), body) };
    });
    const client = openClient({ baseUrl, apiKey: 'a-key', clock: hasty });
    const openHistory = async () =>
      History.open({ path: join(folder, 'results'), service: baseUrl });
    await expect(work({ client, openHistory, signal: stop.signal })).rejects.toThrow('ended');
    isOver = true;
    const history = await openHistory();
    const sink = join(folder, 'other.csv');
    await run({ ...options(), client, sink, history });
    await history.close();
    await arrived;
    expect(arrived).toBeDefined();
    await expectPaidOnce(service, addresses);
  });

  it('is replaced once another run with its history has paid for some of it, by one without that and within its budget', async () => {
    await serve();
    const openHistory = async () =>
      History.open({ path: join(folder, 'results'), service: service.baseUrl });
    await expect(work({ openHistory, maxCredits: 10 })).rejects.toMatchObject({
      code: 'budget_exhausted',
    });
    const usedUp = { status: 'rejected', reason: { code: 'budget_exhausted' } };
    const expected: (string | null)[] = [];
    // Five that it has launched, five that it has not, five of its own.
    const others = [5, 6, 7, 8, 9, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44];
    await writeFile(
      join(folder, 'other.csv'),
      ['email', ...others.map((at) => `good${at}@sluice.test`), ''].join('\n'),
    );
    const history = await openHistory();
    const [source, sink] = [join(folder, 'other.csv'), join(folder, 'other.out.csv')];
    await run({ ...options(), source, sink, history });
    await history.close();
    await expectPaidOnce(service, 20);
    const counted = await openHistory();
    const estimate = await estimateRun({
      ...options(),
      client: clientOf(),
      store: new Way().store,
      history: counted,
      onProgress: (progress) => {
        if (progress.stage === 'notice') expected.push(progress.code);
      },
    });
    await counted.close();
    expect(expected).toEqual(['launched_elsewhere', 'paid_since', 'run_replaced']);
    // It has launched ten, and the other five more of them.
    expect(estimate.email?.credits).toBe(addresses - 15);
    const group = { type: 'email', country: 'US' } as const;
    const atWork = await openMemoryStore(shared, { clock, leaseMs });
    const last = { id: 7, group, addresses: 5, sizeBytes: 0, checksum: 0, open: () => [] };
    expect(await atWork.claim([last])).toHaveLength(1);
    const refused = { code: 'state_mismatch', option: 'history' };
    await expect(work({ openHistory })).rejects.toMatchObject(refused);
    await atWork.close();
    const told: (string | null)[] = [];
    const onProgress: RunSettings['onProgress'] = (progress) => {
      if (progress.stage === 'notice') told.push(progress.code);
    };
    const again = { openHistory, maxCredits: 25, onProgress };
    const stopped = await Promise.allSettled([work(again), work(again)]);
    expect(stopped).toMatchObject([usedUp, usedUp]);
    // What it had paid before counts.
    await expectPaidOnce(service, 35);
    expect(told.filter((code) => code === 'paid_since')).toHaveLength(1);
    expect(told).toContain('run_replaced');
    const [summary] = await Promise.all([work({ openHistory }), work({ openHistory })]);
    expect(summary).toMatchObject({ credits_before: { email: 10, phone: 0 } });
    await expectPaidOnce(service, addresses + 5);
    expect(await readFile(join(folder, 'out.csv'))).toEqual(await writtenAlone());
    const left = (await readdir(folder)).filter((name) => name.startsWith('results'));
    expect(left.toSorted()).toEqual(['results', 'results.key']);
  });

  it.each(['before another run takes its place', 'before that launches anything'])(
    'is replaced once, and pays once, where the process that does it is killed %s',
    async (when) => {
      await serve();
      const path = join(folder, 'results');
      const openHistory = async () => History.open({ path, service: service.baseUrl });
      // Uploaded, and not launched.
      const limited = { openHistory, maxCredits: 10, concurrency: 4 };
      await expect(work(limited)).rejects.toMatchObject({ code: 'budget_exhausted' });
      const source = join(folder, 'other.csv');
      const others = Array.from({ length: 5 }, (_, at) => `good${at + 35}@sluice.test\n`);
      await writeFile(source, `email\n${others.join('')}`);
      const history = await openHistory();
      await run({ ...options(), source, sink: join(folder, 'other.out.csv'), history });
      await history.close();
      await expectPaidOnce(service, 15);
      const begun = state().run?.id;
      let killed = (): void => undefined;
      const isKilled = new Promise<void>((resolve) => (killed = resolve));
      const dying = memoryStore(shared, leaseMs, async (call) => {
        const before = state().run?.id;
        const answer = call();
        if (before === state().run?.id) return answer;
        killed();
        return new Promise(() => undefined);
      });
      const client = clientOf();
      if (when.startsWith('before another')) {
        client.deleteBatch = async () => {
          killed();
          return new Promise(() => undefined);
        };
      }
      // Its locks go with it.
      const opened: History[] = [];
      const opening = async (): Promise<History> => {
        const one = await openHistory();
        opened.push(one);
        return one;
      };
      void work({ store: dying, client, openHistory: opening }).catch(() => undefined);
      await isKilled;
      expect(state().run?.id === begun).toBe(when.startsWith('before another'));
      for (const one of opened) await one.close();
      leaptMs += leaseMs;
      const summary = await work({ openHistory });
      expect(state().run?.id).not.toBe(begun);
      expect(summary).toMatchObject({ credits_before: { email: 10, phone: 0 } });
      await expectPaidOnce(service, addresses);
      expect(await readFile(join(folder, 'out.csv'))).toEqual(await writtenAlone());
    },
  );

  it('is replaced once where results of others are lost, and not while a process without the history works on it', async () => {
    await serve();
    const path = join(folder, 'results');
    let atWork: Promise<FileLock> | undefined;
    const { baseUrl } = await startFront({ ...service, apiKey: 'a-key' }, async (request) => {
      if (!request.startsWith('DELETE')) return undefined;
      const presence = { files: systemFiles, path, id: state().run?.id ?? '' };
      await (atWork ??= joinAtWork(presence, { clock, signal: new AbortController().signal }));
      return undefined;
    });
    const openHistory = async () => History.open({ path, service: baseUrl });
    const limited = { openHistory, client: openClient({ baseUrl, apiKey: 'a-key', clock }) };
    await expect(work({ ...limited, maxCredits: 10 })).rejects.toMatchObject({
      code: 'budget_exhausted',
    });
    const before = new Set((await clientOf().listBatches()).map(({ name }) => name));
    const source = join(folder, 'other.csv');
    const others = Array.from({ length: 5 }, (_, at) => `good${at + 35}@sluice.test\n`);
    await writeFile(source, `email\n${others.join('')}`);
    const history = await openHistory();
    const sink = join(folder, 'other.out.csv');
    const { client } = limited;
    await expect(
      run({ ...options(), client, source, sink, history, detach: true }),
    ).rejects.toMatchObject({ code: 'detached' });
    await history.close();
    for (const { batch_uuid: uuid, name } of await clientOf().listBatches()) {
      if (before.has(name)) continue;
      await eventually(async () => clientOf().deleteBatch(uuid)).toBeDefined();
    }
    const told: (string | null)[] = [];
    const onProgress: RunSettings['onProgress'] = (progress) => {
      if (progress.stage === 'notice') told.push(progress.code);
    };
    const refused = { code: 'state_mismatch', option: 'history' };
    await expect(work(limited)).rejects.toMatchObject(refused);
    await (await atWork)?.release();
    await work({ ...limited, onProgress });
    const codes = ['launched_elsewhere_lost', 'max_credits_changed', 'run_replaced'];
    expect(told.filter((code) => codes.includes(code ?? ''))).toEqual(codes);
    expect(await paidAddresses(service)).toHaveLength(addresses + 5);
  });

  it('is not taken for paid by another run by a process that was frozen while others ended it', async () => {
    await serve();
    const path = join(folder, 'results');
    const openHistory = async () => History.open({ path, service: service.baseUrl });
    await expect(work({ openHistory, maxCredits: 10 })).rejects.toMatchObject({
      code: 'budget_exhausted',
    });
    let thaw = (): void => undefined;
    const isThawed = new Promise<void>((resolve) => (thaw = resolve));
    let [isFrozen, isOpening] = [true, (): void => undefined];
    const opening = new Promise<void>((resolve) => (isOpening = resolve));
    const sleep: Clock['sleep'] = async (ms, signal) =>
      isFrozen ? isThawed : clock.sleep(ms, signal);
    const frozen = work({
      clock: { ...clock, sleep },
      openHistory: async () => {
        isOpening();
        await isThawed;
        return openHistory();
      },
    });
    await opening;
    isFrozen = false;
    const summary = await work({ openHistory });
    thaw();
    expect(await frozen).toMatchObject({ credits: summary.credits });
    await expectPaidOnce(service, addresses);
  });

  it('sends again what failed when that is asked for, and leaves the cost of neither out of its history', async () => {
    const what = { batch: 'internal_error' } as const;
    await serve({ faults: { faults: [{ operation: 'exportBatch', requests: [2], what }] } });
    const openHistory = async () =>
      History.open({ path: join(folder, 'results'), service: service.baseUrl });
    expect(await work({ openHistory })).toMatchObject({ email: { buckets: { failed: 5 } } });
    const summary = await work({ openHistory, retryFailed: true });
    expect(summary).toMatchObject({ email: { buckets: { failed: 0 } } });
    const paid = await paidAddresses(service);
    expect(paid).toHaveLength(addresses + 5);
    const history = await openHistory();
    expect(await history.stats()).toMatchObject({ spent: { email: paid.length } });
    await history.close();
  });

  it('is seen by a run of one process that is resumed with its history, at work and stopped', async () => {
    await serve();
    const openHistory = async () =>
      History.open({ path: join(folder, 'results'), service: service.baseUrl });
    const aloneWith = async (maxCredits: number): Promise<unknown> => {
      await using history = await openHistory();
      return await run({ ...options(), sink: join(folder, 'alone.csv'), history, maxCredits });
    };
    const usedUp = { code: 'budget_exhausted' };
    await expect(aloneWith(10)).rejects.toMatchObject(usedUp);
    let beside: Promise<unknown> | undefined;
    const way = new Way();
    const shared = work({
      store: way.store,
      openHistory,
      maxCredits: 10,
      onProgress: (progress) => {
        if (beside || progress.stage !== 'batch' || progress.state.stage !== 'launching') return;
        const open = way.close();
        beside = aloneWith(30)
          .catch((error: unknown) => error)
          .finally(open);
      },
    });
    await expect(shared).rejects.toMatchObject(usedUp);
    expect(await beside).toMatchObject({ code: 'state_locked' });
    await expectPaidOnce(service, 20);
    await aloneWith(30);
    await expectPaidOnce(service, addresses);
  });

  it('is given up when no process works on it any more, and leaves what was launched', async () => {
    await serve({ verifyDelayMs: 3_600_000 });
    const reports: string[] = [];
    const frozen = new Way();
    let abandoned: Promise<unknown> | undefined;
    const stopped = work({
      store: frozen.store,
      onProgress: (progress) => {
        const isPaid = progress.stage === 'batch' && progress.state.stage === 'verifying';
        if (!isPaid || abandoned) return;
        const thaw = frozen.close();
        abandoned = abandonRun({ store: new Way().store, client: clientOf() });
        void abandoned.then(() => reports.push('abandoned'));
        void eventually(() => state().stopped)
          .toBeDefined()
          .then(() => {
            reports.push('thawed');
            return thaw();
          });
      },
    });
    await expect(stopped).rejects.toMatchObject({ code: 'state_mismatch' });
    await abandoned;
    expect(reports).toEqual(['thawed', 'abandoned']);
    const left = await clientOf().listBatches();
    expect(new Set(left.map(({ status }) => status))).toEqual(new Set(['verification_ongoing']));
  });

  it('is given up with two at work and one frozen, and leaves no upload that was not launched', async () => {
    await serve({ verifyDelayMs: 3_600_000 });
    const frozen = new Way();
    const reached = async (stage: string, changes: Partial<RunSettings>, act: () => void) =>
      new Promise<{ readonly ended: Promise<unknown> }>((resolve) => {
        const ended = work({
          ...changes,
          onProgress: (progress) => {
            if (progress.stage !== 'batch' || progress.state.stage !== stage) return;
            act();
            resolve({ ended });
          },
        }).catch((error: unknown) => error);
      });
    const nothing = (): void => undefined;
    const ends = [await reached('verifying', { concurrency: 1 }, nothing)];
    let thaw = nothing;
    const asleep = await reached('uploaded', { store: frozen.store }, () => {
      thaw = frozen.close();
    });
    ends.push(await reached('verifying', { concurrency: 1 }, nothing));
    const abandoned = abandonRun({ store: new Way().store, client: clientOf() });
    for (const { ended } of ends) {
      expect(await ended).toMatchObject({ code: 'state_mismatch' });
    }
    leaptMs += leaseMs;
    await abandoned;
    thaw();
    expect(await asleep.ended).toBeInstanceOf(Error);
    const left = await clientOf().listBatches();
    expect(left.map(({ status }) => status)).toEqual(
      Array.from(left, () => 'verification_ongoing'),
    );
    expect(await paidAddresses(service)).toHaveLength(left.length * 5);
  });

  it('deletes what it is asked to once, and leaves no orphan', async () => {
    await serve();
    await Promise.all([1, 2, 3].map(async () => work({ deleteBatches: true })));
    await expectPaidOnce(service, addresses);
    expect(await clientOf().listBatches()).toEqual([]);
  });

  it('deletes the second copy of an upload that only another of its processes may have seen', async () => {
    await serve();
    let copy: string | undefined;
    const { baseUrl } = await startFront({ ...service, apiKey: 'a-key' }, async (request) => {
      if (copy !== undefined || !request.endsWith('/export')) return undefined;
      const [first] = await clientOf().listBatches();
      const upload = { ...uploadFields, name: first?.name ?? '', file: createFile(10) };
      copy = uploadedBatch.parse(await clientOf().uploadBatch(upload)).batch_uuid;
      return undefined;
    });
    await work({ client: openClient({ baseUrl, apiKey: 'a-key' }) });
    const left = (await clientOf().listBatches()).map((batch) => batch.batch_uuid);
    expect(left).toHaveLength(addresses / 5);
    expect(left).not.toContain(copy);
  });

  it('refuses what it cannot do, before anything is begun', async () => {
    await serve();
    const refused = [
      [{ fresh: true }, 'fresh'],
      [{ onChange: 'carry' }, 'onChange'],
    ] as const;
    for (const [changes, named] of refused) {
      await expect(work(changes as Partial<RunSettings>)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining(named) as string,
      });
    }
    expect(state().run).toBeUndefined();
  });
});
