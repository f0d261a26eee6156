import { setFields, SluiceError, type ErrorCodes } from './sluice-error.js';

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
  /**
   * `no`: the service refused the request; `unknown`: it may have been carried out, also a launch whose answer refuses
   * the key.
   */
  readonly sent: 'no' | 'unknown';
  /** The service's own words in the body, without control characters, addresses, numbers and cells. */
  declare readonly serviceMessage: string | undefined;
  /** The wait that the service asked for, clamped, or the client's pause after a 429, in milliseconds; absent without one. */
  declare readonly retryAfterMs: number | undefined;
  /** Credits that a refused launch, before refunds, or unit verification needs; absent otherwise. */
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
    // Redirects may come from a gateway, too: the request may have been carried out. So may a launch whose answer
    // refuses the key: only its status would show it, and cannot be read.
    const isRefused = options.status >= 400 && !isServiceFailure(options.status);
    const isDoubtful = options.operation === 'launchBatch' && isRefusedKey(this);
    this.sent = isRefused && !isDoubtful ? 'no' : 'unknown';
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

/** Timeouts and early hints that some services answer with in place of a 5xx. */
const passingStatuses: ReadonlySet<number> = new Set([408, 425]);

/** Whether a status says that the service, and not the request, is in trouble. */
export function isServiceFailure(status: number): boolean {
  return status >= 500 || passingStatuses.has(status);
}

export function isRefusedKey(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 403);
}

/** The service understood the request and refused it. */
export function isRefusal(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    (error.code === 'bad_request' ||
      error.code === 'validation_failed' ||
      (error.code === 'unexpected_status' && error.sent === 'no'))
  );
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
