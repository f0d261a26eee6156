import { once } from 'node:events';
import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import type { ClientOptions } from '../../../../src/client/client-options.js';
import { Client } from '../../../../src/client/client.js';
import { uploadedBatch } from '../../../../src/contract/bodies.js';
import type { BatchProgress } from '../../../../src/engine/batches/claim.js';
import type { VerifyOptions } from '../../../../src/engine/streams/stream-options.js';
import { verifyRows } from '../../../../src/engine/streams/verify-rows.js';
import { verify } from '../../../../src/engine/streams/verify.js';
import { streamRun } from '../../../../src/engine/runs/stream-run.js';
import { rowsSink } from '../../../../src/lists/rows/rows-sink.js';
import { type Clock, systemClock } from '../../../../src/platform/waiting/clock.js';
import type { FaultPlan } from '../../../../src/service/index.js';
import { createFile, eventually, openClient, uploadFields } from '../../../client/test-client.js';
import { createFastClock } from '../../../../src/testing/test-clock.js';
import type { Given } from '../../../platform/given.js';
import { ServiceClock } from '../../../service/with-service.js';
import { chargesOf } from '../../../cli/harness/charges.js';
import { startFront } from '../../../cli/harness/front.js';
import { withClient } from '../harness/with-client.js';

const people = Array.from({ length: 6 }, (_, id) => ({ email: `ok+${id}@sluice.test` }));

/** Three batches of two through a stream, against a service where this goes wrong. */
async function streamPast(
  faults: FaultPlan['faults'],
  changes: (client: Client) => Given<VerifyOptions> = () => ({}),
  clock = systemClock,
  clientOptions: Given<ClientOptions> = {},
) {
  const { service, client } = await withClient({ faults: { faults }, clock }, clientOptions);
  const stream = verify({
    client,
    email: ['email'],
    country: 'US',
    batchSize: 2,
    concurrency: 1,
    pollIntervalMs: 1,
    ...changes(client),
  });
  const rows: unknown[] = [];
  let error: unknown;
  try {
    for await (const row of Readable.from(people).pipe(stream)) rows.push(row);
  } catch (thrown) {
    error = thrown;
  }
  // What is reported at the very end has been told, too.
  if (!stream.closed) await once(stream, 'close');
  const batches = await client.listBatches();
  let paid = 0;
  for await (const _ of service.ledger()) paid += 1;
  return { rows, error, batches, paid, faults: service.faults() };
}

it('a lost upload that was sent again is deleted at the end of the stream', async () => {
  const time = new ServiceClock();
  // The second upload is answered when the first has been taken, too.
  const takeFirst = async (client: Client): Promise<void> => {
    await time.advance(1000);
    const names = async () => (await client.listBatches()).map(({ name }) => name.slice(-8));
    await eventually(names).toContain('000002-1');
    await time.run();
  };
  const { rows, batches, paid, faults } = await streamPast(
    [
      { operation: 'uploadBatch', requests: [2], what: { commitAfterMs: 1000 } },
      { operation: 'uploadBatch', requests: [3], what: { delayMs: 2000 } },
    ],
    (client) => ({
      onBatch: ({ state }) => {
        if (state.stage === 'uploading' && state.attempt === 2) void takeFirst(client);
      },
    }),
    time,
  );
  expect(faults.map(({ fired }) => fired)).toEqual([1, 1]);
  expect(rows).toHaveLength(people.length);
  expect(paid).toBe(people.length);
  expect(batches.map(({ name, status }) => `${name.slice(-8)} ${status}`).toSorted()).toEqual([
    '000001-1 verification_done',
    '000002-2 verification_done',
    '000003-1 verification_done',
  ]);
});

it('a batch that is not launched for want of credits is deleted, what was paid for stays', async () => {
  const { rows, error, batches, paid } = await streamPast([
    { operation: 'launchBatch', requests: [2], what: { answer: { status: 402 } } },
  ]);
  expect(error).toMatchObject({ code: 'payment_required' });
  expect([rows.length, paid]).toEqual([2, 2]);
  expect(batches).toMatchObject([{ status: 'verification_done' }]);
});

it('an upload that was too large is deleted when its halves are through', async () => {
  const { rows, batches, paid } = await streamPast([
    { operation: 'prepareBatch', requests: [1], what: { answer: { status: 413 } } },
  ]);
  expect([rows.length, paid]).toEqual([people.length, people.length]);
  expect(batches.map(({ status }) => status)).toEqual(
    Array.from({ length: 6 }, () => 'verification_done'),
  );
});

it.each([
  ['deleteBatch', /^sluice-[0-9a-f]{16}-000002-1$/],
  ['listBatches', /^sluice-[0-9a-f]{16}-000002-1$/],
] as const)('what cannot be deleted (%s) is named', async (operation, name) => {
  const reported: string[] = [];
  const { error } = await streamPast(
    [
      { operation: 'launchBatch', requests: [2], what: { answer: { status: 402 } } },
      { operation, times: 1, what: { answer: { status: 400 } } },
    ],
    () => ({ onLeftBehind: (names) => reported.push(...names) }),
  );
  expect(error).toMatchObject({ code: 'payment_required' });
  expect(reported).toEqual([expect.stringMatching(name)]);
});

it('a launch that waited for its turn when the stream was aborted was never sent: it is deleted', async () => {
  const stop = new AbortController();
  const reports: string[] = [];
  const { rows, error, batches, paid } = await streamPast(
    [{ operation: 'credits', requests: [1], what: { delayMs: 60_000 } }],
    (client) => ({
      signal: stop.signal,
      onLeftBehind: (names) => reports.push(...names),
      onBatch: ({ state }) => {
        if (state.stage !== 'launching') return;
        // It has the one connection; the launch waits behind it.
        client.credits({ signal: stop.signal }).catch(() => undefined);
        setImmediate(() => stop.abort(new Error('enough')));
      },
    }),
    systemClock,
    { maxConcurrentRequests: 1 },
  );
  expect(error).toMatchObject({ message: 'enough' });
  expect({ rows, batches, paid, reports }).toEqual({
    rows: [],
    batches: [],
    paid: 0,
    reports: [],
  });
});

it('nothing is listed where every answer came', async () => {
  const { faults } = await streamPast([{ operation: 'listBatches', what: { delayMs: 0 } }]);
  // The one request is this test's own.
  expect(faults[0]?.fired).toBe(1);
});

describe('a batch that ends without a launch', () => {
  const answered = (status: string) => ({ answer: { json: { status } } });
  it.each<[string, FaultPlan['faults'][number]]>([
    [
      'its preparation is answered with parse_error',
      { operation: 'prepareBatch', what: answered('parse_error') },
    ],
    [
      'its preparation is answered with error',
      { operation: 'prepareBatch', what: answered('error') },
    ],
    [
      'it is never ready for its launch',
      { operation: 'launchBatch', what: answered('not_ready_for_verification') },
    ],
    [
      'it is too large, and so are its lines',
      { operation: 'prepareBatch', what: { answer: { status: 413 } } },
    ],
  ])('is deleted: %s', async (_, fault) => {
    const reported: string[] = [];
    const { batches, paid } = await streamPast([fault], () => ({
      batchSize: 3,
      clock: createFastClock(5000),
      onLeftBehind: (names) => reported.push(...names),
    }));
    expect({ batches, paid, reported }).toEqual({ batches: [], paid: 0, reported: [] });
  });

  it.each<[string, ...FaultPlan['faults']]>([
    ['the service calls it broken', { operation: 'batchStatus', what: answered('internal_error') }],
    [
      'its status does not find it',
      { operation: 'batchStatus', what: { answer: { status: 404 } } },
    ],
    ['its launch is answered with error', { operation: 'launchBatch', what: answered('error') }],
    ['its launch has no answer', { operation: 'launchBatch', what: { answer: { status: 503 } } }],
    [
      'its launch has no answer, and it breaks',
      { operation: 'launchBatch', what: { answer: { status: 503 } } },
      { operation: 'batchStatus', from: 4, what: answered('internal_error') },
    ],
  ])('is named, and not deleted: %s', async (_, ...faults) => {
    for (const deleteBatches of [false, true]) {
      const reported: string[] = [];
      const { batches, paid } = await streamPast(faults, () => ({
        batchSize: 3,
        clock: createFastClock(200),
        deleteBatches,
        onLeftBehind: (names) => reported.push(...names),
      }));
      expect(paid).toBe(0);
      expect(batches.length).toBeGreaterThan(0);
      expect(reported.toSorted()).toEqual(batches.map(({ name }) => name).toSorted());
    }
  });

  it('is deleted where its launch was refused for as long as the client tries', async () => {
    const reported: string[] = [];
    const throttled = { status: 429, headers: { 'Retry-After': '1' } };
    const { error, batches, paid } = await streamPast(
      [{ operation: 'launchBatch', what: { answer: throttled } }],
      () => ({ onLeftBehind: (names) => reported.push(...names) }),
      systemClock,
      { giveUpAfterMs: 1 },
    );
    expect(error).toMatchObject({ code: 'service_unavailable', sent: 'no' });
    expect({ batches, paid, reported }).toEqual({ batches: [], paid: 0, reported: [] });
  });
});

it('an upload whose answer was lost, and that the list does not have, is named', async () => {
  const reported: string[] = [];
  const { rows, batches, paid, faults } = await streamPast(
    [
      { operation: 'uploadBatch', requests: [1], when: 'after', what: { reset: true } },
      { operation: 'listBatches', requests: [1, 2, 3, 4, 5], what: { answer: { json: [] } } },
    ],
    () => ({
      onLeftBehind: (names, isConfirmed) => reported.push(...(isConfirmed === false ? names : [])),
    }),
  );
  expect(faults.map(({ fired }) => fired)).toEqual([1, 5]);
  expect([rows.length, paid]).toEqual([people.length, people.length]);
  const unlaunched = batches.filter(({ status }) => status !== 'verification_done');
  expect(reported).toEqual(unlaunched.map(({ name }) => name));
  expect(reported).toEqual([expect.stringMatching(/-000001-1$/)]);
});

describe('with deleteBatches', () => {
  it('leaves nothing on the service after a run that streams', async () => {
    const { service, client } = await withClient();
    const common = { client, email: ['email'], country: 'US', pollIntervalMs: 1 } as const;
    const sink = rowsSink(() => undefined);
    const summary = await streamRun({ ...common, source: people, sink, deleteBatches: true });
    expect(summary.email?.buckets.verified).toBe(people.length);
    expect(await client.listBatches()).toEqual([]);
    expect(await chargesOf(service)).toHaveLength(people.length);
  });

  it('nothing stays on the service once its results have come', async () => {
    const { rows, batches, paid } = await streamPast([], () => ({ deleteBatches: true }));
    expect([rows.length, paid, batches]).toEqual([people.length, people.length, []]);
  });

  it('names what the service says to have deleted and still has', async () => {
    const reported: string[] = [];
    const { batches } = await streamPast(
      [{ operation: 'deleteBatch', what: { answer: { json: {} } } }],
      () => ({ deleteBatches: true, onLeftBehind: (names) => reported.push(...names) }),
    );
    expect(batches.length).toBeGreaterThan(0);
    expect(reported.toSorted()).toEqual(batches.map(({ name }) => name).toSorted());
  });

  it.each<[string, FaultPlan['faults'][number]]>([
    [
      'could not be deleted',
      { operation: 'deleteBatch', requests: [2], what: { answer: { status: 400 } } },
    ],
    [
      'was launched before the end',
      { operation: 'exportBatch', requests: [2], what: { answer: { status: 401 } } },
    ],
  ])('a batch that %s is named', async (_, fault) => {
    const reported: string[] = [];
    const { batches } = await streamPast([fault], () => ({
      deleteBatches: true,
      onLeftBehind: (names) => reported.push(...names),
    }));
    expect(batches.map(({ name }) => name)).toEqual(reported);
    expect(reported).toEqual([expect.stringMatching(/-000002-1$/)]);
  });
});

describe('a stream that ends early', () => {
  const eight = Array.from({ length: 8 }, (_, id) => ({ email: `ok+${id}@sluice.test` }));
  const options = {
    email: ['email'],
    country: 'US',
    batchSize: 2,
    concurrency: 4,
    pollIntervalMs: 1,
  } as const;

  /** Calls back once as many batches as there are places wait for the service to prepare them. */
  function whenAllParse(callback: () => void): (progress: BatchProgress) => void {
    const parsing = new Set<number>();
    return ({ batch, state }) => {
      if (state.stage !== 'parsing' || !state.prepared || parsing.has(batch.id)) return;
      parsing.add(batch.id);
      if (parsing.size === 4) callback();
    };
  }

  /** A service that prepares nothing until it is asked to go on, and deletes nothing meanwhile. */
  async function withHeldService(faults: FaultPlan['faults'] = []) {
    const time = new ServiceClock();
    const held = await withClient({ clock: time, parseDelayMs: 1000, faults: { faults } });
    // The stream pauses when it has tried to delete in vain.
    const sleep: Clock['sleep'] = async (ms, signal) => {
      if (ms === 50) void time.run();
      return systemClock.sleep(ms, signal);
    };
    return { ...held, clock: { ...systemClock, sleep } };
  }

  it('deletes what it has not launched before it is closed, where it is destroyed', async () => {
    const { service, client, clock } = await withHeldService();
    const reported: string[] = [];
    const stream = verify({
      client,
      clock,
      ...options,
      onBatch: whenAllParse(() => stream.destroy()),
      onLeftBehind: (names) => reported.push(...names),
    });
    Readable.from(eight).pipe(stream);
    await once(stream, 'close');
    expect(await client.listBatches()).toEqual([]);
    expect(reported).toEqual([]);
    expect(await chargesOf(service)).toEqual([]);
  });

  it.each(['an abort', 'a transform that throws'])(
    'does so before its client is closed, where a pipeline fails by %s',
    async (cause) => {
      const { service, client, clock } = await withHeldService();
      const stop = new AbortController();
      const reason = new Error('enough');
      const parsing = new AbortController();
      const onBatch = whenAllParse(() => parsing.abort());
      const failing = pipeline(
        Readable.from(eight),
        new Transform({
          objectMode: true,
          transform: (row, _, done) => done(null, row),
          async flush(done) {
            if (!parsing.signal.aborted) await once(parsing.signal, 'abort');
            if (cause === 'an abort') stop.abort(reason);
            else done(reason);
          },
        }),
        verify({ client, clock, ...options, onBatch }),
        new Writable({ objectMode: true, write: (_, __, done) => done() }),
        { signal: stop.signal },
      );
      await expect(failing).rejects.toThrow();
      await client.close();
      const later = new Client(service);
      expect(await later.listBatches()).toEqual([]);
      await later.close();
      expect(await chargesOf(service)).toEqual([]);
    },
  );

  it('does so before an abort is thrown in the loop', async () => {
    const { client, clock } = await withHeldService();
    const stop = new AbortController();
    const reason = new Error('enough');
    const rows = verifyRows(eight, {
      client,
      clock,
      ...options,
      signal: stop.signal,
      onBatch: whenAllParse(() => stop.abort(reason)),
    });
    await expect(Readable.from(rows).toArray()).rejects.toBe(reason);
    expect(await client.listBatches()).toEqual([]);
  });

  it('does so before a run that streams is rejected', async () => {
    const { service, client, clock } = await withHeldService();
    const stop = new AbortController();
    const reason = new Error('enough');
    const whenParsing = whenAllParse(() => stop.abort(reason));
    const left: string[] = [];
    const running = streamRun({
      client,
      ...options,
      clock,
      source: eight,
      sink: rowsSink(() => undefined),
      signal: stop.signal,
      onProgress(progress) {
        if (progress.stage === 'left_behind') left.push(...progress.names);
        if (progress.stage === 'batch') whenParsing(progress);
      },
    });
    await expect(running).rejects.toBe(reason);
    expect(await client.listBatches()).toEqual([]);
    expect(left).toEqual([]);
    expect(await chargesOf(service)).toEqual([]);
  });

  it('does so before a loop is left, and keeps what it has launched', async () => {
    const { service, client } = await withClient();
    for await (const row of verifyRows(eight, { client, ...options, concurrency: 2 })) {
      expect(row.email_valid).toBe(true);
      break;
    }
    const left = await client.listBatches();
    expect(left.filter(({ status }) => !status.startsWith('verification_'))).toEqual([]);
    expect(left.length * 2).toBe((await chargesOf(service)).length);
  });

  it('names what it cannot delete', async () => {
    const { client } = await withHeldService([
      { operation: 'deleteBatch', what: { answer: { status: 400 } } },
    ]);
    const reported: string[] = [];
    const stream = verify({
      client,
      ...options,
      // For the ten seconds that it may take.
      clock: createFastClock(20),
      onBatch: whenAllParse(() => stream.destroy()),
      onLeftBehind: (names) => reported.push(...names),
    });
    Readable.from(eight).pipe(stream);
    await once(stream, 'close');
    const left = await client.listBatches();
    expect(left).toHaveLength(4);
    expect(reported.toSorted()).toEqual(left.map(({ name }) => name).toSorted());
  });

  it('waits for the answer of an upload that is under way, and deletes it', async () => {
    const slow = { operation: 'uploadBatch', requests: [1], what: { delayMs: 50 } } as const;
    const { service, client } = await withClient({ faults: { faults: [slow] } });
    const reported: string[] = [];
    const stream = verify({
      client,
      ...options,
      onLeftBehind: (names) => reported.push(...names),
    });
    Readable.from(eight).pipe(stream);
    await eventually(() => service.faults()[0]?.fired).toBe(1);
    stream.destroy();
    await once(stream, 'close');
    expect({ reported, left: await client.listBatches() }).toEqual({ reported: [], left: [] });
  });

  it.each([
    ['an upload', 'uploadBatch', 0],
    ['a launch', 'launchBatch', 1],
  ] as const)('names %s that was not answered in time', async (_, operation, there) => {
    const silent = { operation, requests: [1], what: { delayMs: 60_000 } } as const;
    const { service, client } = await withClient(
      { faults: { faults: [silent] } },
      { clock: createFastClock(100) },
    );
    const reported: string[] = [];
    const stream = verify({
      client,
      ...options,
      concurrency: 1,
      onLeftBehind: (names) => reported.push(...names),
    });
    Readable.from(eight).pipe(stream);
    await eventually(() => service.faults()[0]?.fired).toBe(1);
    stream.destroy();
    await once(stream, 'close');
    expect(reported).toEqual([expect.stringMatching(/^sluice-[0-9a-f]{16}-000001-1$/)]);
    expect(await client.listBatches()).toHaveLength(there);
  });
});

describe('the second copy of an upload that the list shows once that is launched', () => {
  async function pastCopy(end: 'stop' | 'unlisted' | 'go on') {
    const { service, client: direct } = await withClient({ apiKey: 'a-key' });
    let copy: string | undefined;
    let [uploads, launches] = [0, 0];
    const stop = new AbortController();
    const { baseUrl, apiKey } = await startFront(
      { ...service, apiKey: 'a-key' },
      async (request) => {
        if (request === 'POST /v1/batch') {
          uploads += 1;
          // Only the list has its uuid.
          return uploads === 2 ? { change: () => ({ status: 'ok' }) } : undefined;
        }
        const isUnlisted = request === 'GET /v1/batch' && launches === 3 && end === 'unlisted';
        if (isUnlisted) return { status: 400, body: {} };
        if (request.startsWith('POST /v1/batch/')) {
          launches += 1;
          if (launches === 2 && end === 'stop') stop.abort(new Error('enough'));
          const [first] = await direct.listBatches();
          const upload = { ...uploadFields, name: first?.name ?? '', file: createFile(10) };
          copy ??= uploadedBatch.parse(await direct.uploadBatch(upload)).batch_uuid;
        }
        return undefined;
      },
    );
    const reported: string[] = [];
    const stream = verify({
      client: openClient({ baseUrl, apiKey }),
      email: ['email'],
      country: 'US',
      batchSize: 2,
      concurrency: 1,
      pollIntervalMs: 1,
      signal: stop.signal,
      onLeftBehind: (names) => reported.push(...names),
    });
    const ended = pipeline(
      people,
      stream,
      new Writable({ objectMode: true, write: (_row, _encoding, done) => done() }),
    );
    await ended.catch(() => undefined);
    if (!stream.closed) await once(stream, 'close');
    const left = await direct.listBatches();
    return { left, copy, reported, charges: await chargesOf(service) };
  }

  it('is deleted at the end, and the launched ones stay', async () => {
    const { left, copy, reported, charges } = await pastCopy('go on');
    expect(left.map(({ status }) => status)).toEqual(
      people.map(() => 'verification_done').slice(3),
    );
    expect(left.map(({ batch_uuid }) => batch_uuid)).not.toContain(copy);
    expect(reported).toEqual([]);
    expect(charges).toHaveLength(people.length);
  });

  it('is deleted where the stream ends early', async () => {
    const { left, copy } = await pastCopy('stop');
    expect(copy).toBeDefined();
    expect(left.map(({ batch_uuid }) => batch_uuid)).not.toContain(copy);
  });

  it('is named where the list cannot be read', async () => {
    const { left, copy, reported, charges } = await pastCopy('unlisted');
    const named = left.find(({ batch_uuid }) => batch_uuid === copy)?.name;
    expect(reported).toContain(named);
    expect(charges).toHaveLength(people.length);
  });
});
