import { ApiError, BudgetError, StateError } from '../errors/family.js';
import { isSluiceError, type SluiceError } from '../errors/sluice-error.js';
import { stoppedEntry, type StoppedEntry } from './run-entries.js';

/** What of one process's errors stops all that work on the run: it would meet each of them. */
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

/** Whether what was launched is brought to its end first. */
export function letsFinish({ code }: StoppedEntry): boolean {
  return code === 'payment_required' || code === 'budget_exhausted';
}

/** The error with which a process ends that another has stopped. */
export function stopOfOthers({ code, message: said }: StoppedEntry): SluiceError {
  const message = `another process of the run was stopped: ${said}`;
  switch (code) {
    case 'budget_exhausted':
      return new BudgetError(message);
    case 'abandoned':
      return new StateError(said, { code: 'state_mismatch' });
    case 'payment_required':
      return new ApiError(message, { code, operation: 'launchBatch', status: 402 });
    case 'unauthorized':
      return new ApiError(message, { code, operation: 'launchBatch', status: 401 });
    case 'forbidden':
      return new ApiError(message, { code, operation: 'launchBatch', status: 403 });
  }
}
