import { describe, expect, it } from 'vitest';
import { ClaimRevokedError, type BatchClaim } from '../../../src/engine/batches/claim.js';
import { planned, type BatchState, type Stage } from '../../../src/engine/batches/batch-state.js';
import { Driving, makeBatch } from './driving.js';
import { FakeService } from './fake-service.js';

const lostError = new ClaimRevokedError('0');

interface Ended {
  readonly service: FakeService;
  /** What the first batch ended with; the others are at their ends. */
  readonly error: unknown;
  /** What was asked of the service for the first batch. */
  readonly asked: readonly string[];
}

/** Drives three batches, the first of them under a claim that is lost on the way. */
async function loseFirst(
  changes: (driving: Driving) => Partial<BatchClaim>,
  service = new FakeService({ polls: 3 }),
): Promise<Ended> {
  const driving = new Driving(service);
  const runner = driving.runner(3);
  const [first, ...others] = await driving.clock.runUntil(
    Promise.allSettled(
      [0, 1, 2].map(async (id) =>
        runner.run(makeBatch(id), planned, id === 0 ? changes(driving) : {}),
      ),
    ),
  );
  expect(others).toMatchObject([
    { status: 'fulfilled', value: { stage: 'exported' } },
    { status: 'fulfilled', value: { stage: 'exported' } },
  ]);
  const own = service.requests.filter(({ name }) => name?.includes('-000001-'));
  return {
    service,
    error: first?.status === 'rejected' ? first.reason : undefined,
    asked: own.map(({ operation }) => operation),
  };
}

/** A claim that is another's from the record of a stage on. */
function refusedAt(stage: Stage): Partial<BatchClaim> {
  return {
    record: async ({ state }: { readonly state: BatchState }) => {
      if (state.stage === stage) throw lostError;
    },
  };
}

describe('a batch that another process may have', () => {
  it.each([
    ['uploading', []],
    ['uploaded', ['uploadBatch']],
    ['launching', ['uploadBatch', 'prepareBatch']],
    ['verifying', ['uploadBatch', 'prepareBatch', 'launchBatch']],
    ['done', ['uploadBatch', 'prepareBatch', 'launchBatch']],
    ['exported', ['uploadBatch', 'prepareBatch', 'launchBatch', 'exportBatch']],
  ] as const)(
    'is left alone once %s cannot be recorded, and the others go on',
    async (stage, asked) => {
      const ended = await loseFirst(() => refusedAt(stage));
      expect(ended.error).toBeInstanceOf(ClaimRevokedError);
      expect(ended.asked.filter((operation) => operation !== 'batchStatus')).toEqual(asked);
    },
  );

  it('is not prepared when its claim does not hold any more', async () => {
    const { error, asked } = await loseFirst(() => ({
      confirm: async () => Promise.reject(lostError),
    }));
    expect(error).toBeInstanceOf(ClaimRevokedError);
    expect(asked).toEqual(['uploadBatch']);
  });

  it('is not launched when its credits cannot be reserved for this process', async () => {
    const { error, asked } = await loseFirst(() => ({
      reserve: async () => Promise.reject(lostError),
    }));
    expect(error).toBeInstanceOf(ClaimRevokedError);
    expect(asked).not.toContain('launchBatch');
  });

  it('is left alone at once when its process hears of it, in the middle of a wait', async () => {
    const revoked = new AbortController();
    const { error, asked } = await loseFirst(
      ({ clock }) => {
        void clock.sleep(1500).then(() => revoked.abort(lostError));
        return { revoked: revoked.signal };
      },
      new FakeService({ polls: 50 }),
    );
    expect(error).toBeInstanceOf(ClaimRevokedError);
    expect(asked.length).toBeLessThan(6);
    expect(asked).not.toContain('launchBatch');
  });
});
