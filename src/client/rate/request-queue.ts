/** A request that waits for its turn. */
export interface Waiter {
  /** Smaller goes earlier. */
  readonly priority: number;
  /** Whether it may be repeated: such requests try whether an outage is over. */
  readonly safe: boolean;
  /** When its first attempt asked, and not before when it may go. */
  readonly since: number;
  readonly notBefore: number;
}

/** Waiting this long is worth one step of priority, so that nothing waits for ever. */
const agingMs = 10_000;

/** Those that wait, and who of them is next. */
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

  /** Takes out all, in the order they came. */
  takeAll(): W[] {
    const taken = [...this.#waiters];
    this.#waiters.clear();
    return taken;
  }

  /** The earliest moment at which one of them may go. */
  earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const waiter of this.#waiters) earliest = Math.min(earliest, waiter.notBefore);
    return earliest;
  }

  /** Takes out who is next, if anyone may go now. */
  take(now: number, safeFirst: boolean): W | undefined {
    let best: W | undefined;
    let bestRank = Number.POSITIVE_INFINITY;
    for (const waiter of this.#waiters) {
      if (waiter.notBefore > now) continue;
      const rank = rankOf(waiter, now, safeFirst);
      if (rank < bestRank) {
        best = waiter;
        bestRank = rank;
      }
    }
    if (best) this.#waiters.delete(best);
    return best;
  }
}

function rankOf(waiter: Waiter, now: number, safeFirst: boolean): number {
  const rank = waiter.priority - Math.floor((now - waiter.since) / agingMs);
  return safeFirst && !waiter.safe ? rank + Number.MAX_SAFE_INTEGER / 2 : rank;
}

/** How many requests may run at once: half as many after a 429, one more with each round of answers. */
export class ConcurrencyWindow {
  readonly #most: number;
  #size: number;
  #narrowedAt = Number.NEGATIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
    this.#size = most;
  }

  /** Most requests at once, at least one. */
  get size(): number {
    return Math.floor(this.#size);
  }

  /** A request begun before the window was last narrowed is no news. */
  narrow(now: number, startedAt: number): void {
    if (startedAt <= this.#narrowedAt) return;
    this.#size = Math.max(1, Math.floor(this.#size / 2));
    this.#narrowedAt = now;
  }

  widen(): void {
    this.#size = Math.min(this.#most, this.#size + 1 / this.#size);
  }
}
