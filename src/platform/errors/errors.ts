import { SluiceError, type ErrorCodes } from './sluice-error.js';

/** A printed error shows the fields that it has: one without a value is absent. */
function setFields(error: SluiceError, fields: object): void {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  Object.assign(error, Object.fromEntries(given));
}

/** What is wrong, where an error's code has several reasons. */
export type ErrorFault =
  // with a list
  | 'empty'
  | 'cut_short'
  | 'damaged'
  | 'too_large'
  | 'unsupported'
  | 'other_format'
  | 'encoding'
  | 'not_json'
  | 'unclosed_quote'
  | 'stray_quote'
  | 'text_after_quote'
  | 'lone_carriage_return'
  | 'too_many_cells'
  | 'too_long'
  // with an option, a column or a place
  | 'missing'
  | 'exists'
  | 'repeated'
  | 'blank_header'
  | 'folder'
  | 'other_content'
  | 'link'
  | 'second_name'
  | 'other_user'
  | 'open_to_others'
  | 'no_permissions'
  | 'no_locks'
  // with a table, or why it refuses rows
  | 'view'
  | 'not_unique'
  | 'null'
  | 'misfit'
  | 'check'
  | 'foreign_key'
  | 'trigger'
  | 'dropped'
  | 'right'
  | 'read_only'
  | 'locked';

/** What an error is about: each field is absent where the message does not name it. */
export interface ErrorPlace {
  /** The file or folder. */
  readonly file?: string | undefined;
  /** The column. */
  readonly column?: string | undefined;
  /** The data rows, from 1. */
  readonly rows?: readonly number[] | undefined;
  readonly fault?: ErrorFault | undefined;
}

/** For an error that takes another's place. @internal */
export function placeOf({ file, column, rows, fault }: ErrorPlace): ErrorPlace {
  return { file, column, rows, fault };
}

/**
 * An option, a column or the environment is wrong: the caller fixes it. Nothing was sent.
 *
 * @example
 * ```ts
 * try {
 *   listSource('ftp://example.com/contacts.csv');
 * } catch (error) {
 *   if (error instanceof ConfigurationError) console.log(error.code); // invalid_option
 * }
 * ```
 */
export class ConfigurationError extends SluiceError implements ErrorPlace {
  override readonly name = 'ConfigurationError';
  declare readonly code: ErrorCodes['ConfigurationError'];
  /** The option to change, if it is one: `settings.target_audience`, or `--country` on the command line. */
  declare readonly option: string | undefined;
  /** The line of a file of settings or addresses, from 1. */
  declare readonly line: number | undefined;
  declare readonly file: string | undefined;
  declare readonly column: string | undefined;
  declare readonly rows: readonly number[] | undefined;
  declare readonly fault: ErrorFault | undefined;

  constructor(
    message: string,
    options: ErrorPlace & {
      readonly code?: ErrorCodes['ConfigurationError'];
      readonly option?: string | undefined;
      readonly line?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { code: options.code ?? 'invalid_option', cause: options.cause });
    setFields(this, { option: options.option, line: options.line, ...placeOf(options) });
  }
}

/**
 * The source is missing, unreadable or malformed.
 *
 * @example
 * ```ts
 * try {
 *   await estimateRun({ source: 'missing.csv', email: ['email'], country: 'US' });
 * } catch (error) {
 *   if (error instanceof InputError) console.log(error.code); // input_unreadable
 * }
 * ```
 */
export class InputError extends SluiceError implements ErrorPlace {
  override readonly name = 'InputError';
  declare readonly code: ErrorCodes['InputError'];
  /** Line of the input where the fault begins, from 1, if known. */
  declare readonly line: number | undefined;
  declare readonly file: string | undefined;
  declare readonly column: string | undefined;
  declare readonly rows: readonly number[] | undefined;
  declare readonly fault: ErrorFault | undefined;

  constructor(
    message: string,
    options: ErrorPlace & {
      readonly code?: ErrorCodes['InputError'];
      readonly line?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    const { code = 'input_malformed', cause } = options;
    // The next run reads the current list; every other code needs a person.
    super(message, { code, retryable: code === 'input_changed', cause });
    setFields(this, { line: options.line, ...placeOf(options) });
  }
}

/**
 * The output, or the state kept on disk for it, cannot be written.
 *
 * @example
 * ```ts
 * try {
 *   await run({ source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * } catch (error) {
 *   if (error instanceof OutputError) console.error('make room, then run again');
 * }
 * ```
 */
export class OutputError extends SluiceError implements ErrorPlace {
  override readonly name = 'OutputError';
  declare readonly code: ErrorCodes['OutputError'];
  declare readonly file: string | undefined;
  declare readonly column: string | undefined;
  declare readonly rows: readonly number[] | undefined;
  declare readonly fault: ErrorFault | undefined;

  constructor(message: string, options: ErrorPlace & { readonly cause?: unknown } = {}) {
    super(message, { code: 'output_failed', cause: options.cause });
    setFields(this, placeOf(options));
  }
}

/** What to do where a request may have been carried out, and doing it again may pay again. */
const hints: Readonly<Record<string, string>> = {
  uploadBatch: 'it may have arrived: look for its name in the list before you upload it again',
  launchBatch:
    'it may have been launched, and paid for: read the status of the batch before you launch it again',
  verifyUnit: 'it may have been charged, and asking again may pay again',
};

function hintOf({
  operation,
  sent,
}: {
  readonly operation: string;
  readonly sent: 'no' | 'unknown';
}): string | undefined {
  return sent === 'unknown' ? hints[operation] : undefined;
}

/**
 * A request without a complete answer: connection refused, reset, timed out.
 *
 * @example
 * ```ts
 * try {
 *   await run({ source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * } catch (error) {
 *   if (error instanceof TransportError) console.error(error.operation, error.reason);
 * }
 * ```
 */
export class TransportError extends SluiceError {
  override readonly name = 'TransportError';
  declare readonly code: ErrorCodes['TransportError'];
  /** Name of the operation (`launchBatch`, …). */
  readonly operation: string;
  /**
   * `no`: the service cannot have seen the request; `unknown`: it may have been carried out. Never a guess:
   * on a reused socket the same error may mean both, which is `unknown`.
   */
  readonly sent: 'no' | 'unknown';
  /** The cause, without the operation. */
  readonly reason: string;
  /** What to do next where `sent` is `unknown` and repeating the call may pay again; absent otherwise. */
  declare readonly hint?: string;

  constructor(
    message: string,
    options: {
      /** @default the message */
      readonly reason?: string;
      readonly code: ErrorCodes['TransportError'];
      readonly operation: string;
      readonly sent: 'no' | 'unknown';
      /** `false` where a retry cannot help, as with a certificate. */
      readonly retryable?: boolean;
      readonly cause?: unknown;
    },
  ) {
    super(message, { ...options, retryable: options.retryable ?? true });
    this.operation = options.operation;
    this.sent = options.sent;
    this.reason = options.reason ?? message;
    setFields(this, { hint: hintOf(this) });
  }
}

interface NeededCredits {
  readonly type: 'email' | 'phone';
  readonly credits: number;
}

/**
 * The service answered with an error status (spec 7).
 *
 * @example
 * ```ts
 * try {
 *   await run({ source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * } catch (error) {
 *   if (error instanceof ApiError) console.error(error.operation, error.status);
 * }
 * ```
 */
export class ApiError extends SluiceError {
  override readonly name = 'ApiError';
  declare readonly code: ErrorCodes['ApiError'];
  readonly operation: string;
  /** HTTP status. */
  readonly status: number;
  /** `no`: the service refused the request; `unknown`: it may have been carried out. */
  readonly sent: 'no' | 'unknown';
  /** The service's own words in the body, without control characters, addresses, numbers and cells. */
  declare readonly serviceMessage: string | undefined;
  /** The wait that the service asked for, clamped, or the client's pause after a 429, in milliseconds; absent without one. */
  declare readonly retryAfterMs: number | undefined;
  /** Credits of a batch whose launch was refused for them, before refunds; absent otherwise. */
  declare readonly needs: NeededCredits | undefined;
  /** The request's id in the logs of the service, or of a gateway before it, if given. */
  declare readonly requestId: string | undefined;
  /** As in TransportError. */
  declare readonly hint?: string;
  readonly #body: unknown;

  constructor(
    message: string,
    options: {
      readonly code: ErrorCodes['ApiError'];
      readonly operation: string;
      readonly status: number;
      readonly serviceMessage?: string | undefined;
      readonly body?: unknown;
      readonly requestId?: string | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly needs?: NeededCredits | undefined;
      readonly retryable?: boolean;
      readonly cause?: unknown;
    },
  ) {
    super(message, options);
    this.operation = options.operation;
    this.status = options.status;
    this.sent = isRefusal(options.status) ? 'no' : 'unknown';
    const { serviceMessage, retryAfterMs, needs, requestId } = options;
    setFields(this, { serviceMessage, retryAfterMs, needs, requestId, hint: hintOf(this) });
    this.#body = options.body;
  }

  /**
   * The body of the answer: its JSON value, or its text. Addresses, numbers, the key and sent cells are
   * redacted, and long texts cut; it may still name people, so printing the error omits it.
   */
  get body(): unknown {
    return this.#body;
  }
}

/** Timeouts and redirects may come from a gateway: the request may have been carried out. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 425;
}

/**
 * A successful answer that differs from the specification.
 *
 * @example
 * ```ts
 * const error = new ContractError('credits answered without a balance', { operation: 'credits' });
 * console.log(error.code, error.operation); // broken_contract credits
 * ```
 */
export class ContractError extends SluiceError {
  override readonly name = 'ContractError';
  declare readonly code: ErrorCodes['ContractError'];
  readonly operation: string;
  /** The request may have been carried out: the answer says so, but not how. */
  readonly sent = 'unknown';
  /** HTTP status, where the answer itself is the trouble, and not what it means. */
  declare readonly status: number | undefined;
  /** As in ApiError. */
  declare readonly requestId: string | undefined;
  /** As in TransportError. */
  declare readonly hint?: string;
  readonly #body: unknown;

  constructor(
    message: string,
    options: {
      readonly operation: string;
      readonly status?: number | undefined;
      readonly body?: unknown;
      readonly requestId?: string | undefined;
      readonly retryable?: boolean;
      readonly cause?: unknown;
    },
  ) {
    super(message, { ...options, code: 'broken_contract' });
    this.operation = options.operation;
    const { status, requestId } = options;
    setFields(this, { status, requestId, hint: hintOf(this) });
    this.#body = options.body;
  }

  /** As of an ApiError; absent of an export. */
  get body(): unknown {
    return this.#body;
  }
}

/**
 * Something took longer than allowed: a stage of a batch, or an outage of the service.
 *
 * @example
 * ```ts
 * try {
 *   await run({ source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * } catch (error) {
 *   if (error instanceof DeadlineError) console.error('the service is slow: run again later');
 * }
 * ```
 */
export class DeadlineError extends SluiceError {
  override readonly name = 'DeadlineError';
  declare readonly code: ErrorCodes['DeadlineError'];
  /** Of a request that was given up: its last attempt, as in TransportError. Absent otherwise. */
  declare readonly sent: 'no' | 'unknown' | undefined;
  /** The pause that the service asked for, in milliseconds, where it kept a call from being sent. */
  declare readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: {
      readonly code?: ErrorCodes['DeadlineError'];
      readonly sent?: 'no' | 'unknown' | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { ...options, code: options.code ?? 'deadline_exceeded', retryable: true });
    setFields(this, { sent: options.sent, retryAfterMs: options.retryAfterMs });
  }
}

/**
 * Credits or the caller's own budget are used up; running batches are finished, no more are launched.
 *
 * @example
 * ```ts
 * const job = { source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' };
 * try {
 *   await run({ ...job, maxCredits: 1 });
 * } catch (error) {
 *   if (error instanceof BudgetError) console.log('raise it, then run again'); // raise it, then run again
 * }
 * ```
 */
export class BudgetError extends SluiceError {
  override readonly name = 'BudgetError';
  declare readonly code: ErrorCodes['BudgetError'];

  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, { code: 'budget_exhausted', cause: options.cause });
  }
}

/**
 * The run leaves its batches to the service, as its options ask: the same call later continues.
 *
 * @example
 * ```ts
 * const job = { source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' };
 * try {
 *   await run({ ...job, onPrepared: async () => false });
 * } catch (error) {
 *   if (error instanceof DetachedError) console.log('prepared, not launched'); // prepared, not launched
 * }
 * ```
 */
export class DetachedError extends SluiceError {
  override readonly name = 'DetachedError';
  declare readonly code: ErrorCodes['DetachedError'];

  constructor(
    message: string,
    options: {
      /** `false` where the caller did not agree to the launch: the same call asks again. @default true */
      readonly retryable?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    const { retryable = true, cause } = options;
    super(message, { code: 'detached', retryable, cause });
  }
}

/**
 * The state directory is in use, belongs to another run, or is damaged.
 *
 * @example
 * ```ts
 * try {
 *   await run({ source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * } catch (error) {
 *   if (error instanceof StateError && error.code === 'state_locked') console.error('it runs already');
 * }
 * ```
 */
export class StateError extends SluiceError implements ErrorPlace {
  override readonly name = 'StateError';
  declare readonly code: ErrorCodes['StateError'];
  declare readonly file: string | undefined;
  declare readonly column: string | undefined;
  declare readonly rows: readonly number[] | undefined;
  declare readonly fault: ErrorFault | undefined;

  constructor(
    message: string,
    options: ErrorPlace & {
      readonly code: ErrorCodes['StateError'];
      readonly cause?: unknown;
    },
  ) {
    // The other process will end; every other code needs a person.
    const retryable = options.code === 'state_locked';
    super(message, { code: options.code, retryable, cause: options.cause });
    setFields(this, placeOf(options));
  }
}
