import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { deleteUnwanted } from '../../../src/engine/batches/uploads/delete-uploads.js';
import { retried } from '../../../src/engine/batches/batch-state.js';
import { bounds } from '../../../src/client/batch-bounds.js';
import type { Clock } from '../../../src/platform/waiting/clock.js';
import { DeadlineError } from '../../../src/platform/errors/errors.js';
import { ContractError } from '../../../src/platform/errors/service-errors.js';
import { drive, expectPaidOnce, failure, faults } from '../driver/drive-one.js';
import { Driving, makeBatch } from '../driver/driving.js';
import { type FakeBatch, FakeService, type Fault } from '../driver/fake-service.js';

function exportOf(...addresses: string[]): Fault {
  const records = Object.fromEntries(addresses.map((address) => [address, { valid: true }]));
  const body = (): Readable => Readable.from([Buffer.from(JSON.stringify(records))]);
  // A body is read once: each request gets one of its own.
  return {
    commits: false,
    get answer() {
      return { body: body(), contentType: 'application/json' };
    },
  };
}

const nothing = exportOf();
const strangers = exportOf('someone@else.test', 'another@else.test', 'third@else.test');

describe('an export that is not what was asked for', () => {
  it.each([
    ['names nothing', nothing],
    ['names strangers', strangers],
  ])('and %s is fetched again, with growing waits', async (_, fault) => {
    const { state, service, driving } = await drive(faults('exportBatch', fault, 3));
    expect(state.stage).toBe('exported');
    expect(service.count('exportBatch')).toBe(4);
    expect(driving.clock.now()).toBeGreaterThanOrEqual(1000 + 1500 + 2250);
    expect(driving.collected).toEqual([0]);
    expectPaidOnce(service);
  });

  it.each([
    ['export_incomplete', nothing],
    ['export_foreign', strangers],
  ] as const)('fails its batch when it stays so: %s', async (reason, fault) => {
    const { state, service, driving } = await drive(faults('exportBatch', fault, 99));
    const [uuid] = service.batches.keys();
    expect(state).toMatchObject({ stage: 'failed', reason, uuid, launched: true });
    expect(service.count('exportBatch')).toBe(bounds.doubts);
    expect(driving.collected).toEqual([]);
    expect(service.count('deleteBatch')).toBe(0);
    expectPaidOnce(service);
  });

  it('is asked for again of the same upload when it is retried: nothing is sent, nothing is paid', async () => {
    let isSane = false;
    const service = new FakeService({
      faultOf: ({ operation }) => (operation === 'exportBatch' && !isSane ? nothing : undefined),
    });
    const failed = await drive(service);
    const again = await drive(service, {}, retried(failed.state, true));
    expect(again.state).toEqual({ ...failed.state, uploads: 0, isRetried: true });
    isSane = true;
    const last = await drive(service, {}, retried(again.state, true));
    expect(last.state.stage).toBe('exported');
    expect(service.count('uploadBatch')).toBe(1);
    expectPaidOnce(service);
  });

  it('ends the run, resumable, when the deadline comes first', async () => {
    const { error, driving } = await failure(faults('exportBatch', nothing, 99), {
      batchDeadlineMs: 3000,
    });
    expect(error).toBeInstanceOf(DeadlineError);
    expect(driving.latest()).toMatchObject({ stage: 'done' });
  });

  const one = exportOf('0-0@sluice.test');
  it.each([
    ['comes with them', 2, undefined],
    ['lacks them for good', 99, 1],
  ])('and lacks a few is fetched again until it %s', async (_, short, missing) => {
    const { state, service, driving } = await drive(faults('exportBatch', one, short));
    expect(state.stage).toBe('exported');
    expect(service.count('exportBatch')).toBe(3);
    expect(driving.clock.now()).toBeGreaterThanOrEqual(1000 + 1500);
    expect(driving.collected).toEqual([0]);
    expect(driving.recorded.at(-1)?.exported?.missing).toBe(missing);
    expectPaidOnce(service);
  });

  it('is reported, and what was counted and came', async () => {
    const { driving } = await drive(faults('exportBatch', strangers, 99));
    expect(driving.recorded.at(-1)?.exported).toEqual({
      counted: 2,
      named: 0,
      strangers: 3,
      conflicting: 0,
      missing: 2,
    });
  });
});

const older: FakeBatch = {
  uuid: '00000000-0000-4000-8000-00000000000f',
  name: 'sluice-before-000001-1',
  type: 'email',
  lines: ['0-0@sluice.test', '0-1@sluice.test'],
  status: 'verification_done',
  isPrepared: true,
  pollsLeft: 0,
  launches: 0,
};

describe('a uuid that another upload has', () => {
  it('is not taken from an answer: the list says which one is its own', async () => {
    const service: FakeService = new FakeService({
      faultOf: ({ operation, ofItsKind }): Fault | undefined =>
        operation === 'uploadBatch' && ofItsKind > 0
          ? { commits: true, answer: { status: 'ok', batch_uuid: [...service.batches.keys()][0] } }
          : undefined,
    });
    const driving = new Driving(service);
    const runner = driving.runner(2);
    const batches = [makeBatch(0), makeBatch(1), makeBatch(2)];
    const ended = await driving.clock.runUntil(
      Promise.all(batches.map(async (batch) => runner.run(batch))),
    );
    expect(ended.map(({ stage }) => stage)).toEqual(['exported', 'exported', 'exported']);
    expect(new Set(ended.map((state) => 'uuid' in state && state.uuid)).size).toBe(3);
    expect(service.launched()).toHaveLength(3);
    expect([...service.chargesPerAddress().values()]).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('is not taken where it is verified without a launch, as a batch of another run is', async () => {
    const service: FakeService = new FakeService({
      faultOf: ({ operation }): Fault | undefined =>
        operation === 'uploadBatch'
          ? { commits: true, answer: { status: 'ok', batch_uuid: older.uuid } }
          : undefined,
    });
    service.batches.set(older.uuid, older);
    const { state } = await drive(service);
    expect(state).toMatchObject({ stage: 'exported' });
    expect(state).not.toMatchObject({ uuid: older.uuid });
    expectPaidOnce(service);
  });

  it('stops the run when the list has no other for it, before anything more is launched', async () => {
    const service: FakeService = new FakeService({
      faultOf: ({ operation, ofItsKind }): Fault | undefined =>
        operation === 'uploadBatch' && ofItsKind > 0
          ? { commits: false, answer: { status: 'ok', batch_uuid: [...service.batches.keys()][0] } }
          : undefined,
    });
    service.listed = () => {
      const [first] = service.batches.values();
      return first ? [first, { ...first, name: 'sluice-run-000002-1' }] : [];
    };
    const driving = new Driving(service);
    const runner = driving.runner(1);
    const [first, second] = await driving.clock.runUntil(
      Promise.allSettled([runner.run(makeBatch(0)), runner.run(makeBatch(1))]),
    );
    expect(first).toMatchObject({ status: 'fulfilled', value: { stage: 'exported' } });
    expect(second).toMatchObject({ status: 'rejected', reason: expect.any(ContractError) });
    const [uuid] = service.batches.keys();
    expect(second).toMatchObject({ reason: { message: expect.stringContaining(`${uuid}`) } });
    expectPaidOnce(service);
  });
});

/** Each page takes a minute. @returns how many were read */
function listWithoutEnd(service: FakeService, clock: Clock): () => number {
  let pages = 0;
  service.listBatches = async (_query, options) => {
    await clock.sleep(60_000, options?.signal);
    pages += 1;
    return Array.from({ length: 1000 }, (_, index) => ({
      batch_uuid: `00000000-0000-4000-8000-${String(pages * 1000 + index).padStart(12, '0')}`,
      name: 'other',
      description: null,
      status: 'parsing_content',
      created_at: '2026-11-21T00:00:00Z',
      updated_at: '2026-11-21T00:00:00Z',
    }));
  };
  return () => pages;
}

describe('what never ends', () => {
  it('as a list that is read for orphans, ends with the deadline: what may be left is named', async () => {
    const service = new FakeService();
    const { clock, options } = new Driving(service);
    const pages = listWithoutEnd(service, clock);
    const { signal } = options;
    const deadline = { signal, clock, deadlineMs: 3_600_000 };
    const left = deleteUnwanted(service, () => true, deadline, ['lost']);
    expect(await clock.runUntil(left)).toEqual(['other', 'lost']);
    expect(pages()).toBeLessThan(70);
    expect(service.count('deleteBatch')).toBe(0);
  });

  it('as a list that always has another page, ends with the deadline', async () => {
    const service = new FakeService({ tellsUuid: 'no' });
    const { clock } = new Driving(service);
    const pages = listWithoutEnd(service, clock);
    const driving = new Driving(service, { clock, batchDeadlineMs: 3_600_000 });
    await expect(clock.runUntil(driving.runner(1).run(makeBatch()))).rejects.toBeInstanceOf(
      DeadlineError,
    );
    expect(driving.latest()).toMatchObject({ stage: 'uploading' });
    expect(pages()).toBeLessThan(70);
    expect(clock.now()).toBeLessThan(2 * 3_600_000);
  });

  it('as an export, ends with the deadline, and the results are still to be had', async () => {
    const service = new FakeService();
    const { clock } = new Driving(service);
    service.exportBatch = async (_uuid, _query, options) => {
      async function* endless(): AsyncGenerator<Buffer> {
        yield Buffer.from('{');
        for (;;) {
          await clock.sleep(60_000, options?.signal);
          yield Buffer.from(' '.repeat(2048));
        }
      }
      return { body: Readable.from(endless()), contentType: 'application/json' };
    };
    const driving = new Driving(service, { clock, batchDeadlineMs: 3_600_000 });
    await expect(clock.runUntil(driving.runner(1).run(makeBatch()))).rejects.toBeInstanceOf(
      DeadlineError,
    );
    expect(driving.latest()).toMatchObject({ stage: 'done' });
    expectPaidOnce(service);
  });
});
