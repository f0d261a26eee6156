import type { Clock } from './clock.js';

/** One reason for all: an error of its own for each sleep that is not needed would cost more than the timer. */
const notAwaited = new Error('nothing is waited for any more');

/** Rings at one moment, which can be moved and taken back. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #sleep: { readonly at: number; readonly end: AbortController } | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** When it rings; infinity while it is not set. */
  get at(): number {
    return this.#sleep?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Rings at this moment, and not at the one it was set to before. */
  set(at: number): void {
    if (at === this.at) return;
    this.stop();
    if (at === Number.POSITIVE_INFINITY) return;
    const sleep = { at, end: new AbortController() };
    this.#sleep = sleep;
    this.#clock.sleep(Math.max(0, at - this.#clock.now()), sleep.end.signal).then(
      () => {
        if (this.#sleep !== sleep) return;
        this.#sleep = undefined;
        this.#ring();
      },
      // Only our own signal ends the sleep: another has begun, or none is needed.
      () => undefined,
    );
  }

  stop(): void {
    this.#sleep?.end.abort(notAwaited);
    this.#sleep = undefined;
  }
}
