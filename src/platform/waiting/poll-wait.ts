const growth = 1.5;
const longestMs = 30_000;
const jitter = 0.2;

/**
 * The wait before the n-th poll of a stage (from 0), in milliseconds: grows from the interval by half
 * each time, to half a minute or the interval, whichever is longer; jitter only lengthens it.
 */
export function pollWaitMs(
  poll: number,
  options: { readonly intervalMs: number; readonly random: () => number },
): number {
  const grown = options.intervalMs * growth ** Math.min(poll, 64);
  const wait = Math.min(grown, Math.max(longestMs, options.intervalMs));
  return wait * (1 + jitter * options.random());
}
