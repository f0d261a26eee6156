import { sayable } from '../../client/redaction.js';
import { ApiError, DeadlineError, StateError } from '../../platform/errors/errors.js';
import { SluiceError } from '../../platform/errors/sluice-error.js';
import { STATUS_CODES } from '../../platform/http.js';
import { counted, duration, grouped } from '../../platform/text/shown-numbers.js';
import type { Stage } from '../batches/batch-state.js';

/** Where a batch stands that stops its run. */
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
  return new DeadlineError(`batch ${called}: ${what} has failed ${bound}; run again to go on`, {
    code: 'service_unavailable',
    cause: trouble,
  });
}

/**
 * The deadline of a stage has passed.
 *
 * @param status the latest word of the service on where the batch stands
 */
export function overdueError(
  { called, stage, trouble }: StoppedBatch,
  status: string | undefined,
  deadlineMs: number,
): DeadlineError {
  const word = status === undefined ? '' : `, the service calls it '${sayable(status)}'`;
  return new DeadlineError(
    `batch ${called} has not got beyond stage '${stage}' in ${deadlineMs} ms${word}; run again to go on waiting`,
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
  const isBare = serviceMessage === undefined || serviceMessage === STATUS_CODES[status];
  const words = isBare ? '' : `; the service says: ${serviceMessage}`;
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
  const never = ['unauthorized', 'forbidden', 'batch_refused', 'output_failed', 'detached'];
  // Another process works on the run, or its state is in doubt: nothing is written for that.
  if (error instanceof StateError) return false;
  return error instanceof SluiceError && !never.includes(error.code);
}
