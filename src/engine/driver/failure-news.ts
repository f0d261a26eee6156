import {
  ApiError,
  ConfigurationError,
  ContractError,
  TransportError,
} from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { News } from '../batches/transitions.js';
import type { Step } from '../batches/state-machine.js';

export type RequestStep = Exclude<Step['do'], 'give_up' | 'nothing'>;

/**
 * What the failure of a request tells of its batch; `undefined` when it tells nothing that the batch
 * could go on with. Not to be asked of the reason of an abort.
 */
export function failureNews(step: RequestStep, error: unknown): News | undefined {
  switch (step) {
    case 'upload':
      return isWithoutAnswer(error) ? { of: 'upload', status: 'unknown' } : undefined;
    case 'find':
      return undefined;
    case 'prepare':
      // An odd answer: whether it is prepared is for the status to tell.
      if (error instanceof ContractError) return { of: 'prepare', status: 'error' };
      break;
    case 'read_status':
      break;
    case 'launch':
      if (isWithoutAnswer(error)) return { of: 'launch', status: 'lost' };
      if (isSluiceError(error, 'payment_required')) return { of: 'launch', status: 'refused' };
      if (isSluiceError(error, 'not_found')) return { of: 'launch', status: 'not_found' };
      return undefined;
    case 'export':
      // Exports are free and change nothing: whatever happened to one, it is asked for again.
      if (isWithoutAnswer(error) || error instanceof TransportError) {
        return { of: 'export', result: 'broken' };
      }
      break;
  }
  return isSluiceError(error, 'not_found') ? { of: 'missing' } : undefined;
}

/** Whether a request that failed with this was surely not carried out. */
export function isSurelyRefused(error: unknown): boolean {
  if (isWithoutAnswer(error)) return false;
  // What was carried out may be answered with a redirect as well (303).
  if (error instanceof ApiError) return error.code !== 'redirected';
  return error instanceof TransportError || error instanceof ConfigurationError;
}

/** The service understood the request and said no to what it asks. */
export function isRefusal(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    (error.code === 'bad_request' ||
      error.code === 'validation_failed' ||
      (error.code === 'unexpected_status' && !error.retryable))
  );
}

/** Whether the service could not do what it was asked for, or did not say what became of it. */
export function hasFailed(news: News): boolean {
  switch (news.of) {
    case 'upload':
      return news.status === 'error' || news.status === 'unknown';
    case 'launch':
      return news.status === 'error' || news.status === 'lost';
    case 'export':
      return news.result === 'broken';
    default:
      return false;
  }
}

/** The service may have carried the request out, or not. */
function isWithoutAnswer(error: unknown): boolean {
  if (error instanceof TransportError) return error.sent === 'unknown';
  // Retryable but for a 429: the service, or what stands before it, was in trouble.
  if (error instanceof ApiError) return error.retryable && error.code !== 'too_many_requests';
  return error instanceof ContractError;
}
