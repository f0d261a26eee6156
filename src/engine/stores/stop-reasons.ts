import {
  ApiError,
  BudgetError,
  DeadlineError,
  DetachedError,
  StateError,
} from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import { stoppedEntry, type StoppedEntry } from './journal-entries.js';
import { optionName } from '../../platform/text/option-name.js';

/** A batch on which processes keep dying would cost all of them. @param batch its label */
export function stopForLosses(batch: string): StoppedEntry {
  return {
    entry: 'stopped',
    code: 'processes_lost',
    message: `five processes were lost within a minute of getting batch ${batch}. If it was not the machines, it is this batch or one that they drove with it: look at the processes' logs and memory; a smaller ${optionName('concurrency')} needs less`,
    at: new Date().toISOString(),
  };
}

/**
 * The stop for all processes that a process's error requires: one that each would meet, or that is meant for
 * all.
 */
export function stopForAll(error: unknown): StoppedEntry | undefined {
  if (!isSluiceError(error)) return undefined;
  const stopped = stoppedEntry.safeParse({
    entry: 'stopped',
    code: error.code,
    message: error.message,
    at: new Date().toISOString(),
  });
  return stopped.data;
}

/** Whether launched batches are finished first. */
export function letsFinish({ code }: StoppedEntry): boolean {
  return ['payment_required', 'budget_exhausted', 'detached', 'processes_lost'].includes(code);
}

/** The error of a process that another has stopped. */
export function stopOfOthers({ code, message: reason }: StoppedEntry): SluiceError {
  const message = `another process of the run was stopped: ${reason}`;
  switch (code) {
    case 'budget_exhausted':
      return new BudgetError(message);
    case 'detached':
      return new DetachedError(reason, { retryable: false });
    case 'abandoned':
      return new StateError(reason, { code: 'state_mismatch' });
    case 'processes_lost':
      return new DeadlineError(reason, { code });
    default:
      return new ApiError(message, { code, operation: 'launchBatch', status: statuses[code] });
  }
}

const statuses = { payment_required: 402, unauthorized: 401, forbidden: 403 } as const;
