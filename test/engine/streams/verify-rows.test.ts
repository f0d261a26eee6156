import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ReadableStream } from 'node:stream/web';
import { expect, expectTypeOf, test } from 'vitest';
import { bounds } from '../../../src/client/batch-bounds.js';
import { verify } from '../../../src/engine/streams/verify.js';
import { verifyRows } from '../../../src/engine/streams/verify-rows.js';
import { createFastClock, createTestClock } from '../../../src/testing/test-clock.js';
import { caught } from '../../client/test-client.js';
import { countRows, numberedRow } from './harness/counted-rows.js';
import { untilQuiet } from './harness/quiet.js';
import { recordOf, RecordService } from './harness/record-service.js';
import { withClient } from './harness/with-client.js';

const quick = { email: ['email'], country: 'US', pollIntervalMs: 0 } as const;

interface Person {
  readonly id: number;
  readonly email: string;
}

const person = (id: number): Person => ({ id, email: `a${id}@example.com` });
const people = (count: number): Person[] => Array.from({ length: count }, (_, id) => person(id));

/** People without an end, who say when nobody asks for more. */
function endlessPeople(): { readonly rows: AsyncGenerator<Person>; isClosed: boolean } {
  const given = { rows: make(), isClosed: false };
  async function* make(): AsyncGenerator<Person> {
    try {
      for (let id = 0; ; id += 1) yield person(id);
    } finally {
      given.isClosed = true;
    }
  }
  return given;
}

async function collect<Item>(rows: AsyncIterable<Item>): Promise<Item[]> {
  const out: Item[] = [];
  for await (const row of rows) out.push(row);
  return out;
}

test.each<[string, (rows: Person[]) => Iterable<Person> | AsyncIterable<Person>]>([
  ['an array', (rows) => rows],
  ['a generator', (rows) => rows.values()],
  ['a stream', (rows) => Readable.from(rows)],
  ['a web stream', (rows) => ReadableStream.from(rows)],
])('gives the rows of %s, enriched and in their order', async (_, of) => {
  const client = new RecordService();
  const rows = await collect(verifyRows(of(people(700)), { ...quick, client, batchSize: 200 }));
  expect(rows.map(({ id }) => id)).toEqual(people(700).map(({ id }) => id));
  for (const { email, email_valid } of rows) {
    expect(email_valid).toBe(recordOf('email', email)['valid']);
  }
  expect(client.ledger).toHaveLength(700);
});

test('throws the error of its rows in the loop, and launches nothing more', async () => {
  const client = new RecordService();
  const broken = new Error('the database went away');
  function* rows(): Generator<Person> {
    yield* people(2);
    throw broken;
  }
  const loop = collect(verifyRows(rows(), { ...quick, client }));
  await expect(loop).rejects.toBe(broken);
  const stream = Readable.from(rows());
  await expect(collect(verifyRows(stream, { ...quick, client }))).rejects.toBe(broken);
  expect(client.ledger).toEqual([]);
});

test('refuses a later row whose own cell would be overwritten', async () => {
  const { client } = await withClient();
  const rows = [
    { email: 'good@sluice.test' },
    { email: 'bad@sluice.test', email_valid: 'mine' },
  ] as Person[];
  const error = await caught(collect(verifyRows(rows, { ...quick, client })));
  expect(error).toMatchObject({ code: 'column_exists', message: expect.stringMatching(/^row 2 /) });
});

test('gives every row that was paid for before the error that stops the run', async () => {
  const client = new RecordService({ credits: 10 });
  const out: Person[] = [];
  const loop = async (): Promise<void> => {
    for await (const row of verifyRows(people(30), {
      ...quick,
      client,
      batchSize: 10,
      concurrency: 1,
    })) {
      out.push(row);
    }
  };
  await expect(loop()).rejects.toMatchObject({ code: 'payment_required' });
  expect(out).toHaveLength(10);
});

test('a loop that is left closes the rows and launches nothing more', async () => {
  const client = new RecordService();
  const source = endlessPeople();
  const options = { ...quick, client, batchSize: 10, maxWaitingRows: 20 };
  for await (const { id } of verifyRows(source.rows, options)) if (id === 25) break;
  await expect.poll(() => source.isClosed).toBe(true);
  const paid = client.ledger.length;
  await untilQuiet(() => client.requests.length);
  expect(client.ledger).toHaveLength(paid);
});

test('leaving the loop waits for the cleanup of the rows, and throws its error', async () => {
  const client = new RecordService();
  const options = { ...quick, client, batchSize: 10, maxWaitingRows: 20 };
  const cleanup = { isOver: false, error: undefined as Error | undefined };
  const cleanUp = async (): Promise<void> => {
    await untilQuiet(() => 0);
    cleanup.isOver = true;
    if (cleanup.error) throw cleanup.error;
  };
  async function* rows(): AsyncGenerator<Person> {
    try {
      for (let id = 0; ; id += 1) yield person(id);
    } finally {
      await cleanUp();
    }
  }
  const leave = async (): Promise<void> => {
    cleanup.isOver = false;
    for await (const _ of verifyRows(rows(), options)) break;
  };
  await leave();
  expect(cleanup.isOver).toBe(true);
  cleanup.isOver = false;
  const stop = new AbortController();
  const { signal } = stop;
  const reason = new Error('enough');
  const aborted = async (): Promise<void> => {
    for await (const _ of verifyRows(rows(), { ...options, signal })) stop.abort(reason);
  };
  await expect(aborted()).rejects.toBe(reason);
  expect(cleanup.isOver).toBe(true);
  const stream = new Readable({
    objectMode: true,
    read: () => stream.push(person(0)),
    destroy: (error, done) => void cleanUp().then(() => done(error)),
  });
  cleanup.isOver = false;
  for await (const _ of verifyRows<Person, 'email'>(stream, options)) break;
  expect(cleanup.isOver).toBe(true);
  cleanup.error = new Error('the cursor does not close');
  await expect(leave()).rejects.toBe(cleanup.error);
});

test('refuses one object for all rows, which would change while it waits', async () => {
  const client = new RecordService();
  const one = { email: '' };
  async function* rows(): AsyncGenerator<{ email: string }> {
    for (const { email } of people(30)) {
      one.email = email;
      yield one;
    }
  }
  const words = {
    code: 'invalid_option',
    message: expect.stringMatching(/\b2\b/),
  };
  await expect(collect(verifyRows(rows(), { ...quick, client }))).rejects.toMatchObject(words);
  const piped = pipeline(rows, verify({ ...quick, client }), async (out) => collect(out));
  await expect(piped).rejects.toMatchObject(words);
  expect(client.ledger).toEqual([]);
  // What is all there does not change.
  expect(await collect(verifyRows([one, one], { ...quick, client }))).toHaveLength(2);
});

test('leaving the loop waits for a row that is being made, and not for one that never comes', async () => {
  const client = new RecordService();
  let isClosed = false;
  async function* rows(last: () => Promise<unknown>): AsyncGenerator<Person> {
    try {
      yield* people(1);
      await last();
    } finally {
      isClosed = true;
    }
  }
  const options = { ...quick, client, maxWaitMs: 1 };
  const leave = async (end: () => void, signal?: AbortSignal): Promise<void> => {
    isClosed = false;
    let make: (() => void) | undefined;
    const made = new Promise<void>((resolve) => {
      make = resolve;
    });
    const making = rows(async () => made);
    for await (const row of verifyRows(making, { ...options, ...(signal && { signal }) })) {
      expect(row.email_verification).toBe('verified');
      setImmediate(() => make?.());
      end();
      if (!signal) break;
    }
  };
  await leave(() => undefined);
  expect(isClosed).toBe(true);
  const stop = new AbortController();
  const reason = new Error('enough');
  await expect(leave(() => stop.abort(reason), stop.signal)).rejects.toBe(reason);
  expect(isClosed).toBe(true);
  for await (const _ of verifyRows(
    rows(async () => new Promise(() => undefined)),
    { ...options, clock: createFastClock() },
  ))
    break;
});

test('a loop that takes its time bounds the rows that are read', async () => {
  const client = new RecordService();
  const source = countRows(100_000, numberedRow);
  const verified = verifyRows(source.rows, { ...quick, client, batchSize: 10, maxWaitingRows: 30 });
  for await (const _ of verified) {
    await untilQuiet(() => source.asked);
    // Those that wait, and what the buffers of its streams hold.
    expect(source.asked).toBeLessThan(200);
    break;
  }
});

test('reads and sends nothing before the loop begins', async () => {
  const client = new RecordService();
  const source = countRows(100, numberedRow);
  const verified = verifyRows(source.rows, { ...quick, client });
  await untilQuiet(() => source.asked);
  expect([source.asked, client.requests]).toEqual([0, []]);
  expect(await collect(verified)).toHaveLength(100);
  expect(client.ledger).toHaveLength(100);
});

test('keeps the reason of a signal for the loop, however late that is', async () => {
  const client = new RecordService();
  const reason = new Error('the deploy');
  const verified = verifyRows(people(3), { ...quick, client, signal: AbortSignal.abort(reason) });
  await untilQuiet(() => client.requests.length);
  await expect(collect(verified)).rejects.toBe(reason);
});

test('refuses wrong options, and rows that are none, at once', () => {
  const client = new RecordService();
  // @ts-expect-error no country
  expect(() => verifyRows(people(1), { client, email: ['email'] })).toThrow(
    expect.objectContaining({ code: 'country_missing' }),
  );
  // @ts-expect-error a person is no iterable
  expect(() => verifyRows(person(1), { ...quick, client })).toThrow(/^rows\b/);
});

test.each([
  // Whole, and wrong: it will be so for ever.
  [
    'a flag is no true or false',
    bounds.malformed,
    (record: object) => ({ 'a0@example.com': { ...record, wrong: 'no' } }),
  ],
  [
    'a flag is missing',
    bounds.malformed,
    (record: object) => ({ 'a0@example.com': { ...record, unknown: undefined } }),
  ],
  // It may not be there yet.
  [
    'there are no flags',
    bounds.doubts,
    () => ({ 'a0@example.com': { valid: null, wrong: null, unknown: null } }),
  ],
  ['it is empty', bounds.doubts, () => ({})],
  [
    'no address is a key',
    bounds.doubts,
    (record: object) => ({ results: { 'a0@example.com': record } }),
  ],
  ['it is a list', bounds.exports, (record: object) => [record]],
])('warns where an export of a double counts for nothing, as %s', async (_, most, answer) => {
  const client = new RecordService();
  let asked = 0;
  client.exportBatch = async () => {
    asked += 1;
    const text = JSON.stringify(answer(recordOf('email', 'a0@example.com')));
    // Texts, as tests write them.
    return { body: Readable.from([text]), contentType: 'application/json' };
  };
  const warned = once(process, 'warning');
  const clock = createTestClock();
  const rows = collect(verifyRows(people(1), { ...quick, client, clock }));
  const [row] = await clock.runUntil(rows);
  expect(row?.email_reason).toBe('export_incomplete');
  expect(await warned).toMatchObject([{ code: 'SLUICE_ODD_EXPORT' }]);
  expect(asked).toBe(most);
});

test('warns where a double gives no batch_uuid, and tries it twice', async () => {
  const client = new RecordService();
  client.uploadBatch = async () => ({ status: 'ok' });
  const warned = once(process, 'warning');
  const clock = createTestClock();
  const work = caught(collect(verifyRows(people(1), { ...quick, client, clock })));
  expect(await clock.runUntil(work)).toMatchObject({ code: 'service_unavailable' });
  expect(await warned).toMatchObject([{ code: 'SLUICE_UPLOAD_UNLISTED' }]);
  expect(client.count('listBatches')).toBeGreaterThan(bounds.unlisted);
});

test.each([
  ['prepareBatch', 'prepare_error'],
  ['launchBatch', 'launch_error'],
] as const)(
  'warns where a double answers %s with an error, and fails the row',
  async (operation, reason) => {
    const client = new RecordService();
    client[operation] = async () => ({ status: 'error' });
    const warned = once(process, 'warning');
    const clock = createTestClock();
    const rows = collect(verifyRows(people(1), { ...quick, client, clock }));
    expect(await clock.runUntil(rows)).toMatchObject([{ email_reason: reason }]);
    expect(await warned).toMatchObject([{ code: 'SLUICE_OPERATION_ERROR' }]);
  },
);

test.each(['listBatches', 'prepareBatch', 'batchStatus', 'exportBatch'] as const)(
  'names the method of a double that answers nothing: %s',
  async (method) => {
    const client = new RecordService();
    if (method === 'listBatches') client.uploadBatch = async () => ({ status: 'ok' });
    client[method] = async () => ({}) as never;
    const error = await caught(collect(verifyRows(people(1), { ...quick, client })));
    expect(String(error)).toContain(`${method}()`);
  },
);

test('in a pipeline it ends with the step after it', async () => {
  const client = new RecordService();
  const source = endlessPeople();
  const options = { ...quick, client, batchSize: 10, maxWaitingRows: 20 };
  const full = new Error('the disk is full');
  const job = pipeline(verifyRows(source.rows, options), async (rows) => {
    for await (const row of rows) {
      expectTypeOf(row.email_valid).toEqualTypeOf<boolean | null>();
      // @ts-expect-error a misspelt column
      expect(row.emial_valid).toBeUndefined();
      throw full;
    }
  });
  await expect(job).rejects.toBe(full);
  await expect.poll(() => source.isClosed).toBe(true);
});

test('takes a field that the first rows lack as empty there', async () => {
  const client = new RecordService();
  const rows: (Person & { readonly mobile?: string; readonly country?: string })[] = [
    ...people(98),
    { ...person(98), mobile: '+12025550143' },
    { ...person(99), country: 'DE' },
    person(100),
  ];
  const options = { ...quick, client, phone: ['mobile'], countryColumn: 'country' } as const;
  const out = await collect(verifyRows(rows, options));
  expect(out.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  expect(out[0]).not.toHaveProperty('mobile');
  expect([out[0]?.mobile_reason, out[98]?.mobile_verification]).toEqual(['empty', 'verified']);
});

test.each([
  [1, /"emial".*"email"/],
  [3, /3.*"emial".*"email"/],
  [5000, /100.*"emial"/],
])('refuses a column that none of the first rows has: of %d', async (count, words) => {
  const client = new RecordService();
  const options = { ...quick, client, email: ['id', 'emial'], batchSize: 10, maxWaitingRows: 20 };
  const rows = people(count).map((each): Record<string, unknown> => ({ ...each }));
  const failed = collect(verifyRows(rows, options));
  await expect(failed).rejects.toMatchObject({
    code: 'column_not_found',
    message: expect.stringMatching(words),
  });
  expect(client.ledger).toEqual([]);
});

test('waits no longer for a column that rows lack than for a batch to be sent', async () => {
  const client = new RecordService();
  async function* trickle(): AsyncGenerator<Record<string, unknown>> {
    yield { id: 1 };
    await new Promise(() => {});
  }
  const failed = collect(verifyRows(trickle(), { ...quick, client, maxWaitMs: 1 }));
  await expect(failed).rejects.toThrow(/"email"/);
});

test.each<[string, unknown]>([
  ['null', null],
  ['undefined', undefined],
  ['a string', 'b@example.com'],
  ['an array', ['b@example.com']],
])('names the row that is %s', async (_, row) => {
  const named = expect.stringMatching(/\b2\b/) as string;
  async function* later(): AsyncGenerator<Person> {
    yield* rows;
  }
  const rows = [person(1), row as Person];
  for (const given of [rows, later()]) {
    const failed = collect(verifyRows(given, { ...quick, client: new RecordService() }));
    await expect(failed).rejects.toMatchObject({ code: 'invalid_option', message: named });
  }
});

test('refuses a second loop, which would have no rows', async () => {
  const rows = verifyRows(people(2), { ...quick, client: new RecordService() });
  expect(await collect(rows)).toHaveLength(2);
  await expect(collect(rows)).rejects.toMatchObject({
    name: 'ConfigurationError',
    code: 'invalid_option',
  });
});

test('says of values that have no sure text what they are', async () => {
  const rows = [{ email: new Date(0) }, { email: { at: 'a' } }, { email: ['a@example.com'] }];
  const values: readonly Record<string, unknown>[] = rows;
  const out = await collect(verifyRows(values, { ...quick, client: new RecordService() }));
  expect(out.map((row) => row.email_reason)).toEqual(rows.map(() => 'invalid_encoding'));
});
