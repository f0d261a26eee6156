import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { systemClock } from '../../../platform/waiting/clock.js';
import type { History } from '../../history/history.js';
import type { ResolvedRun } from '../options/run-options.js';

const lockedMs = 1000;

/**
 * Opens the history of a run that processes share; waits for as long as another process has it.
 *
 * @param options.isNeeded asked before each trial
 * @returns `undefined` where there is none, or it is needed no more
 * @throws as opening it does; the signal's reason
 */
export async function openInTurn(
  { openHistory, onProgress, clock = systemClock }: ResolvedRun,
  { signal, isNeeded }: { readonly signal: AbortSignal; readonly isNeeded: () => boolean },
): Promise<History | undefined> {
  if (!openHistory) return undefined;
  for (let trials = 0; isNeeded(); trials += 1) {
    try {
      return await openHistory();
    } catch (error) {
      if (!isSluiceError(error, 'state_locked')) throw error;
    }
    if (trials === 0) {
      onProgress?.({
        stage: 'notice',
        message: 'another process uses the history: waiting for it',
      });
    }
    await clock.sleep(lockedMs, signal);
  }
  return undefined;
}
