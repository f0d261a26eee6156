import { describe, expect, it } from 'vitest';
import type { OperationName } from '../../../src/contract/operations.js';
import { checkFaultPlan, type FaultPlan } from '../../../src/service/faults/fault.js';
import { FaultSchedule } from '../../../src/service/faults/fault-injector.js';

const what = { hang: true } as const;

/** Which of so many requests meet a fault, counted from 1. */
function firing(
  { seed = 0, ...fault }: Partial<FaultPlan['faults'][number]> & { readonly seed?: number },
  requests = 12,
): readonly number[] {
  const faults = [{ operation: 'credits' as const, what, ...fault }];
  const schedule = new FaultSchedule(checkFaultPlan({ seed, faults }));
  const numbers = Array.from({ length: requests }, (_, at) => at + 1);
  return numbers.filter(() => schedule.next('credits') !== undefined);
}

describe('a fault', () => {
  it('fires at every request unless something is said', () => {
    expect(firing({}, 3)).toEqual([1, 2, 3]);
  });

  it('fires at the requests that are named', () => {
    expect(firing({ requests: [2, 5] })).toEqual([2, 5]);
    expect(firing({ from: 4, every: 3 })).toEqual([4, 7, 10]);
    expect(firing({ every: 5 })).toEqual([1, 6, 11]);
    expect(firing({ from: 3, times: 2 })).toEqual([3, 4]);
  });

  it('fires by chance as its seed has it', () => {
    const first = firing({ probability: 0.3, seed: 1 }, 1000);
    expect(firing({ probability: 0.3, seed: 1 }, 1000)).toEqual(first);
    expect(firing({ probability: 0.3, seed: 2 }, 1000)).not.toEqual(first);
    expect(first.length).toBeGreaterThan(230);
    expect(first.length).toBeLessThan(370);
  });

  it('counts the requests of its operation, or of all', () => {
    const plan = checkFaultPlan({
      faults: [
        { operation: 'launchBatch', requests: [2], what },
        { operation: '*', requests: [4], what: { reset: true } },
      ],
    });
    const schedule = new FaultSchedule(plan);
    const asked: OperationName[] = ['credits', 'launchBatch', 'credits', 'launchBatch', 'credits'];
    // The first of the plan goes before the other, which then has not fired.
    expect(asked.map((name) => schedule.next(name)?.what)).toEqual([
      undefined,
      undefined,
      undefined,
      what,
      undefined,
    ]);
    expect(schedule.report()).toEqual([
      { fault: plan.faults[0], requests: 2, fired: 1 },
      { fault: plan.faults[1], requests: 5, fired: 0 },
    ]);
  });
});
