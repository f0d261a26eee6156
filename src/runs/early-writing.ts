/** What a writing of rows waits for, and what ends it. */
export interface WriteWaits {
  /** Resolves when another batch is settled. */
  readonly nextSettled: () => Promise<void>;
  /** Resolves when nothing is left to be driven: the output must not stand before. */
  readonly allSettled: () => Promise<void>;
  /** Aborted when the rest is not to be written. */
  readonly signal: AbortSignal;
}

/**
 * An output that is written while batches are still driven: what waits for the service meanwhile has
 * nothing else to do. It begins with the first batch that is settled and is never ahead of them.
 */
export class EarlyWriting<Result> {
  readonly #write: (waits: WriteWaits) => Promise<Result>;
  readonly #stop = new AbortController();
  #written: Promise<Result> | undefined;
  #told: Resolvers | undefined;
  /** Whether nothing is left to be driven. */
  #isOver = false;

  constructor(write: (waits: WriteWaits) => Promise<Result>) {
    this.#write = write;
  }

  /** Another batch is settled. */
  tell(): void {
    void this.#begin();
    this.#told?.resolve();
    this.#told = undefined;
  }

  /** Nothing is left to be driven: writes the rest. @throws what the writing throws, or has thrown */
  async finish(): Promise<Result> {
    this.#isOver = true;
    this.tell();
    return this.#begin();
  }

  /** Ends it without an output, which is cleaned up when this resolves. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#told?.reject(this.#stop.signal.reason);
    // What it had to say is of no interest beside what stopped the run.
    await this.#written?.catch(() => undefined);
  }

  #begin(): Promise<Result> {
    if (this.#written) return this.#written;
    this.#written = this.#write({
      nextSettled: async () => {
        if (this.#isOver) throw new Error('a row is to be written before its batch is settled');
        await this.#news();
      },
      allSettled: async () => {
        while (!this.#isOver) await this.#news();
      },
      signal: this.#stop.signal,
    });
    // It is heard of at the end: what is paid for is fetched first.
    this.#written.catch(() => undefined);
    return this.#written;
  }

  /** Resolves when something is told. @throws the reason, once it is to stop */
  async #news(): Promise<void> {
    this.#stop.signal.throwIfAborted();
    this.#told ??= createResolvers();
    return this.#told.promise;
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
