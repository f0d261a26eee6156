import { DeadlineError } from '../../platform/errors/errors.js';
import { ApiError, TransportError } from '../../platform/errors/service-errors.js';
import { duration } from '../../platform/text/shown-numbers.js';
import { Alarm, type Clock } from '../../platform/waiting/clock.js';
import type { GiveUpPolicy } from './circuit-breaker.js';

/** What keeps the requests of a client waiting. */
export type ServiceOutage =
  | {
      readonly state: 'waiting';
      /** The latest failure; absent while the service is only silent. */
      readonly error: Error | undefined;
      /** How long the service has sent nothing useful, in milliseconds. */
      readonly forMs: number;
      /** How long it is retried before requests are given up; absent while it is only silent. */
      readonly leftMs: number | undefined;
      /** How long its limit of requests lets nothing through, where it fails at nothing. */
      readonly pausedMs?: number | undefined;
    }
  /** It answers again. */
  | { readonly state: 'over'; readonly forMs: number };

/** A wait is reported after this time, and again after each of these. */
const firstMs = 4000;
const againMs = 60_000;

interface OutagePorts {
  readonly report: (outage: ServiceOutage) => void;
  /** Whether the service has a request to answer: requests also wait for a rate. */
  readonly isAsked: () => boolean;
  /** For how long the service's limit of requests lets nothing through. */
  readonly pausedMs: () => number;
}

/**
 * Reports what keeps requests waiting: silence, failures, a pause that the service asks for. Time counts from
 * the latest useful answer, while there are requests.
 */
export class OutageWatch {
  readonly #clock: Clock;
  readonly #giveUp: GiveUpPolicy;
  readonly #ports: OutagePorts;
  /** Requests that wait for their turn or for an answer. */
  #asking = 0;
  #since = 0;
  #reports = 0;
  /** All short pauses so far, and the end of the latest. */
  #slowedMs = 0;
  #slowedUntil = Number.NEGATIVE_INFINITY;
  readonly #alarm: Alarm;

  constructor(clock: Clock, giveUp: GiveUpPolicy, ports: OutagePorts) {
    this.#clock = clock;
    this.#giveUp = giveUp;
    this.#ports = ports;
    this.#alarm = new Alarm(clock, () => {
      this.#look();
      this.#watch();
    });
  }

  begin(): void {
    // Between two attempts of the only request nothing is asked, and the trouble continues.
    if (this.#asking === 0 && !this.#giveUp.failing) this.#since = this.#clock.now();
    this.#asking += 1;
    this.#watch();
  }

  /** A request no longer waits, whatever its result. */
  end(): void {
    this.#asking -= 1;
    if (this.#asking === 0) this.#alarm.stop();
  }

  /** Progress: a service that takes an upload piece by piece is not silent. */
  moved(): void {
    if (!this.#giveUp.failing && this.#reports === 0) this.#since = this.#clock.now();
  }

  /** The service asks for a pause: short ones in a chain, each over before it is reported, are reported once. */
  paused(error: Error, until: number): void {
    const now = this.#clock.now();
    const ms = until - Math.max(now, this.#slowedUntil);
    if (ms <= 0 || until - now >= firstMs) return;
    const wasSlowed = this.#slowedMs >= firstMs;
    this.#slowedUntil = until;
    this.#slowedMs += ms;
    if (wasSlowed || this.#slowedMs < firstMs || this.#reports > 0) return;
    this.#reports += 1;
    const { failing } = this.#giveUp;
    const leftMs = failing && Math.max(0, failing.giveUpAt - now);
    this.#report({ state: 'waiting', error, forMs: this.#slowedMs, leftMs });
  }

  /** The service has answered, or its failures are too old to matter. */
  answered(): void {
    const forMs = this.#clock.now() - this.#since;
    const wasReported = this.#reports > 0;
    this.#since = this.#clock.now();
    this.#reports = 0;
    if (wasReported) this.#report({ state: 'over', forMs });
  }

  #watch(): void {
    if (this.#asking === 0 || this.#alarm.at !== Number.POSITIVE_INFINITY) return;
    this.#alarm.set(this.#since + firstMs + this.#reports * againMs);
  }

  #look(): void {
    const now = this.#clock.now();
    const forMs = now - this.#since;
    // A timer may fire a fraction too early, and would do so again and again.
    if (forMs + 1 < firstMs + this.#reports * againMs) return;
    const { failing } = this.#giveUp;
    const isAsked = this.#ports.isAsked();
    const pausedMs = failing || isAsked ? 0 : this.#ports.pausedMs();
    if (!failing && !isAsked && pausedMs <= 0) {
      this.#since = now;
      return;
    }
    this.#reports += 1;
    const leftMs = failing && Math.max(0, failing.giveUpAt - now);
    const paused = pausedMs > 0 && { pausedMs };
    this.#report({ state: 'waiting', error: failing?.error, forMs, leftMs, ...paused });
  }

  #report(outage: ServiceOutage): void {
    try {
      this.#ports.report(outage);
    } catch {
      // A paid launch is not lost to an observer's defect.
    }
  }
}

interface DescribedOutage {
  /** Why the requests wait; `null` when it is over. */
  readonly reason: string | null;
  /** The reason with the time left, as a sentence without its full stop. */
  readonly line: string;
}

/**
 * What keeps the requests waiting, as text for a person.
 *
 * @example
 * ```ts
 * const baseUrl = 'https://verify.example.com';
 * const { line } = describeOutage({ baseUrl }, { state: 'over', forMs: 65_000 });
 * console.log(line); // verify.example.com takes requests again, after 1 min 5 s
 * ```
 */
export function describeOutage(
  { baseUrl }: { readonly baseUrl: string },
  outage: ServiceOutage,
): DescribedOutage {
  const { host } = new URL(baseUrl);
  const forSeconds = Math.round(outage.forMs / 1000);
  if (outage.state === 'over') {
    return { reason: null, line: `${host} takes requests again, after ${duration(forSeconds)}` };
  }
  const { error, leftMs, pausedMs } = outage;
  const reason = error
    ? describeFailure(baseUrl, error)
    : pausedMs === undefined
      ? `${host} has not answered for ${duration(forSeconds)}`
      : `${host} lets nothing more through for ${duration(Math.ceil(pausedMs / 1000))}, by its limit of requests`;
  const left =
    leftMs === undefined
      ? 'still waiting'
      : leftMs < 500
        ? 'trying a last time'
        : `trying again, gives up in ${duration(leftMs / 1000)}`;
  return { reason, line: `${reason}; ${left}` };
}

function answerOf(error: Error | undefined): string {
  return error instanceof ApiError ? `: ${error.message}` : '';
}

function describeFailure(baseUrl: string, error: Error): string {
  const { host, hostname } = new URL(baseUrl);
  if (error instanceof TransportError) {
    return error.reason.includes(hostname) ? error.reason : `cannot reach ${host}: ${error.reason}`;
  }
  if (error instanceof ApiError) {
    return error.status === 429
      ? `${host} asks to wait (it answers 429)`
      : `${host} is in trouble (it answers ${error.status})`;
  }
  return `${host} gives answers that are not understood (${error.message})`;
}

/** For a program without a listener: one process warning, so that a wait of minutes is not silent. */
export function warnOnce(service: { readonly baseUrl: string }): (outage: ServiceOutage) => void {
  let hasWarned = false;
  return (outage) => {
    if (hasWarned) return;
    hasWarned = true;
    process.emitWarning(describeOutage(service, outage).line, {
      type: 'SluiceWarning',
      code: 'SLUICE_SERVICE_WAITING',
      detail: 'Printed once per client. Pass onOutage to the client to handle this yourself.',
    });
  };
}

export function givenUpError(
  baseUrl: string,
  failingForMs: number,
  /** The service's latest failure, of this request or another. */
  last: Error,
  request: {
    /** By the attempts of this request alone: `last` may be another's. */
    readonly sent: 'no' | 'unknown';
    /** How long all others are given up, too. */
    readonly retryAfterMs?: number | undefined;
  },
): DeadlineError {
  return new DeadlineError(
    `${describeFailure(baseUrl, last)}; gave up after ${duration(failingForMs / 1000)}${answerOf(last)}`,
    { ...request, code: 'service_unavailable', cause: last },
  );
}

/** The error of a call whose own time is over before it had its turn. */
export function overdueError(
  baseUrl: string,
  call: {
    readonly subject: string;
    /** 0: it does not wait. */
    readonly timeoutMs: number;
    readonly last: Error | undefined;
    readonly sent: 'no' | 'unknown';
    readonly failing: Error | undefined;
    /** Whether the function that gives the key has not answered. */
    readonly lacksKey: boolean;
    /** How long nothing is sent: during a pause, or as a limit of requests spaces them. */
    readonly waitMs: number;
    /** Whether the service asked for a pause, or is away. */
    readonly isPaused: boolean;
  },
): DeadlineError {
  const { subject, timeoutMs, last, waitMs } = call;
  const cause = last ?? call.failing;
  const { host } = new URL(baseUrl);
  const isFailure = waitMs === 0 || call.isPaused;
  const reason =
    cause && isFailure
      ? describeFailure(baseUrl, cause)
      : waitMs > 0
        ? `the limit of requests to ${host} lets nothing through`
        : call.lacksKey
          ? 'the function apiKey has not answered'
          : `other requests to ${host} go first`;
  const left = waitMs > 0 ? `, for ${duration(Math.ceil(waitMs / 1000))} more` : '';
  const within =
    timeoutMs <= 0
      ? 'at once'
      : `within ${timeoutMs < 1000 ? `${timeoutMs} ms` : duration(timeoutMs / 1000)}`;
  return new DeadlineError(
    `${subject} could not be sent ${within}: ${reason}${left}${isFailure ? answerOf(cause) : ''}`,
    {
      sent: call.sent,
      retryAfterMs: waitMs > 0 ? Math.ceil(waitMs) : undefined,
      cause,
    },
  );
}
