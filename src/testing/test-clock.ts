import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { type Clock, systemClock } from '../platform/waiting/clock.js';
import { onAbort } from '../platform/waiting/promises.js';

/** In real time: less than the limit of a test in the usual runners. */
const remindAfterMs = 2000;

/** Work may take a few turns, as those of streams, until it begins its next wait: far fewer than these. */
const mostIdleTurns = 100;

/** Turns of a millisecond or more without a sign of the awaited answer: the service hangs. */
const mostHeldTurns = 1500;

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * A clock that only the test moves: for the option `clock` of a client, a stream or a run.
 *
 * @example
 * ```ts
 * const clock = createTestClock(Date.UTC(2026, 0, 1));
 * await clock.advance(60_000);
 * console.log(clock.wallNow()); // 1767225660000
 * ```
 */
export class TestClock implements Clock {
  readonly #wallStart: number;
  readonly #sleepers = new Set<Sleeper>();
  #now = 0;
  #held = 0;
  /** How often an answer was begun to be awaited, or came. */
  #heldChanges = 0;
  #isMoved = false;
  #reminds = false;

  /** @param wallStart its first date, in milliseconds since the epoch */
  constructor(wallStart = Date.UTC(2026, 10, 21)) {
    this.#wallStart = wallStart;
  }

  /** Number of pending sleeps. */
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
    if (!this.#reminds) setTimeout(() => this.#remind(), remindAfterMs).unref();
    this.#reminds = true;
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

  hold(): () => void {
    this.#held += 1;
    this.#heldChanges += 1;
    return () => {
      this.#held -= 1;
      this.#heldChanges += 1;
    };
  }

  /**
   * Moves on, waking sleepers in order, and lets everything that follows happen.
   *
   * @throws RangeError where the time is not a number, or would go back
   */
  async advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0) {
      throw new RangeError('a clock advances by a number of milliseconds, 0 or more');
    }
    this.#isMoved = true;
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

  /**
   * Moves from wake to wake until the work is done, over HTTP, too: as long as a client with connections of its own
   * awaits an answer, the clock stays where it is. Where none comes for about two seconds of real time, the service
   * hangs, and the clock moves on to the client's limits. Other work that takes time, such as that of a disk, is not
   * waited for.
   *
   * @throws what the work throws; an error when nothing is left to happen
   */
  async runUntil<T>(work: Promise<T>): Promise<T> {
    this.#isMoved = true;
    let isDone = false;
    const mark = (): void => {
      isDone = true;
    };
    work.then(mark, mark);
    let idleTurns = 0;
    let heldTurns = 0;
    let heldChanges = this.#heldChanges;
    for (;;) {
      await turn();
      if (isDone) return work;
      if (heldChanges !== this.#heldChanges) heldTurns = 0;
      heldChanges = this.#heldChanges;
      if (this.#held > 0 && heldTurns < mostHeldTurns) {
        heldTurns += 1;
        await pause(1);
        continue;
      }
      const next = this.#next();
      if (next === undefined) {
        idleTurns += 1;
        if (idleTurns < mostIdleTurns) continue;
        throw new Error(
          'nothing is left to happen on the clock, and the work is not done: it waits for something else, such as a disk, or has another clock',
        );
      }
      idleTurns = 0;
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
  }

  /** Else a test that forgets to move it ends at its own limit, which says nothing of the clock. */
  #remind(): void {
    if (this.#isMoved || this.#sleepers.size === 0) return;
    process.emitWarning(
      'a test clock is waited for, and nobody has moved it: call its advance() or runUntil()',
      { type: 'SluiceWarning', code: 'SLUICE_TEST_CLOCK' },
    );
  }

  #next(): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) if (!next || sleeper.at < next.at) next = sleeper;
    return next;
  }
}

/**
 * Makes a clock that only the test moves, so that a test of hours takes no time.
 *
 * @example
 * ```ts
 * const clock = createTestClock();
 * const waiting = clock.sleep(86_400_000).then(() => console.log(clock.now()));
 * await clock.advance(86_400_000); // 86400000
 * await waiting;
 * ```
 */
export function createTestClock(wallStart?: number): TestClock {
  return new TestClock(wallStart);
}

/**
 * Makes a clock that moves by itself, so many times faster than time: waits between polls and retries become
 * short, also against a service over HTTP.
 *
 * @throws RangeError where the factor is not a number above 0
 *
 * @example
 * ```ts
 * const clock = createFastClock(200);
 * const { baseUrl, apiKey } = service;
 * const fast = new Client({ baseUrl, apiKey, clock });
 * await fast.close();
 * ```
 */
export function createFastClock(factor = 200): Clock {
  if (!Number.isFinite(factor) || factor <= 0) {
    throw new RangeError('a fast clock is a number of times faster than time, more than 0');
  }
  return {
    speed: factor,
    now: () => systemClock.now() * factor,
    wallNow: () => systemClock.wallNow(),
    sleep: async (ms, signal) => systemClock.sleep(ms / factor, signal),
  };
}
