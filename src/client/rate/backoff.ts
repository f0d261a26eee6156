/** Bounds of a wait that doubles with every failure. */
export interface BackoffBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * How long to wait after the n-th failure in a row (counted from 1), in milliseconds: doubling, and
 * between half and all of it at random, so that many clients do not come back as one.
 */
export function backoffMs(failures: number, bounds: BackoffBounds, random: () => number): number {
  const whole = Math.min(bounds.longestMs, bounds.firstMs * 2 ** Math.max(0, failures - 1));
  return whole / 2 + (whole / 2) * random();
}
