/** Keeps what holds for some time; of too much, what was put in first goes first. */
export class TtlCache<Value> {
  readonly #most: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, { readonly value: Value; readonly untilMs: number }>();

  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.untilMs > this.#now()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  put(key: string, value: Value, ttlMs: number): void {
    if (!(ttlMs > 0)) return;
    this.#entries.delete(key);
    if (this.#entries.size >= this.#most) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    this.#entries.set(key, { value, untilMs: this.#now() + ttlMs });
  }
}
