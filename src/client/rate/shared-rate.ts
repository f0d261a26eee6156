import type { Clock } from '../../platform/waiting/clock.js';

/** A process's part in a shared rate. */
export interface RateMember {
  /**
   * Identifies the account: the same for each process with the same key for the same service. @param salt of
   * the store
   */
  account(salt: string): Promise<string>;
  /** Interval between requests in milliseconds; 0 without a given rate. */
  readonly intervalMs: number;
}

export interface RateUpdate {
  /** Interval between the requests of all processes, in milliseconds; 0 where none was given a rate. */
  readonly intervalMs: number;
  /** How long no process sends a request after a 429, in milliseconds. */
  readonly pausedMs: number;
}

/** The rate of all requests of one account, across processes. */
export interface SharedRate {
  /** Takes the next slot of all processes. @returns the time until it, in milliseconds */
  takeSlot(): Promise<number>;

  /** Announces a pause: no process sends a request. Never fails. */
  pause(ms: number): void;

  /**
   * @param listener called with the current state, and whenever it is read again
   * @returns stops listening
   */
  listen(listener: (update: RateUpdate) => void): () => void;
}

/** A slot used later than this could coincide with the next ones. */
const mostLateMs = 250;
const slowestAnswerMs = 500;

/** A pause that is longer by less than this is the known one. */
const samePauseMs = 500;

interface SlotsOptions {
  readonly clock: Clock;
  readonly onUpdate: (update: RateUpdate) => void;
  readonly onSlot: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** One client's part in a shared rate. Where a rate is given each request takes a slot. */
export class Slots {
  readonly #pace: SharedRate;
  readonly #options: SlotsOptions;
  #intervalMs = 0;
  #isAsking = false;
  #slotAt: number | undefined;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  readonly leave: () => void;

  constructor(pace: SharedRate, options: SlotsOptions) {
    this.#pace = pace;
    this.#options = options;
    this.leave = pace.listen((update) => {
      this.#intervalMs = update.intervalMs;
      this.#pausedUntil = Math.max(this.#pausedUntil, options.clock.now() + update.pausedMs);
      options.onUpdate(update);
    });
  }

  /** The earliest start of a request; never while a slot is being fetched. */
  next(now: number): number {
    if (this.#intervalMs === 0) return Number.NEGATIVE_INFINITY;
    if (this.#slotAt !== undefined && now <= this.#slotAt + mostLateMs) return this.#slotAt;
    this.#slotAt = undefined;
    if (!this.#isAsking) void this.#ask();
    return Number.POSITIVE_INFINITY;
  }

  /** A request has started. @returns its slot */
  used(): number | undefined {
    const slotAt = this.#slotAt;
    this.#slotAt = undefined;
    return slotAt;
  }

  paused(now: number, until: number): void {
    if (until <= this.#pausedUntil + samePauseMs) return;
    this.#pausedUntil = until;
    this.#pace.pause(until - now);
  }

  async #ask(): Promise<void> {
    const { clock, onSlot, onFailure } = this.#options;
    this.#isAsking = true;
    try {
      const askedAt = clock.now();
      const waitMs = await this.#pace.takeSlot();
      const now = clock.now();
      if (now - askedAt <= slowestAnswerMs) this.#slotAt = now + waitMs;
    } catch (error) {
      onFailure(error);
    }
    this.#isAsking = false;
    onSlot();
  }
}
