import { describe, expect, it } from 'vitest';
import { driveBatch } from '../../../src/engine/driver/batch-driver.js';
import { planned, type BatchState } from '../../../src/engine/batches/batch-state.js';
import type { OperationName } from '../../../src/contract/operations.js';
import { DeadlineError, OutputError } from '../../../src/platform/errors/errors.js';
import { drive, expectPaidOnce, failure, faults } from './drive-one.js';
import { Driving, makeBatch } from './driving.js';
import { FakeService, lostAnswer, refusal } from './fake-service.js';

describe('driveBatch', () => {
  it('asks for what it takes and no more when nothing goes wrong', async () => {
    const { service, driving, state } = await drive({ polls: 1 });
    expect(service.asked).toEqual([
      'uploadBatch',
      'prepareBatch',
      'batchStatus',
      'batchStatus',
      'launchBatch',
      'batchStatus',
      'batchStatus',
      'exportBatch',
    ]);
    expect(state).toMatchObject({ stage: 'exported', attempt: 1, launches: 1 });
    expect(driving.collected).toEqual([0]);
    expectPaidOnce(service);
  });

  it('writes every stage down, with the name and, when it is given, the charge', async () => {
    const { driving } = await drive();
    expect(driving.stages()).toEqual([
      'uploading',
      'uploaded',
      'parsing',
      'ready',
      'launching',
      'verifying',
      'done',
      'exported',
    ]);
    const names = new Set(driving.recorded.map(({ name }) => name));
    expect([...names]).toEqual(['sluice-run-000001-1']);
    expect(driving.recorded.at(-1)?.charge).toEqual({ spent: 2, refunded: 0, net: 2 });
  });

  it('keeps a charge that a later answer does not repeat', async () => {
    const cost = {
      total_email_cost: 2,
      net_email_cost: 1,
      email_cache_account_return: 1,
      email_cache_global_return: 1,
    };
    const { driving } = await drive({
      faultOf: ({ operation, ofItsKind }) => {
        if (operation === 'exportBatch' && ofItsKind === 0)
          return { commits: true, error: refusal(404, operation) };
        if (operation !== 'batchStatus' || ofItsKind === 0) return undefined;
        const done = { status: 'verification_done' };
        return { commits: true, answer: ofItsKind === 1 ? { ...done, cost } : done };
      },
    });
    expect(driving.recorded.at(-1)?.charge).toEqual({ spent: 2, refunded: 1, net: 1 });
  });

  it('takes no charge from a status that is not the last: credits would be free that are not', async () => {
    const cost = {
      total_email_cost: 0,
      net_email_cost: 0,
      email_cache_account_return: 0,
      email_cache_global_return: 0,
    };
    const { driving } = await drive({
      faultOf: ({ operation, ofItsKind }) => {
        if (operation !== 'batchStatus' || ofItsKind === 0) return undefined;
        const ongoing = { status: 'verification_ongoing', cost };
        const answer = ofItsKind === 1 ? ongoing : { status: 'verification_done' };
        return { commits: true, answer };
      },
    });
    expect(driving.latest()?.stage).toBe('exported');
    expect(driving.recorded.at(-1)?.charge).toBeUndefined();
    expect(await driving.mayLaunch(1, 2)).toBe(false);
  });

  it('passes name, batch group and settings to the service, and the same bytes each time', async () => {
    const forms: unknown[] = [];
    const service = new FakeService(
      faults('uploadBatch', { commits: false, error: lostAnswer('u') }),
    );
    const { uploadBatch } = service;
    service.uploadBatch = async (form, options) => {
      let file = '';
      for await (const piece of form.file.open()) file += Buffer.from(piece).toString();
      forms.push({ ...form, file });
      return uploadBatch(form, options);
    };
    await drive(service, { settings: { use_global_cache: false, description: 'd' } });
    const form = {
      use_global_cache: false,
      description: 'd',
      type: 'email',
      target_country: 'US',
      file: '0-0@sluice.test\n0-1@sluice.test\n',
    };
    expect(forms).toEqual([
      { ...form, name: 'sluice-run-000001-1' },
      { ...form, name: 'sluice-run-000001-2' },
    ]);
  });

  it('says once that the batch is through its preparation', async () => {
    let reported = 0;
    await drive({ polls: 3 }, { onPrepared: () => (reported += 1) });
    expect(reported).toBe(1);
  });

  it('has nothing to do for a batch at its end', async () => {
    const end: BatchState = {
      ...planned,
      stage: 'failed',
      reason: 'parse_error',
      uuid: undefined,
      launched: false,
    };
    const { service, state, driving } = await drive({}, {}, end);
    expect(state).toBe(end);
    expect(service.requests).toEqual([]);
    expect(driving.recorded).toEqual([]);
  });

  it('waits between polls, longer and longer, and anew in the next stage', async () => {
    const waits: number[] = [];
    const service = new FakeService({ polls: 3 });
    const driving = new Driving(service);
    const { clock } = driving;
    const sleep: typeof clock.sleep = async (ms, signal) => {
      // An upload and an export also have a timer of their own, which ends them with the deadline.
      if (ms < driving.options.batchDeadlineMs) waits.push(ms);
      return clock.sleep(ms, signal);
    };
    const waiting = { now: () => clock.now(), wallNow: () => clock.wallNow(), sleep };
    await clock.runUntil(driveBatch(makeBatch(), planned, { ...driving.options, clock: waiting }));
    expect(waits).toEqual([1000, 1500, 2250, 3375, 1000, 1500, 2250, 3375]);
  });
});

describe('the deadline of a stage', () => {
  it('ends the wait for a status that never changes', async () => {
    const fault = { commits: false, answer: { status: 'verification_ongoing' } };
    const { error, driving } = await failure(faults('batchStatus', fault, Infinity), {
      batchDeadlineMs: 3_600_000,
    });
    expect(error).toBeInstanceOf(DeadlineError);
    expect(error).toMatchObject({ code: 'deadline_exceeded' });
    // The list is asked first whether it is the upload at all that is verified without a launch.
    expect(driving.clock.now()).toBe(1000 + 1500 + 3_600_000);
    expect(driving.latest()?.stage).toBe('verifying');
  });

  it('names the batch, its uuid, its stage and the word of the service', async () => {
    const fault = { commits: false, answer: { status: 'que\u001b[31mued' } };
    const { error, service } = await failure(faults('batchStatus', fault, Infinity));
    const { message } = error as Error;
    const [uuid] = service.batches.keys();
    expect(message).toContain('sluice-run-000001-1');
    expect(message).toContain(uuid);
    expect(message).toContain("'parsing'");
    expect(message).toContain("'que [31mued'");
    expect(message).not.toContain('\u001b');
    expect(service.ledger).toEqual([]);
  });

  it('also ends what goes to and fro between stages', async () => {
    let reading = 0;
    const { error, driving } = await failure(
      {
        faultOf: ({ operation }) => {
          if (operation === 'launchBatch') return { commits: false, answer: { status: 'ok' } };
          if (operation !== 'batchStatus') return undefined;
          reading += 1;
          return { commits: false, answer: { status: 'ready_for_verification' } };
        },
      },
      { batchDeadlineMs: 60_000 },
    );
    expect(error).toMatchObject({ code: 'deadline_exceeded' });
    expect(reading).toBeGreaterThan(5);
    expect(driving.clock.now()).toBeLessThan(2 * 60_000);
  });

  it('fails a launched batch that the service calls unparsed again: it has lost the launch', async () => {
    const service: FakeService = new FakeService({
      polls: 2,
      onRequest: ({ operation, uuid }) => {
        const batch = service.batches.get(uuid ?? '');
        // Restored from a backup, it has no launch and no preparation.
        if (operation !== 'batchStatus' || batch?.status !== 'verification_ongoing') return;
        Object.assign(batch, { status: 'parsing_content', isPrepared: false });
      },
    });
    const { state, driving } = await drive(service, { batchDeadlineMs: 3_600_000 });
    expect(state).toMatchObject({ stage: 'failed', reason: 'launch_lost', launched: true });
    expect(driving.clock.now()).toBeGreaterThan(3_600_000);
    expectPaidOnce(service);
  });

  it.each([400, 402, 422])(
    'goes on with a launch that was carried out and answered with %i',
    async (status) => {
      const error = refusal(status, 'launchBatch');
      const { state, service } = await drive(faults('launchBatch', { commits: true, error }));
      expect(state.stage).toBe('exported');
      expect(service.count('launchBatch')).toBe(1);
      expectPaidOnce(service);
    },
  );

  it('knows that a launch was refused when its status is as before', async () => {
    const refused = refusal(400, 'launchBatch');
    const { error, driving, service } = await failure(
      faults('launchBatch', { commits: false, error: refused }),
    );
    expect(error).toBe(refused);
    expect(driving.latest()?.stage).toBe('ready');
    expect(service.ledger).toEqual([]);
  });

  it('lets the next process prepare again what is never parsed', async () => {
    const fault = { commits: false, answer: { status: 'ok' } };
    const { driving, service, error } = await failure(faults('prepareBatch', fault));
    expect(error).toMatchObject({ code: 'deadline_exceeded' });
    const next = await drive(service, {}, driving.latest());
    expect(next.state.stage).toBe('exported');
    expectPaidOnce(service);
  });

  it('begins anew when another process takes the batch up', async () => {
    const fault = { commits: false, answer: { status: 'queued' } };
    const changes = { batchDeadlineMs: 3_600_000 };
    const { driving, service } = await failure(faults('batchStatus', fault, Infinity), changes);
    const next = await failure(service, changes, driving.latest());
    expect(next.error).toMatchObject({ code: 'deadline_exceeded' });
    expect(next.driving.clock.now()).toBe(3_600_000);
  });
});

describe('record', () => {
  it('is called and waited for before each side effect', async () => {
    const events: string[] = [];
    await drive(
      { onRequest: ({ operation }) => events.push(operation) },
      {
        record: async ({ state }) => {
          events.push(`${state.stage} …`);
          await Promise.resolve();
          await Promise.resolve();
          await Promise.resolve();
          events.push(state.stage);
        },
      },
    );
    expect(events).toEqual([
      'uploading …',
      'uploading',
      'uploadBatch',
      'uploaded …',
      'uploaded',
      'prepareBatch',
      'parsing …',
      'parsing',
      'batchStatus',
      'ready …',
      'ready',
      'launching …',
      'launching',
      'launchBatch',
      'verifying …',
      'verifying',
      'batchStatus',
      'done …',
      'done',
      'exportBatch',
      'exported …',
      'exported',
    ]);
  });

  it('that fails stops the batch before the side effect it announces', async () => {
    const announced: Readonly<Record<string, OperationName | undefined>> = {
      uploading: 'uploadBatch',
      uploaded: 'prepareBatch',
      launching: 'launchBatch',
      done: 'exportBatch',
    };
    for (const [stage, operation] of Object.entries(announced)) {
      const full = new OutputError(`disk full at ${stage}`);
      const { error, service } = await failure(
        {},
        {
          record: ({ state }) => {
            if (state.stage === stage) throw full;
          },
        },
      );
      expect(error).toBe(full);
      expect(service.asked).not.toContain(operation);
    }
  });

  it('is not called for polls that tell nothing new', async () => {
    const { driving } = await drive({ polls: 50 });
    expect(driving.recorded).toHaveLength(8);
  });
});

describe('an abort', () => {
  const reasons = [new Error('stop'), 'a word', { code: 42 }, refusal(401, 'batchStatus')];

  it.each(reasons)('in the middle of a wait passes its reason untouched (%#)', async (reason) => {
    const service = new FakeService({ polls: 1000 });
    const driving = new Driving(service);
    const driven = driveBatch(makeBatch(), planned, driving.options);
    const failed = expect(driven).rejects.toBe(reason);
    await driving.clock.advance(5000);
    const asked = service.requests.length;
    driving.abort.abort(reason);
    await failed;
    await driving.clock.advance(60_000);
    expect(service.requests.length).toBe(asked);
    expect(driving.clock.sleeping).toBe(0);
  });

  it.each(reasons)('in the middle of a launch leaves it in doubt (%#)', async (reason) => {
    for (const commits of [false, true]) {
      const service = new FakeService({
        faultOf: ({ operation, ofItsKind }) =>
          operation === 'launchBatch' && ofItsKind === 0 ? { commits, hangs: true } : undefined,
      });
      const driving = new Driving(service);
      const driven = driveBatch(makeBatch(), planned, driving.options);
      const failed = expect(driven).rejects.toBe(reason);
      await driving.clock.advance(5000);
      expect(service.count('launchBatch')).toBe(1);
      driving.abort.abort(reason);
      await failed;
      expect(driving.latest()).toMatchObject({ stage: 'launching' });
      const next = await drive(service, {}, driving.latest());
      expect(next.state.stage).toBe('exported');
      expectPaidOnce(service);
    }
  });

  it.each(reasons)('in the middle of an upload leaves it to be looked for (%#)', async (reason) => {
    const service = new FakeService(faults('uploadBatch', { commits: true, hangs: true }));
    const driving = new Driving(service);
    const driven = driveBatch(makeBatch(), planned, driving.options);
    const failed = expect(driven).rejects.toBe(reason);
    await driving.clock.advance(0);
    driving.abort.abort(reason);
    await failed;
    expect(driving.latest()).toMatchObject({ stage: 'uploading', attempt: 1 });
    await drive(service, {}, driving.latest());
    expect(service.count('uploadBatch')).toBe(1);
    expectPaidOnce(service);
  });

  it('before a launch is written down lets no launch begin', async () => {
    const service = new FakeService();
    const driving: Driving = new Driving(service, {
      record: ({ state }) => {
        if (state.stage === 'ready') driving.abort.abort('stop');
      },
    });
    const driven = driving.clock.runUntil(driveBatch(makeBatch(), planned, driving.options));
    await expect(driven).rejects.toBe('stop');
    expect(service.count('launchBatch')).toBe(0);
  });

  it('before the start lets nothing begin', async () => {
    const service = new FakeService();
    const driving = new Driving(service);
    driving.abort.abort('stop');
    await expect(driveBatch(makeBatch(), planned, driving.options)).rejects.toBe('stop');
    expect(service.requests).toEqual([]);
    expect(driving.recorded).toEqual([]);
  });
});
