import { Readable, Writable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import type { BatchProgress } from '../../../../src/engine/batches/claim.js';
import type { Row } from '../../../../src/lists/rows/chunks/object-chunk.js';
import { driveBatches } from '../../../../src/engine/streams/drive-batches.js';
import { joinResults } from '../../../../src/engine/streams/join-results.js';
import type { Parcel, SettledParcel } from '../../../../src/engine/streams/parcel.js';
import { rowsToBatches } from '../../../../src/engine/streams/rows-to-batches.js';
import { StreamPlan } from '../../../../src/engine/streams/stream-plan.js';
import { verify } from '../../../../src/engine/streams/verify.js';
import { withSizeLimit } from '../../runs/execution/size-limit.js';

const addresses = Array.from({ length: 60 }, (_, index) => `good+${index}@sluice.test`);
const rows: readonly Row[] = [...addresses, addresses[7]].map((email, id) => ({ id, email }));
const columns = { email: ['email'], country: 'US', batchSize: 16 } as const;

/** Sends rows through streams; `out` gets what comes out, also when they end with an error. */
async function pass(
  streams: readonly Duplex[],
  given: Iterable<Row> = rows,
  out: Row[] = [],
): Promise<readonly Row[]> {
  const taking = new Writable({
    objectMode: true,
    write(row: Row, _encoding, done) {
      out.push(row);
      done();
    },
  });
  await pipeline([Readable.from(given), ...streams, taking]);
  return out;
}

function expectAllVerified(out: readonly Row[]): void {
  expect(out.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  expect(new Set(out.map((row) => row['email_verification']))).toEqual(new Set(['verified']));
}

describe('a stream whose batches the service refuses for their size', () => {
  it.each([
    { maxRows: 15 },
    { maxRows: 5 },
    { maxRows: 1 },
    { maxBytes: 300 },
    { maxBytes: 60, says: 'nothing' as const },
  ])('sends them in parts: every row comes out, and is paid once (%o)', async (limit) => {
    const { client, paid, uploads } = await withSizeLimit(limit);
    const reported = new Map<string, BatchProgress>();
    const onBatch = (progress: BatchProgress): void => void reported.set(progress.name, progress);
    const options = { client, ...columns, pollIntervalMs: 1, onBatch };
    expectAllVerified(await pass([verify(options)]));
    expect(await paid()).toEqual(addresses.toSorted());
    const ends = [...reported.values()].filter(({ state }) => state.stage === 'exported');
    expect(ends.map(({ name }) => name).toSorted()).toEqual(
      uploads
        .filter(({ isRefused }) => !isRefused)
        .map(({ name }) => name)
        .toSorted(),
    );
    expect(ends.reduce((sum, { charge }) => sum + (charge?.spent ?? 0), 0)).toBe(60);
  });

  it('holds no more rows than it may, and frees the places of its batches', async () => {
    const { client, paid } = await withSizeLimit({ maxRows: 3 });
    const options = { client, ...columns, pollIntervalMs: 1, concurrency: 2, maxWaitingRows: 20 };
    expectAllVerified(await pass([verify(options)]));
    expect(await paid()).toEqual(addresses.toSorted());
  });

  it('gives out each part as a batch of its own', async () => {
    const { client, paid } = await withSizeLimit({ maxRows: 8 });
    const plan = new StreamPlan(columns);
    const settled: SettledParcel[] = [];
    const drive = driveBatches({ client, pollIntervalMs: 1 });
    drive.on('data', (parcel: Parcel) => {
      if (parcel.kind === 'settled') settled.push(parcel);
    });
    drive.pause();
    expectAllVerified(await pass([rowsToBatches(plan), drive, joinResults(plan)]));
    expect(await paid()).toEqual(addresses.toSorted());
    const parts = settled.map(({ batch }) => `${batch.id} ${batch.part?.start} ${batch.addresses}`);
    expect(parts.toSorted()).toEqual(
      ['0 0 8', '0 8 8', '1 0 8', '1 8 8', '2 0 8', '2 8 8', '3 0 6', '3 6 6'].toSorted(),
    );
    expect(new Set(settled.map(({ batchUuid }) => batchUuid)).size).toBe(8);
    expect(settled.every(({ charge, batch }) => charge?.spent === batch.addresses)).toBe(true);
  });

  it('fails single lines that are too large, and only them', async () => {
    const longest = `good+${'x'.repeat(100)}@sluice.test`;
    const { client, paid } = await withSizeLimit({ maxBytes: 60 });
    const given = [{ id: -1, email: longest }, ...rows];
    const out = await pass([verify({ client, ...columns, pollIntervalMs: 1 })], given);
    expect(out[0]).toMatchObject({ email_verification: 'failed', email_reason: 'too_large' });
    expectAllVerified(out.slice(1));
    expect(await paid()).toEqual(addresses.toSorted());
  });

  it('ends when not even single lines are taken', async () => {
    const { client, paid } = await withSizeLimit({ maxBytes: 0 });
    const passing = pass([verify({ client, ...columns, pollIntervalMs: 1 })]);
    await expect(passing).rejects.toMatchObject({ code: 'batch_refused' });
    expect(await paid()).toEqual([]);
  });

  it('launches no part behind the last credit', async () => {
    const { client, paid } = await withSizeLimit({ maxRows: 4 });
    const out: Row[] = [];
    const options = { client, ...columns, pollIntervalMs: 1, maxCredits: 21, concurrency: 1 };
    const passing = pass([verify(options)], rows, out);
    await expect(passing).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect(await paid()).toHaveLength(20);
    expect(out.map(({ id }) => id)).toEqual([...Array(20).keys()]);
  });
});
