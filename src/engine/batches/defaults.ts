/** What holds where the caller says nothing. */
export const defaults = {
  batchSize: 50_000,
  concurrency: 4,
  pollIntervalMs: 1000,
  batchDeadlineMs: 24 * 60 * 60 * 1000,
  maxWaitingBytes: 512 * 1024 * 1024,
  batchName: 'sluice',
} as const;
