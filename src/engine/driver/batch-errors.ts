import { isBare, sanitized } from '../../client/redaction.js';
import { BudgetError, ConfigurationError, DeadlineError } from '../../platform/errors/errors.js';
import {
  ApiError,
  ContractError,
  isRefusal,
  isRefusedKey,
  isServiceFailure,
  TransportError,
} from '../../platform/errors/service-errors.js';
import { batchStatuses } from '../../contract/enums.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import { counted, duration, grouped } from '../../platform/text/shown-numbers.js';
import type { Stage } from '../batches/batch-state.js';
import type { Step } from '../batches/state-machine.js';
import type { BatchEvent } from '../batches/transitions.js';

export type RequestStep = Exclude<Step['do'], 'give_up' | 'nothing'>;

/** The event that a failed request is for its batch; `undefined` where that cannot continue. Not for an abort's reason. */
export function classifyError(step: RequestStep, error: unknown): BatchEvent | undefined {
  switch (step) {
    case 'upload':
      return isWithoutAnswer(error) ? { of: 'upload', status: 'unknown' } : undefined;
    case 'find':
      return undefined;
    case 'prepare':
      // An unexpected answer: the status shows whether it is prepared.
      if (error instanceof ContractError) return { of: 'prepare', status: 'error', isOdd: true };
      break;
    case 'read_status':
      break;
    case 'launch':
      if (isWithoutAnswer(error)) return { of: 'launch', status: 'lost' };
      if (isSluiceError(error, 'payment_required')) return { of: 'launch', status: 'refused' };
      if (isSluiceError(error, 'not_found')) return { of: 'launch', status: 'not_found' };
      return undefined;
    case 'export':
      // Exports are free and change nothing: a failed one is repeated.
      if (isWithoutAnswer(error) || error instanceof TransportError) {
        return { of: 'export', result: 'broken' };
      }
      break;
  }
  return isSluiceError(error, 'not_found') ? { of: 'missing' } : undefined;
}

export function isSurelyRefused(error: unknown): boolean {
  // A status that no operation shows (409) may also answer a request that was carried out.
  if (error instanceof ApiError) return error.sent === 'no' && error.code !== 'unexpected_status';
  // Given up after refusals alone, or before it was sent.
  if (error instanceof DeadlineError || error instanceof TransportError) return error.sent === 'no';
  return error instanceof ConfigurationError;
}

export const knownStatuses: ReadonlySet<string> = new Set(batchStatuses);

/** Whether a status surely says that there are no results. */
export function isUndone(status: string): boolean {
  return knownStatuses.has(status) && status !== 'verification_done';
}

/** Whether an export that is refused so may be there later. */
export function mayPass(error: unknown): boolean {
  return !isRefusal(error) || error.status === 400 || error.status === 409;
}

/** Whether the service failed, or did not report a result. */
export function hasFailed(event: BatchEvent): boolean {
  switch (event.of) {
    case 'upload':
      return event.status === 'error' || event.status === 'unknown';
    case 'launch':
      return event.status === 'error' || event.status === 'lost';
    case 'export':
      return event.result === 'broken';
    case 'prepare':
      return event.isOdd === true;
    case 'unread':
      return true;
    default:
      return false;
  }
}

/** Whether the service may have carried out the request. */
function isWithoutAnswer(error: unknown): boolean {
  if (error instanceof TransportError) return error.sent === 'unknown';
  // The service, or a proxy before it, was in trouble; a redirect is an answer, though the wrong one.
  if (error instanceof ApiError) return isServiceFailure(error.status);
  return error instanceof ContractError;
}

export interface StoppedBatch {
  readonly called: string;
  readonly stage: Stage;
  /** The latest failure that did not stop the batch. */
  readonly trouble: unknown;
}

function latest(trouble: unknown): string {
  return isSluiceError(trouble) ? `: ${trouble.message}` : '';
}

/** What failed too often, by stage. */
const givenUp: Readonly<Partial<Record<Stage, string>>> = {
  planned: 'its upload',
  uploading: 'its upload',
  parsing: 'its preparation',
  ready: 'its launch',
  launching: 'its launch',
  done: 'the fetching of its results',
};

/** The error of a bound: the service answers, but never as it should. @param forMs how long. @default too often */
export function givenUpError(
  { called, stage, trouble }: StoppedBatch,
  forMs?: number,
): DeadlineError {
  const what = givenUp[stage] ?? 'what it needs';
  const bound = forMs === undefined ? 'too often' : `for ${duration(forMs / 1000)}`;
  const isUnlisted = trouble === undefined && stage === 'uploading';
  const why = isUnlisted ? ': no batch in the list has this name' : latest(trouble);
  return new DeadlineError(`batch ${called}: ${what} has failed ${bound}${why}`, {
    code: 'service_unavailable',
    cause: trouble,
  });
}

/** The error of a passed deadline. @param status the latest status of the batch */
export function overdueError(
  { called, stage, trouble }: StoppedBatch,
  status: string | undefined,
  deadlineMs: number,
): DeadlineError {
  const word = status === undefined ? '' : `, the service calls it '${sanitized(status)}'`;
  return new DeadlineError(
    `batch ${called} timed out after ${duration(deadlineMs / 1000)} in stage '${stage}'${word}${latest(trouble)}`,
    { cause: trouble },
  );
}

/**
 * The error of a launch refused for lack of credits, with the service's answer as its cause.
 *
 * @param balance the account's credits of the type. @default unknown
 */
export function unpaidError(
  refusal: ApiError,
  needs: NonNullable<ApiError['needs']>,
  balance?: number,
): ApiError {
  const { code, operation, status, serviceMessage } = refusal;
  const { type, credits } = needs;
  const has =
    balance === undefined ? `too few ${type} credits` : counted(balance, `${type} credit`);
  const words = isBare(status, serviceMessage) ? '' : `; the service says: ${serviceMessage}`;
  const why =
    balance !== undefined && balance >= credits
      ? `the service refuses to launch a batch for lack of credits: it needs ${grouped(credits)}, and the account has ${has}`
      : `the account has ${has}, this batch needs ${grouped(credits)}`;
  return new ApiError(`${why}${words}`, {
    code,
    operation,
    status,
    serviceMessage,
    needs,
    cause: refusal,
  });
}

/** Whether the service or the credits stopped the run, not the key, the disk or a person. */
export function stopsForNow(error: unknown): error is SluiceError {
  if (error instanceof ApiError) return !isRefusedKey(error);
  return [BudgetError, DeadlineError, TransportError, ContractError].some(
    (kind) => error instanceof kind,
  );
}

/** A refusal of the first batch's form concerns the configuration. */
export function refusedAtOnce(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.retryable || isWithoutAnswer(error)) return error;
  if (isRefusedKey(error)) return error;
  return new ConfigurationError(
    `the service refuses the first batch, so nothing was paid: ${error.message}`,
    { code: 'batch_refused', cause: error },
  );
}
