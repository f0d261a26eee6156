import type { Clock } from '../../platform/waiting/clock.js';

/** Whose pace a process keeps, and which rate it was given. */
export interface RateMember {
  /** The same for anyone who has the same key for the same service. @param salt of the store */
  account(salt: string): Promise<string>;
  /** From one request to the next, in milliseconds; 0 where it was given no rate. */
  readonly intervalMs: number;
}

/** What the processes that share a pace have come to. */
export interface RateUpdate {
  /** From one request of all of them to the next, in milliseconds; 0 where none was given a rate. */
  readonly intervalMs: number;
  /** How long none of them sends a request, because the service refused one with 429; in milliseconds. */
  readonly pausedMs: number;
}

/** The pace of all requests for one account, from whichever process. */
export interface SharedRate {
  /**
   * Takes the next moment at which one of the processes may send a request.
   *
   * @returns how far away it is, in milliseconds
   */
  takeSlot(): Promise<number>;

  /** The service asks for a pause of so many milliseconds: no process sends a request. Never fails. */
  pause(ms: number): void;

  /**
   * @param listener called with the state now, and whenever it is read again
   * @returns ends that
   */
  listen(listener: (update: RateUpdate) => void): () => void;
}

/** A slot that is used later, or got later, could come together with those after it. */
const mostLateMs = 250;
const slowestAnswerMs = 500;

/** A pause that is hardly longer is the one that is known. */
const samePauseMs = 500;

interface SlotsOptions {
  readonly clock: Clock;
  readonly onUpdate: (update: RateUpdate) => void;
  /** There may be a slot. */
  readonly onSlot: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** One client's part of a shared pace. Where a rate is given each request takes a slot, else none asks. */
export class Slots {
  readonly #pace: SharedRate;
  readonly #options: SlotsOptions;
  #intervalMs = 0;
  #isAsking = false;
  #slotAt: number | undefined;
  /** Until when all are known to pause. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Stops listening. */
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

  /** The earliest moment at which a request may start; never while the answer is awaited that says it. */
  next(now: number): number {
    if (this.#intervalMs === 0) return Number.NEGATIVE_INFINITY;
    if (this.#slotAt !== undefined && now <= this.#slotAt + mostLateMs) return this.#slotAt;
    this.#slotAt = undefined;
    if (!this.#isAsking) void this.#ask();
    return Number.POSITIVE_INFINITY;
  }

  /** A request has started. @returns the moment of its slot */
  used(): number | undefined {
    const slotAt = this.#slotAt;
    this.#slotAt = undefined;
    return slotAt;
  }

  /** This client pauses until then. */
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
