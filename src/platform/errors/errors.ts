import { setFields, SluiceError, type ErrorCodes } from './sluice-error.js';

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
  | 'same_process'
  | 'other_process'
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
  /** HTTP status of the last answer, of a list on a web server or in a bucket that refused it. */
  declare readonly status: number | undefined;
  declare readonly file: string | undefined;
  declare readonly column: string | undefined;
  declare readonly rows: readonly number[] | undefined;
  declare readonly fault: ErrorFault | undefined;

  constructor(
    message: string,
    options: ErrorPlace & {
      readonly code?: ErrorCodes['InputError'];
      readonly line?: number | undefined;
      readonly status?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    const { code = 'input_malformed', cause } = options;
    // The next run reads the current list; every other code needs a person.
    super(message, { code, retryable: code === 'input_changed', cause });
    setFields(this, { line: options.line, status: options.status, ...placeOf(options) });
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
  /** Of a request that was given up, as in TransportError; of `verifyFile()`, `unknown` where it may have been paid. Absent otherwise. */
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
  /** The option to change, if it is one. */
  declare readonly option: string | undefined;
  /** The options that differ from those of the run that is there; `source` is its list, too. */
  declare readonly differs: readonly string[] | undefined;
  declare readonly file: string | undefined;
  declare readonly column: string | undefined;
  declare readonly rows: readonly number[] | undefined;
  declare readonly fault: ErrorFault | undefined;

  constructor(
    message: string,
    options: ErrorPlace & {
      readonly code: ErrorCodes['StateError'];
      readonly option?: string | undefined;
      readonly differs?: readonly string[] | undefined;
      readonly cause?: unknown;
    },
  ) {
    // The other process will end; every other code needs a person.
    const retryable = options.code === 'state_locked';
    super(message, { code: options.code, retryable, cause: options.cause });
    const { option, differs } = options;
    setFields(this, { option, differs, ...placeOf(options) });
  }
}
