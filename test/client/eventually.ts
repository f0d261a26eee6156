import { expect } from 'vitest';

/** Expects what becomes true in its own time. */
// oxlint-disable-next-line vitest/require-awaited-expect-poll -- its callers wait
export const eventually = <T>(get: () => T) => expect.poll(get, { interval: 10 });
