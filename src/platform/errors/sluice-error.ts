/** The codes of each error class. A code is part of the public interface: scripts branch on it. */
export interface ErrorCodes {
  /** Nothing was sent. */
  readonly ConfigurationError:
    | 'invalid_option'
    | 'column_not_found'
    | 'column_exists'
    | 'column_of_lists'
    | 'header_missing'
    | 'country_missing'
    | 'missing_dependency'
    | 'port_in_use'
    | 'batch_refused'
    | 'declined';
  readonly InputError: 'input_unreadable' | 'input_malformed' | 'input_changed' | 'input_suspect';
  readonly OutputError: 'output_failed';
  readonly TransportError: 'connection_failed' | 'connection_lost' | 'request_timeout';
  readonly ApiError:
    | 'redirected'
    | 'bad_request'
    | 'unauthorized'
    | 'payment_required'
    | 'forbidden'
    | 'not_found'
    | 'too_large'
    | 'validation_failed'
    | 'too_many_requests'
    | 'server_error'
    | 'unexpected_status';
  readonly ContractError: 'broken_contract';
  readonly DeadlineError:
    | 'deadline_exceeded'
    | 'service_unavailable'
    | 'store_unavailable'
    | 'store_restored'
    | 'processes_lost';
  readonly BudgetError: 'budget_exhausted';
  readonly DetachedError: 'detached';
  readonly StateError: 'state_locked' | 'state_mismatch' | 'state_damaged';
}

export type SluiceErrorCode = ErrorCodes[keyof ErrorCodes];

export interface SluiceErrorOptions {
  readonly code: SluiceErrorCode;
  /**
   * Whether the same call may succeed later without a change by the caller, and cannot pay again. Repeated
   * calls still need a limit.
   *
   * @default false
   */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** Equal in every copy of this package in a process, unlike `instanceof`. @internal */
export const brand: unique symbol = Symbol.for('sluice.error');

/**
 * The base class of Sluice's errors. Messages give what failed and the id, never a key or a cell.
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
  override readonly name: string = 'SluiceError';
  readonly code: SluiceErrorCode;
  readonly retryable: boolean;

  constructor(message: string, options: SluiceErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.retryable = options.retryable ?? false;
  }

  /** @internal */
  get [brand](): boolean {
    return true;
  }
}

/** A printed error shows the fields that it has: one without a value is absent. @internal */
export function setFields(error: SluiceError, fields: object): void {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  Object.assign(error, Object.fromEntries(given));
}
