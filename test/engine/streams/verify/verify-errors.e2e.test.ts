import { getEventListeners, once } from 'node:events';
import { PassThrough, Readable, Writable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConfigurationError, DeadlineError } from '../../../../src/platform/errors/errors.js';
import type { Row } from '../../../../src/lists/rows/chunks/object-chunk.js';
import type { VerifyOptions } from '../../../../src/engine/streams/stream-options.js';
import { verify } from '../../../../src/engine/streams/verify.js';
import { refusal, type FakeRequest, type Fault } from '../../driver/fake-service.js';
import { createFastClock } from '../../../../src/testing/test-clock.js';
import { caught } from '../../../client/test-client.js';
import { countRows, numberedRow } from '../harness/counted-rows.js';
import { untilQuiet } from '../harness/quiet.js';
import { RecordService } from '../harness/record-service.js';
import { chargesOf } from '../../../cli/harness/charges.js';
import { withClient } from '../harness/with-client.js';
import type { Given } from '../../../platform/given.js';

function quick(options: Given<VerifyOptions> = {}): Duplex {
  return verify({
    client: new RecordService(),
    email: ['email'],
    country: 'US',
    pollIntervalMs: 0,
    batchSize: 100,
    ...options,
  });
}

function faulty(faultOf: (request: FakeRequest) => Fault | undefined): RecordService {
  return new RecordService({ faultOf });
}

/** A sink that keeps the rows it is given. */
function keep(rows: Row[]): Writable {
  return new Writable({
    objectMode: true,
    write: (row: Row, _encoding, done) => {
      rows.push(row);
      done();
    },
  });
}

describe('options that cannot be', () => {
  const bad: Record<string, readonly [Given<VerifyOptions>, object]> = {
    'no column': [{ email: [] }, { code: 'invalid_option' }],
    'no country': [{ country: undefined as unknown as string }, { code: 'country_missing' }],
    'a country that the service does not take': [
      { country: 'XX' },
      { code: 'invalid_option', message: expect.stringContaining('"XX"') as string },
    ],
    'a batch size of 0': [{ batchSize: 0 }, { option: 'batchSize' }],
    'half a batch': [{ batchSize: 1.5 }, { option: 'batchSize' }],
    'no places': [{ concurrency: 0 }, { option: 'concurrency' }],
    'places without number': [{ concurrency: NaN }, { option: 'concurrency' }],
    'no row that may wait': [{ maxWaitingRows: 0 }, { option: 'maxWaitingRows' }],
    'no byte that may wait': [{ maxWaitingBytes: -1 }, { option: 'maxWaitingBytes' }],
    'a wait that is none': [{ maxWaitMs: NaN }, { option: 'maxWaitMs' }],
    'a wait without end': [{ maxWaitMs: Infinity }, { option: 'maxWaitMs' }],
    'polls back in time': [{ pollIntervalMs: -1 }, { option: 'pollIntervalMs' }],
    'a deadline that is none': [{ batchDeadlineMs: NaN }, { option: 'batchDeadlineMs' }],
    'a budget below nothing': [{ maxCredits: -1 }, { option: 'maxCredits' }],
    'a column that is named twice': [{ email: ['email', 'email'] }, { code: 'column_exists' }],
    'a column of both types': [{ phone: ['email'] }, { code: 'column_exists' }],
    'a prefix of another column': [{ prefix: { name: 'n' } }, { option: 'prefix' }],
  };
  for (const [what, [options, fields]] of Object.entries(bad)) {
    test(`${what}: refused at once`, () => {
      expect(() => quick(options)).toThrow(ConfigurationError);
      expect(() => quick(options)).toThrow(expect.objectContaining(fields));
    });
  }
});

describe('rows that cannot be', () => {
  const bad: Record<string, readonly [unknown, Given<VerifyOptions>, object]> = {
    'lack a column': [
      { id: 1, mail: 'x' },
      {},
      { code: 'column_not_found', message: expect.stringContaining('id, mail') },
    ],
    'lack the column of the country': [
      { email: 'x' },
      { countryColumn: 'land' },
      { code: 'column_not_found', message: expect.stringMatching(/"land"/) },
    ],
    'have a column that would be added': [
      { email: 'x', email_quality: 'mine' },
      {},
      {
        code: 'column_exists',
        message: expect.stringMatching(/1.*"email_quality".*`prefix: \{"email":"email_2"\}`/),
      },
    ],
    'have no positions': [
      { id: 1, email: 'x' },
      { email: ['#2'] },
      { code: 'column_not_found', message: expect.stringMatching(/"#2"/) },
    ],
    'are texts': ['email', {}, { code: 'invalid_option' }],
    'are numbers': [5, {}, { message: expect.stringMatching(/\b1\b/) }],
    'are arrays': [['a@example.com'], {}, { message: expect.stringMatching(/\b1\b/) }],
    'are undefined': [undefined, {}, { message: expect.stringMatching(/\b1\b/) }],
  };
  for (const [what, [row, options, error]] of Object.entries(bad)) {
    test(`rows that ${what} end the stream before anything is sent`, async () => {
      const client = new RecordService();
      const stream = quick({ client, ...options });
      const failed = once(stream, 'error');
      stream.resume().write(row);
      const [seen] = (await failed) as [unknown];
      expect(seen).toBeInstanceOf(ConfigurationError);
      expect(seen).toMatchObject(error);
      expect(client.requests).toHaveLength(0);
    });
  }

  test('a later row that is no object ends the stream, too', async () => {
    const error = await caught(
      pipeline(Readable.from([numberedRow(0), 'text']), quick(), keep([])),
    );
    expect(error).toMatchObject({ name: 'ConfigurationError' });
  });

  test('a later row with a column that would be added ends the stream before it is sent', async () => {
    const client = new RecordService();
    const [first, second] = [numberedRow(0), numberedRow(1)];
    const rows = [first, second, { ...second, email_valid: 'mine' }];
    const error = await caught(pipeline(Readable.from(rows), quick({ client }), keep([])));
    expect(error).toMatchObject({
      code: 'column_exists',
      message: expect.stringMatching(/3.*"email_valid"/),
    });
    expect(client.ledger).toEqual([]);
  });

  test('a row that throws when it is read ends the stream with what it threw', async () => {
    const thrown = new Error('a getter of its own');
    const row = {
      get email(): string {
        throw thrown;
      },
    };
    const stream = quick();
    stream.resume().write(row);
    expect(await once(stream, 'error')).toEqual([thrown]);
  });
});

describe('errors around the stream', () => {
  test('of the source end it, and nothing more is launched', async () => {
    const client = new RecordService();
    const broken = new Error('the source broke');
    function* source(): Generator<Row> {
      for (let index = 0; index < 250; index += 1) yield numberedRow(index);
      throw broken;
    }
    const stream = quick({ client });
    const error = await caught(pipeline(Readable.from(source()), stream, keep([])));
    expect(error).toBe(broken);
    expect(stream.destroyed).toBe(true);
    const launched = client.count('launchBatch');
    await untilQuiet(() => client.requests.length);
    expect(client.count('launchBatch')).toBe(launched);
  });

  test('of the source at the edges of batches leave paid what is launched, and launch none that is open', async () => {
    const { client, service } = await withClient();
    const paid = async (): Promise<readonly string[]> =>
      (await chargesOf(service)).map(({ address }) => address);
    const edges = [1, 2].flatMap((batches) => [batches * 4 - 1, batches * 4, batches * 4 + 1]);
    const expected: string[] = [];
    for (const rows of edges) {
      const people = Array.from({ length: rows }, (_, at) => `good+${rows}x${at}@sluice.test`);
      expected.push(...people.slice(0, rows - (rows % 4)));
      async function* source(): AsyncGenerator<Row> {
        for (const email of people) yield { email };
        await expect.poll(paid).toHaveLength(expected.length);
        throw new Error('the source broke');
      }
      const stream = quick({ client, batchSize: 4 });
      const error = await caught(pipeline(Readable.from(source()), stream, keep([])));
      expect(error).toMatchObject({ message: 'the source broke' });
      expect((await paid()).toSorted()).toEqual(expected.toSorted());
    }
    // What was open is not there to be launched by anybody.
    const left = await client.listBatches({});
    expect(left.map(({ status }) => status)).not.toContain('ready_for_verification');
  });

  test('of the sink close the source', async () => {
    const source = Readable.from(countRows(10_000_000, numberedRow).rows);
    const broken = new Error('the sink broke');
    const sink = new Writable({ objectMode: true, write: (_row, _encoding, done) => done(broken) });
    expect(await caught(pipeline(source, quick(), sink))).toBe(broken);
    expect(source.destroyed).toBe(true);
  });

  test('a source that closes early is an error, never an end', async () => {
    const client = new RecordService();
    const source = new PassThrough({ objectMode: true });
    const work = pipeline(source, quick({ client }), keep([]));
    for (let index = 0; index < 50; index += 1) source.write(numberedRow(index));
    await turn();
    source.destroy();
    expect(await caught(work)).toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    await untilQuiet(() => client.requests.length);
    expect(client.count('launchBatch')).toBe(0);
  });

  for (const reason of [new Error('enough'), 'a word', { code: 7 }]) {
    test(`an abort ends it with its own reason, untouched (${typeof reason})`, async () => {
      const stop = new AbortController();
      const client = faulty(({ operation }) =>
        operation === 'launchBatch' ? { commits: false, hangs: true } : undefined,
      );
      const stream = quick({ client, signal: stop.signal });
      const work = pipeline(
        Readable.from(countRows(10_000_000, numberedRow).rows),
        stream,
        keep([]),
      );
      await expect.poll(() => client.count('launchBatch')).toBe(4);
      stop.abort(reason);
      expect(await caught(work)).toBe(reason);
      expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
    });
  }

  test('a signal that aborted before ends it before anything is sent', async () => {
    const client = new RecordService();
    const reason = new Error('too late');
    const stream = quick({ client, signal: AbortSignal.abort(reason) });
    expect(await caught(pipeline(Readable.from([numberedRow(0)]), stream, keep([])))).toBe(reason);
    expect(client.requests).toHaveLength(0);
  });

  test('a signal of many streams has one listener, and none when they have ended', async () => {
    const { signal } = new AbortController();
    const ends = Array.from({ length: 20 }, async () =>
      Readable.from([numberedRow(0)])
        .pipe(quick({ signal }))
        .toArray(),
    );
    // Node warns of a leak from the eleventh on.
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await Promise.all(ends);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('destroyed in the middle, it closes, whatever the service does with its requests', async () => {
    const client = new RecordService();
    client.launchBatch = async () =>
      new Promise(() => {
        // Never settles, and hears no signal.
      });
    const stream = Readable.from(countRows(10_000_000, numberedRow).rows).pipe(
      quick({ client, clock: createFastClock() }),
    );
    stream.resume();
    await expect.poll(() => client.batches.size).toBe(4);
    stream.destroy();
    await once(stream, 'close');
    expect(stream.errored).toBeNull();
  });

  test('the first error wins', async () => {
    const first = new Error('first');
    const client = new RecordService();
    let fail: (error: Error) => void = () => undefined;
    client.batchStatus = async () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      });
    const stream = quick({ client });
    const source = new PassThrough({ objectMode: true });
    const work = pipeline(source, stream, keep([]));
    const error = caught(work);
    for (let index = 0; index < 200; index += 1) source.write(numberedRow(index));
    await expect.poll(() => client.count('prepareBatch')).toBeGreaterThan(0);
    await untilQuiet(() => client.requests.length);
    source.destroy(first);
    fail(new Error('second'));
    expect(await error).toBe(first);
    expect(stream.errored).toBe(first);
  });

  test('what onBatch throws ends the stream', async () => {
    const thrown = new Error('an observer');
    const stream = quick({
      onBatch: () => {
        throw thrown;
      },
    });
    expect(await caught(pipeline(Readable.from([numberedRow(0)]), stream, keep([])))).toBe(thrown);
  });
});

describe('what the service says', () => {
  const endings = { internal_error: 'batchStatus', parse_error: 'uploadBatch' } as const;
  for (const [what, at] of Object.entries(endings)) {
    test(`of one batch, ${what}: its rows have failed, and the others come out`, async () => {
      const client = faulty(({ operation, name }) =>
        operation === at && name?.includes('-000002-') === true
          ? { commits: false, answer: { status: what } }
          : undefined,
      );
      const rows: Row[] = [];
      await pipeline(
        Readable.from(countRows(350, numberedRow).rows),
        quick({ client, concurrency: 1 }),
        keep(rows),
      );
      expect(rows.map((row) => row['id'])).toEqual(Array.from({ length: 350 }, (_, id) => id));
      for (const [index, row] of rows.entries()) {
        const isOfIt = index >= 100 && index < 200;
        expect(row).toMatchObject(
          isOfIt
            ? { email_verification: 'failed', email_reason: what, email_valid: null }
            : { email_verification: 'verified', email_reason: '' },
        );
      }
    });
  }
  test('a key that is refused in mid-run ends the stream, over HTTP', async () => {
    const { client, service } = await withClient();
    const rows: Row[] = [];
    const account = { name: 'default', key: 'another-key' };
    const sink = new Writable({
      objectMode: true,
      write(row: Row, _encoding, done) {
        rows.push(row);
        if (rows.length === 50) service.setAccounts([account]).then(() => done(), done);
        else done();
      },
    });
    const error = await caught(
      pipeline(
        Readable.from(countRows(10_000_000, numberedRow).rows),
        quick({ client, pollIntervalMs: 1 }),
        sink,
      ),
    );
    expect(error).toMatchObject({ name: 'ApiError', code: 'unauthorized', status: 401 });
    expect(rows.length).toBeGreaterThanOrEqual(50);
  });

  test('that the first batch cannot be taken is said of the configuration', async () => {
    const client = faulty(({ operation }) =>
      operation === 'uploadBatch' ? { commits: false, error: refusal(422, operation) } : undefined,
    );
    const work = pipeline(Readable.from([numberedRow(0)]), quick({ client }), keep([]));
    expect(await caught(work)).toMatchObject({ code: 'batch_refused' });
    expect(client.count('launchBatch')).toBe(0);
  });

  for (const concurrency of [1, 3, 4]) {
    test(`credits for two of five batches at concurrency ${concurrency}: their rows come out before the error`, async () => {
      const client = new RecordService({ credits: 250 });
      const rows: Row[] = [];
      const stream = Readable.from(countRows(500, numberedRow).rows).pipe(
        quick({ client, concurrency }),
      );
      const error = await caught(
        (async () => {
          for await (const row of stream as AsyncIterable<Row>) {
            rows.push(row);
            if (rows.length % 50 === 0) await turn();
          }
        })(),
      );
      expect(error).toMatchObject({ code: 'payment_required', status: 402 });
      const paid = client.launched().flatMap(({ lines }) => lines);
      expect(paid).toHaveLength(200);
      // As far as the last that was paid for.
      const emails = Array.from({ length: 500 }, (_, id) => `a${id}@example.com`);
      const last = emails.findLastIndex((email) => paid.includes(email));
      expect(rows.map((row) => row['email'])).toEqual(emails.slice(0, last + 1));
      const verified = rows.filter((row) => row['email_verification'] === 'verified');
      expect(new Set(verified.map((row) => row['email']))).toEqual(new Set(paid));
      for (const row of rows) {
        if (verified.includes(row)) continue;
        expect(row).toMatchObject({ email_verification: 'failed', email_reason: 'not_finished' });
      }
    });
  }

  test('what was paid of one type comes out where the budget of the other is used up', async () => {
    const { client, service } = await withClient();
    const rows: Row[] = [];
    const [good, phone] = ['good0@sluice.test', '+12025550100'];
    const list = [
      { email: good, phone: '' },
      { email: 'good1@sluice.test', phone: '' },
      { email: 'good2@sluice.test', phone },
      { email: '', phone: '+12025550101' },
      { email: 'good3@sluice.test', phone: '' },
      { email: 'good4@sluice.test', phone: '' },
    ];
    const options = { client, phone: ['phone'], maxCredits: 2, batchSize: 2, concurrency: 1 };
    const work = pipeline(
      Readable.from(list),
      quick({ ...options, pollIntervalMs: 1 }),
      keep(rows),
    );
    expect(await caught(work)).toMatchObject({ code: 'budget_exhausted' });
    const charged = (await chargesOf(service)).map(({ address }) => address);
    expect(charged.toSorted()).toEqual([phone, '+12025550101', good, 'good1@sluice.test']);
    expect(rows.map((row) => [row['email_verification'], row['phone_verification']])).toEqual([
      ['verified', 'not_submitted'],
      ['verified', 'not_submitted'],
      ['failed', 'verified'],
      ['not_submitted', 'verified'],
    ]);
  });

  test('a budget ends the stream behind the rows that it paid for, however slow their reader', async () => {
    const client = new RecordService();
    const rows: Row[] = [];
    const sink = new Writable({
      objectMode: true,
      highWaterMark: 1,
      write(row: Row, _encoding, done) {
        rows.push(row);
        setImmediate(done);
      },
    });
    const error = await caught(
      pipeline(
        Readable.from(countRows(10_000_000, numberedRow).rows),
        quick({ client, maxCredits: 300, concurrency: 1 }),
        sink,
      ),
    );
    expect(error).toMatchObject({ name: 'BudgetError', code: 'budget_exhausted' });
    expect(rows).toHaveLength(300);
    expect(client.ledger).toHaveLength(300);
    // One batch was prepared, which costs nothing, before the budget was asked.
    expect(client.count('uploadBatch')).toBe(4);
  });
});

test('nothing is rejected behind the back of an ended stream', async () => {
  const rejected: unknown[] = [];
  const note = (reason: unknown): void => {
    rejected.push(reason);
  };
  process.on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('unhandledRejection', note);
  });
  for (const at of ['uploadBatch', 'prepareBatch', 'batchStatus', 'launchBatch', 'exportBatch']) {
    const stop = new AbortController();
    const client = faulty(({ operation }) =>
      operation === at ? { commits: false, hangs: true } : undefined,
    );
    const stream = quick({ client, signal: stop.signal, clock: createFastClock() });
    const work = pipeline(Readable.from(countRows(1000, numberedRow).rows), stream, keep([]));
    await expect.poll(() => client.asked).toContain(at);
    stop.abort(new Error('enough'));
    await caught(work);
    await untilQuiet(() => client.requests.length);
  }
  expect(rejected).toEqual([]);
});

describe('an export that stays broken', () => {
  test.each([
    ['a page', '<html></html>'],
    ['a list', '[]'],
    ['half of it', '{"a'],
    ['nothing', ''],
  ])('ends its batch, and not the stream: %s', async (_, text) => {
    const client = new RecordService();
    const serve = client.exportBatch;
    let spoilt: string | undefined;
    client.exportBatch = async (uuid, query, options) => {
      spoilt ??= uuid;
      const answer = await serve(uuid, query, options);
      return uuid === spoilt ? { ...answer, body: Readable.from([Buffer.from(text)]) } : answer;
    };
    const rows: Row[] = [];
    const clock = createFastClock();
    await pipeline(
      countRows(300, numberedRow).rows,
      quick({ client, clock, deleteBatches: true }),
      keep(rows),
    );
    const failed = rows.filter((row) => row['email_verification'] !== 'verified');
    expect(rows).toHaveLength(300);
    expect(failed).toHaveLength(100);
    expect(new Set(failed.map((row) => row['email_reason']))).toEqual(
      new Set(['export_incomplete']),
    );
    expect(client.ledger).toHaveLength(300);
    // It is owed: the batch stays on the service.
    expect([...client.batches.keys()]).toEqual([spoilt]);
  });
});

describe('an error that may pass', () => {
  test.each([
    ['prepareBatch', true],
    ['exportBatch', false],
  ] as const)('of %s is retryable: %j', async (operation, retryable) => {
    const client = faulty((request) =>
      request.operation === operation
        ? { commits: false, error: new DeadlineError('away', { code: 'service_unavailable' }) }
        : undefined,
    );
    const work = pipeline(countRows(3, numberedRow).rows, quick({ client }), keep([]));
    expect(await caught(work)).toMatchObject({ code: 'service_unavailable', retryable });
    expect(client.ledger).toHaveLength(retryable ? 0 : 3);
  });
});
