import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/platform/waiting/clock.js';
import { onAbort } from '../../src/platform/waiting/on-abort.js';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Time that only moves when it is told to. */
export class FakeClock implements Clock {
  readonly #wallStart: number;
  readonly #sleepers = new Set<Sleeper>();
  #now = 0;

  constructor(wallStart = Date.UTC(2026, 10, 21)) {
    this.#wallStart = wallStart;
  }

  /** How many sleeps have neither ended nor been aborted. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.#now;
  }

  wallNow(): number {
    return this.#wallStart + this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const sleeper: Sleeper = {
        at: this.#now + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          forget();
          resolve();
        },
      };
      const forget = onAbort(signal, (reason) => {
        this.#sleepers.delete(sleeper);
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors
        reject(reason);
      });
      this.#sleepers.add(sleeper);
    });
  }

  /** Moves on, waking whoever is due in the order of their time, and lets all that follows happen. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await turn();
    for (;;) {
      const next = this.#next();
      if (next === undefined || next.at > until) break;
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await turn();
    }
    this.#now = until;
    await turn();
  }

  /** Moves from wake to wake until the work is done; for simulations in which nothing else takes time. */
  async runUntil<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const mark = (): void => {
      isDone = true;
    };
    work.then(mark, mark);
    for (;;) {
      await turn();
      if (isDone) return work;
      const next = this.#next();
      if (next === undefined)
        throw new Error('nothing is left to happen, and the work is not done');
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
  }

  #next(): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) if (!next || sleeper.at < next.at) next = sleeper;
    return next;
  }
}
