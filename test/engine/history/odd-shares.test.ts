import fc from 'fast-check';
import { expect, it } from 'vitest';
import { oddShares } from '../../../src/engine/history/odd-shares.js';
import type { PastRun } from '../../../src/engine/summary/summary.js';

/** A run of emails: how many of its cells are unknown, and how many of its addresses are new. */
function night(unknown: number, of = 1000, fresh = 10): PastRun {
  const verdicts = { valid: of - unknown, wrong: 0, unknown, none: 0 };
  const email = { addresses: of, from_history: of - fresh, verdicts, net_credits: fresh };
  return { finished_at: '2026-11-22T02:00:00.000Z', rows: of, email, phone: null };
}

const usual = [10, 12, 9, 11, 10, 13].map((unknown) => night(unknown));
const odd = (run: PastRun, before: readonly PastRun[]): readonly string[] =>
  oddShares(run, before).map(({ share }) => share);

it('finds a share that is far from the median of the runs before', () => {
  expect(oddShares(night(200), usual)).toMatchObject([
    { type: 'email', share: 'valid', now: 0.8, usual: expect.closeTo(0.9895) },
    { type: 'email', share: 'unknown', now: 0.2, usual: expect.closeTo(0.0105) },
  ]);
  expect(odd(night(10, 1000, 700), usual)).toEqual(['new']);
});

it('finds nothing in a night like the others', () => {
  expect(odd(night(14), usual)).toEqual([]);
  expect(odd(night(14, 5000, 50), usual)).toEqual([]);
});

it('is not misled by one bad night among the earlier ones', () => {
  expect(odd(night(200), [...usual, night(900)])).toEqual(['valid', 'unknown']);
  expect(odd(night(12), [...usual, night(900)])).toEqual([]);
});

it('allows what lists that vary have shown before', () => {
  const varying = [50, 300, 120, 400, 220, 90].map((unknown) => night(unknown));
  expect(odd(night(450), varying)).toEqual([]);
});

it('judges no small list, and none without five runs before', () => {
  expect(odd(night(100, 199), usual)).toEqual([]);
  expect(odd(night(200), usual.slice(0, 4))).toEqual([]);
  const small = usual.map(() => night(1, 199));
  expect(odd(night(200), small)).toEqual([]);
});

it('takes chance for chance: shares drawn from one list are hardly ever odd', () => {
  const share = fc.double({ min: 0.01, max: 0.5, noNaN: true });
  const draws = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
    minLength: 21 * 300,
    maxLength: 21 * 300,
  });
  let [judged, found] = [0, 0];
  fc.assert(
    fc.property(share, draws, (unknown, drawn) => {
      const nights = Array.from({ length: 21 }, (_, index) => {
        const cells = drawn.slice(index * 300, (index + 1) * 300);
        return night(cells.filter((value) => value < unknown).length, 300);
      });
      judged += 1;
      if (odd(nights[20] ?? night(0), nights.slice(0, 20)).length > 0) found += 1;
    }),
    { numRuns: 40, seed: 7 },
  );
  expect(judged).toBe(40);
  expect(found).toBeLessThan(3);
});
