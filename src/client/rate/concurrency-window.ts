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
