import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { driveBatch } from '../../../src/engine/driver/batch-driver.js';
import { planned, type BatchState } from '../../../src/engine/batches/batch-state.js';
import { UploadRegistry } from '../../../src/engine/batches/uploads/upload-registry.js';
import { LaunchGate, RefusedSizes } from '../../../src/engine/driver/launch-limits.js';
import { bounds } from '../../../src/client/batch-bounds.js';
import { DeadlineError, OutputError } from '../../../src/platform/errors/errors.js';
import { TransportError } from '../../../src/platform/errors/service-errors.js';
import { drive, expectPaidOnce, failure, faults } from './drive-one.js';
import { Driving, makeBatch } from './driving.js';
import { FakeService, lostAnswer, oddAnswer, refusal, type Fault } from './fake-service.js';

describe('a batch that is too large', () => {
  const tooLarge = (operation: string): Fault => ({
    commits: false,
    error: refusal(413, operation),
  });

  it('is split, which is written down, and is never sent again', async () => {
    const { service, state, driving } = await drive(
      faults('uploadBatch', tooLarge('uploadBatch'), 9),
    );
    expect(state).toMatchObject({ stage: 'split', uuid: undefined });
    expect(driving.stages()).toEqual(['uploading', 'split']);
    expect(service.asked).toEqual(['uploadBatch']);
    const again = await drive(service, {}, state);
    expect(again.state).toBe(state);
    expect(service.asked).toEqual(['uploadBatch']);
  });

  it('only when it is prepared is split, and not launched', async () => {
    const { service, state } = await drive(faults('prepareBatch', tooLarge('prepareBatch'), 9));
    const [uuid] = service.batches.keys();
    expect(state).toMatchObject({ stage: 'split', uuid });
    expect(service.ledger).toEqual([]);
  });

  it('only when it is prepared again, after a launch that is in doubt, is not split', async () => {
    const service = new FakeService(faults('prepareBatch', tooLarge('prepareBatch'), 9));
    const { uuid } = service.add({ name: 'sluice-run-000001-1' });
    const elected = { uuid, isFound: false, attempt: 1, fresh: 0, uploads: 1, doubt: true };
    const counts = { misses: 0, prepares: 0, launches: 0 };
    const end = failure(service, {}, { stage: 'uploaded', ...elected, ...counts });
    await expect(end).resolves.toMatchObject({ error: { code: 'too_large' } });
  });

  it('that is known to be so is split without being sent', async () => {
    const refusedSizes = new RefusedSizes();
    refusedSizes.note(makeBatch());
    const { service, state } = await drive({}, { refusedSizes });
    expect(state.stage).toBe('split');
    expect(service.asked).toEqual([]);
  });

  it('is looked for first when an upload of it was under way', async () => {
    const refusedSizes = new RefusedSizes();
    refusedSizes.note(makeBatch());
    const service = new FakeService();
    service.add({ name: 'sluice-run-000001-1', lines: ['0-0@sluice.test', '0-1@sluice.test'] });
    const tries = { attempt: 1, fresh: 0, uploads: 1, accepted: false, looks: 0 };
    const { state } = await drive(service, { refusedSizes }, { stage: 'uploading', ...tries });
    expect(state.stage).toBe('exported');
    expectPaidOnce(service);
  });
});

describe('an uploaded batch', () => {
  it.each(['no', 'nested'] as const)(
    'whose answer does not tell the uuid (%s) is found by its name',
    async (tellsUuid) => {
      const { service, state } = await drive({ tellsUuid });
      const before = service.asked.slice(0, service.asked.indexOf('prepareBatch'));
      expect(before).toEqual(['uploadBatch', 'listBatches', 'listBatches']);
      expect(state).toMatchObject({ stage: 'exported', attempt: 1, isFound: true });
      expectPaidOnce(service);
    },
  );

  it('that the list shows late is waited for', async () => {
    const service = new FakeService({ tellsUuid: 'no' });
    service.listed = () => (service.count('listBatches') < 6 ? [] : [...service.batches.values()]);
    await drive(service);
    expect(service.count('uploadBatch')).toBe(1);
    // Whether the page that shows it is the last one.
    expect(service.count('listBatches')).toBe(7);
    expectPaidOnce(service);
  });

  it('that appears twice is elected once, and only that one launches', async () => {
    const service = new FakeService({
      ...faults('uploadBatch', { commits: true, error: lostAnswer('uploadBatch') }),
      onRequest: ({ operation, ofItsKind }) => {
        const [first] = service.batches.values();
        if (operation === 'listBatches' && ofItsKind === 0 && first) {
          service.add({ name: first.name, lines: first.lines });
        }
      },
    });
    const { state } = await drive(service);
    expect(service.batches.size).toBe(2);
    const smallest = [...service.batches.keys()].toSorted()[0];
    expect(state).toMatchObject({ stage: 'exported', uuid: smallest, isFound: true });
    expectPaidOnce(service);
  });

  it('that the list showed under another uuid alone, while it was read for another batch, is compared', async () => {
    const service = new FakeService();
    const other = service.add({ name: 'sluice-run-000002-1' });
    service.add({ name: 'sluice-run-000001-1' });
    const uuids = new UploadRegistry('run');
    await uuids.compare(service, other);
    uuids.noteOwner('this');
    const { state } = await drive(service, { uuids });
    expect(service.count('listBatches')).toBe(4);
    expect(state).toMatchObject({ stage: 'exported', isFound: true });
    expectPaidOnce(service);
  });

  it('that was committed long after its answer was lost is an orphan, never launched', async () => {
    const service = new FakeService(
      faults('uploadBatch', { commits: true, error: lostAnswer('uploadBatch') }),
    );
    let late: readonly unknown[] = [];
    service.listed = () => {
      const all = [...service.batches.values()];
      // The first appears when the second is there already.
      late = all.slice(0, 1);
      return all.length > 1 ? all : [];
    };
    const { state } = await drive(service);
    expect(state).toMatchObject({ stage: 'exported', attempt: 2 });
    expect(late).toMatchObject([{ name: 'sluice-run-000001-1', launches: 0 }]);
    expectPaidOnce(service);
  });

  it('may be in any state already', async () => {
    for (const status of ['parsing_content', 'ready_for_verification']) {
      const service = new FakeService({ parsesOnUpload: true, polls: 1 });
      const { uploadBatch } = service;
      service.uploadBatch = async (form, options) => {
        const answer = await uploadBatch(form, options);
        for (const batch of service.batches.values()) batch.status = status;
        return answer;
      };
      await drive(service);
      expectPaidOnce(service);
    }
  });

  it('that is not found for a moment is asked for again after a wait', async () => {
    const gone = { commits: false, error: refusal(404, 'prepareBatch') };
    const { service, driving } = await drive(faults('prepareBatch', gone, 5));
    expect(service.count('uploadBatch')).toBe(1);
    expect(service.count('prepareBatch')).toBe(6);
    // 1 + 1.5 + 2.25 + 3.375 + 5.0625 s: a replica has time to catch up.
    expect(driving.clock.now()).toBeGreaterThan(13_000);
    expectPaidOnce(service);
  });

  it('that was deleted before its launch is uploaded anew, once', async () => {
    const service = new FakeService({
      onRequest: ({ operation, ofItsKind, uuid }) => {
        if (operation === 'batchStatus' && ofItsKind === 0 && uuid) service.batches.delete(uuid);
      },
    });
    const { state } = await drive(service);
    expect(state).toMatchObject({ stage: 'exported', attempt: 2, fresh: 1 });
    expectPaidOnce(service);
  });

  it('that was deleted between ready and its launch is uploaded anew', async () => {
    const service = new FakeService({
      onRequest: ({ operation, ofItsKind, uuid }) => {
        if (operation === 'launchBatch' && ofItsKind === 0 && uuid) service.batches.delete(uuid);
      },
    });
    const { state } = await drive(service);
    expect(state).toMatchObject({ stage: 'exported', attempt: 2, fresh: 1 });
    expectPaidOnce(service);
  });

  it('that was deleted after its launch is failed, and never sent again', async () => {
    const service = new FakeService({
      polls: 2,
      onRequest: ({ uuid }) => {
        if (uuid && service.batches.get(uuid)?.launches === 1) service.batches.delete(uuid);
      },
    });
    const { state } = await drive(service);
    expect(state).toMatchObject({ stage: 'failed', reason: 'batch_missing', launched: true });
    expect(service.count('uploadBatch')).toBe(1);
    expect([...service.chargesPerAddress().values()]).toEqual([1, 1]);
  });

  it('that breaks before its launch is uploaded anew, once', async () => {
    const broken = { commits: false, answer: { status: 'internal_error' } };
    const once = await drive(faults('batchStatus', broken));
    expect(once.state).toMatchObject({ stage: 'exported', attempt: 2, fresh: 1 });
    expectPaidOnce(once.service);
    const always = await drive(faults('batchStatus', broken, Infinity));
    expect(always.state).toMatchObject({ stage: 'failed', reason: 'internal_error', fresh: 1 });
    expect(always.service.count('uploadBatch')).toBe(2);
    expect(always.service.ledger).toEqual([]);
  });

  it('that breaks after its launch is failed', async () => {
    const service = new FakeService({
      onRequest: ({ uuid }) => {
        const batch = service.batches.get(uuid ?? '');
        if (batch?.launches === 1) batch.status = 'internal_error';
      },
    });
    const { state } = await drive(service);
    expect(state).toMatchObject({ stage: 'failed', reason: 'internal_error', launched: true });
    expect(service.count('uploadBatch')).toBe(1);
  });
});

describe('an upload', () => {
  it('answered with parse_error fails the batch', async () => {
    const fault = { commits: false, answer: { status: 'parse_error' } };
    const { state, service } = await drive(faults('uploadBatch', fault));
    expect(state).toMatchObject({ stage: 'failed', reason: 'parse_error', uuid: undefined });
    expect(service.asked).toEqual(['uploadBatch']);
  });

  it('answered with error is sent a few times, then the batch fails', async () => {
    const fault = { commits: false, answer: { status: 'error' } };
    const { state, service } = await drive(faults('uploadBatch', fault, Infinity));
    expect(state).toMatchObject({ stage: 'failed', reason: 'upload_error' });
    expect(service.count('uploadBatch')).toBe(bounds.uploads);
    const names = new Set(service.requests.map(({ name }) => name));
    expect(names.size).toBe(bounds.uploads);
  });

  it('answered with an unknown word is looked for in the list', async () => {
    const fault = { commits: true, answer: { status: 'accepted' } };
    const { service } = await drive(faults('uploadBatch', fault));
    expect(service.count('uploadBatch')).toBe(1);
    expectPaidOnce(service);
  });

  it('whose answers are always lost stops the run, resumable, and the next run goes on', async () => {
    const fault = { commits: false, error: lostAnswer('uploadBatch') };
    const { error, driving, service } = await failure(faults('uploadBatch', fault, Infinity));
    expect(error).toBeInstanceOf(DeadlineError);
    expect(error).toMatchObject({ code: 'service_unavailable', cause: fault.error });
    expect(service.count('uploadBatch')).toBe(bounds.uploads);
    const next = await drive({}, {}, driving.latest());
    expect(next.state).toMatchObject({ stage: 'exported', attempt: bounds.uploads + 1 });
    expectPaidOnce(next.service);
  });

  it("answered with the uuid of somebody else's batch and never listed stops the run, unpaid", async () => {
    const other = { uuid: randomUUID(), name: 'of somebody else' };
    const answered = (answer: unknown): Fault => ({ commits: false, answer });
    const service = new FakeService({
      faultOf: ({ operation }) => {
        if (operation === 'uploadBatch') return answered({ status: 'ok', batch_uuid: other.uuid });
        return operation === 'batchStatus'
          ? answered({ status: 'ready_for_verification', name: other.name })
          : undefined;
      },
    });
    service.add({ ...other, status: 'ready_for_verification' });
    const { error } = await failure(service);
    expect(error).toMatchObject({
      code: 'service_unavailable',
      cause: { message: expect.stringContaining(other.uuid) },
    });
    expect(service.count('uploadBatch')).toBe(bounds.uploads);
    expect(service.count('launchBatch')).toBe(0);
    expect(service.count('deleteBatch')).toBe(0);
  });

  it('that was refused was not sent: nothing is looked for in the next run', async () => {
    const fault = { commits: false, error: refusal(401, 'uploadBatch') };
    const { error, driving } = await failure(faults('uploadBatch', fault));
    expect(error).toBe(fault.error);
    expect(driving.latest()).toMatchObject({ stage: 'planned', attempt: 1 });
  });

  it('of an earlier process is looked for before anything is sent', async () => {
    const service = new FakeService();
    const lines = ['0-0@sluice.test', '0-1@sluice.test'];
    const there = service.add({ name: 'sluice-run-000001-3', lines });
    const state: BatchState = {
      ...planned,
      stage: 'uploading',
      attempt: 3,
      accepted: false,
      looks: 0,
    };
    const driven = await drive(service, {}, state);
    expect(driven.state).toMatchObject({ stage: 'exported', uuid: there.uuid });
    expect(service.count('uploadBatch')).toBe(0);
  });

  it('that was interrupted any number of times never fails the batch', async () => {
    let state: BatchState = planned;
    for (let process = 1; process <= 3 * bounds.uploads; process += 1) {
      const service = new FakeService(faults('uploadBatch', { commits: false, hangs: true }));
      const driving = new Driving(service, {
        record: (progress) => {
          state = progress.state;
        },
      });
      const driven = driveBatch(makeBatch(), state, driving.options);
      const failed = expect(driven).rejects.toBe('killed');
      await driving.clock.advance(60_000);
      driving.abort.abort('killed');
      await failed;
      expect(state).toMatchObject({ stage: 'uploading', attempt: process });
    }
    const { service } = await drive({}, {}, state);
    expectPaidOnce(service);
  });
});

describe('a preparation', () => {
  it('answered with error while it is parsing already is no matter', async () => {
    const fault = { commits: false, answer: { status: 'error' } };
    const { service } = await drive({
      ...faults('prepareBatch', fault, Infinity),
      parsesOnUpload: true,
      polls: 25,
    });
    expectPaidOnce(service);
  });

  it.each([
    ['lost', lostAnswer('prepareBatch')],
    ['5xx', refusal(503, 'prepareBatch')],
  ])('without an answer (%s) stops the run when the client has given up', async (_, error) => {
    const stopped = await failure(faults('prepareBatch', { commits: true, error }));
    expect(stopped.error).toBe(error);
    expect(stopped.driving.latest()).toMatchObject({ stage: 'uploaded' });
    const next = await drive(stopped.service, {}, stopped.driving.latest());
    expectPaidOnce(next.service);
  });

  it('with an odd answer is read from the status', async () => {
    const fault = { commits: true, error: oddAnswer('prepareBatch') };
    const { service } = await drive(faults('prepareBatch', fault));
    expect(service.count('prepareBatch')).toBe(1);
    expectPaidOnce(service);
  });

  it.each([400, 422, 409])('refused with %i because it is parsing is no matter', async (status) => {
    const fault = { commits: false, error: refusal(status, 'prepareBatch') };
    const { service } = await drive({ ...faults('prepareBatch', fault), parsesOnUpload: true });
    expect(service.count('prepareBatch')).toBe(1);
    expectPaidOnce(service);
  });

  it('refused for a second time, after it has mattered to nobody, has its chances anew', async () => {
    const service: FakeService = new FakeService({
      parsesOnUpload: true,
      faultOf: ({ operation, ofItsKind }) => {
        if (operation === 'prepareBatch' && ofItsKind < 2) {
          return { commits: false, error: refusal(422, 'prepareBatch') };
        }
        if (operation === 'launchBatch' && ofItsKind === 0) {
          for (const batch of service.batches.values()) {
            Object.assign(batch, { status: 'parsing_content', isPrepared: false });
          }
        }
        return undefined;
      },
    });
    await drive(service);
    expect(service.count('prepareBatch')).toBe(3);
    expectPaidOnce(service);
  });

  it.each([400, 422])('refused with %i in earnest stops the run with the words', async (status) => {
    const fault = { commits: false, error: refusal(status, 'prepareBatch', 'no such country') };
    const { error, service } = await failure(faults('prepareBatch', fault, Infinity));
    expect(error).toBe(fault.error);
    expect(service.count('prepareBatch')).toBe(2);
    expect(service.ledger).toEqual([]);
  });
});

describe('a launch', () => {
  const unclear: readonly (readonly [string, unknown])[] = [
    ['lost', { error: lostAnswer('launchBatch') }],
    [
      'timed out',
      {
        error: new TransportError('t', {
          code: 'request_timeout',
          operation: 'launchBatch',
          sent: 'unknown',
        }),
      },
    ],
    ['500', { error: refusal(500, 'launchBatch') }],
    ['503', { error: refusal(503, 'launchBatch') }],
    ['408', { error: refusal(408, 'launchBatch') }],
    ['an odd body', { error: oddAnswer('launchBatch') }],
    ['error', { answer: { status: 'error' } }],
    ['an unknown word', { answer: { status: 'accepted' } }],
  ];

  it.each(unclear)(
    'answered with %s is settled by reading, before the commit',
    async (_, fault) => {
      const { service } = await drive(
        faults('launchBatch', { commits: false, ...(fault as { error: unknown }) }),
      );
      expect(service.asked.slice(3)).toEqual([
        'launchBatch',
        'batchStatus',
        'launchBatch',
        'batchStatus',
        'exportBatch',
      ]);
      expectPaidOnce(service);
    },
  );

  it.each(unclear)('answered with %s is settled by reading, after the commit', async (_, fault) => {
    const { service } = await drive(
      faults('launchBatch', { commits: true, ...(fault as { error: unknown }) }),
    );
    expect(service.asked.slice(3)).toEqual(['launchBatch', 'batchStatus', 'exportBatch']);
    expectPaidOnce(service);
  });

  it.each(['verification_already_ongoing', 'verification_already_done'])(
    'answered with %s has succeeded',
    async (status) => {
      const service = new FakeService(faults('launchBatch', { commits: true, answer: { status } }));
      const { launchBatch } = service;
      service.launchBatch = async (uuid, options) => {
        const answer = await launchBatch(uuid, options);
        const batch = service.batches.get(uuid);
        if (batch && status.endsWith('done')) batch.status = 'verification_done';
        return answer;
      };
      const { state } = await drive(service);
      expect(state.stage).toBe('exported');
      expect(service.count('launchBatch')).toBe(1);
      expectPaidOnce(service);
    },
  );

  it('that is not ready goes back to polling', async () => {
    const fault = { commits: false, answer: { status: 'not_ready_for_verification' } };
    const { service } = await drive(faults('launchBatch', fault, 5));
    expect(service.count('launchBatch')).toBe(6);
    expectPaidOnce(service);
  });

  it('that is never ready fails the batch, unpaid, and gives its credits back', async () => {
    const fault = { commits: false, answer: { status: 'not_ready_for_verification' } };
    const gate = new LaunchGate({ maxCredits: 2 });
    const driven = await drive(faults('launchBatch', fault, Infinity), { gate });
    const { state, service, driving } = driven;
    expect(state).toMatchObject({ stage: 'failed', reason: 'launch_error', launched: false });
    expect(service.count('launchBatch')).toBe(bounds.launches);
    expect(await driving.mayLaunch(2, 2)).toBe(true);
  });

  it.each<readonly [string, Fault]>([
    ['503', { commits: false, error: refusal(503, 'launchBatch') }],
    ['error', { commits: false, answer: { status: 'error' } }],
  ])(
    'answered with %s is given up when the time that the service may fail is over',
    async (_, fault) => {
      const service = new FakeService({
        ...faults('launchBatch', fault, Infinity),
        giveUpAfterMs: 30_000,
      });
      const { error, driving } = await failure(service);
      expect(error).toMatchObject({
        code: 'service_unavailable',
        message: expect.stringMatching(/ (3|4)\d s\b/) as string,
      });
      expect(service.count('launchBatch')).toBeGreaterThan(3);
      expect(driving.latest()).toMatchObject({ stage: 'launching' });
    },
  );

  it('that comes after a preparation with odd answers is not reached: that is given up in time, too', async () => {
    const odd = oddAnswer('prepareBatch');
    const fault = { commits: false, error: odd };
    const { error, service, driving } = await failure(
      new FakeService({ ...faults('prepareBatch', fault, Infinity), giveUpAfterMs: 30_000 }),
    );
    expect(error).toMatchObject({ code: 'service_unavailable', cause: odd });
    expect(service.count('prepareBatch')).toBeLessThan(bounds.prepares);
    expect(driving.latest()?.stage).toBe('parsing');
  });

  it('that always fails stops the run, resumable; paid once when the next run goes on', async () => {
    const fault = { commits: false, error: refusal(503, 'launchBatch') };
    const { error, driving, service } = await failure(faults('launchBatch', fault, Infinity));
    expect(error).toMatchObject({ code: 'service_unavailable', cause: fault.error });
    expect(error).toBeInstanceOf(DeadlineError);
    expect(service.count('launchBatch')).toBe(bounds.launches);
    // Minutes, not a moment: what bills may be down for a while.
    expect(driving.clock.now()).toBeGreaterThan(5 * 60_000);
    const cured = new FakeService();
    for (const batch of service.batches.values()) cured.add(batch);
    const next = await drive(cured, {}, driving.latest());
    expect(next.state).toMatchObject({ stage: 'exported', attempt: 1 });
    expectPaidOnce(cured);
  });

  it('that the service forgets is asked for again, for the same uuid', async () => {
    const service = new FakeService({ polls: 10 });
    let forgets = 1;
    const { launchBatch } = service;
    service.launchBatch = async (uuid, options) => {
      if (forgets > 0) {
        forgets -= 1;
        return { status: 'ok' };
      }
      return launchBatch(uuid, options);
    };
    const { state } = await drive(service);
    expect(state).toMatchObject({ stage: 'exported', launches: 2 });
    expectPaidOnce(service);
  });

  it('refused for the money closes the gate and leaves the batch ready', async () => {
    const gate = new LaunchGate({ maxCredits: 2 });
    const { state, service } = await drive({ credits: 1 }, { gate });
    expect(state).toMatchObject({ stage: 'ready', doubt: false });
    expect(gate.closedBy).toMatchObject({
      code: 'payment_required',
      status: 402,
      needs: { type: 'email', credits: 2 },
      cause: expect.not.objectContaining({ needs: expect.anything() }),
    });
    expect(service.ledger).toEqual([]);
    service.credit = 10;
    const next = await drive(service, {}, state);
    expect(next.state).toMatchObject({ stage: 'exported', attempt: 1 });
    expectPaidOnce(service);
  });

  it('over the budget is not asked for', async () => {
    const gate = new LaunchGate({ maxCredits: 1 });
    const { state, service } = await drive({}, { gate });
    expect(state.stage).toBe('ready');
    expect(gate.closedBy).toMatchObject({ code: 'budget_exhausted' });
    expect(service.count('launchBatch')).toBe(0);
  });

  it.each([400, 422])('refused with %i stops the run and is in no doubt', async (status) => {
    const gate = new LaunchGate({ maxCredits: 2 });
    const fault = { commits: false, error: refusal(status, 'launchBatch') };
    const { error, driving } = await failure(faults('launchBatch', fault), { gate });
    expect(error).toBe(fault.error);
    expect(driving.latest()).toMatchObject({ stage: 'ready', doubt: false });
    expect(await driving.mayLaunch(2, 2)).toBe(true);
  });

  it.each([
    [401, true],
    [403, false],
  ])(
    'refused with %i stops the run, and is in doubt until its status can be read',
    async (status, commits) => {
      const fault = { commits, error: refusal(status, 'launchBatch') };
      const { error, driving, service } = await failure(faults('launchBatch', fault));
      expect(error).toBe(fault.error);
      expect(driving.latest()?.stage).toBe('launching');
      expect(await driving.mayLaunch(2, 2)).toBe(false);
      const next = await drive(service, {}, driving.latest());
      expect(next.state.stage).toBe('exported');
      expectPaidOnce(service);
    },
  );

  it('refused for the money is in doubt where its status does not show that nothing was launched', async () => {
    const service = new FakeService();
    service.launchBatch = async () => {
      for (const batch of service.batches.values()) batch.status = 'queued';
      throw refusal(402, 'launchBatch');
    };
    const { error, driving } = await failure(service, { batchDeadlineMs: 3_600_000 });
    expect(error).toMatchObject({ code: 'deadline_exceeded' });
    expect(driving.latest()?.stage).toBe('launching');
  });

  it('redirected stops the run, and is in doubt', async () => {
    const fault = { commits: true, error: refusal(303, 'launchBatch') };
    const { error, driving, service } = await failure(faults('launchBatch', fault));
    expect(error).toBe(fault.error);
    expect(driving.latest()).toMatchObject({ stage: 'launching' });
    const next = await drive(service, {}, driving.latest());
    expect(next.state.stage).toBe('exported');
    expectPaidOnce(service);
  });

  it('of an earlier process has its credits counted already', async () => {
    const fault: Fault = { commits: false, error: new Error('killed') };
    const { driving, service } = await failure(faults('launchBatch', fault));
    const gate = new LaunchGate({ maxCredits: 2 });
    const next = await drive(service, { gate }, driving.latest());
    expect(next.state.stage).toBe('exported');
    expect(await next.driving.mayLaunch(1, 2)).toBe(false);
    expectPaidOnce(service);
  });

  it('of an earlier process that was never carried out is not repeated beyond a smaller budget', async () => {
    const fault: Fault = { commits: false, error: new Error('killed') };
    const { driving, service } = await failure(faults('launchBatch', fault));
    const gate = new LaunchGate({ maxCredits: 1 });
    const next = await drive(service, { gate }, driving.latest());
    expect(next.state).toMatchObject({ stage: 'ready', doubt: true });
    expect(gate.closedBy).toMatchObject({ code: 'budget_exhausted' });
    expect(service.ledger).toEqual([]);
    const last = await drive(service, { gate: new LaunchGate({ maxCredits: 2 }) }, next.state);
    expect(last.state.stage).toBe('exported');
    expectPaidOnce(service);
  });

  it('of an earlier process is settled by reading', async () => {
    for (const commits of [false, true]) {
      const fault: Fault = { commits, error: new Error('killed') };
      const { driving, service } = await failure(faults('launchBatch', fault));
      expect(driving.latest()).toMatchObject({ stage: 'launching' });
      const asked = service.requests.length;
      await drive(service, {}, driving.latest());
      expect(service.asked[asked]).toBe('batchStatus');
      expectPaidOnce(service);
    }
  });

  it('in doubt is never paid twice, even when its batch then breaks or is gone', async () => {
    for (const end of ['internal_error', 'deleted']) {
      const service = new FakeService({
        ...faults('launchBatch', { commits: true, error: lostAnswer('launchBatch') }),
        onRequest: ({ operation, uuid }) => {
          const batch = service.batches.get(uuid ?? '');
          if (operation !== 'batchStatus' || batch?.launches !== 1) return;
          if (end === 'deleted') service.batches.delete(batch.uuid);
          else batch.status = 'internal_error';
        },
      });
      const { state } = await drive(service);
      expect(state).toMatchObject({ stage: 'failed', launched: true });
      expect(service.count('uploadBatch')).toBe(1);
      expect([...service.chargesPerAddress().values()]).toEqual([1, 1]);
    }
  });
});

describe('an export', () => {
  it('that comes broken is fetched again until it is whole', async () => {
    const errors = [oddAnswer('e'), lostAnswer('e'), refusal(502, 'e')];
    const { service, driving } = await drive({
      faultOf: ({ operation, ofItsKind }) => {
        const error = errors[ofItsKind];
        return operation === 'exportBatch' && error ? { commits: false, error } : undefined;
      },
    });
    expect(service.count('exportBatch')).toBe(4);
    expect(driving.collected).toEqual([0]);
    expectPaidOnce(service);
  });

  it('that is refused because its batch has broken by then fails the batch, which is paid for', async () => {
    const service = new FakeService({
      ...faults('exportBatch', { commits: false, error: refusal(400, 'exportBatch') }, Infinity),
      onRequest: ({ operation, uuid }) => {
        const batch = service.batches.get(uuid ?? '');
        if (operation === 'exportBatch' && batch) batch.status = 'internal_error';
      },
    });
    const { state } = await drive(service);
    expect(state).toMatchObject({ stage: 'failed', reason: 'internal_error', launched: true });
    expectPaidOnce(service);
  });

  it('that is refused in its form, with its batch as it was, stops the run', async () => {
    const fault = { commits: false, error: refusal(422, 'exportBatch') };
    const { error, driving } = await failure(faults('exportBatch', fault, Infinity));
    expect(error).toBe(fault.error);
    expect(driving.latest()?.stage).toBe('done');
  });

  it.each([
    [5, 1, 'verifying'],
    [Infinity, 1, 'verifying'],
    [5, 0, 'parsing'],
    [Infinity, 0, 'parsing'],
  ] as const)(
    'of a batch whose status is odd (%d times, after %d launches) waits for that',
    async (times, launches, stage) => {
      let readings = 0;
      const odd = oddAnswer('batchStatus');
      const service: FakeService = new FakeService({
        giveUpAfterMs: 600_000,
        faultOf: ({ operation }) => {
          if (operation !== 'batchStatus' || service.count('launchBatch') < launches)
            return undefined;
          readings += 1;
          return readings <= times ? { commits: false, error: odd } : undefined;
        },
      });
      if (times === 5) {
        expect((await drive(service)).state.stage).toBe('exported');
      } else {
        const { error, driving } = await failure(service);
        expect(error).toMatchObject({ code: 'service_unavailable', cause: odd });
        expect(driving.latest()?.stage).toBe(stage);
      }
      if (times === 5 || launches === 1) expectPaidOnce(service);
    },
  );

  it('that is refused while its batch is reported to be verified still waits for that', async () => {
    let readings = 0;
    const service = new FakeService({
      faultOf: ({ operation, ofItsKind }) => {
        const isEarly = ofItsKind === 0 || readings < 5;
        if (operation === 'exportBatch' && isEarly) {
          return { commits: false, error: refusal(400, operation) };
        }
        if (operation !== 'batchStatus' || service.count('exportBatch') === 0) return undefined;
        readings += 1;
        const answer = { status: 'verification_ongoing' };
        return readings < 5 ? { commits: false, answer } : undefined;
      },
    });
    const { state } = await drive(service);
    expect(state.stage).toBe('exported');
    expect(service.count('exportBatch')).toBe(2);
    expectPaidOnce(service);
  });

  it('that is refused again and again, by whatever status, is given up in time', async () => {
    let isRefused = false;
    const service = new FakeService({
      giveUpAfterMs: 30_000,
      faultOf: ({ operation }) => {
        if (operation === 'exportBatch') {
          isRefused = true;
          return { commits: false, error: refusal(400, operation) };
        }
        if (operation !== 'batchStatus' || !isRefused) return undefined;
        isRefused = false;
        return { commits: false, answer: { status: 'verification_ongoing' } };
      },
    });
    const { error } = await failure(service);
    expect(error).toMatchObject({ code: 'service_unavailable' });
    expectPaidOnce(service);
  });

  it.each(['uploadBatch', 'exportBatch'] as const)(
    'or an upload that is answered with 402 is no matter of credits (%s)',
    async (operation) => {
      const fault = { commits: false, error: refusal(402, operation) };
      const { error } = await failure(faults(operation, fault, Infinity));
      expect(error).toMatchObject({ code: 'unexpected_status', status: 402, retryable: false });
    },
  );

  it('that is always broken stops the run, never fails, and has its chance in the next run', async () => {
    const fault = { commits: false, error: oddAnswer('exportBatch') };
    const { error, driving, service } = await failure(faults('exportBatch', fault, Infinity));
    expect(error).toBeInstanceOf(DeadlineError);
    expect(error).toMatchObject({ code: 'service_unavailable', cause: fault.error });
    expect(driving.stages()).not.toContain('failed');
    expect(driving.latest()?.stage).toBe('done');
    const before = service.count('exportBatch');
    expect(before).toBe(bounds.exports);
    const again = await failure(service, {}, driving.latest());
    expect(again.error).toBeInstanceOf(DeadlineError);
    expect(service.count('exportBatch')).toBe(2 * bounds.exports);
  });

  it('that cannot be kept stops the run', async () => {
    const error = new OutputError('full');
    const keep = async (): Promise<void> => {
      throw error;
    };
    const stopped = await failure(
      {},
      { collect: async () => ({ named: 2, strangers: 0, conflicting: 0, keep }) },
    );
    expect(stopped.error).toBe(error);
    expect(stopped.driving.latest()?.stage).toBe('done');
  });

  it('that is not found for long, and its status neither, is that of a deleted batch', async () => {
    const service = new FakeService({
      onRequest: ({ operation, uuid }) => {
        if (operation === 'exportBatch') service.batches.delete(uuid ?? '');
      },
    });
    const { state } = await drive(service);
    expect(state).toMatchObject({ stage: 'failed', reason: 'batch_missing', launched: true });
    expect(service.count('exportBatch')).toBe(bounds.misses);
  });

  it.each([400, 404, 409])(
    'that is answered with %i while its batch is done is asked for again, and never paid again',
    async (status) => {
      const fault = { commits: false, error: refusal(status, 'exportBatch') };
      const late = await drive(faults('exportBatch', fault, bounds.exports - 1));
      expect(late.state.stage).toBe('exported');
      expectPaidOnce(late.service);
      const { error, driving } = await failure(faults('exportBatch', fault, Infinity));
      expect(error).toMatchObject({ code: 'service_unavailable', cause: fault.error });
      expect(driving.latest()?.stage).toBe('done');
    },
  );
});
