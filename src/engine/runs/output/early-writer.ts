import type { Clock } from '../../../platform/waiting/clock.js';

/** What a writing of rows waits for, and what ends it. */
export interface WriteWaits {
  /** Resolves when another batch is settled. */
  readonly nextSettled: () => Promise<void>;
  /** Resolves when no batch is left to drive: the output must not appear before. */
  readonly allSettled: () => Promise<void>;
  /** Aborted when the rest is not to be written. */
  readonly signal: AbortSignal;
}

/** When a writing that others may wait for is worth beginning before all batches are settled. */
interface LateBeginning {
  /** Longest time that it may wait for batches, in milliseconds. */
  readonly mostMs: number;
  /** How long the batches that are left will take, as far as those before them show. */
  readonly leftMs: () => number;
  readonly clock: Clock;
}

/**
 * An output that is written while batches are still driven: what waits for the service meanwhile has
 * nothing else to do. It begins with the first batch that is settled, or with the last ones, and is never
 * ahead of them.
 */
export class EarlyWriter<Result> {
  readonly #write: (waits: WriteWaits) => Promise<Result>;
  readonly #late: LateBeginning | undefined;
  #stop = new AbortController();
  #written: Promise<Result> | undefined;
  #waiting: Resolvers | undefined;
  /** Whether nothing is left to be driven. */
  #isOver = false;
  #isStopped = false;

  constructor(write: (waits: WriteWaits) => Promise<Result>, late?: LateBeginning) {
    this.#write = write;
    this.#late = late;
  }

  /** Another batch is settled. */
  notify(): void {
    if (this.#isDue()) void this.#begin();
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  /**
   * Nothing is left to be driven: writes the rest. What was begun late and went wrong since is written again.
   */
  async finish(): Promise<Result> {
    this.#isOver = true;
    const before = this.#late && this.#written;
    this.notify();
    if (!before) return this.#begin();
    try {
      return await before;
    } catch (error) {
      if (this.#isStopped) throw error;
      this.#written = undefined;
      this.#stop = new AbortController();
      return this.#begin();
    }
  }

  /** Ends it without an output, which is cleaned up when this resolves. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#drop();
    // What it had to say is of no interest beside what stopped the run.
    await this.#written?.catch(() => undefined);
  }

  #isDue(): boolean {
    if (!this.#late || this.#isOver) return true;
    return this.#written === undefined && this.#late.leftMs() <= this.#late.mostMs / 2;
  }

  #begin(): Promise<Result> {
    if (this.#written) return this.#written;
    this.#written = this.#write({
      nextSettled: async () => {
        if (this.#isOver) throw new Error('a row is to be written before its batch is settled');
        await this.#nextEvent();
      },
      allSettled: async () => {
        while (!this.#isOver) await this.#nextEvent();
      },
      signal: this.#stop.signal,
    });
    // Its error counts at the end: what is paid for is fetched first.
    this.#written.catch(() => undefined);
    if (this.#late && !this.#isOver) void this.#dropAfter(this.#late);
    return this.#written;
  }

  /** Others have waited long enough for what it holds. */
  async #dropAfter({ clock, mostMs }: LateBeginning): Promise<void> {
    const isWritten = new AbortController();
    void this.#written?.catch(() => undefined).then(() => isWritten.abort());
    await clock.sleep(mostMs, isWritten.signal).catch(() => undefined);
    if (!this.#isOver) this.#drop();
  }

  #drop(): void {
    this.#stop.abort();
    this.#waiting?.reject(this.#stop.signal.reason);
    this.#waiting = undefined;
  }

  /** Resolves when something is told. */
  async #nextEvent(): Promise<void> {
    this.#stop.signal.throwIfAborted();
    this.#waiting ??= createResolvers();
    return this.#waiting.promise;
  }
}

interface Resolvers {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(reason: unknown): void;
}

function createResolvers(): Resolvers {
  let resolve = (): void => undefined;
  let reject = (_reason: unknown): void => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
