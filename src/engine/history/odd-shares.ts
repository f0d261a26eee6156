import type { OddShare, PastRun, PastCounts } from '../summary/summary.js';

const shareNames = ['valid', 'wrong', 'unknown', 'new'] as const;

/** Fewer runs have no usual share, and of fewer cells or addresses a share means little. */
const leastRuns = 5;
const leastCounted = 200;

/** So many times the usual spread, and never less than so many times half a point, is odd. */
const spreads = 4;
const leastSpread = 0.005;

/** The median absolute deviation of what is spread normally, as a share of its standard deviation. */
const deviationPerMad = 1.4826;

/**
 * Compares the shares of a run with the median of the runs before. How far a share may be from it is four
 * times the largest of three: the runs' own spread (their median absolute deviation, which a single bad
 * night does not move), what chance alone does to a share of so many, and half a percentage point.
 *
 * @param before runs of the same list
 */
export function oddShares(run: PastRun, before: readonly PastRun[]): readonly OddShare[] {
  return (['email', 'phone'] as const).flatMap((type) =>
    shareNames.flatMap((share) => {
      const now = shareOf(run[type], share);
      const earlier = before.flatMap((each) => shareOf(each[type], share)?.value ?? []);
      if (now === undefined || earlier.length < leastRuns) return [];
      const usual = medianOf(earlier);
      const mad = medianOf(earlier.map((value) => Math.abs(value - usual)));
      const chance = Math.sqrt((usual * (1 - usual)) / now.of);
      const allowed = spreads * Math.max(deviationPerMad * mad, chance, leastSpread);
      if (Math.abs(now.value - usual) <= allowed) return [];
      return [{ type, share, now: now.value, usual, allowed }];
    }),
  );
}

/** @returns `undefined` where there are too few to be a share of */
function shareOf(
  figures: PastCounts | null,
  share: OddShare['share'],
): { readonly value: number; readonly of: number } | undefined {
  if (!figures) return undefined;
  const { addresses, from_history: known, verdicts } = figures;
  const verified = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  const of = share === 'new' ? addresses : verified;
  if (of < leastCounted) return undefined;
  return { value: (share === 'new' ? addresses - known : verdicts[share]) / of, of };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 0 ? (low + high) / 2 : high;
}
