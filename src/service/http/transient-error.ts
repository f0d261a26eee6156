const transient: ReadonlySet<unknown> = new Set([
  'EAGAIN',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'ENOSPC',
]);

/**
 * Whether an error of the system says that something has run out which comes back: open files, memory,
 * room on the disk. What failed is right to be done again, later.
 */
export function isTransient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && transient.has(error.code);
}

/** How long to wait before the n-th repetition, counted from 1: doubling, half a minute at most. */
export function transientWaitMs(repetition: number): number {
  return Math.min(30_000, 125 * 2 ** repetition);
}
