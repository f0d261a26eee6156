import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { BatchProgress } from '../../../../src/engine/batches/claim.js';
import { Client } from '../../../../src/client/client.js';
import { groupNumber } from '../../../../src/engine/addresses/address.js';
import { History } from '../../../../src/engine/history/history.js';
import { run } from '../../../../src/engine/runs/run.js';
import type { VerifySettings } from '../../../../src/engine/streams/stream-options.js';
import { verifyRows } from '../../../../src/engine/streams/verify-rows.js';
import type { Service, ServiceOptions } from '../../../../src/service/index.js';
import { KeyHash } from '../../../../src/platform/hashing/key-hash.js';
import { eventually, openClient } from '../../../client/test-client.js';
import { ServiceClock, withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../../cli/harness/charges.js';

interface Person {
  readonly email: string;
  readonly phone: string;
}

/** Rows of a loop that comes to its end. */
const whole = 600;

const people = (count: number): Person[] =>
  Array.from({ length: count }, (_, id) => ({
    email: `${['good', 'bad', 'unknown'][id % 3]}+${id}@sluice.test`,
    phone: id % 20 === 19 ? '' : `+1212555${String(1000 + id)}`,
  }));

const quick = { batchSize: 100, concurrency: 2, pollIntervalMs: 5, country: 'US' } as const;

/** Loops over a list with a history, each time as another process would. */
async function begin(options: ServiceOptions = { verifyDelayMs: 50 }): Promise<{
  readonly service: Service;
  readonly client: Client;
  readonly path: string;
  open(): Promise<History>;
  loop(changes: {
    readonly rows?: Iterable<Person>;
    readonly signal?: AbortSignal;
    readonly phone?: boolean;
    readonly visit?: (row: number) => Promise<boolean> | boolean | void;
  }): Promise<readonly object[]>;
}> {
  const { service } = await withService(options);
  const client = openClient(service);
  const path = join(await withFolder(), 'history');
  const open = async (): Promise<History> => History.open({ path, service: client.baseUrl });
  return {
    service,
    client,
    path,
    open,
    async loop({ rows = people(whole), signal, phone = false, visit }) {
      const history = await open();
      const out: object[] = [];
      try {
        const columns = { email: ['email'], phone: phone ? (['phone'] as const) : [] } as const;
        for await (const row of verifyRows(rows, {
          client,
          history,
          ...quick,
          ...columns,
          signal,
        })) {
          out.push(row);
          if ((await visit?.(out.length)) === true) break;
        }
      } finally {
        await history.close();
      }
      return out;
    },
  };
}

const stop = new Error('stopped');

let unbroken: Promise<readonly object[]> | undefined;

/** The rows of a stream that was never left. */
async function rowsOfOne(): Promise<readonly object[]> {
  const { loop } = await begin({});
  return loop({});
}

it.each<[string, () => Parameters<Awaited<ReturnType<typeof begin>>['loop']>[0]]>([
  // For the loop's rows, a throw in it is the same.
  ['break', () => ({ visit: (row) => row === 250 })],
  [
    'an abort',
    () => {
      const abort = new AbortController();
      return {
        signal: abort.signal,
        visit: (row) => {
          if (row === 250) abort.abort(stop);
        },
      };
    },
  ],
  [
    'an error of the rows',
    () => ({
      rows: (function* () {
        yield* people(450);
        throw stop;
      })(),
    }),
  ],
])('a stream that ends early by %s has paid for nothing twice', async (_, how) => {
  const { service, loop } = await begin();
  const first = await loop(how()).catch((error: unknown) => {
    expect(error).toBe(stop);
    return [];
  });
  expect(first.length).toBeLessThan(whole);
  const left = (await chargesOf(service)).length;
  expect(left).toBeGreaterThan(0);
  const rows = await loop({});
  const charges = await chargesOf(service);
  expect(charges).toHaveLength(whole);
  expect(new Set(charges.map(({ address }) => address)).size).toBe(whole);
  unbroken ??= rowsOfOne();
  expect(rows).toEqual(await unbroken);
});

it('phones and malformed addresses are collected as well', async () => {
  const clock = new ServiceClock();
  const { service, loop } = await begin({ clock, verifyDelayMs: 1000 });
  const abort = new AbortController();
  const rows = [...people(300), { email: 'no address', phone: '12' }];
  const first = loop({ rows, phone: true, signal: abort.signal });
  const paid = async (): Promise<number> => (await chargesOf(service)).length;
  await eventually(paid).toBeGreaterThan(0);
  abort.abort(stop);
  await expect(first).rejects.toBe(stop);
  await clock.run();
  const out = await loop({ rows, phone: true });
  expect(out).toHaveLength(301);
  const charges = (await chargesOf(service)).map(({ type, address }) => `${type} ${address}`);
  expect(new Set(charges).size).toBe(charges.length);
  const other = await begin({});
  expect(out).toEqual(await other.loop({ rows, phone: true }));
});

it('a run collects what a stream has left, and so does the next loop with the same history', async () => {
  const { service, client, path, open } = await begin();
  const history = await open();
  const options = { client, history, ...quick, email: ['email'] } as const;
  // The first is left as soon as it is launched.
  for (const count of [200, 400]) {
    const abort = new AbortController();
    const left = async (): Promise<void> => {
      const onBatch = ({ state }: BatchProgress): void => {
        if (state.stage === 'verifying') abort.abort(stop);
      };
      const given = { ...options, signal: abort.signal, onBatch };
      for await (const _ of verifyRows(people(count), given)) continue;
    };
    await expect(left()).rejects.toBe(stop);
  }
  const notices: (string | null)[] = [];
  const summary = await run({
    ...options,
    source: people(whole),
    sink: `${path}.csv`,
    onProgress: (progress) => {
      if (progress.stage === 'notice') notices.push(progress.code);
    },
  });
  await history.close();
  expect(summary.rows).toBe(whole);
  expect(await chargesOf(service)).toHaveLength(whole);
  expect(notices).toContain('launched_left');
  // Nothing is left, and nothing is reported of it again.
  const again = await open();
  expect(again.takeLaunched({})).toEqual([]);
  await again.close();
});

it('what was never launched is deleted and sent again, and what failed is given up', async () => {
  const { service, client, open, loop } = await begin({});
  const note = async (batchUuid: string): Promise<void> => {
    const history = await open();
    const group = { type: 'email', country: 'US' } as const;
    async function* hashes(): AsyncGenerator<Int32Array> {
      const hash = new KeyHash(history.seed);
      for (const { email } of people(2)) {
        hash.hash(groupNumber(group), email);
        yield Int32Array.of(hash.word0, hash.word1, hash.word2, hash.word3);
      }
    }
    await history.noteLaunch({ batchUuid, group, hashes: hashes() }, {});
    await history.close();
  };
  const bytes = Buffer.from(
    people(2)
      .map(({ email }) => `${email}\n`)
      .join(''),
  );
  const upload = await client.uploadBatch({
    file: { sizeBytes: bytes.length, open: () => [bytes] },
    name: 'left before its launch',
    type: 'email',
    target_country: 'US',
  });
  const uuid = String(upload.batch_uuid);
  await client.prepareBatch(uuid);
  await note(uuid);
  await note('00000000-0000-4000-8000-000000000000');
  expect(await loop({ rows: people(2) })).toHaveLength(2);
  expect(await chargesOf(service)).toHaveLength(2);
  expect((await client.listBatches()).map(({ batch_uuid }) => batch_uuid)).not.toContain(uuid);
  const history = await open();
  expect(history.takeLaunched({})).toEqual([]);
  await history.close();
});

/** A loop whose process is killed in this stage of its one batch, and the next with the same history. */
async function killedIn(stage: string, options: ServiceOptions = {}) {
  const { service, client, path, open } = await begin(options);
  const dying = new Client(service);
  const copy = join(await withFolder(), 'history');
  const left: string[] = [];
  const loop = async (
    changes: Pick<VerifySettings, 'client' | 'onBatch' | 'onLeftBehind'> & { history: History },
  ): Promise<unknown[]> => {
    const options = { ...quick, email: ['email'], ...changes } as const;
    try {
      return (await Readable.from(verifyRows(people(2), options)).toArray()) as unknown[];
    } finally {
      await changes.history.close();
    }
  };
  const killed = loop({
    client: dying,
    history: await open(),
    onBatch({ state, name }) {
      if (state.stage !== stage || left.length > 0) return;
      left.push(name);
      // What is on disk as the process dies.
      for (const end of ['', '.key']) copyFileSync(path + end, copy + end);
      void dying.close();
    },
  });
  await expect(killed).rejects.toThrow();
  expect((await client.listBatches()).map(({ name }) => name)).toEqual(left);
  const next = async (
    changes: Pick<VerifySettings, 'onBatch' | 'onLeftBehind'> = {},
  ): Promise<unknown[]> => {
    const history = await History.open({ path: copy, service: client.baseUrl });
    return loop({ client, history, ...changes });
  };
  return { service, client, left, next };
}

it.each(['parsing', 'ready'])(
  'what a kill leaves in stage %s is deleted by the next',
  async (stage) => {
    const { service, client, next } = await killedIn(stage);
    expect(await next()).toHaveLength(2);
    expect(await client.listBatches()).toMatchObject([{ status: 'verification_done' }]);
    expect(await chargesOf(service)).toHaveLength(2);
  },
);

it('what the service does not delete yet is named, and deleted by the one after the next', async () => {
  const clock = new ServiceClock();
  const { service, client, left, next } = await killedIn('parsing', { clock, parseDelayMs: 1000 });
  const reported: string[] = [];
  const onLeftBehind = (names: readonly string[]): void => void reported.push(...names);
  await next({ onLeftBehind, onBatch: () => void clock.run() });
  expect(reported).toEqual(left);
  await next({ onLeftBehind });
  expect(reported).toEqual(left);
  expect(await client.listBatches()).toMatchObject([{ status: 'verification_done' }]);
  expect(await chargesOf(service)).toHaveLength(2);
});

it('what is forgotten is not collected, and the rest outlasts a rewrite', async () => {
  // No export is answered: what is launched stays under way.
  const hang = { operation: 'exportBatch', from: 1, what: { hang: true } } as const;
  const { service, open, loop } = await begin({ faults: { faults: [hang] } });
  const abort = new AbortController();
  const left = loop({ signal: abort.signal });
  await eventually(async () => (await chargesOf(service)).length).toBe(200);
  abort.abort(stop);
  await expect(left).rejects.toBe(stop);
  const before = await open();
  const count = (history: History): number =>
    history.takeLaunched({}).reduce((sum, { addresses }) => sum + addresses, 0);
  expect(count(before)).toBe(200);
  await before.forget(
    people(whole)
      .slice(-1)
      .map(({ email }) => email),
  );
  await before.forget(
    people(400)
      .slice(150)
      .map(({ email }) => email),
  );
  await before.close();
  const after = await open();
  expect(count(after)).toBeLessThan(200);
  await after.close();
});
