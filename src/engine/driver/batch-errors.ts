import { sanitized } from '../../client/redaction.js';
import {
  ApiError,
  BudgetError,
  ConfigurationError,
  ContractError,
  DeadlineError,
  TransportError,
} from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import { isBare } from '../../client/http/response.js';
import { counted, duration, grouped } from '../../platform/text/shown-numbers.js';
import type { Stage } from '../batches/batch-state.js';
import type { Step } from '../batches/state-machine.js';
import type { BatchEvent } from '../batches/transitions.js';

export type RequestStep = Exclude<Step['do'], 'give_up' | 'nothing'>;

/**
 * What the failure of a request means for its batch; `undefined` when it means nothing that the batch
 * could continue with. Not to be asked of the reason of an abort.
 */
export function classifyError(step: RequestStep, error: unknown): BatchEvent | undefined {
  switch (step) {
    case 'upload':
      return isWithoutAnswer(error) ? { of: 'upload', status: 'unknown' } : undefined;
    case 'find':
      return undefined;
    case 'prepare':
      // An odd answer: the status shows whether it is prepared.
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
  // Given up after refusals alone, or before it was sent.
  if (error instanceof DeadlineError) return error.sent === 'no';
  return error instanceof TransportError || error instanceof ConfigurationError;
}

/** The service understood the request and said no to what it asks. */
export function isRefusal(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    (error.code === 'bad_request' ||
      error.code === 'validation_failed' ||
      (error.code === 'unexpected_status' && error.sent === 'no'))
  );
}

/** Whether the service could not do what it was asked for, or did not say what became of it. */
export function hasFailed(event: BatchEvent): boolean {
  switch (event.of) {
    case 'upload':
      return event.status === 'error' || event.status === 'unknown';
    case 'launch':
      return event.status === 'error' || event.status === 'lost';
    case 'export':
      return event.result === 'broken';
    default:
      return false;
  }
}

/** The service may have carried the request out, or not. */
export function isWithoutAnswer(error: unknown): boolean {
  if (error instanceof TransportError) return error.sent === 'unknown';
  // The service, or what is before it, was in trouble; a redirect is an answer, and the wrong one.
  if (error instanceof ApiError) return error.sent === 'unknown' && error.code !== 'redirected';
  return error instanceof ContractError;
}

/** Where a batch is that stops its run. */
export interface StoppedBatch {
  /** Its name and uuid, as far as it has one. */
  readonly called: string;
  readonly stage: Stage;
  /** The latest failure that the batch went on with. */
  readonly trouble: unknown;
}

/** What was tried in vain, by the stage in which it was. */
const givenUp: Readonly<Partial<Record<Stage, string>>> = {
  planned: 'its upload',
  uploading: 'its upload',
  ready: 'its launch',
  launching: 'its launch',
  done: 'the fetching of its results',
};

/**
 * A bound is reached: the service answers, and never as it should.
 *
 * @param forMs how long that step has failed. @default it has failed too often
 */
export function givenUpError(
  { called, stage, trouble }: StoppedBatch,
  forMs?: number,
): DeadlineError {
  const what = givenUp[stage] ?? 'what it needs';
  const bound = forMs === undefined ? 'too often' : `for ${duration(forMs / 1000)}`;
  return new DeadlineError(`batch ${called}: ${what} has failed ${bound}`, {
    code: 'service_unavailable',
    cause: trouble,
  });
}

/**
 * The deadline of a stage has passed.
 *
 * @param status the latest word of the service on where the batch is
 */
export function overdueError(
  { called, stage, trouble }: StoppedBatch,
  status: string | undefined,
  deadlineMs: number,
): DeadlineError {
  const word = status === undefined ? '' : `, the service calls it '${sanitized(status)}'`;
  return new DeadlineError(
    `batch ${called} timed out after ${duration(deadlineMs / 1000)} in stage '${stage}'${word}`,
    { cause: trouble },
  );
}

/**
 * A refusal for the money, in words for the one who pays. What the service answered is its cause.
 *
 * @param balance credits of the type that the account has. @default it is not known
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
  return new ApiError(`the account has ${has}, this batch needs ${grouped(credits)}${words}`, {
    code,
    operation,
    status,
    serviceMessage,
    needs,
    cause: refusal,
  });
}

/** Whether the service or the credits stopped the run, and not the key, the disk or a person. */
export function stopsForNow(error: unknown): error is SluiceError {
  if (error instanceof ApiError) return !['unauthorized', 'forbidden'].includes(error.code);
  return [BudgetError, DeadlineError, TransportError, ContractError].some(
    (kind) => error instanceof kind,
  );
}
