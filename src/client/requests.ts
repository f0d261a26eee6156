import type { Dispatcher } from 'undici';
import { apiKeyHeader, type OperationName, operations } from '../contract/operations.js';
import { ApiError, ContractError, isRefusedKey } from '../platform/errors/service-errors.js';
import { SluiceError } from '../platform/errors/sluice-error.js';
import { orAborted } from '../platform/waiting/promises.js';
import { hasSubscribers, publish, currentScope } from '../platform/observability.js';
import { beforeDeadline } from '../platform/waiting/clock.js';
import type { ApiKey, KeyRing } from './api-key.js';
import type { CallOptions, ClientSettings, RequestReport } from './client-options.js';
import { unpacked } from './http/content-coding.js';
import { exchange, type WireAnswer } from './http/exchange.js';
import { type ReadOptions, readRefusal } from './http/response.js';
import type { WireRequest } from './http/request.js';
import { isUnsent, judgeFailure, outcomeOf } from './http/retry.js';
import { givenUpError, overdueError } from './rate/outage.js';
import { parseRateLimit, type RateLimit } from './rate/rate-headers.js';
import { RequestScheduler, type Permit } from './rate/request-scheduler.js';
import type { SharedRate } from './rate/shared-rate.js';

/** Operations with bodies of any size: only silence is bounded, unless the caller bounds the whole. */
const unhurried: ReadonlySet<OperationName> = new Set(['exportBatch', 'uploadBatch', 'format']);

interface RequestsOptions {
  readonly settings: ClientSettings;
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  readonly keys: KeyRing | undefined;
}

/** A call with its deadline; never without a limit of its own. */
type Sending = CallOptions & { readonly untilMs: number; readonly onStart: () => void };

type AnswerReader<T> = (answer: WireAnswer, options: ReadOptions) => Promise<T> | T;

type Attempted<T> = ({ readonly value: T } | { readonly error: unknown }) & {
  readonly status: number | undefined;
  readonly limits: RateLimit | undefined;
  readonly date: string | undefined;
};

/** Attempts of all clients of the process. */
let requestCount = 0;

/** Carries out requests: each waits for its turn, is sent, and is retried where that is safe. */
export class Requests {
  readonly #options: RequestsOptions;
  readonly #scheduler: RequestScheduler;
  /** Operations answered as specified at least once. */
  readonly #understood = new Set<OperationName>();

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.#scheduler = new RequestScheduler({ ...options.settings, origin: options.origin });
  }

  get settings(): ClientSettings {
    return this.#options.settings;
  }

  shareRate(pace: SharedRate): () => void {
    return this.#scheduler.share(pace);
  }

  close(): void {
    this.#scheduler.close();
  }

  /**
   * @throws ConfigurationError when there is no key
   * @throws the last attempt's error where it is not retried; DeadlineError `service_unavailable` when
   * retries have not helped for long enough; the signal's reason
   */
  async perform<T>(request: WireRequest, read: AnswerReader<T>, call: CallOptions): Promise<T> {
    const { signal, maxRetries = Infinity, timeoutMs = Infinity } = call;
    const { clock, giveUpAfterMs, random } = this.#options.settings;
    const { repeatable, keyed } = operations[request.operation];
    const keys = keyed ? this.#options.keys : undefined;
    let mayRenew = true;
    const since = clock.now();
    const untilMs = since + timeoutMs;
    let notBefore = since;
    let latest: unknown;
    let failingSince: number | undefined;
    let invalidAnswers = 0;
    let sent: 'no' | 'unknown' = 'no';
    call.onSent?.(sent);
    for (let attempts = 1; ; attempts += 1) {
      const turn = {
        priority: request.priority,
        safe: repeatable,
        attempt: attempts,
        since,
        notBefore,
        signal,
        sent,
      };
      const permit = await this.#inTime(
        request,
        { call, untilMs, latest, sent, keys },
        async (within) => {
          if (keys) await orAborted(keys.get(), within);
          return this.#scheduler.acquire({ ...turn, signal: within });
        },
      );
      const key = keys?.latest;
      let isStarted = false;
      const onStart = (): void => {
        isStarted = true;
        call.onSent?.('unknown');
      };
      const sending = { ...call, untilMs, onStart };
      const attempted = await this.#attempt(withKey(request, key), read, sending, permit, attempts);
      if ('value' in attempted) {
        this.#understood.add(request.operation);
        return attempted.value;
      }
      const { error } = attempted;
      latest = error;
      if (isStarted && !isUnsent(error)) sent = 'unknown';
      call.onSent?.(sent);
      signal?.throwIfAborted();
      if (key && mayRenew && isRefusedKey(error)) {
        mayRenew = false;
        // Only a launch may have been carried out all the same, and the same one again is not paid again.
        if (await orAborted(keys.renew(key), signal)) continue;
      }
      if (error instanceof ContractError) invalidAnswers += 1;
      const now = clock.now();
      failingSince ??= now;
      const failingForMs = now - failingSince;
      const verdict = judgeFailure(
        {
          error,
          repeatable,
          attempts,
          invalidAnswers,
          isUnderstood: this.#understood.has(request.operation),
          hasAnswered: this.#understood.size > 0,
          failingForMs,
          giveUpAfterMs,
          maxRetries,
          leftMs: untilMs - now,
        },
        random,
      );
      if (verdict.do === 'throw') {
        // A service that asks to wait, and does not say how long: the client pauses, also for its next calls.
        if (error instanceof ApiError && error.status === 429 && error.retryAfterMs === undefined) {
          const retryAfterMs = Math.ceil(this.#scheduler.pausedUntil - now);
          if (retryAfterMs > 0) Object.assign(error, { retryAfterMs });
        }
        throw error;
      }
      if (verdict.do === 'give_up') {
        if (!(error instanceof Error)) throw error;
        throw givenUpError(request.origin, failingForMs, error, { sent });
      }
      notBefore = now + verdict.waitMs;
    }
  }

  /**
   * Waits for a turn, as long as the call may take. A call without retries waits for no pause.
   *
   * @throws DeadlineError `deadline_exceeded` when the time is over, or shorter than a pause or the wait for a
   * limit of requests
   */
  async #inTime(
    request: WireRequest,
    {
      call,
      untilMs,
      latest,
      sent,
      keys,
    }: {
      readonly keys: KeyRing | undefined;
      readonly call: CallOptions;
      readonly untilMs: number;
      readonly latest: unknown;
      readonly sent: 'no' | 'unknown';
    },
    wait: (signal: AbortSignal | undefined) => Promise<Permit>,
  ): Promise<Permit> {
    const { signal, timeoutMs, maxRetries } = call;
    const { clock } = this.#options.settings;
    const { failing } = this.#scheduler;
    const isPaused = (): boolean => this.#scheduler.pausedUntil > clock.now();
    const waitLeftMs = (): number => Math.max(0, this.#scheduler.nextStart - clock.now());
    const longestMs = maxRetries === 0 && isPaused() ? 0 : timeoutMs;
    if (longestMs === undefined) return wait(signal);
    const ms = Math.min(longestMs, untilMs - clock.now());
    const toError = (): Error =>
      overdueError(request.origin, {
        subject: request.subject,
        timeoutMs: longestMs,
        last: latest instanceof Error ? latest : undefined,
        sent,
        failing,
        lacksKey: keys?.isAsked === true,
        waitMs: waitLeftMs(),
        isPaused: isPaused(),
      });
    signal?.throwIfAborted();
    if (waitLeftMs() >= ms) throw toError();
    return beforeDeadline(wait, { clock, ms, toError, ...(signal && { signal }) });
  }

  /** Sends once; the permit is settled in any case. */
  async #attempt<T>(
    request: WireRequest,
    read: AnswerReader<T>,
    call: Sending,
    permit: Permit,
    attempt: number,
  ): Promise<Attempted<T>> {
    const { clock } = this.#options.settings;
    const startedAt = clock.now();
    requestCount += 1;
    const number = requestCount;
    const attempted = await this.#send(withAdded(request, attempt, number), read, call);
    const { limits } = attempted;
    permit.settle(
      'error' in attempted
        ? outcomeOf(attempted.error, limits, this.#understood.size > 0)
        : { kind: 'answered', limits },
    );
    this.#report(request, number, {
      operation: request.operation,
      status: attempted.status,
      code:
        'error' in attempted && attempted.error instanceof SluiceError
          ? attempted.error.code
          : undefined,
      attempt,
      ms: clock.now() - startedAt,
      date: attempted.date,
    });
    return attempted;
  }

  async #send<T>(
    request: WireRequest,
    read: AnswerReader<T>,
    call: Sending,
  ): Promise<Attempted<T>> {
    const { settings, dispatcher, keys } = this.#options;
    const redact = (text: string): string => keys?.redact(text) ?? text;
    const { clock, timeoutMs, connectTimeoutMs, maxAnswerBytes } = settings;
    const requestLimitMs =
      settings.totalTimeoutMs ?? (unhurried.has(request.operation) ? Infinity : 4 * timeoutMs);
    const totalTimeoutMs = Math.min(requestLimitMs, Math.ceil(call.untilMs - clock.now()));
    let status: number | undefined;
    let limits: RateLimit | undefined;
    let date: string | undefined;
    try {
      const packed = await exchange(request, {
        connectTimeoutMs,
        timeoutMs,
        totalTimeoutMs,
        dispatcher,
        clock,
        hold: settings.hold,
        signal: call.signal,
        graceMs: call.graceMs,
        redact,
        onStart: call.onStart,
        onSent: () => this.#scheduler.moved(),
      });
      const answer = unpacked(request, packed, maxAnswerBytes);
      status = answer.status;
      const wallNowMs = clock.wallNow();
      date = answer.header('date');
      limits = parseRateLimit(answer.header, { date, wallNowMs });
      const options: ReadOptions = { maxAnswerBytes, redact, wallNowMs };
      if (status < 200 || status > 299) throw await readRefusal(request, answer, options);
      return { value: await read(answer, options), status, limits, date };
    } catch (error) {
      return { error, status, limits, date };
    }
  }

  #report({ method, origin }: WireRequest, request: number, report: RequestReport): void {
    if (hasSubscribers('sluice:request')) {
      const { run, batch } = currentScope();
      const { date: _, ...published } = report;
      publish('sluice:request', { request, run, batch, method, origin, ...published });
    }
    try {
      this.#options.settings.onRequest?.(report);
    } catch {
      // A paid launch is not lost to an observer's defect.
    }
  }
}

/** Spec 4, note 5: the key never goes where no authentication is declared. */
function withKey(request: WireRequest, key: ApiKey | undefined): WireRequest {
  if (!key) return request;
  return { ...request, headers: { ...request.headers, [apiKeyHeader]: key.reveal() } };
}

/** Adds listeners' headers, such as a trace's. */
function withAdded(request: WireRequest, attempt: number, number: number): WireRequest {
  if (!hasSubscribers('sluice:request:start')) return request;
  const { operation, method, origin } = request;
  const { run, batch } = currentScope();
  const headers: Record<string, string> = {};
  const facts = { request: number, run, batch, operation, method, origin, attempt };
  publish('sluice:request:start', { ...facts, headers });
  return { ...request, headers: { ...headers, ...request.headers } };
}
