import { once } from 'node:events';
import { Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import type { Batch } from '../../../src/engine/batches/batch.js';
import { BudgetError, ConfigurationError } from '../../../src/platform/errors/errors.js';
import { ObjectChunk, type Row } from '../../../src/lists/rows/chunks/object-chunk.js';
import type { JoinedRows } from '../../../src/lists/rows/sink.js';
import { driveBatches } from '../../../src/engine/streams/drive-batches.js';
import type { Parcel, SettledParcel } from '../../../src/engine/streams/parcel.js';
import type { DriveBatchesOptions } from '../../../src/engine/streams/stream-options.js';
import {
  joinChunks,
  joinResults,
  releaseStretch,
} from '../../../src/engine/streams/join-results.js';
import { rowsToBatches } from '../../../src/engine/streams/rows-to-batches.js';
import { StreamPlan } from '../../../src/engine/streams/stream-plan.js';
import { makeBatch } from '../driver/driving.js';
import { caught } from '../../client/test-client.js';
import { countRows, numberedRow } from './harness/counted-rows.js';
import { recordOf, RecordService } from './harness/record-service.js';

const options = { email: ['email'], country: 'US' } as const;

async function linesOf(batch: Batch): Promise<string[]> {
  const text = (await buffer(Readable.from(batch.open()))).toString();
  expect(text.endsWith('\n')).toBe(true);
  return text.slice(0, -1).split('\n');
}

/** Reads parcels to their end or their error. */
async function readParcels(
  stream: Readable,
): Promise<{ readonly parcels: readonly Parcel[]; readonly error: unknown }> {
  const parcels: Parcel[] = [];
  try {
    for await (const parcel of stream as AsyncIterable<Parcel>) parcels.push(parcel);
  } catch (error) {
    return { parcels, error };
  }
  return { parcels, error: undefined };
}

describe('rowsToBatches() alone', () => {
  test('makes TXT files of unique addresses, one batch group each, cut at the batch size', async () => {
    const plan = new StreamPlan({
      email: ['email'],
      phone: ['phone'],
      countryColumn: 'country',
      batchSize: 2,
    });
    const rows = [
      { email: 'Ana@example.com', phone: '', country: 'ES' },
      { email: 'ana@example.com ', phone: '612 34 56 78', country: 'es' },
      { email: 'joe@example.com', phone: '(212) 555-0123', country: 'US' },
      { email: 'eva@example.com', phone: null, country: 'ES' },
      { email: 'leo@example.com', phone: '+34612345678', country: 'ES' },
    ];
    const { parcels } = await readParcels(Readable.from(rows).pipe(rowsToBatches(plan)));
    const batches = parcels.flatMap((parcel) => (parcel.kind === 'batch' ? [parcel.batch] : []));
    const files = await Promise.all(
      batches.map(async (batch) => [batch.group, await linesOf(batch)] as const),
    );
    expect(files).toEqual([
      [{ type: 'email', country: 'ES' }, ['Ana@example.com', 'eva@example.com']],
      [{ type: 'phone', country: 'ES' }, ['+34612345678']],
      [{ type: 'email', country: 'US' }, ['joe@example.com']],
      [{ type: 'phone', country: 'US' }, ['+12125550123']],
      [{ type: 'email', country: 'ES' }, ['leo@example.com']],
    ]);
    for (const batch of batches) {
      const bytes = await buffer(Readable.from(batch.open()));
      expect(batch.sizeBytes).toBe(bytes.length);
      expect(batch.addresses).toBe((await linesOf(batch)).length);
    }
    const passed = parcels.flatMap((parcel) => (parcel.kind === 'rows' ? [parcel.chunk] : []));
    expect(passed.flatMap((chunk) => (chunk as ObjectChunk).rows)).toEqual(rows);
  });

  test('holds no rows back, for nobody would let them go', async () => {
    const plan = new StreamPlan({ ...options, batchSize: 100, maxWaitingRows: 10 });
    const { parcels } = await readParcels(
      Readable.from(countRows(5000, numberedRow).rows).pipe(rowsToBatches(plan)),
    );
    const batches = parcels.flatMap((parcel) => (parcel.kind === 'batch' ? [parcel.batch] : []));
    expect(batches).toHaveLength(50);
    for (const batch of batches) {
      // Nor their addresses: the file goes with its batch.
      expect([...plan.storage.open(batch.id)]).toEqual([]);
      expect(await linesOf(batch)).toHaveLength(100);
      expect(await linesOf(batch)).toHaveLength(100);
    }
  });

  test('takes chunks of rows as well as rows', async () => {
    const plan = new StreamPlan(options);
    const rows = [{ email: 'a@example.com' }, { email: 'b@example.com' }];
    const { parcels } = await readParcels(
      Readable.from([new ObjectChunk(rows, ['email'])]).pipe(rowsToBatches(plan)),
    );
    const [first, second] = parcels;
    expect(first).toMatchObject({ kind: 'rows' });
    expect(second?.kind === 'batch' && (await linesOf(second.batch))).toEqual([
      'a@example.com',
      'b@example.com',
    ]);
  });

  test('takes its plan for itself', () => {
    const plan = new StreamPlan(options);
    rowsToBatches(plan);
    expect(() => rowsToBatches(plan)).toThrow(
      expect.objectContaining({ option: 'plan', fault: 'repeated' }),
    );
    joinResults(plan);
    expect(() => joinResults(plan)).toThrow(ConfigurationError);
  });

  test('names what is no plan or has no client, when it is called', () => {
    const none = {} as never;
    expect(() => rowsToBatches(none)).toThrow(expect.objectContaining({ option: 'plan' }));
    expect(() => joinResults(none)).toThrow(expect.objectContaining({ option: 'plan' }));
    expect(() => driveBatches(none)).toThrow(expect.objectContaining({ option: 'client' }));
  });
});

describe('driveBatches() alone', () => {
  test('brings batches through the service and hands out their exports, to be read again and again', async () => {
    const client = new RecordService({ polls: 1 });
    const { parcels, error } = await readParcels(
      Readable.from([0, 1, 2].map((id) => ({ kind: 'batch', batch: makeBatch(id) }))).pipe(
        driveBatches({ client, pollIntervalMs: 0 }),
      ),
    );
    expect(error).toBeUndefined();
    expect(parcels).toHaveLength(3);
    for (const parcel of parcels) {
      if (parcel.kind !== 'settled' || !('results' in parcel.ending)) throw new Error(parcel.kind);
      const { results } = parcel.ending;
      if (typeof results !== 'function') throw new Error('matched already');
      const lines = await linesOf(parcel.batch);
      for (let reading = 0; reading < 2; reading += 1) {
        const json = (await buffer(Readable.from(await results()))).toString();
        expect(JSON.parse(json)).toEqual(
          Object.fromEntries(lines.map((line) => [line, recordOf('email', line)])),
        );
      }
      expect(client.batches.get(parcel.batchUuid ?? '')).toMatchObject({ lines });
      expect(parcel.charge).toEqual({ spent: 2, refunded: 0, net: 2 });
    }
  });

  test('says why a batch has failed, and goes on', async () => {
    const client = new RecordService({
      faultOf: ({ operation, name }) =>
        operation === 'uploadBatch' && name?.includes('-000001-') === true
          ? { commits: false, answer: { status: 'parse_error' } }
          : undefined,
    });
    const { parcels, error } = await readParcels(
      Readable.from([0, 1].map((id) => ({ kind: 'batch', batch: makeBatch(id) }))).pipe(
        driveBatches({ client, pollIntervalMs: 0 }),
      ),
    );
    expect(error).toBeUndefined();
    const byId = new Map(
      parcels.map((parcel) => [parcel.kind === 'settled' ? parcel.batch.id : -1, parcel]),
    );
    expect(byId.get(0)).toMatchObject({
      batchUuid: undefined,
      charge: undefined,
      ending: { failure: 'parse_error' },
    });
    expect(byId.get(1)).toMatchObject({ ending: { results: expect.any(Function) as unknown } });
  });

  test('hands out all that was paid for, says what stops it, and only then ends with it', async () => {
    const client = new RecordService();
    const stream = Readable.from(
      Array.from({ length: 6 }, (_, id) => ({ kind: 'batch', batch: makeBatch(id) })),
    ).pipe(driveBatches({ client, pollIntervalMs: 0, maxCredits: 8 }));
    const { parcels, error } = await readParcels(stream);
    expect(parcels.map(({ kind }) => kind)).toEqual([
      'settled',
      'settled',
      'settled',
      'settled',
      'stopped',
    ]);
    expect(error).toBeInstanceOf(BudgetError);
    expect(parcels.at(-1)).toEqual({ kind: 'stopped', error });
    expect(client.ledger).toHaveLength(8);
  });

  test('lets rows pass in front of the batch that has no place', async () => {
    const client = new RecordService({
      faultOf: ({ operation }) =>
        operation === 'launchBatch' ? { commits: false, hangs: true } : undefined,
    });
    const stream = driveBatches({ client, pollIntervalMs: 0, concurrency: 1 });
    const rows: Parcel = {
      kind: 'rows',
      plan: new StreamPlan(options),
      firstRow: 0,
      chunk: new ObjectChunk([], []),
      tickets: new Uint32Array(),
    };
    const seen: Parcel[] = [];
    stream.on('data', (parcel: Parcel) => seen.push(parcel));
    stream.write({ kind: 'batch', batch: makeBatch(0) });
    stream.write(rows);
    stream.write({ kind: 'batch', batch: makeBatch(1) });
    stream.write(rows);
    await expect.poll(() => client.count('launchBatch')).toBe(1);
    expect(seen).toEqual([rows]);
    expect(client.count('uploadBatch')).toBe(1);
    stream.destroy();
    await once(stream, 'close');
  });

  test('ends when nothing came', async () => {
    const { parcels, error } = await readParcels(
      Readable.from([]).pipe(driveBatches({ client: new RecordService() })),
    );
    expect({ parcels, error }).toEqual({ parcels: [], error: undefined });
  });
});

describe('joinResults() alone', () => {
  /** A stage in the place of the service: exports that were kept from before. */
  function fromKept(ending: (lines: string[]) => unknown): Transform {
    return new Transform({
      objectMode: true,
      transform(parcel: Parcel, _encoding, done) {
        if (parcel.kind !== 'batch') {
          done(null, parcel);
          return;
        }
        linesOf(parcel.batch).then(
          (lines) =>
            done(null, {
              kind: 'settled',
              batch: parcel.batch,
              batchUuid: undefined,
              charge: undefined,
              ending: ending(lines),
            }),
          done,
        );
      },
    });
  }

  const keptExport = (lines: string[]): unknown => {
    const json = JSON.stringify(
      Object.fromEntries(lines.map((line) => [line, recordOf('email', line)])),
    );
    return { results: async () => Readable.from([Buffer.from(json)]) };
  };

  test('joins exports onto their rows, in the order of the rows', async () => {
    const plan = new StreamPlan({ ...options, batchSize: 7 });
    const rows = (await Readable.from(countRows(100, numberedRow).rows)
      .pipe(rowsToBatches(plan))
      .pipe(fromKept(keptExport))
      .pipe(joinResults(plan))
      .toArray()) as Row[];
    expect(rows).toHaveLength(100);
    for (const [id, row] of rows.entries()) {
      const { email, ...record } = recordOf('email', `a${id}@example.com`);
      expect(row).toEqual({
        id,
        email,
        email_verification: 'verified',
        email_reason: '',
        ...Object.fromEntries(Object.entries(record).map(([name, v]) => [`email_${name}`, v])),
      });
    }
  });

  test('gives the rows of a failed batch their reason', async () => {
    const plan = new StreamPlan(options);
    const rows = await Readable.from([numberedRow(0)])
      .pipe(rowsToBatches(plan))
      .pipe(fromKept(() => ({ failure: 'internal_error' })))
      .pipe(joinResults(plan))
      .toArray();
    expect(rows).toMatchObject([
      { id: 0, email_verification: 'failed', email_reason: 'internal_error', email_valid: null },
    ]);
  });

  test('ends with an error when an export cannot be read', async () => {
    const plan = new StreamPlan(options);
    const broken = async (): Promise<Readable> => Readable.from([Buffer.from('{"a@example.com":')]);
    const work = pipeline(
      Readable.from([numberedRow(0)]),
      rowsToBatches(plan),
      fromKept(() => ({ results: broken })),
      joinResults(plan).resume(),
    );
    expect(await caught(work)).toMatchObject({ code: 'broken_contract' });
  });

  const noRecord = { ...recordOf('email', 'a0@example.com'), valid: 'yes' };
  const foreign = Object.fromEntries(
    ['x@example.com', 'y@example.com'].map((line) => [line, recordOf('email', line)]),
  );
  test.each([
    ['a list of results', { results: [] }],
    ['records of another shape', { 'a0@example.com': noRecord }],
    ['nothing', {}],
    ['an export of other addresses', foreign],
    ['one with few others', { 'a1@example.com': recordOf('email', 'a1@example.com'), ...foreign }],
  ])('refuses %s in place of the export of a batch', async (_, exported) => {
    const plan = new StreamPlan(options);
    const results = async () => Readable.from([Buffer.from(JSON.stringify(exported))]);
    const work = pipeline(
      Readable.from(countRows(3, numberedRow).rows),
      rowsToBatches(plan),
      fromKept(() => ({ results })),
      joinResults(plan).resume(),
    );
    expect(await caught(work)).toMatchObject({ code: 'broken_contract' });
  });

  test('refuses the results of another batch, whatever else a stage of the caller copies', async () => {
    const plan = new StreamPlan({ ...options, batchSize: 2 });
    const swapped = new Transform({
      objectMode: true,
      transform(parcel: Parcel, _encoding, done) {
        if (parcel.kind !== 'settled') done(null, parcel);
        else if (first) {
          this.push({ ...parcel, ending: first.ending });
          done(null, { ...first, ending: parcel.ending });
        } else {
          first = parcel;
          done();
        }
      },
    });
    let first: SettledParcel | undefined;
    const work = pipeline(
      Readable.from(countRows(4, numberedRow).rows),
      rowsToBatches(plan),
      driveBatches({ client: new RecordService(), pollIntervalMs: 0 }),
      swapped,
      joinResults(plan).resume(),
    );
    expect(await caught(work)).toMatchObject({ code: 'broken_contract' });
  });

  test('refuses results that are not the ones of their batch, and no export either', async () => {
    const plan = new StreamPlan(options);
    const results = { numbers: new Uint32Array(1), outcomes: new Uint32Array(1) };
    const work = pipeline(
      Readable.from([numberedRow(0)]),
      rowsToBatches(plan),
      fromKept(() => ({ results })),
      joinResults(plan).resume(),
    );
    expect(await caught(work)).toMatchObject({ code: 'invalid_option', option: 'plan' });
  });

  test.each([
    ['joinResults', () => joinResults(new StreamPlan(options))],
    ['driveBatches', () => driveBatches({ client: new RecordService() })],
  ])('%s refuses rows that are no parcels', async (_, create) => {
    const work = pipeline(Readable.from([numberedRow(0)]), create().resume());
    expect(await caught(work)).toMatchObject({ code: 'invalid_option' });
  });

  test('never loses a row in silence when a batch does not come back', async () => {
    const plan = new StreamPlan(options);
    const lost = new Transform({
      objectMode: true,
      transform: (parcel: Parcel, _encoding, done) =>
        parcel.kind === 'batch' ? done() : done(null, parcel),
    });
    const work = pipeline(
      Readable.from([numberedRow(0)]),
      rowsToBatches(plan),
      lost,
      joinResults(plan).resume(),
    );
    expect(await caught(work)).toMatchObject({ code: 'invalid_option', message: /rows are left/ });
  });

  /** Rows through a stage that changes what parcels pass. */
  async function joined(change: (parcel: Parcel, nth: number) => readonly Parcel[]) {
    const plan = new StreamPlan({ ...options, batchSize: 20 });
    const counts = new Map<string, number>();
    async function* changed(parcels: AsyncIterable<Parcel>) {
      for await (const parcel of parcels) {
        const nth = (counts.get(parcel.kind) ?? 0) + 1;
        counts.set(parcel.kind, nth);
        yield* change(parcel, nth);
      }
    }
    const rows = Array.from(
      { length: 10 },
      (_, at) => new ObjectChunk([numberedRow(at)], ['email']),
    );
    const work = pipeline(
      rows,
      rowsToBatches(plan),
      fromKept(keptExport),
      changed,
      joinResults(plan).resume(),
    );
    return caught(work);
  }

  test.each([1, 5, 10])('names parcel %i of rows, which did not come', async (lost) => {
    const error = await joined((parcel, nth) =>
      parcel.kind === 'rows' && nth === lost ? [] : [parcel],
    );
    expect(error).toMatchObject({
      code: 'invalid_option',
      fault: 'missing',
      rows: [lost],
    });
  });

  test.each(['rows', 'settled'])('refuses %s that come twice', async (kind) => {
    const error = await joined((parcel) => (parcel.kind === kind ? [parcel, parcel] : [parcel]));
    expect(error).toMatchObject({ code: 'invalid_option' });
  });

  test('refuses what is of another plan before anything of it is launched', async () => {
    const client = new RecordService();
    const plans = [new StreamPlan(options), new StreamPlan(options)] as const;
    const works = [plans, plans.toReversed()].map(async ([first, last]) => {
      if (!first || !last) throw new Error('no plan');
      await pipeline(
        countRows(30, numberedRow).rows,
        rowsToBatches(first),
        driveBatches({ client, pollIntervalMs: 0 }),
        joinResults(last).resume(),
      );
    });
    const errors = await Promise.all(works.map(caught));
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'invalid_option', message: /of another plan/ });
    }
    expect(client.ledger).toEqual([]);
  });

  test('refuses a batch that nobody has driven', async () => {
    const plan = new StreamPlan(options);
    const work = pipeline(
      Readable.from([numberedRow(0)]),
      rowsToBatches(plan),
      joinResults(plan).resume(),
    );
    expect(await caught(work)).toMatchObject({
      code: 'invalid_option',
      message: /without having been driven/,
    });
  });

  test('hands out the rows in front of what stops it, then ends with it', async () => {
    const plan = new StreamPlan({ ...options, batchSize: 2 });
    const error = new BudgetError('used up');
    let settled = 0;
    const stopping = fromKept(keptExport);
    const transform = stopping._transform.bind(stopping);
    stopping._transform = (parcel: Parcel, encoding, done) => {
      if (parcel.kind === 'batch' && ++settled === 3) done(null, { kind: 'stopped', error });
      else transform(parcel, encoding, done);
    };
    const joined = Readable.from(countRows(100, numberedRow).rows)
      .pipe(rowsToBatches(plan))
      .pipe(stopping)
      .pipe(joinResults(plan));
    const rows: Row[] = [];
    const end = caught(
      (async () => {
        for await (const row of joined as AsyncIterable<Row>) rows.push(row);
      })(),
    );
    expect(await end).toBe(error);
    expect(rows.map((row) => row['id'])).toEqual([0, 1, 2, 3]);
  });

  test('as stretches of chunks, lets more rows in when they are released', async () => {
    const plan = new StreamPlan({ ...options, batchSize: 10, maxWaitingRows: 20 });
    const source = countRows(1000, numberedRow);
    const stretches = Readable.from(source.rows)
      .pipe(rowsToBatches(plan))
      .pipe(fromKept(keptExport))
      .pipe(joinChunks(plan));
    let rows = 0;
    for await (const joined of stretches as AsyncIterable<JoinedRows>) {
      expect(joined.width).toBe(1);
      expect(joined.outcomes).toHaveLength(joined.to - joined.from);
      expect((joined.chunk as ObjectChunk).rows[joined.from]).toMatchObject({ id: rows });
      rows += joined.to - joined.from;
      releaseStretch(plan, joined);
      expect(source.asked).toBeLessThanOrEqual(rows + 20 + 64);
    }
    expect(rows).toBe(1000);
  });
});

test.each<[string, DriveBatchesOptions['collect']]>([
  ['in memory', undefined],
  [
    'by collect()',
    async (_batch, open) => {
      const kept = await buffer(Readable.from(await open()));
      return async () => Readable.from([kept]);
    },
  ],
])('the three together do what verify() does, with exports kept %s', async (_, collect) => {
  const client = new RecordService();
  const plan = new StreamPlan({ ...options, batchSize: 30, maxWaitingRows: 100 });
  const rows: Row[] = [];
  await pipeline(
    Readable.from(countRows(1000, numberedRow).rows),
    rowsToBatches(plan),
    driveBatches({ client, pollIntervalMs: 0, collect }),
    joinResults(plan),
    async (joined) => {
      for await (const row of joined as AsyncIterable<Row>) rows.push(row);
    },
  );
  expect(rows.map((row) => row['id'])).toEqual(Array.from({ length: 1000 }, (_, id) => id));
  expect(client.ledger).toHaveLength(1000);
  for (let id = 0; id < client.batches.size; id += 1) {
    expect([...plan.storage.open(id)], 'addresses of a settled batch').toEqual([]);
  }
});
