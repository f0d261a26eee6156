import type { PaceSteps } from '../shared/store-protocol.js';
import type { RunCalls } from './run-calls.js';

/** What a process asks of the pace of its account, as calls of the functions of a schema. */
export function createPaceSteps(calls: RunCalls): PaceSteps {
  const { run, owner } = calls;
  let account = '';
  return {
    async join(own) {
      account = own.account(calls.salt);
      return calls.call('join_pace', { run, owner, account, interval_ms: own.intervalMs });
    },
    async takeSlot() {
      const { waitMs } = await calls.call<{ waitMs: number }>('take_slot', { account });
      return waitMs;
    },
    async pause(ms) {
      await calls.call('pause', { account, ms });
    },
  };
}
