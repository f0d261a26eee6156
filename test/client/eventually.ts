import { expect } from 'vitest';

/** Expects what becomes true in its own time; the limit is only for what never does. */
// oxlint-disable-next-line vitest/require-awaited-expect-poll -- its callers wait
export const eventually = <T>(get: () => T) => expect.poll(get, { timeout: 15_000, interval: 10 });
