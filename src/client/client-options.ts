import type { Dispatcher } from 'undici';
import type { OperationName } from '../contract/operations.js';
import { version } from '../platform/version.js';
import { ConfigurationError } from '../platform/errors/errors.js';
import type { SluiceErrorCode } from '../platform/errors/sluice-error.js';
import {
  checkOptions,
  hasMethod,
  isObject,
  nearestNames,
  type OptionShape,
} from '../platform/check-options.js';
import {
  amount,
  called,
  clock,
  count,
  duration,
  flag,
  required,
  withMethods,
  signal,
} from '../platform/option-kinds.js';
import { type Clock, systemClock } from '../platform/waiting/clock.js';
import { warnOnce, type ServiceOutage } from './rate/outage.js';
import type { UploadFile } from './http/multipart.js';

export interface RequestReport {
  readonly operation: OperationName;
  /** HTTP status; absent when no answer came. */
  readonly status: number | undefined;
  /** Code of the error the attempt ended with, if it did. */
  readonly code: SluiceErrorCode | undefined;
  /** Which attempt of the same request, counted from 1. */
  readonly attempt: number;
  /** From the attempt's start to the end of its answer, of an export to its beginning; milliseconds. */
  readonly ms: number;
  /** What the service's clock showed: the answer's `Date`, where it has one. */
  readonly date: string | undefined;
}

/** Options of a {@link Client}. */
export interface ClientOptions {
  /** Where the service is: https, or http on this machine. A path in it is kept. */
  readonly baseUrl: string | URL;
  /**
   * Sent with every operation but `format`; never printed. A function is asked before the first request,
   * and once more by each request whose key was refused: keys may be replaced while the client is used.
   * A run or stream that gets the key of another account stops with `state_mismatch`, and launches nothing there.
   *
   * @default none: every operation but `format` throws ConfigurationError before it sends anything. `undefined` is
   *   refused at once: the environment variable that it comes from is not set
   */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /**
   * undici's, for a proxy or certificates of your own; you close it.
   *
   * @default an agent of the client's own, through the proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name
   */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * Longest silence of the service within one request, in milliseconds; less than 1 KiB of an answer
   * in that time counts as silence.
   *
   * @default 30000
   */
  readonly timeoutMs?: number | undefined;
  /** Longest time until there is a connection, in milliseconds. @default 10000 */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * Longest time of one attempt of any request, its answer included, in milliseconds.
   *
   * @default four times `timeoutMs`; none for exports, uploads and `format`
   */
  readonly totalTimeoutMs?: number | undefined;
  /**
   * How long the service may fail without one success, in milliseconds; then calls fail at once for at most two
   * minutes, until one asks again.
   *
   * @default 600000
   */
  readonly giveUpAfterMs?: number | undefined;
  /** Most requests at once. @default 16 */
  readonly maxConcurrentRequests?: number | undefined;
  /**
   * Most requests in any minute. Where processes share a run in a store, of all for this account in it
   * together; of several rates that were given the lowest counts.
   *
   * @default as many as the service takes, learned from its 429 answers
   */
  readonly requestsPerMinute?: number | undefined;
  /**
   * Largest answer that is held in memory, in bytes; exports are streamed and not bounded.
   *
   * @default 67108864
   */
  readonly maxAnswerBytes?: number | undefined;
  /** Lets the key travel over plain http to another machine. @default false */
  readonly allowInsecureHttp?: boolean | undefined;
  /** The `user-agent` header of each request. @default `sluice/` and the version */
  readonly userAgent?: string | undefined;
  /** Clock, for tests. @default the system's */
  readonly clock?: Clock | undefined;
  /** Numbers from 0 to below 1, for the jitter of waits. @default `Math.random` */
  readonly random?: (() => number) | undefined;
  /** Called after every attempt; what it throws is ignored. @default nothing is called */
  readonly onRequest?: ((report: RequestReport) => void) | undefined;
  /**
   * Called when the service has kept requests waiting for some seconds, each minute after that, and when
   * it answers again; what it throws is ignored.
   * @default one warning of the process (`SLUICE_SERVICE_WAITING`) for each client
   */
  readonly onOutage?: ((outage: ServiceOutage) => void) | undefined;
}

const shape: OptionShape<ClientOptions> = {
  baseUrl: required({
    what: 'the URL of the service, such as "https://verify.example.com"',
    isRight: (value) => typeof value === 'string' || value instanceof URL,
  }),
  apiKey: {
    what: 'a string, or a function that gives one',
    isRight: (value) => typeof value === 'string' || typeof value === 'function',
  },
  dispatcher: withMethods("a dispatcher of undici's", 'dispatch'),
  timeoutMs: duration,
  connectTimeoutMs: duration,
  totalTimeoutMs: duration,
  giveUpAfterMs: amount,
  maxConcurrentRequests: count,
  requestsPerMinute: count,
  maxAnswerBytes: count,
  allowInsecureHttp: flag,
  userAgent: {
    what: 'printable ASCII',
    isRight: (value) => typeof value === 'string' && /^[\u0020-\u007e]+$/.test(value),
  },
  clock,
  random: called,
  onRequest: called,
  onOutage: called,
};

/** The options with every default filled in, but for those that have their own parsers. */
export type ClientSettings = Readonly<ReturnType<typeof parseClientOptions>>;

export function parseClientOptions(options: ClientOptions) {
  refuseDouble(options);
  checkOptions(options, shape);
  if (Object.hasOwn(options, 'apiKey') && options.apiKey === undefined) {
    throw new ConfigurationError(
      'the API key is undefined: if it comes from the environment, its variable is not set',
      { option: 'apiKey', fault: 'missing' },
    );
  }
  const { clock = systemClock } = options;
  const { speed = 1 } = clock;
  return {
    timeoutMs: options.timeoutMs ?? 30_000 * speed,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000 * speed,
    totalTimeoutMs: options.totalTimeoutMs,
    giveUpAfterMs: options.giveUpAfterMs ?? 600_000,
    maxConcurrentRequests: options.maxConcurrentRequests ?? 16,
    requestsPerMinute: options.requestsPerMinute,
    maxAnswerBytes: options.maxAnswerBytes ?? 64 * 1024 * 1024,
    userAgent: options.userAgent ?? `sluice/${version}`,
    clock,
    /** A dispatcher of the caller's may answer by the clock itself, which then has to move. */
    hold: options.dispatcher ? undefined : clock.hold?.bind(clock),
    random: options.random ?? Math.random,
    onRequest: options.onRequest,
    onOutage:
      options.onOutage ??
      (speed > 1 ? () => undefined : warnOnce({ baseUrl: String(options.baseUrl) })),
  };
}

/** A double in a test, or a server of its own, given for the options. */
function refuseDouble(options: unknown): void {
  if (!isObject(options)) return;
  const known = Object.keys(shape);
  const other = Object.keys(options).find(
    (name) =>
      ['object', 'function'].includes(typeof options[name]) &&
      !known.includes(name) &&
      (Array.isArray(options[name]) || nearestNames(name, known).length === 0),
  );
  if (other === undefined) return;
  throw new ConfigurationError(
    hasMethod(options, 'uploadBatch')
      ? 'this is a client already, with methods such as uploadBatch(): give it as the option client itself'
      : `unknown option "${other}": of a server of your own give new Client({ baseUrl, apiKey }); what sends the requests is the option dispatcher`,
    { option: other },
  );
}

export interface BaseUrl {
  readonly origin: string;
  /** Path before every operation's path: empty, or `/…` without a slash at its end. */
  readonly prefix: string;
  readonly isLoopback: boolean;
}

/**
 * Checks a base URL. A path in it is kept; slashes at its end do not matter.
 *
 * @throws ConfigurationError `invalid_option`: not an http(s) URL, `http:` to another machine without
 *   `allowInsecureHttp`, or a user name, password, query or fragment in it
 */
export function parseBaseUrl(
  given: string | URL,
  options: { readonly allowInsecureHttp?: boolean | undefined } = {},
): BaseUrl {
  const text = String(given);
  // It is not repeated in any message: it may hold a password.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new ConfigurationError(
      'the base URL must begin with https:// (http:// on this machine), as in https://verify.example.com',
      { option: 'baseUrl' },
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError('the base URL must hold no user name and no password', {
      option: 'baseUrl',
    });
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) {
    throw new ConfigurationError('the base URL must hold no query and no fragment', {
      option: 'baseUrl',
    });
  }
  const isLoopback = isLoopbackHost(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && options.allowInsecureHttp !== true) {
    throw new ConfigurationError(
      'the base URL must begin with https:// unless it is on this machine: over http:// the key can be read on the way',
      { option: 'baseUrl' },
    );
  }
  let prefix = url.pathname;
  while (prefix.endsWith('/')) prefix = prefix.slice(0, -1);
  return { origin: url.origin, prefix, isLoopback };
}

export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

export interface CallOptions {
  /** Ends the call, or the reading of what it returned, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Longest time of the call in milliseconds, including waits and retries. It fails at once where the service
   * has asked for a longer pause, or a limit of requests lets nothing through for longer: with that answer, or with a
   * DeadlineError that has `retryAfterMs`.
   *
   * @default none: the client's own limits decide
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Most retries. 0: the first answer counts, also one that asks to wait, and while the service lets nothing through,
   * the call fails at once.
   *
   * @default as often as useful, for the client's `giveUpAfterMs`
   */
  readonly maxRetries?: number | undefined;
  /**
   * How long after `signal` the answer of a sent request is still awaited, in milliseconds, so that its
   * result is known.
   *
   * @default 0
   */
  readonly graceMs?: number | undefined;
  /**
   * The lines that the call is about, as an upload's file: where the service's messages repeat one of them,
   * it is redacted.
   *
   * @default what the call itself sends
   */
  readonly sent?: Pick<UploadFile, 'open'> | undefined;
  /**
   * Called with each attempt, and when it changes, with whether the service may have carried out the request:
   * `unknown`, or surely not (`no`). The reason of `signal` cannot say so: the last word holds also for a call that
   * was aborted.
   */
  readonly onSent?: ((sent: 'no' | 'unknown') => void) | undefined;
}

export const callShape: OptionShape<CallOptions> = {
  signal,
  timeoutMs: duration,
  maxRetries: {
    what: 'a whole number of 0 or more',
    isRight: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  },
  graceMs: amount,
  sent: withMethods('a file to upload', 'open'),
  onSent: called,
};

export function checkCallOptions(options: CallOptions): void {
  checkOptions(options, callShape);
}
