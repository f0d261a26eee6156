import type { Clock } from '../../platform/waiting/clock.js';

/** Caches values for some time; beyond its size the oldest goes first. */
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

/** Delays items by a constant time: they leave in order. */
export class DelayLine<Item> {
  readonly #delayMs: number;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onDue: (item: Item) => void;
  readonly #waiting: { readonly item: Item; readonly atMs: number }[] = [];
  #isRunning = false;

  constructor(
    delayMs: number,
    options: {
      readonly clock: Clock;
      readonly signal: AbortSignal;
      readonly onDue: (item: Item) => void;
    },
  ) {
    this.#delayMs = delayMs;
    this.#clock = options.clock;
    this.#signal = options.signal;
    this.#onDue = options.onDue;
  }

  push(item: Item): void {
    this.#waiting.push({ item, atMs: this.#clock.now() + this.#delayMs });
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const leftMs = first.atMs - this.#clock.now();
      if (leftMs > 0) {
        const slept = await this.#clock.sleep(leftMs, this.#signal).then(
          () => true,
          () => false,
        );
        if (!slept) return;
      }
      const now = this.#clock.now();
      const due = this.#waiting.findIndex(({ atMs }) => atMs > now);
      const passed = this.#waiting.splice(0, due === -1 ? this.#waiting.length : due);
      for (const { item } of passed) this.#onDue(item);
    }
    this.#isRunning = false;
  }
}
