import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/client/client.js';
import type { RunOptions } from '../../../../src/engine/runs/options/run-options.js';
import { run } from '../../../../src/engine/runs/run.js';
import { streamRun } from '../../../../src/engine/runs/stream-run.js';
import type { Summary } from '../../../../src/engine/summary/summary.js';
import type { Service, ServiceOptions } from '../../../../src/service/index.js';
import { createFastClock } from '../../../../src/testing/test-clock.js';
import { withFolder, withService, paidAddresses } from '../../../service/with-service.js';
import { goodNames } from '../../history/nightly.js';
import { MemoryDatabase } from '../../../trials/simulation/memory/memory-database.js';
import { memoryStore } from '../../../trials/simulation/memory/memory-store.js';
import { openClient } from '../../../client/test-client.js';

const used = { code: 'budget_exhausted' };
const clock = createFastClock(20);

let folder: string;
let service: Service;
let client: Client;
let shared: MemoryDatabase;
beforeEach(async () => {
  folder = await withFolder();
  shared = new MemoryDatabase(() => clock.now());
});

async function serve(changes: ServiceOptions = {}): Promise<void> {
  ({ service } = await withService({ apiKey: 'a-key', ...changes }));
  client = openClient(service);
}

/** Of every four, the service verifies two, and removes two for their form. */
function halfWrong(addresses: number): readonly string[] {
  return Array.from({ length: addresses }, (_, id) =>
    id % 4 < 2 ? `good${id}@sluice.test` : `wrong${id}@@sluice.test`,
  );
}

async function write(rows: readonly string[], header = 'email'): Promise<void> {
  await writeFile(join(folder, 'list.csv'), [header, ...rows, ''].join('\n'));
}

type Changes = Partial<RunOptions> & { readonly maxCredits?: number };
type Work = (changes?: Changes) => Promise<Summary>;

function settings() {
  return {
    source: join(folder, 'list.csv'),
    sink: join(folder, 'out.csv'),
    client,
    email: ['email'],
    country: 'US',
    batchSize: 4,
    pollIntervalMs: 100,
    clock,
  };
}

const alone: Work = async (changes) =>
  run({ ...settings(), stateDir: join(folder, 'run'), ...changes } as RunOptions);

/** @returns of the first, when all have ended */
const together: Work = async (changes) => {
  const store = memoryStore(shared, 3_600_000, async (call) => call());
  const works = [1, 2, 3].map(async () => run({ ...settings(), store, ...changes } as RunOptions));
  const [first] = await Promise.allSettled(works);
  if (first?.status === 'fulfilled') return first.value;
  throw first?.reason;
};

async function spent(): Promise<number> {
  let sum = 0;
  for await (const { credits } of service.ledger()) sum += credits;
  return sum;
}

async function charges(): Promise<readonly string[]> {
  const paid = await paidAddresses(service);
  expect(new Set(paid).size).toBe(paid.length);
  return paid;
}

describe.each([
  ['a process of its own', alone, 1],
  ['processes that share it', together, 3],
])('the budget of a run of %s', (_, work, processes) => {
  it.each([1, 32])(
    'is used as far as it goes where launches cost less than their addresses, %i at once',
    async (concurrency) => {
      await serve({ verifyDelayMs: 5 });
      await write(halfWrong(80));
      // Three batches have cost 6 when the fourth is launched, which costs 2.
      await expect(work({ concurrency, maxCredits: 10 })).rejects.toMatchObject(used);
      expect(await charges()).toHaveLength(8);
      await expect(work({ concurrency, maxCredits: 21 })).rejects.toMatchObject(used);
      expect(await charges()).toHaveLength(18);
      expect(await work({ concurrency, maxCredits: 42 })).toMatchObject({
        credits: { email: { spent: 40 } },
      });
      expect(await charges()).toHaveLength(40);
    },
  );

  it('lets the phones go on while emails wait for credits', async () => {
    await serve({ verifyDelayMs: 5 });
    const rows = halfWrong(24).map((email, id) => `${email},+121337342${id + 10}`);
    await write(rows, 'email,phone');
    const both = { phone: ['phone'], concurrency: 4 };
    await expect(work({ ...both, maxCredits: 8 })).rejects.toMatchObject(used);
    const paid = await charges();
    expect(paid.filter((address) => address.startsWith('+'))).toHaveLength(8);
    expect(paid).toHaveLength(14);
  });

  it('holds for a launch in doubt of an earlier process that was never carried out', async () => {
    const what = { answer: { status: 303 } };
    await serve({ faults: { faults: [{ operation: 'launchBatch', times: processes, what }] } });
    await write(halfWrong(40));
    await expect(work({ concurrency: 1 })).rejects.toMatchObject({ code: 'redirected' });
    await expect(work({ maxCredits: 3 })).rejects.toMatchObject(used);
    expect(await spent()).toBe(0);
    await work();
    expect(await charges()).toHaveLength(20);
  });

  it('that has become smaller is used for those launches in doubt that fit', async () => {
    await serve();
    await write(goodNames(16));
    const abort = new AbortController();
    const stopped = new Error('asked to stop');
    const lost = openClient(service);
    let asked = 0;
    lost.launchBatch = async () => {
      asked += 1;
      if (asked === 4) abort.abort(stopped);
      if (!abort.signal.aborted) await once(abort.signal, 'abort');
      throw stopped;
    };
    const first = work({ client: lost, concurrency: 4, signal: abort.signal });
    await expect(first).rejects.toBe(stopped);
    expect(await charges()).toEqual([]);
    await expect(work({ maxCredits: 7 })).rejects.toMatchObject(used);
    expect(await charges()).toHaveLength(4);
    await expect(work({ maxCredits: 11 })).rejects.toMatchObject(used);
    expect(await charges()).toHaveLength(8);
    await work({ maxCredits: 16 });
    expect(await charges()).toHaveLength(16);
  });

  it('has what a failed launch cost, and what is sent in its place', async () => {
    const what = { batch: 'internal_error' } as const;
    await serve({ faults: { faults: [{ operation: 'exportBatch', every: 3, times: 6, what }] } });
    await write(halfWrong(80));
    expect(await work({ maxCredits: 42 })).toMatchObject({ email: { buckets: { failed: 24 } } });
    expect(await spent()).toBe(40);
    const again = { retryFailed: true, concurrency: 4 };
    await expect(work({ ...again, maxCredits: 47 })).rejects.toMatchObject(used);
    expect(await spent()).toBe(44);
    await work({ ...again, maxCredits: 80 });
    expect(await spent()).toBe(52);
  });
});

it('that is smaller than a batch is used once batches are smaller', async () => {
  await serve({ verifyDelayMs: 5 });
  await write(goodNames(8));
  await expect(alone({ maxCredits: 3 })).rejects.toMatchObject(used);
  expect(await charges()).toEqual([]);
  await expect(alone({ maxCredits: 3, batchSize: 3 })).rejects.toMatchObject(used);
  expect(await charges()).toHaveLength(3);
});

it('of a stream is used as far as it goes', async () => {
  await serve({ verifyDelayMs: 5 });
  await write(halfWrong(80));
  await expect(streamRun({ ...settings(), maxCredits: 10 })).rejects.toMatchObject(used);
  expect(await charges()).toHaveLength(8);
});
