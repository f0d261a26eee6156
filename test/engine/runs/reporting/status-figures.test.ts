import { describe, expect, it } from 'vitest';
import { describeOutage } from '../../../../src/client/rate/outage.js';
import { checkDiskSpace } from '../../../../src/engine/runs/planning/external-dedup-plan.js';
import { creditsBefore } from '../../../../src/engine/runs/reporting/read-status.js';
import { takeHistoryKey } from '../../../../src/engine/history/history-key.js';
import {
  type EarlierRun,
  emptyRunState,
  type RunState,
} from '../../../../src/engine/stores/run-state.js';
import { statusOf } from '../../../../src/engine/stores/run-status.js';
import { systemFiles, type FileSystem } from '../../../../src/platform/files/file-system.js';
import { withFolder } from '../../../service/with-service.js';

function filesWith(changed: Partial<Record<keyof FileSystem, unknown>>): FileSystem {
  return { ...systemFiles, ...changed } as FileSystem;
}

describe('what is said', () => {
  it('of a small disk has a unit that can be compared', async () => {
    const files = filesWith({ statfs: async () => Promise.resolve({ bavail: 1, bsize: 4096 }) });
    const toFetch = { batches: 1, addresses: 5003 };
    await expect(checkDiskSpace(files, 'out.csv.sluice', toFetch)).rejects.toThrow(
      /\b5 KB\b.*\b5,003\b.*\b85 KB\b/,
    );
  });

  it('of a key that cannot be written is that it was written', async () => {
    const folder = await withFolder();
    const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
    const files = filesWith({ open: async () => Promise.reject(full) });
    const taken = takeHistoryKey(files, `${folder}/all`, async () => Promise.resolve(false), {});
    await expect(taken).rejects.toThrow(
      expect.objectContaining({
        code: 'output_failed',
        message: expect.stringContaining(`${folder}/all.key`) as string,
      }),
    );
  });

  it('of the last try is no time', () => {
    const service = { baseUrl: 'https://verify.example.com' };
    const trouble = { state: 'waiting', error: undefined, forMs: 600_000, leftMs: 400 } as const;
    expect(describeOutage(service, trouble).line).toMatch(/; trying a last time$/);
  });

  it('of credits is what the service has charged, where it is known', () => {
    const state = { stage: 'exported', uuid: 'a' };
    const batches = new Map([
      ['1', { batch: 0, state, charge: { spent: 98, refunded: 0, net: 98 } }],
      ['2', { batch: 1, state }],
    ]);
    const planned = { type: 'email', country: 'US', addresses: 100 };
    const run = { decides: {}, writes: {}, service: 'local', startedAt: '' };
    const store = {
      ...emptyRunState,
      run,
      plan: { rows: 200, batches: [planned, planned] },
      batches,
    };
    const { launchedCredits, openCredits } = statusOf(store as unknown as RunState, 'state');
    expect([launchedCredits.email, openCredits.email]).toEqual([198, 0]);
  });

  it('of what earlier runs have cost is after refunds, and before them where all is added up', () => {
    const state = { stage: 'exported', uuid: 'a' };
    const charge = { spent: 98, refunded: 10, net: 88 };
    const planned = { type: 'email', country: 'US', addresses: 100 };
    const batches = new Map([['1', { batch: 0, state, charge }]]);
    const earlier = [{ run: {}, plan: { rows: 100, batches: [planned] }, batches }];
    const runs = earlier as unknown as readonly EarlierRun[];
    expect(creditsBefore(runs)).toMatchObject({ email: 88 });
    const statusOfNext = (keepsBudget: boolean) => {
      const run = { decides: {}, writes: {}, service: 'local', startedAt: '', keepsBudget };
      const plan = { rows: 100, batches: [planned] };
      const next = { ...emptyRunState, run, plan, batches, earlier: runs };
      return statusOf(next as unknown as RunState, 'state');
    };
    const figures = { launchedCredits: { email: 98 }, earlierCredits: { email: 98 } };
    expect(statusOfNext(false)).toMatchObject({ ...figures, budgetCredits: { email: 98 } });
    expect(statusOfNext(true)).toMatchObject({ ...figures, budgetCredits: { email: 196 } });
  });
});
