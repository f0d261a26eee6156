import { once } from 'node:events';
import { getDefaultHighWaterMark, PassThrough, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { parse } from 'csv-parse';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Row } from '../../../../src/lists/rows/chunks/object-chunk.js';
import { createFastClock } from '../../../../src/testing/test-clock.js';
import type { VerifyOptions } from '../../../../src/engine/streams/stream-options.js';
import { verify } from '../../../../src/engine/streams/verify.js';
import { countRows, numberedRow } from '../harness/counted-rows.js';
import { untilQuiet } from '../harness/quiet.js';
import { RecordService } from '../harness/record-service.js';
import type { Given } from '../../../platform/given.js';

const tenMillion = 10_000_000;
/** What the streams between a source and the window hold: their own buffers, and one chunk of rows. */
const oneChunk = 256;

function stalled(at: 'uploadBatch' | 'batchStatus'): RecordService {
  return new RecordService({
    faultOf: ({ operation }) => (operation === at ? { commits: false, hangs: true } : undefined),
  });
}

/** Runs the pipeline until nothing happens any more, and ends it. */
async function askedUntilQuiet(
  source: Readable | readonly [Readable, ...NodeJS.ReadWriteStream[]],
  asked: () => number,
  options: Given<VerifyOptions>,
): Promise<number> {
  const stop = new AbortController();
  const reason = new Error('seen enough');
  const streams = [source].flat() as [Readable, ...NodeJS.ReadWriteStream[]];
  const out: unknown[] = [];
  const work = pipeline([
    ...streams,
    verify({
      client: stalled('uploadBatch'),
      email: ['email'],
      country: 'US',
      signal: stop.signal,
      pollIntervalMs: 0,
      ...options,
    }),
    new Writable({
      objectMode: true,
      write: (row, _encoding, done) => {
        out.push(row);
        done();
      },
    }),
  ]);
  const ended = work.catch((error: unknown) => error);
  const count = await untilQuiet(asked);
  expect(out).toHaveLength(0);
  stop.abort(reason);
  expect(await ended).toBe(reason);
  expect(asked()).toBeLessThanOrEqual(count + 1);
  return count;
}

describe('with the service stalled, a source of 10 million rows', () => {
  for (const [maxWaitingRows, batchSize] of [
    [5000, 1000],
    [5000, 100_000],
    [100, 1000],
    [1, 10],
  ] as const) {
    test(`is asked for ${maxWaitingRows} rows and one chunk, in batches of ${batchSize}`, async () => {
      const source = countRows(tenMillion, numberedRow);
      const asked = await askedUntilQuiet(Readable.from(source.rows), () => source.asked, {
        maxWaitingRows,
        batchSize,
      });
      expect(asked).toBeGreaterThanOrEqual(maxWaitingRows);
      expect(asked).toBeLessThanOrEqual(maxWaitingRows + oneChunk);
    });
  }

  test('is asked for what concurrency and batch size come to, when nothing else is said', async () => {
    const source = countRows(tenMillion, numberedRow);
    const asked = await askedUntilQuiet(Readable.from(source.rows), () => source.asked, {
      concurrency: 3,
      batchSize: 500,
    });
    expect(asked).toBeGreaterThanOrEqual(4 * 500);
    expect(asked).toBeLessThanOrEqual(4 * 500 + oneChunk);
  });

  test('is asked for as many rows as the bytes allow', async () => {
    const source = countRows(tenMillion, (index) => ({
      email: `a${index}@example.com`,
      note: 'x'.repeat(10_000),
    }));
    const asked = await askedUntilQuiet(Readable.from(source.rows), () => source.asked, {
      maxWaitingBytes: 10_000_000,
    });
    expect(asked).toBeLessThanOrEqual(1000 + 2 * oneChunk);
    expect(asked).toBeGreaterThanOrEqual(900);
  });

  test('is asked for no more through csv-parse in front', async () => {
    let asked = 0;
    function* lines(): Generator<string> {
      yield 'id,email\n';
      for (; asked < tenMillion; asked += 1) yield `${asked},a${asked}@example.com\n`;
    }
    const count = await askedUntilQuiet(
      [Readable.from(lines(), { objectMode: false, highWaterMark: 1 }), parse({ columns: true })],
      () => asked,
      { maxWaitingRows: 5000, batchSize: 1000 },
    );
    expect(count).toBeGreaterThanOrEqual(5000);
    // csv-parse holds 16 records, and a buffer of text in front of them.
    const ahead = getDefaultHighWaterMark(false) / 'id,a5000@example.com'.length;
    expect(count).toBeLessThanOrEqual(5000 + oneChunk + ahead);
  });

  test('is asked for no more when the service accepts everything and never gets done', async () => {
    const source = countRows(tenMillion, numberedRow);
    const asked = await askedUntilQuiet(Readable.from(source.rows), () => source.asked, {
      client: stalled('batchStatus'),
      // It tries in vain to delete what it has not launched.
      clock: createFastClock(),
      maxWaitingRows: 3000,
      batchSize: 500,
    });
    expect(asked).toBeLessThanOrEqual(3000 + oneChunk);
  });
});

describe('with a consumer that does not read, a source of 10 million rows', () => {
  test('is asked for no more than the window, however fast the service is', async () => {
    const service = new RecordService();
    const source = countRows(tenMillion, numberedRow);
    const stream = Readable.from(source.rows).pipe(
      verify({
        client: service,
        email: ['email'],
        country: 'US',
        maxWaitingRows: 5000,
        batchSize: 1000,
        pollIntervalMs: 0,
      }),
    );
    onTestFinished(() => void stream.destroy());
    // The first row is taken, and no other.
    await once(stream, 'readable');
    expect(stream.read()).toMatchObject({ id: 0 });
    await expect.poll(() => service.count('exportBatch')).toBeGreaterThanOrEqual(5);
    const asked = await untilQuiet(() => source.asked);
    expect(asked).toBeLessThanOrEqual(5000 + oneChunk + 2 * 256);
    expect(stream.readableLength).toBeLessThanOrEqual(stream.readableHighWaterMark);
    expect(service.count('launchBatch')).toBeLessThanOrEqual(6);
  });

  test('goes on, row by row, with one that reads slowly', async () => {
    const source = countRows(tenMillion, numberedRow);
    const stream = Readable.from(source.rows).pipe(
      verify({
        client: new RecordService(),
        email: ['email'],
        country: 'US',
        maxWaitingRows: 1000,
        batchSize: 100,
        pollIntervalMs: 0,
      }),
    );
    const ids: unknown[] = [];
    let mostAhead = 0;
    for await (const row of stream as AsyncIterable<Row>) {
      ids.push(row['id']);
      mostAhead = Math.max(mostAhead, source.asked - ids.length);
      await turn();
      if (ids.length === 3000) break;
    }
    expect(ids).toEqual(Array.from({ length: 3000 }, (_, id) => id));
    expect(mostAhead).toBeLessThanOrEqual(1000 + 3 * 256);
    expect(stream.destroyed).toBe(true);
  });
});

test('rows that nobody verifies wait for nothing and hold nothing up', async () => {
  const source = countRows(20_000, (index) => ({ id: index, email: '' }));
  const service = new RecordService();
  const rows = await Readable.from(source.rows)
    .pipe(verify({ client: service, email: ['email'], country: 'US', maxWaitingRows: 100 }))
    .pipe(new PassThrough({ objectMode: true }))
    .toArray();
  expect(rows).toHaveLength(20_000);
  expect(service.requests).toHaveLength(0);
});
