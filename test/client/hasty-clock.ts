import type { Clock } from '../../src/platform/waiting/clock.js';
import { systemClock } from '../../src/platform/waiting/clock.js';

/** Real time, so many times faster: the waits between retries, without their length. */
export function createHastyClock(factor = 200): Clock {
  return {
    now: () => systemClock.now() * factor,
    wallNow: () => systemClock.wallNow(),
    sleep: async (ms, signal) => systemClock.sleep(ms / factor, signal),
  };
}
