import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Client } from '../../../src/client/client.js';
import { run } from '../../../src/engine/runs/run.js';
import { verifyRows } from '../../../src/engine/streams/verify-rows.js';
import type { OperationName } from '../../../src/contract/operations.js';
import { rowsSink } from '../../../src/lists/rows/rows-sink.js';
import { caught, openClient } from '../../client/test-client.js';
import { withFolder, withService, paidAddresses } from '../../service/with-service.js';

const ours = { name: 'ours', key: 'the-key-so-far' };
const theirs = { name: 'theirs', key: 'the-key-of-others' };
const rows = ['good1', 'good2'].map((name) => ({ email: `${name}@sluice.test` }));

/** The first key is refused at the nth request of an operation; from then on there is another. */
async function replaced({
  at,
  nth,
  by,
}: {
  readonly at: OperationName;
  readonly nth: number;
  readonly by: string;
}) {
  const { service } = await withService({
    accounts: [ours, theirs],
    faults: {
      faults: [{ operation: at, requests: [nth], what: { answer: { status: 401 } } }],
    },
  });
  let asked = 0;
  const apiKey = async (): Promise<string> => {
    asked += 1;
    if (asked === 1) return ours.key;
    if (by !== theirs.key) await service.setAccounts([{ ...ours, key: by }, theirs]);
    return by;
  };
  const clientOf = (key: string | (() => Promise<string>)): Client => {
    return openClient({ baseUrl: service.baseUrl, apiKey: key });
  };
  return {
    client: clientOf(apiKey),
    clientOf,
    paid: async () => {
      return (await paidAddresses(service)).toSorted();
    },
  };
}

const common = { email: ['email'], country: 'US', batchSize: 1, pollIntervalMs: 1 } as const;
const all = rows.map(({ email }) => email);

it.each([
  { at: 'batchStatus', nth: 1 },
  { at: 'uploadBatch', nth: 2 },
  { at: 'launchBatch', nth: 2 },
  { at: 'exportBatch', nth: 1 },
] as const)(
  'pays nothing in the account of another key, which it is given at $at $nth',
  async ({ at, nth }) => {
    const { client, clientOf, paid } = await replaced({ at, nth, by: theirs.key });
    const stateDir = join(await withFolder(), 'run');
    const options = { source: rows, stateDir, concurrency: 1, ...common };
    const sink = rowsSink(() => undefined);
    expect(await caught(run({ ...options, sink, client }))).toMatchObject({
      code: 'state_mismatch',
    });
    expect((await paid()).length).toBeLessThanOrEqual(all.length);
    const summary = await run({ ...options, sink, client: clientOf(ours.key) });
    expect(summary).toMatchObject({ rows: 2, email: { buckets: { verified: 2 } } });
    expect(await paid()).toEqual(all);
  },
);

it('goes on with another key of the same account', async () => {
  const { client, paid } = await replaced({ at: 'batchStatus', nth: 2, by: 'the-key-from-now-on' });
  const stateDir = join(await withFolder(), 'run');
  const sink = rowsSink(() => undefined);
  const summary = await run({ source: rows, stateDir, sink, client, ...common });
  expect(summary).toMatchObject({ email: { buckets: { verified: 2 } } });
  expect(await paid()).toEqual(all);
});

it('says so in a stream, too, in place of rows that failed', async () => {
  const { client } = await replaced({ at: 'batchStatus', nth: 2, by: theirs.key });
  const reading = async (): Promise<void> => {
    for await (const row of verifyRows(rows, { client, ...common })) expect(row).toBeUndefined();
  };
  expect(await caught(reading())).toMatchObject({ code: 'state_mismatch' });
});

it('pays nothing in the other account where a stream has no batch in hand', async () => {
  const { client, paid } = await replaced({ at: 'uploadBatch', nth: 2, by: theirs.key });
  let onFirst = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    onFirst = resolve;
  });
  async function* inTurn() {
    yield* rows.slice(0, 1);
    await first;
    yield* rows.slice(1);
  }
  const reading = async (): Promise<void> => {
    for await (const _ of verifyRows(inTurn(), { client, ...common, maxWaitMs: 1 })) onFirst();
  };
  expect(await caught(reading())).toMatchObject({ code: 'state_mismatch' });
  expect(await paid()).toEqual(all.slice(0, 1));
});

it('names the upload that the other account may have', async () => {
  const { client, clientOf } = await replaced({ at: 'uploadBatch', nth: 2, by: theirs.key });
  const stateDir = join(await withFolder(), 'run');
  const sink = rowsSink(() => undefined);
  const error = await caught(
    run({ source: rows, stateDir, sink, client, concurrency: 1, ...common }),
  );
  const [left] = await clientOf(theirs.key).listBatches();
  expect(left?.name).toBeDefined();
  expect(error).toMatchObject({ message: expect.stringContaining(`${left?.name}`) as string });
});
