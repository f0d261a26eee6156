import { ConfigurationError } from '../../platform/errors/errors.js';
import { Alarm, type Clock } from '../../platform/waiting/clock.js';
import { onAbort } from '../../platform/waiting/promises.js';
import type { ClientOptions } from '../client-options.js';
import { CircuitBreaker, GiveUpPolicy } from './circuit-breaker.js';
import { givenUpError, OutageWatch } from './outage.js';
import type { RateLimit } from './rate-headers.js';
import { RateLimiter } from './rate-limiter.js';
import { ConcurrencyWindow, type Waiter, RequestQueue } from './request-queue.js';
import { type SharedRate, Slots } from './shared-rate.js';

export interface Turn extends Waiter {
  readonly signal?: AbortSignal | undefined;
  /** Whether an earlier attempt may have been carried out. @default 'no' */
  readonly sent?: 'no' | 'unknown' | undefined;
}

export type Outcome =
  /** The service works, whether or not it did what was asked. */
  | { readonly kind: 'answered'; readonly limits?: RateLimit | undefined }
  | {
      readonly kind: 'throttled';
      readonly error: Error;
      readonly retryAfterMs?: number | undefined;
      readonly limits?: RateLimit | undefined;
    }
  /** No answer, or one that shows trouble of the service. */
  | { readonly kind: 'failed'; readonly error: Error; readonly retryAfterMs?: number | undefined }
  /** Ended from this side: nothing is learned. */
  | { readonly kind: 'dropped' };

/** The right to send one request; settled exactly once, with its answer or without one. */
export interface Permit {
  settle(outcome: Outcome): void;
}

interface RequestSchedulerOptions {
  readonly origin: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxConcurrentRequests: number;
  /** @default learned from the service */
  readonly requestsPerMinute?: number | undefined;
  readonly giveUpAfterMs: number;
  readonly onOutage?: ClientOptions['onOutage'];
}

interface Waiting extends Turn {
  admit(permit: Permit): void;
  refuse(error: unknown): void;
}

/** Schedules a client's requests: bounded concurrency, urgent ones first, none in a pause, one at a time in an outage. */
export class RequestScheduler {
  readonly #origin: string;
  readonly #clock: Clock;
  readonly #giveUp: GiveUpPolicy;
  readonly #queue = new RequestQueue<Waiting>();
  readonly #limiter: RateLimiter;
  readonly #hasRate: boolean;
  readonly #circuit: CircuitBreaker;
  readonly #window: ConcurrencyWindow;
  readonly #outage: OutageWatch | undefined;
  readonly #alarm: Alarm;
  /** Its part of each shared rate: the latest gives the slots. */
  #shared: readonly Slots[] = [];
  #running = 0;
  #isProbing = false;
  #closed = false;

  constructor(options: RequestSchedulerOptions) {
    this.#origin = options.origin;
    this.#clock = options.clock;
    this.#alarm = new Alarm(options.clock, () => this.#pump());
    this.#giveUp = new GiveUpPolicy(options.giveUpAfterMs);
    this.#limiter = new RateLimiter(options.random, options.requestsPerMinute);
    this.#hasRate = options.requestsPerMinute !== undefined;
    this.#circuit = new CircuitBreaker(options.random);
    this.#window = new ConcurrencyWindow(options.maxConcurrentRequests);
    const { clock, onOutage } = options;
    this.#outage =
      onOutage &&
      new OutageWatch(clock, this.#giveUp, {
        report: onOutage,
        isAsked: () => this.#running > 0,
        pausedMs: () => this.#limiter.serviceStart() - clock.now(),
      });
  }

  get failing(): Error | undefined {
    return this.#giveUp.failing?.error;
  }

  /** Nothing is sent before this moment, unless a request under way succeeds. */
  get pausedUntil(): number {
    return Math.max(this.#limiter.pausedUntil, this.#circuit.probeAt ?? 0);
  }

  /** The same, as the limits of requests space them, too. */
  get nextStart(): number {
    return Math.max(this.pausedUntil, this.#limiter.earliestStart());
  }

  /**
   * Waits for a turn.
   *
   * @throws DeadlineError `service_unavailable` when the service has failed for too long
   * @throws ConfigurationError when the scheduler is closed
   */
  async acquire(turn: Turn): Promise<Permit> {
    turn.signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    const now = this.#clock.now();
    const isIdle = this.#running === 0 && this.#queue.isEmpty;
    if (isIdle && this.#giveUp.isStale(now)) {
      this.#giveUp.forget();
      this.#outage?.answered();
    }
    this.#giveUp.asked(now);
    this.#outage?.begin();
    return new Promise((resolve, reject) => {
      const forget = onAbort(turn.signal, (reason) => {
        this.#queue.remove(waiting);
        waiting.refuse(reason);
        this.#pump();
      });
      const waiting: Waiting = {
        ...turn,
        admit: (permit) => {
          forget();
          resolve(permit);
        },
        refuse: (error) => {
          forget();
          this.#outage?.end();
          // The reason of an abort is the caller's.
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors
          reject(error);
        },
      };
      this.#queue.add(waiting);
      this.#pump();
    });
  }

  moved(): void {
    this.#outage?.moved();
  }

  share(pace: SharedRate): () => void {
    const slots = new Slots(pace, {
      clock: this.#clock,
      onUpdate: ({ pausedMs }) => {
        this.#limiter.applyRemotePause(this.#clock.now(), pausedMs);
        this.#pump();
      },
      onSlot: () => this.#pump(),
      onFailure: (error) => this.#refuseAll(() => error),
    });
    this.#shared = [...this.#shared, slots];
    return () => {
      slots.leave();
      this.#shared = this.#shared.filter((other) => other !== slots);
      this.#pump();
    };
  }

  close(): void {
    this.#closed = true;
    this.#refuseAll(closedError);
    this.#pump();
  }

  #pump(): void {
    const now = this.#clock.now();
    const overdue = this.#giveUp.overdue(now);
    if (overdue) {
      const { since, error } = overdue;
      const retryAfterMs = this.#giveUp.staleAfterMs(now);
      this.#refuseAll(({ sent = 'no' }) =>
        givenUpError(this.#origin, now - since, error, { sent, retryAfterMs }),
      );
    }
    while (this.#gate() <= now && this.#queue.earliest() <= now && this.#slot(now) <= now) {
      const next = this.#queue.take(now, this.#circuit.probeAt !== undefined);
      if (next === undefined) break;
      next.admit(this.#start(now));
    }
    this.#alarm.set(this.#nextMoment());
  }

  /** The earliest moment at which anything may start; never while it depends on a running request. */
  #gate(): number {
    if (this.#running >= this.#window.size) return Number.POSITIVE_INFINITY;
    const pace = this.#limiter.earliestStart();
    const { probeAt } = this.#circuit;
    if (probeAt === undefined) return pace;
    return this.#isProbing ? Number.POSITIVE_INFINITY : Math.max(pace, probeAt);
  }

  /** When a request may start that only the rates hold back. */
  #slot(now: number): number {
    return this.#shared.at(-1)?.next(now) ?? Number.NEGATIVE_INFINITY;
  }

  #start(startedAt: number): Permit {
    const isProbe = this.#circuit.probeAt !== undefined;
    this.#isProbing ||= isProbe;
    const slotAt = this.#shared.at(-1)?.used();
    const isLimited =
      this.#running === 0 && this.#limiter.serviceStart() > Number.NEGATIVE_INFINITY;
    // Waiting for a rate is not waiting for the service.
    if (slotAt !== undefined || this.#hasRate || isLimited) this.#outage?.moved();
    this.#running += 1;
    this.#limiter.started(startedAt, slotAt);
    let isSettled = false;
    return {
      settle: (outcome) => {
        if (isSettled) return;
        isSettled = true;
        this.#running -= 1;
        if (isProbe) this.#isProbing = false;
        this.#learn(outcome, { startedAt, isProbe });
        this.#outage?.end();
        this.#pump();
      },
    };
  }

  #learn(
    outcome: Outcome,
    request: { readonly startedAt: number; readonly isProbe: boolean },
  ): void {
    const now = this.#clock.now();
    const { startedAt, isProbe } = request;
    switch (outcome.kind) {
      case 'answered':
        // Requests sent before the pause was asked for say nothing about it.
        if (!this.#giveUp.failing || this.#limiter.pausedUntil <= now) this.#answered();
        this.#limiter.answered(startedAt);
        this.#window.widen();
        if (outcome.limits)
          this.#limiter.applyAnsweredLimits(now, startedAt, outcome.limits, this.#running);
        return;
      case 'throttled':
        this.#giveUp.failed(now, outcome.error);
        this.#limiter.throttled(now, startedAt, outcome.retryAfterMs);
        this.#window.narrow(now, startedAt);
        if (outcome.limits) this.#limiter.applyLimits(now, outcome.limits, this.#running);
        for (const slots of this.#shared) slots.paused(now, this.#limiter.pausedUntil);
        this.#outage?.paused(outcome.error, this.#limiter.pausedUntil);
        return;
      case 'failed':
        this.#giveUp.failed(now, outcome.error);
        this.#circuit.failed(now, isProbe, outcome.retryAfterMs);
        return;
      case 'dropped':
        return;
    }
  }

  #answered(): void {
    this.#circuit.succeeded();
    this.#giveUp.answered();
    this.#outage?.answered();
  }

  #refuseAll(errorOf: (turn: Turn) => unknown): void {
    for (const waiting of this.#queue.takeAll()) waiting.refuse(errorOf(waiting));
  }

  #nextMoment(): number {
    if (this.#queue.isEmpty) return Number.POSITIVE_INFINITY;
    const due = Math.max(this.#gate(), this.#queue.earliest());
    const now = this.#clock.now();
    const next = due <= now ? this.#slot(now) : due;
    return Math.min(next, this.#giveUp.failing?.giveUpAt ?? Number.POSITIVE_INFINITY);
  }
}

function closedError(): ConfigurationError {
  return new ConfigurationError('the client is closed', { option: 'client' });
}
