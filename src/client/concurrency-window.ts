/**
 * How many requests may run at once. After a 429 one goes first, then twice as many with each round of
 * answers until half as many as before, then one more with each round.
 */
export class ConcurrencyWindow {
  readonly #most: number;
  #size: number;
  #half: number;
  #narrowedAt = Number.NEGATIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
    this.#size = most;
    this.#half = most;
  }

  /** Most requests at once, at least one. */
  get size(): number {
    return Math.floor(this.#size);
  }

  /** A request begun before the window was last narrowed is no news. */
  narrow(now: number, startedAt: number): void {
    if (startedAt <= this.#narrowedAt) return;
    this.#half = Math.max(1, Math.floor(this.#size / 2));
    this.#size = 1;
    this.#narrowedAt = now;
  }

  widen(): void {
    this.#size = Math.min(this.#most, this.#size + (this.#size < this.#half ? 1 : 1 / this.#size));
  }
}
