import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BatchState, planned } from '../../../src/engine/batches/batch-state.js';
import { BatchPool } from '../../../src/engine/driver/batch-pool.js';
import { bounds } from '../../../src/client/batch-bounds.js';
import type { DrivePorts } from '../../../src/engine/driver/batch-requests.js';
import type { LaunchGate } from '../../../src/engine/driver/launch-limits.js';
import {
  ConfigurationError,
  DeadlineError,
  OutputError,
} from '../../../src/platform/errors/errors.js';
import { ApiError } from '../../../src/platform/errors/service-errors.js';
import { Driving, makeBatch } from './driving.js';
import { FakeService, type Fault, lostAnswer, oddAnswer, refusal } from './fake-service.js';

interface RunOptions {
  readonly service: FakeService;
  readonly batches: number;
  readonly concurrency: number;
  readonly provenBefore?: boolean;
  readonly maxCredits?: number;
  readonly changes?: Partial<DrivePorts>;
  /** What an earlier process knew, by batch. */
  readonly known?: ReadonlyMap<number, BatchState>;
  /** Called with the driver before time moves. */
  readonly during?: (driving: Driving) => void;
}

interface RunEnd {
  readonly driving: Driving;
  readonly gate: LaunchGate;
  readonly known: readonly (BatchState | undefined)[];
  /** Why batches did not come to their ends, each reason once. */
  readonly stoppedBy: readonly unknown[];
}

/** Gives all batches to a pool at once, and waits until none is under way. */
async function runAll(options: RunOptions): Promise<RunEnd> {
  const { service, batches, concurrency, provenBefore, maxCredits } = options;
  const driving = new Driving(service, options.changes);
  const runner = driving.runner(concurrency, provenBefore, maxCredits);
  const running = Array.from({ length: batches }, async (_, id) =>
    runner.run(makeBatch(id), options.known?.get(id)),
  );
  options.during?.(driving);
  const ends = await driving.clock.runUntil(Promise.allSettled(running));
  expect(driving.clock.sleeping).toBe(0);
  return {
    driving,
    gate: runner.pool.gate,
    known: ends.map((end) => (end.status === 'fulfilled' ? end.value : undefined)),
    stoppedBy: [
      ...new Set(ends.flatMap((end): unknown[] => (end.status === 'rejected' ? [end.reason] : []))),
    ],
  };
}

function isVerified({ stage }: BatchState): boolean {
  return stage === 'done' || stage === 'exported';
}

function expectChargedAtMostOnce(service: FakeService): void {
  const counts = [...service.chargesPerAddress().values()];
  expect(counts.filter((count) => count > 1)).toEqual([]);
}

describe('BatchPool', () => {
  it('brings every batch to its end, and pays for every address once', async () => {
    const service = new FakeService({ polls: 2 });
    const { known, driving } = await runAll({ service, batches: 20, concurrency: 4 });
    expect(known.map((end) => end?.stage)).toEqual(Array.from({ length: 20 }, () => 'exported'));
    expect(driving.collected.toSorted((a, b) => a - b)).toEqual([...Array(20).keys()]);
    expect(service.ledger).toHaveLength(40);
    expect([...service.chargesPerAddress().values()].every((count) => count === 1)).toBe(true);
  });

  it.each([1, 2, 5])('has at most %i batches on the service at once', async (concurrency) => {
    const service = new FakeService({ polls: 1 });
    const open = new Set<number>();
    let most = 0;
    await runAll({
      service,
      batches: 12,
      concurrency,
      changes: {
        record: ({ batch, state }) => {
          if (isVerified(state)) open.delete(batch.id);
          else open.add(batch.id);
          most = Math.max(most, open.size);
        },
      },
    });
    expect(most).toBe(concurrency);
    expect(service.mostAtOnce).toBeLessThanOrEqual(concurrency);
  });

  it('sends the next batch while the results of one that is verified come', async () => {
    const service = new FakeService({ polls: 1 });
    const uploadsAtCollection: number[] = [];
    let driving: Driving | undefined;
    await runAll({
      service,
      batches: 3,
      concurrency: 2,
      during: (given) => (driving = given),
      changes: {
        collect: async () => {
          await driving?.clock.sleep(100);
          uploadsAtCollection.push(service.count('uploadBatch'));
          return { named: 2, strangers: 0, conflicting: 0, keep: () => undefined };
        },
      },
    });
    expect(uploadsAtCollection[0]).toBe(3);
  });
});

describe('the first batch of a run', () => {
  it('goes ahead alone until the service says yes to preparing it', async () => {
    const service = new FakeService({ polls: 3 });
    await runAll({ service, batches: 5, concurrency: 4 });
    const names = service.requests.map(({ name }) => name);
    const others = names.findIndex((name) => name !== names[0]);
    expect(service.asked.slice(0, others)).toEqual(['uploadBatch', 'prepareBatch']);
  });

  it('does not go alone when the service has taken one before', async () => {
    const service = new FakeService();
    await runAll({ service, batches: 3, concurrency: 3, provenBefore: true });
    expect(service.asked.slice(0, 3)).toEqual(['uploadBatch', 'uploadBatch', 'uploadBatch']);
  });

  it('that fails by itself lets the others go', async () => {
    const service = new FakeService({
      faultOf: ({ number }) =>
        number === 0 ? { commits: false, answer: { status: 'parse_error' } } : undefined,
    });
    const { known } = await runAll({ service, batches: 3, concurrency: 2 });
    expect(known.map((end) => end?.stage)).toEqual(['failed', 'exported', 'exported']);
  });

  const refusals = [
    ['uploadBatch', 301],
    ['uploadBatch', 400],
    ['uploadBatch', 404],
    ['uploadBatch', 422],
    ['prepareBatch', 400],
    ['prepareBatch', 422],
  ] as const;

  it.each(refusals)(
    'refused at %s with %i is a matter of configuration: nothing was paid, no other was sent',
    async (operation, status) => {
      const error = refusal(status, operation, 'not like this');
      const service = new FakeService({
        faultOf: (request) =>
          request.operation === operation ? { commits: false, error } : undefined,
      });
      const { stoppedBy, known } = await runAll({ service, batches: 9, concurrency: 4 });
      expect(stoppedBy).toHaveLength(1);
      expect(stoppedBy[0]).toBeInstanceOf(ConfigurationError);
      expect(stoppedBy[0]).toMatchObject({ code: 'batch_refused', cause: error });
      expect((stoppedBy[0] as Error).message).toContain('not like this');
      expect(known.every((end) => end === undefined)).toBe(true);
      expect(service.count('uploadBatch')).toBe(1);
      expect(service.count('launchBatch')).toBe(0);
    },
  );

  it('is not followed by the others when it was only too large', async () => {
    const tooLarge = refusal(413, 'uploadBatch');
    const service = new FakeService({
      polls: 1,
      faultOf: ({ operation, ofItsKind }) =>
        operation === 'uploadBatch' && ofItsKind < 3
          ? { commits: false, error: tooLarge }
          : undefined,
    });
    // Its parts come next, and theirs: each is smaller than those before it.
    const driving = new Driving(service);
    const runner = driving.runner(8);
    const sizes = [9, 3, 2, 2, 2];
    const running = sizes.map(async (size, id) => runner.run(makeBatch(id, size)));
    const ends = await driving.clock.runUntil(
      Promise.all(running).then(async (state) => {
        await runner.pool.idle();
        return state;
      }),
    );
    expect(ends.map(({ stage }) => stage)).toEqual([
      'split',
      'split',
      'exported',
      'exported',
      'exported',
    ]);
    expect(service.ledger).toHaveLength(18);
    expectChargedAtMostOnce(service);
    const asked = service.asked.indexOf('prepareBatch');
    expect(service.asked.slice(0, asked)).toEqual(Array(4).fill('uploadBatch'));
    expect(service.mostAtOnce).toBeGreaterThan(1);
  });

  it('spares the others of its size an upload', async () => {
    const service = new FakeService({
      faultOf: ({ number }) =>
        number === 0 ? { commits: false, error: refusal(413, 'uploadBatch') } : undefined,
    });
    const driving = new Driving(service);
    const { run, pool } = driving.runner(4);
    const running = Array.from({ length: 9 }, async (_, id) => run(makeBatch(id)));
    const ends = await driving.clock.runUntil(pool.idle().then(async () => Promise.all(running)));
    expect(ends.map(({ stage }) => stage)).toEqual(Array(9).fill('split'));
    expect(service.count('uploadBatch')).toBe(19);
    expect([...service.chargesPerAddress().values()]).toEqual(Array(18).fill(1));
  });

  it('refused down to single lines, one after the other, is a matter of configuration', async () => {
    const error = refusal(413, 'uploadBatch', 'not a byte');
    const service = new FakeService({ faultOf: () => ({ commits: false, error }) });
    const driving = new Driving(service);
    const runner = driving.runner(4);
    const running = Array.from({ length: 40 }, async (_, id) => runner.run(makeBatch(id, 1)));
    const ends = await driving.clock.runUntil(Promise.allSettled(running));
    const failed = ends.filter(({ status }) => status === 'fulfilled');
    expect(failed).toHaveLength(bounds.refusedLines - 1);
    for (const end of failed) {
      expect(end).toMatchObject({ value: { stage: 'failed', reason: 'too_large' } });
    }
    expect(ends.at(-1)).toMatchObject({ reason: { code: 'batch_refused', cause: error } });
    expect(service.count('uploadBatch')).toBe(bounds.refusedLines);
  });

  it.each([401, 403])('whose key is refused with %i says so', async (status) => {
    const error = refusal(status, 'uploadBatch');
    const service = new FakeService({ faultOf: () => ({ commits: false, error }) });
    const { stoppedBy } = await runAll({ service, batches: 9, concurrency: 4 });
    expect(stoppedBy).toEqual([error]);
    expect(service.requests).toHaveLength(1);
  });

  it('that meets a failing service is no matter of configuration', async () => {
    for (const error of [
      oddAnswer('listBatches'),
      refusal(503, 'listBatches'),
      refusal(429, 'listBatches'),
      new DeadlineError('gone', { code: 'service_unavailable' }),
    ]) {
      const service = new FakeService({
        tellsUuid: 'no',
        faultOf: ({ operation }) =>
          operation === 'listBatches' ? { commits: false, error } : undefined,
      });
      const { stoppedBy } = await runAll({ service, batches: 3, concurrency: 2 });
      expect(stoppedBy).toEqual([error]);
    }
  });

  it('refused at its launch is no matter of configuration: others may be paid by then', async () => {
    const error = refusal(422, 'launchBatch');
    const service = new FakeService({
      faultOf: ({ operation }) =>
        operation === 'launchBatch' ? { commits: false, error } : undefined,
    });
    const { stoppedBy } = await runAll({ service, batches: 3, concurrency: 2 });
    expect(stoppedBy).toEqual([error]);
  });
});

describe('a later batch', () => {
  it('that stops the run stops the polling of all others', async () => {
    const error = refusal(422, 'batchStatus');
    const service = new FakeService({
      polls: 1000,
      faultOf: ({ operation, name, number }) =>
        operation === 'batchStatus' && name?.includes('-000003-') && number > 50
          ? { commits: false, error }
          : undefined,
    });
    const { stoppedBy } = await runAll({
      service,
      batches: 9,
      concurrency: 4,
      provenBefore: true,
    });
    expect(stoppedBy).toEqual([error]);
    const refusedAt = service.requests.findIndex(
      ({ name, number }) => number > 50 && name?.includes('-000003-'),
    );
    expect(service.requests.length - refusedAt).toBeLessThanOrEqual(4);
    expect(service.count('uploadBatch')).toBe(4);
  });

  it.each(['uploadBatch', 'prepareBatch', 'batchStatus', 'launchBatch'] as const)(
    'refused at %s stops the run with the words of the service',
    async (operation) => {
      const error = refusal(422, operation, 'not like this');
      const service = new FakeService({
        polls: 2,
        faultOf: (request) =>
          request.operation === operation && request.name?.endsWith('-000004-1')
            ? { commits: false, error }
            : undefined,
      });
      const { stoppedBy } = await runAll({ service, batches: 40, concurrency: 2 });
      expect(stoppedBy).toEqual([error]);
      expect(stoppedBy[0]).toBeInstanceOf(ApiError);
      expect(service.count('uploadBatch')).toBeLessThan(40);
      expectChargedAtMostOnce(service);
    },
  );
});

describe('a refused key', () => {
  it('stops everything once, with no more requests than there are places', async () => {
    const clean = new FakeService({ polls: 1 });
    await runAll({ service: clean, batches: 6, concurrency: 3 });
    for (let at = 0; at < clean.requests.length; at += 1) {
      const service = new FakeService({
        polls: 1,
        faultOf: ({ number, operation }) =>
          number >= at ? { commits: false, error: refusal(401, operation) } : undefined,
      });
      const { stoppedBy, driving } = await runAll({ service, batches: 6, concurrency: 3 });
      expect(stoppedBy).toHaveLength(1);
      expect(stoppedBy[0]).toMatchObject({ code: 'unauthorized' });
      expect(service.requests.length - at).toBeLessThanOrEqual(3);
      // A new key: what was known goes on, and what was paid is not paid again.
      const known = new Map(driving.recorded.map(({ batch, state }) => [batch.id, state]));
      const cured = new FakeService({ polls: 1 });
      for (const batch of service.batches.values()) cured.add(batch);
      cured.ledger.push(...service.ledger);
      await runAll({ service: cured, batches: 6, concurrency: 3, known });
      expect([...cured.chargesPerAddress().values()]).toEqual(Array.from({ length: 12 }, () => 1));
    }
  });

  it('stops all before it is written down what it refused: that may wait for its turn', async () => {
    const error = refusal(401, 'uploadBatch');
    const service = new FakeService({
      faultOf: ({ operation }) =>
        operation === 'uploadBatch' ? { commits: false, error } : undefined,
    });
    const stages: string[] = [];
    const stoppedBy: unknown[] = [];
    const driving = new Driving(service, {
      record: ({ state }) => {
        stages.push(state.stage);
        stoppedBy.push(runner.pool.stoppedBy?.error);
      },
    });
    const runner = driving.runner(1);
    const end = driving.clock.runUntil(Promise.allSettled([runner.run(makeBatch())]));
    expect(await end).toMatchObject([{ reason: error }]);
    expect(stages.slice(-2)).toEqual(['uploading', 'planned']);
    expect(stoppedBy.slice(-2)).toEqual([undefined, error]);
  });
});

describe('credits', () => {
  it('that last for k of n batches launch k, finish them, and leave the rest unlaunched', async () => {
    const batches = 7;
    for (let k = 0; k <= batches; k += 1) {
      const service = new FakeService({ polls: 1, credits: 2 * k + 1 });
      const run = { service, batches, concurrency: 3 };
      const first = await runAll(run);
      expect(first.stoppedBy).toEqual([]);
      expect(first.known.filter((end) => end?.stage === 'exported')).toHaveLength(k);
      const left = first.known.filter((end) => end?.stage !== 'exported');
      expect(left.every((end) => end?.stage === 'ready' || end?.stage === 'planned')).toBe(true);
      // What is not on the service when the credits end is not sent there for nothing.
      expect(service.count('uploadBatch')).toBeLessThanOrEqual(k + run.concurrency);
      expect(first.gate.closedBy?.code).toBe(k < batches ? 'payment_required' : undefined);
      expect(service.ledger).toHaveLength(2 * k);
      service.credit = Infinity;
      const known = new Map(first.driving.recorded.map(({ batch, state }) => [batch.id, state]));
      await runAll({ ...run, known });
      expect(service.batches.size).toBe(batches);
      expect([...service.chargesPerAddress().values()]).toEqual(
        Array.from({ length: 2 * batches }, () => 1),
      );
    }
  });

  it.each([
    ['the service refuses a launch', 4, undefined, 'payment_required', null, 2],
    ['no more of the budget can be freed', 100, 4, 'budget_exhausted', 'email', 1],
  ])(
    'that end say what goes on, where %s',
    async (_, credits, maxCredits, stoppedBy, type, running) => {
      const service = new FakeService({ polls: 20, credits });
      const run = { service, batches: 5, concurrency: 3, ...(maxCredits && { maxCredits }) };
      const { driving } = await runAll(run);
      expect(driving.notices).toMatchObject([
        { code: 'launches_stopped', fields: { stopped_by: stoppedBy, type, running } },
      ]);
    },
  );

  it('of the budget are never overshot, with 32 launches at once', async () => {
    for (const maxCredits of [0, 1, 2, 31, 40, 63]) {
      const service = new FakeService({ polls: 1 });
      const { known, gate } = await runAll({
        service,
        batches: 32,
        concurrency: 32,
        provenBefore: true,
        maxCredits,
      });
      const paid = 2 * Math.floor(maxCredits / 2);
      expect(service.ledger).toHaveLength(paid);
      expect(known.filter((end) => end?.stage === 'exported')).toHaveLength(paid / 2);
      expect(gate.closedBy).toMatchObject({ code: 'budget_exhausted' });
      expect(service.count('launchBatch')).toBe(paid / 2);
    }
  });

  it('of the budget are kept for a launch without an answer', async () => {
    const service = new FakeService({
      faultOf: ({ operation, ofItsKind }) =>
        operation === 'launchBatch' && ofItsKind < 3
          ? { commits: ofItsKind === 1, error: lostAnswer('launchBatch') }
          : undefined,
    });
    await runAll({ service, batches: 5, concurrency: 5, maxCredits: 4 });
    expect(service.ledger).toHaveLength(4);
    expectChargedAtMostOnce(service);
  });
});

describe('an abort', () => {
  it('reaches every batch with its own reason, at once', async () => {
    const reason = { any: 'thing' };
    const service = new FakeService({ polls: 1000 });
    let asked = 0;
    const { stoppedBy } = await runAll({
      service,
      batches: 20,
      concurrency: 4,
      provenBefore: true,
      during: ({ clock, abort }) => {
        void clock.sleep(5000).then(() => {
          asked = service.requests.length;
          abort.abort(reason);
        });
      },
    });
    expect(stoppedBy).toHaveLength(1);
    expect(stoppedBy[0]).toBe(reason);
    expect(asked).toBeGreaterThan(8);
    expect(service.requests.length).toBe(asked);
    expect(service.count('uploadBatch')).toBe(4);
  });
});

describe('a record that fails', () => {
  it('stops all batches, and none of their next side effects takes place', async () => {
    const full = new OutputError('disk full');
    const service = new FakeService();
    let left = 12;
    const { stoppedBy } = await runAll({
      service,
      batches: 10,
      concurrency: 3,
      changes: {
        record: async () => {
          left -= 1;
          if (left <= 0) throw full;
        },
      },
    });
    expect(stoppedBy).toEqual([full]);
    expect(left).toBeGreaterThan(-3);
  });
});

describe('many batches', () => {
  it('are left in their order where an earlier process has ended them, however many', async () => {
    const { options } = new Driving(new FakeService({}));
    const { service, runId, signal } = options;
    const { attempt, fresh, uploads } = planned;
    const end = {
      stage: 'failed',
      reason: 'parse_error',
      uuid: undefined,
      launched: false,
    } as const;
    const ended: BatchState = { ...end, attempt, fresh, uploads };
    let left = 0;
    let isInOrder = true;
    const pool = new BatchPool(
      { service, runId, settings: {}, signal },
      {
        state: () => ended,
        claim: () => {
          throw new Error('a batch at its end was driven');
        },
        collect: async () => Promise.reject(new Error('an export was opened')),
        leave({ id }) {
          isInOrder &&= id === left;
          left += 1;
        },
      },
    );
    const batch = makeBatch();
    // More than an argument list takes.
    pool.add(Array.from({ length: 150_000 }, (_, id) => ({ ...batch, id })));
    expect(await pool.idle()).toBeUndefined();
    expect({ left, isInOrder }).toEqual({ left: 150_000, isInOrder: true });
  });

  it('are paid for once each, whatever goes wrong and whenever they are killed', async () => {
    const oneOf: readonly ((operation: string) => Fault)[] = [
      (operation) => ({ commits: true, error: lostAnswer(operation) }),
      (operation) => ({ commits: false, error: lostAnswer(operation) }),
      (operation) => ({ commits: true, error: refusal(500, operation) }),
      (operation) => ({ commits: false, error: refusal(503, operation) }),
      (operation) => ({ commits: true, error: oddAnswer(operation) }),
      (operation) => ({ commits: false, error: refusal(401, operation) }),
      (operation) => ({ commits: false, error: refusal(402, operation) }),
      (operation) => ({ commits: false, error: refusal(404, operation) }),
      (operation) => ({ commits: true, error: new Error(`killed at ${operation}`) }),
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(fc.nat({ max: oneOf.length - 1 }), { freq: 1 }), {
          maxLength: 80,
          size: 'max',
        }),
        fc.integer({ min: 1, max: 4 }),
        async (plan, concurrency) => {
          const service = new FakeService({
            polls: 1,
            faultOf: ({ number, operation }) => oneOf[plan[number] ?? -1]?.(operation),
          });
          const known = new Map<number, BatchState>();
          for (let processes = 0; processes < 100; processes += 1) {
            const record: DrivePorts['record'] = (progress) => {
              known.set(progress.batch.id, progress.state);
            };
            await runAll({ service, batches: 4, concurrency, known, changes: { record } });
            const ends = Array.from({ length: 4 }, (_, id) => (known.get(id) ?? planned).stage);
            if (ends.every((stage) => stage === 'exported')) break;
            if (ends.includes('failed')) throw new Error(`failed: ${JSON.stringify([...known])}`);
          }
          const charges = [...service.chargesPerAddress().values()];
          if (charges.join() !== '1,1,1,1,1,1,1,1') throw new Error(`charges: ${charges.join()}`);
        },
      ),
      { numRuns: 100 },
    );
  });
});
