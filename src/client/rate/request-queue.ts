export interface Waiter {
  /** A smaller number goes earlier. */
  readonly priority: number;
  /** Whether it may be repeated: such requests probe whether an outage is over. */
  readonly safe: boolean;
  /** Which attempt it asks for, from 1. */
  readonly attempt: number;
  /** When its first attempt was queued, whatever it had to wait for. */
  readonly since: number;
  readonly notBefore: number;
}

/** This much waiting is worth one step of priority: nothing waits for ever. */
const agingMs = 10_000;

export class RequestQueue<W extends Waiter> {
  readonly #waiters = new Set<W>();

  get isEmpty(): boolean {
    return this.#waiters.size === 0;
  }

  add(waiter: W): void {
    this.#waiters.add(waiter);
  }

  remove(waiter: W): void {
    this.#waiters.delete(waiter);
  }

  /** Removes all, in their order of arrival. */
  takeAll(): W[] {
    const taken = [...this.#waiters];
    this.#waiters.clear();
    return taken;
  }

  earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const waiter of this.#waiters) earliest = Math.min(earliest, waiter.notBefore);
    return earliest;
  }

  /**
   * Removes the next one that may start now, if any.
   *
   * @param isProbe whether it probes an outage: then the request that has failed least is next. Otherwise one
   * request that always fails could be the only probe, while all others would be answered
   */
  take(now: number, isProbe: boolean): W | undefined {
    let best: W | undefined;
    for (const waiter of this.#waiters) {
      if (waiter.notBefore > now) continue;
      if (!best || compare(waiter, best, now, isProbe) < 0) best = waiter;
    }
    if (best) this.#waiters.delete(best);
    return best;
  }
}

function compare(one: Waiter, other: Waiter, now: number, isProbe: boolean): number {
  if (isProbe && one.safe !== other.safe) return one.safe ? -1 : 1;
  const byAttempt = isProbe ? one.attempt - other.attempt : 0;
  return byAttempt === 0 ? rankOf(one, now) - rankOf(other, now) : byAttempt;
}

function rankOf(waiter: Waiter, now: number): number {
  return waiter.priority - Math.floor((now - waiter.since) / agingMs);
}

/** How many requests may run at once: half after a 429, one more with each round of answers. */
export class ConcurrencyWindow {
  readonly #most: number;
  #size: number;
  #narrowedAt = Number.NEGATIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
    this.#size = most;
  }

  get size(): number {
    return Math.floor(this.#size);
  }

  /** Ignored for a request begun before the window was last narrowed. */
  narrow(now: number, startedAt: number): void {
    if (startedAt <= this.#narrowedAt) return;
    this.#size = Math.max(1, Math.floor(this.#size / 2));
    this.#narrowedAt = now;
  }

  widen(): void {
    this.#size = Math.min(this.#most, this.#size + 1 / this.#size);
  }
}
