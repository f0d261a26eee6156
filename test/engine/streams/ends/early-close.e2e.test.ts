import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { countryCodes } from '../../../../src/contract/countries.js';
import type { Row } from '../../../../src/lists/rows/chunks/object-chunk.js';
import { verify } from '../../../../src/engine/streams/verify.js';
import { countRows, numberedRow } from '../harness/counted-rows.js';
import { untilQuiet } from '../harness/quiet.js';
import { RecordService, recordOf } from '../harness/record-service.js';

const quick = { email: ['email'], pollIntervalMs: 0 } as const;

/** Follows how many batches are between their uploads and their exports. */
function followBatches(): { most: number; readonly service: RecordService } {
  const onService = new Set<string>();
  const followed = {
    most: 0,
    service: new RecordService({
      onRequest: ({ operation, name, uuid }) => {
        if (operation === 'uploadBatch') onService.add(name ?? '');
        if (operation === 'exportBatch') onService.delete(name ?? uuid ?? '');
        followed.most = Math.max(followed.most, onService.size);
      },
    }),
  };
  return followed;
}

describe('when the window is full', () => {
  test('a rare country does not block the stream', async () => {
    const service = new RecordService();
    const rows = (await Readable.from(
      countRows(4000, (index) => ({
        email: `a${index}@example.com`,
        country: index % 2000 === 0 ? 'AD' : 'US',
      })).rows,
    )
      .pipe(
        verify({
          ...quick,
          client: service,
          countryColumn: 'country',
          batchSize: 400,
          maxWaitingRows: 800,
        }),
      )
      .toArray()) as Row[];
    expect(rows.map((row) => row['email'])).toEqual(
      Array.from({ length: 4000 }, (_, index) => `a${index}@example.com`),
    );
    const sizes = [...service.batches.values()].map(({ lines }) => lines.length);
    // Those of the rare country, and no others, are sent almost empty.
    expect(sizes.filter((size) => size === 1)).toHaveLength(2);
    expect(sizes.length).toBeLessThanOrEqual(14);
    expect(service.ledger).toHaveLength(4000);
  });

  test('240 batch groups at concurrency 4 finish, never more than 4 batches on the service', async () => {
    const followed = followBatches();
    const { service } = followed;
    const source = countRows(2400, (index) => ({
      email: `a${index}@example.com`,
      phone: `+1212${5_550_000 + index}`,
      country: countryCodes[index % 120],
    }));
    const stream = Readable.from(source.rows).pipe(
      verify({
        ...quick,
        phone: ['phone'],
        client: service,
        countryColumn: 'country',
        concurrency: 4,
        batchSize: 1000,
        maxWaitingRows: 1200,
      }),
    );
    let next = 0;
    for await (const row of stream as AsyncIterable<Row>) {
      expect(row['email']).toBe(`a${next}@example.com`);
      next += 1;
    }
    expect(next).toBe(2400);
    expect(followed.most).toBe(4);
    expect(service.ledger).toHaveLength(4800);
    // Two windows of rows, each with an address or more for every batch group.
    expect(service.batches.size).toBeLessThanOrEqual(3 * 240);
  });

  test('what fits into no batch is sent all the same when fewer rows may wait than a batch takes', async () => {
    const service = new RecordService();
    const rows = await Readable.from(countRows(5000, numberedRow).rows)
      .pipe(
        verify({ ...quick, client: service, country: 'US', batchSize: 1000, maxWaitingRows: 70 }),
      )
      .toArray();
    expect(rows).toHaveLength(5000);
    expect(service.ledger).toHaveLength(5000);
    for (const { lines } of service.batches.values()) expect(lines.length).toBeLessThanOrEqual(70);
  });

  test('one row at a time comes through', async () => {
    const service = new RecordService();
    const rows = (await Readable.from(countRows(20, numberedRow).rows)
      .pipe(verify({ ...quick, client: service, country: 'US', maxWaitingRows: 1 }))
      .toArray()) as Row[];
    expect(rows.map((row) => row['id'])).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(service.batches.size).toBe(20);
  });
});

test('no batch beyond the places is taken up while those on the service are not at their ends', async () => {
  const service = new RecordService({
    faultOf: ({ operation }) =>
      operation === 'launchBatch' ? { commits: false, hangs: true } : undefined,
  });
  const source = countRows(100_000, numberedRow);
  const stream = Readable.from(source.rows).pipe(
    verify({ ...quick, client: service, country: 'US', concurrency: 3, batchSize: 10 }),
  );
  onTestFinished(() => void stream.destroy());
  stream.resume();
  await expect.poll(() => service.count('launchBatch')).toBe(3);
  await untilQuiet(() => source.asked + service.requests.length);
  expect(service.count('uploadBatch')).toBe(3);
  expect(service.mostAtOnce).toBeLessThanOrEqual(3);
});

test('is closed also where it is destroyed between the end of its input and that of its first part', async () => {
  const service = new RecordService();
  const stream = verify({ ...quick, client: service, country: 'US', batchSize: 1 });
  for (let index = 0; index < 3; index += 1) stream.write(numberedRow(index));
  stream.end();
  const closed = once(stream, 'close');
  stream.destroy();
  await closed;
});

describe('a source that falls silent', () => {
  test('gets its rows out by maxWaitMs, again and again, without an end', async () => {
    const service = new RecordService();
    const source = new PassThrough({ objectMode: true });
    const stream = source.pipe(verify({ ...quick, client: service, country: 'US', maxWaitMs: 5 }));
    onTestFinished(() => void stream.destroy());
    const rows = stream[Symbol.asyncIterator]() as AsyncIterator<Row>;
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 4; index += 1) source.write(numberedRow(round * 4 + index));
      for (let index = 0; index < 4; index += 1) {
        const { value } = (await rows.next()) as { value: Row };
        const address = `a${round * 4 + index}@example.com`;
        expect(value).toMatchObject({
          email: address,
          email_verification: 'verified',
          email_valid: recordOf('email', address)['valid'],
        });
      }
    }
    expect(service.ledger).toHaveLength(12);
  });

  test('keeps its open batches for more rows when nothing else is said', async () => {
    const service = new RecordService();
    const source = new PassThrough({ objectMode: true });
    const stream = source.pipe(verify({ ...quick, client: service, country: 'US' }));
    onTestFinished(() => void stream.destroy());
    stream.resume();
    source.write(numberedRow(0));
    await untilQuiet(() => service.requests.length);
    expect(service.requests).toHaveLength(0);
    source.end();
    await expect.poll(() => stream.readableEnded).toBe(true);
    expect(service.ledger).toHaveLength(1);
  });

  test('is not taken to have waited when the time is longer than a timer runs', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => {
      warnings.push(name);
    };
    process.on('warning', note);
    onTestFinished(() => {
      process.off('warning', note);
    });
    const service = new RecordService();
    const source = new PassThrough({ objectMode: true });
    const stream = source.pipe(
      verify({ ...quick, client: service, country: 'US', maxWaitMs: 2 ** 40 }),
    );
    onTestFinished(() => void stream.destroy());
    stream.resume();
    source.write(numberedRow(0));
    await untilQuiet(() => service.requests.length);
    expect(service.requests).toHaveLength(0);
    // Of timers that are too long for Node, and would fire at once.
    expect(warnings).toEqual([]);
  });

  test('closes only the batches that are due', async () => {
    const service = new RecordService();
    const source = new PassThrough({ objectMode: true });
    const stream = source.pipe(
      verify({ ...quick, client: service, countryColumn: 'country', maxWaitMs: 20 }),
    );
    onTestFinished(() => void stream.destroy());
    const rows = stream[Symbol.asyncIterator]() as AsyncIterator<Row>;
    source.write({ email: 'a@example.com', country: 'US' });
    await rows.next();
    source.write({ email: 'b@example.com', country: 'GB' });
    await rows.next();
    expect([...service.batches.values()].map(({ lines }) => lines)).toEqual([
      ['a@example.com'],
      ['b@example.com'],
    ]);
  });
});

test('an empty source ends cleanly, without a request', async () => {
  const service = new RecordService();
  const rows = await Readable.from([])
    .pipe(verify({ ...quick, client: service, country: 'US' }))
    .toArray();
  expect(rows).toEqual([]);
  expect(service.requests).toHaveLength(0);
});

test('rows with nothing to verify come out before any batch is sent', async () => {
  const service = new RecordService();
  const source = new PassThrough({ objectMode: true });
  const stream = source.pipe(verify({ ...quick, client: service, country: 'US' }));
  onTestFinished(() => void stream.destroy());
  const rows = stream[Symbol.asyncIterator]() as AsyncIterator<Row>;
  for (const email of ['', '  ', 'a,b@example.com', null, undefined, {}]) source.write({ email });
  const reasons: unknown[] = [];
  for (let index = 0; index < 6; index += 1) {
    const { value } = (await rows.next()) as { value: Row };
    expect(value).toMatchObject({ email_verification: 'not_submitted', email_valid: null });
    reasons.push(value['email_reason']);
  }
  expect(reasons).toEqual([
    'empty',
    'empty',
    'contains_comma',
    'empty',
    'empty',
    'invalid_encoding',
  ]);
  expect(service.requests).toHaveLength(0);
});
