import {
  ApiError,
  ContractError,
  isServiceFailure,
  TransportError,
} from '../../platform/errors/service-errors.js';
import type { RateLimit } from '../rate/rate-headers.js';
import { backoffMs } from '../rate/rate-limiter.js';
import type { Outcome } from '../rate/request-scheduler.js';

/** How waits between two attempts of one request grow. */
const bounds = { firstMs: 500, longestMs: 30_000 };

/**
 * Most invalid answers in all where the operation was never answered as the specification shows: then they are what
 * there is to report. Later they are a temporary fault, such as a proxy's page.
 */
const mostInvalidAnswers = 3;

export interface Failure {
  readonly error: unknown;
  /** Whether asking twice does what asking once does (the table of operations). */
  readonly repeatable: boolean;
  readonly attempts: number;
  /** Answers so far that were not what the specification shows, this one included. */
  readonly invalidAnswers: number;
  /** Whether the operation was ever answered as the specification shows. */
  readonly isUnderstood: boolean;
  readonly hasAnswered: boolean;
  readonly failingForMs: number;
  readonly giveUpAfterMs: number;
  readonly maxRetries: number;
  /** How long the call may still take, in milliseconds. */
  readonly leftMs: number;
}

type Verdict =
  /** The failure is the caller's to see, as it is. */
  | { readonly do: 'throw' }
  /** It could be tried again, and has been for long enough. */
  | { readonly do: 'give_up' }
  | { readonly do: 'repeat'; readonly waitMs: number };

export function judgeFailure(failure: Failure, random: () => number): Verdict {
  if (!mayRepeat(failure) || failure.attempts > failure.maxRetries) return { do: 'throw' };
  const waitMs = waitBefore(failure, random);
  // No attempt fits into the call's remaining time: the latest failure says more than a deadline would.
  if (Math.max(waitMs, retryAfterMs(failure.error)) >= failure.leftMs) return { do: 'throw' };
  const leftMs = failure.giveUpAfterMs - failure.failingForMs;
  if (leftMs <= 0 || askedWaitMs(failure.error) > leftMs) return { do: 'give_up' };
  // The last attempt is made when the time is over, not one wait earlier.
  return { do: 'repeat', waitMs: Math.min(waitMs, leftMs) };
}

/** What a failed request shows the others of its client. */
export function outcomeOf(
  error: unknown,
  limits: RateLimit | undefined,
  hasAnswered: boolean,
): Outcome {
  if (error instanceof ApiError) {
    const { status, retryAfterMs } = error;
    if (status === 429) return { kind: 'throttled', error, retryAfterMs, limits };
    if (isPassing(error, hasAnswered)) return { kind: 'failed', error, retryAfterMs };
    return { kind: 'answered', limits };
  }
  if (error instanceof TransportError || error instanceof ContractError) {
    return { kind: 'failed', error };
  }
  return { kind: 'dropped' };
}

/** Whether an answer may pass. Once the service has answered rightly, the URL is right, and a redirect is a proxy's. */
function isPassing({ status, code }: ApiError, hasAnswered: boolean): boolean {
  return isServiceFailure(status) || (hasAnswered && code === 'redirected');
}

function mayRepeat({
  error,
  repeatable,
  invalidAnswers,
  isUnderstood,
  hasAnswered,
}: Failure): boolean {
  // A request that was surely not sent is retried whatever it is; one that may have been carried out, only if
  // that is harmless.
  if (error instanceof TransportError)
    return error.retryable && (error.sent === 'no' || repeatable);
  if (error instanceof ApiError) {
    return error.status === 429 || (repeatable && isPassing(error, hasAnswered));
  }
  if (error instanceof ContractError) {
    return repeatable && (isUnderstood || invalidAnswers < mostInvalidAnswers);
  }
  return false;
}

function waitBefore({ error, attempts }: Failure, random: () => number): number {
  // After a 429 the whole client pauses, this request included.
  if (error instanceof ApiError && error.status === 429) return 0;
  return Math.max(askedWaitMs(error), backoffMs(attempts, bounds, random));
}

function askedWaitMs(error: unknown): number {
  return error instanceof ApiError && error.status !== 429 ? retryAfterMs(error) : 0;
}

function retryAfterMs(error: unknown): number {
  return error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
}

/** Whether the service cannot have carried out the failed request. */
export function isUnsent(error: unknown): boolean {
  // Whatever refuses a launch, its status shows whether it was carried out, and paid; a 429 comes before that.
  if (error instanceof ApiError && error.operation === 'launchBatch' && error.status !== 429) {
    return false;
  }
  return (error instanceof ApiError || error instanceof TransportError) && error.sent === 'no';
}
