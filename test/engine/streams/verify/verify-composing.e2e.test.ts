import { strict as assert } from 'node:assert';
import stream, { Readable, Writable, type Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { ReadableStream } from 'node:stream/web';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../../../src/lists/rows/chunks/object-chunk.js';
import type { RowStream } from '../../../../src/engine/streams/enriched-row.js';
import { verify } from '../../../../src/engine/streams/verify.js';
import { countRows, numberedRow } from '../harness/counted-rows.js';
import { recordOf, RecordService } from '../harness/record-service.js';

const rowCount = 2000;
const csv = `id,email\n${Array.from({ length: rowCount }, (_, id) => `${id},a${id}@example.com\n`).join('')}`;

function quick(service = new RecordService()): RowStream<Row, Row> {
  return verify({
    client: service,
    email: ['email'],
    country: 'US',
    pollIntervalMs: 0,
    batchSize: 300,
  });
}

function expectAll(rows: readonly Row[]): void {
  expect(rows).toHaveLength(rowCount);
  for (const [id, row] of rows.entries()) {
    const email = `a${id}@example.com`;
    assert.equal(Number(row['id']), id);
    assert.equal(row['email'], email);
    assert.equal(String(row['email_valid']), String(recordOf('email', email)['valid']));
  }
}

async function expectCsv(written: string): Promise<void> {
  expectAll((await parse(written, { columns: true }).toArray()) as Row[]);
}

describe('verify() stands', () => {
  test('in a pipeline, csv-parse in front and csv-stringify behind', async () => {
    const written: Buffer[] = [];
    await pipeline(
      Readable.from([csv], { objectMode: false }),
      parse({ columns: true }),
      quick(),
      stringify({ header: true, cast: { boolean: String } }),
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          written.push(chunk);
          done();
        },
      }),
    );
    await expectCsv(Buffer.concat(written).toString());
  });

  test('inside compose()', async () => {
    // The types of Node 20 do not have it yet.
    const { compose } = stream as unknown as { compose(...streams: Duplex[]): Duplex };
    const job = compose(
      parse({ columns: true }),
      quick(),
      stringify({ header: true, cast: { boolean: String } }),
    );
    job.end(csv);
    await expectCsv(await text(job));
  });

  test('behind Readable.compose()', async () => {
    const source: Readable = Readable.from(countRows(rowCount, numberedRow).rows);
    const rows = source.compose<Duplex>(quick());
    expectAll((await rows.toArray()) as Row[]);
  });

  test('behind pipe(), read by events', async () => {
    const rows: Row[] = [];
    const verified = Readable.from(countRows(rowCount, numberedRow).rows).pipe(quick());
    await new Promise((resolve, reject) => {
      verified.on('data', (row: Row) => rows.push(row));
      verified.on('end', resolve).on('error', reject);
    });
    expectAll(rows);
  });

  test('behind pipe(), read when it is readable', async () => {
    const rows: Row[] = [];
    const verified = Readable.from(countRows(rowCount, numberedRow).rows).pipe(quick());
    await new Promise((resolve, reject) => {
      verified.on('readable', () => {
        for (let row = verified.read(); row; row = verified.read()) {
          rows.push(row);
        }
      });
      verified.on('end', resolve).on('error', reject);
    });
    expectAll(rows);
  });

  test('behind a web stream', async () => {
    const source = countRows(rowCount, numberedRow).rows;
    const web = new ReadableStream<Row>({
      pull(controller) {
        const { value, done } = source.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    });
    const rows = Readable.fromWeb(web, { objectMode: true }).pipe(quick());
    expectAll((await rows.toArray()) as Row[]);
  });

  test('in front of a web stream', async () => {
    const verified = Readable.from(countRows(rowCount, numberedRow).rows).pipe(quick());
    const rows: Row[] = [];
    for await (const row of Readable.toWeb(verified) as AsyncIterable<Row>) rows.push(row);
    expectAll(rows);
  });

  test('in front of an async generator in a pipeline', async () => {
    const rows: Row[] = [];
    await pipeline(countRows(rowCount, numberedRow).rows, quick(), async (verified) => {
      for await (const row of verified as AsyncIterable<Row>) rows.push(row);
    });
    expectAll(rows);
  });

  test('in a loop that takes its time', async () => {
    const rows: Row[] = [];
    const verified = Readable.from(countRows(rowCount, numberedRow).rows).pipe(quick());
    for await (const row of verified as AsyncIterable<Row>) {
      rows.push(row);
      if (rows.length % 10 === 0) await turn();
    }
    expectAll(rows);
  });

  test('where rows are written by hand and the end is awaited', async () => {
    const verified = quick();
    const rows = verified.toArray();
    for (const row of countRows(rowCount, numberedRow).rows) {
      if (!verified.write(row)) {
        await new Promise((resolve) => {
          verified.once('drain', resolve);
        });
      }
    }
    await new Promise<void>((resolve) => {
      verified.end(resolve);
    });
    expectAll((await rows) as Row[]);
  });
});

test('a reader who has enough breaks off: the source is closed, and nothing more is sent but deletions', async () => {
  const service = new RecordService();
  const source = countRows(10_000_000, numberedRow);
  const readable = Readable.from(source.rows);
  const verified = readable.pipe(quick(service));
  let read = 0;
  for await (const row of verified as AsyncIterable<Row>) {
    expect(row['id']).toBe(read);
    read += 1;
    if (read === 10) break;
  }
  expect(verified.destroyed).toBe(true);
  const sent = (['uploadBatch', 'prepareBatch', 'launchBatch', 'exportBatch'] as const).map(
    (operation) => ({ operation, count: service.count(operation) }),
  );
  for (let turns = 0; turns < 100; turns += 1) await turn();
  for (const { operation, count } of sent) expect(service.count(operation)).toBe(count);
  readable.destroy();
});

test('many streams share one client', async () => {
  const service = new RecordService();
  const all = await Promise.all(
    Array.from({ length: 5 }, async () =>
      Readable.from(countRows(rowCount, numberedRow).rows).pipe(quick(service)).toArray(),
    ),
  );
  for (const rows of all) expectAll(rows as Row[]);
});
