/**
 * Every code an error of Sluice can carry. A code is part of the public interface: scripts branch on it.
 */
export type SluiceErrorCode =
  // configuration: nothing was sent
  | 'invalid_option'
  | 'column_not_found'
  | 'column_exists'
  | 'country_missing'
  | 'missing_dependency'
  | 'batch_refused'
  // input and output
  | 'input_unreadable'
  | 'input_malformed'
  | 'input_changed'
  | 'output_failed'
  // the wire
  | 'connection_failed'
  | 'connection_lost'
  | 'request_timeout'
  | 'redirected'
  // the service's answers
  | 'bad_request'
  | 'unauthorized'
  | 'payment_required'
  | 'forbidden'
  | 'not_found'
  | 'too_large'
  | 'validation_failed'
  | 'too_many_requests'
  | 'server_error'
  | 'unexpected_status'
  | 'broken_contract'
  // waiting and money
  | 'deadline_exceeded'
  | 'service_unavailable'
  | 'budget_exhausted'
  | 'detached'
  // what is kept on disk
  | 'state_locked'
  | 'state_mismatch'
  | 'state_damaged'
  | 'state_unfinished';

export interface SluiceErrorOptions {
  readonly code: SluiceErrorCode;
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/**
 * The root of all errors that Sluice raises on purpose. Messages say what failed and on which id, and
 * hold neither a key nor a cell of the input.
 *
 * @example
 * ```ts
 * try {
 *   await run({ source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * } catch (error) {
 *   if (error instanceof SluiceError && error.retryable) console.error('run again:', error.code);
 * }
 * ```
 */
export class SluiceError extends Error {
  readonly code: SluiceErrorCode;
  readonly retryable: boolean;

  constructor(message: string, options: SluiceErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code;
    this.retryable = options.retryable ?? false;
  }
}

/**
 * Whether an error is one of Sluice, and, given a code, that one.
 *
 * @example
 * ```ts
 * const options = { source: 'missing.csv', email: ['email'], country: 'US' };
 * const error = await estimateRun(options).catch((reason: unknown) => reason);
 * console.log(isSluiceError(error, 'input_unreadable')); // true
 * ```
 */
export function isSluiceError(error: unknown): error is SluiceError;
export function isSluiceError<Code extends SluiceErrorCode>(
  error: unknown,
  code: Code | undefined,
): error is SluiceError & { readonly code: Code };
export function isSluiceError(error: unknown, code?: SluiceErrorCode): boolean {
  return error instanceof SluiceError && (code === undefined || error.code === code);
}
