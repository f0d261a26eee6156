/** Calls callbacks that may return promises, which are awaited only at the end. */
export class CalledBack {
  readonly #onFailed: ((error: unknown) => void) | undefined;
  readonly #open = new Set<Promise<void>>();
  #failed: { readonly error: unknown } | undefined;

  /**
   * @param onFailed ends the work with the first rejection; a callback's synchronous error passes. @default
   * the work continues in any case: `settled` throws the first error
   */
  constructor(onFailed?: (error: unknown) => void) {
    this.#onFailed = onFailed;
  }

  /** The same callback, with its promises watched. */
  watch<Given extends unknown[]>(
    call: ((...given: Given) => unknown) | undefined,
  ): ((...given: Given) => void) | undefined {
    if (!call) return undefined;
    return (...given) => {
      let answer: unknown;
      try {
        answer = call(...given);
      } catch (error) {
        if (this.#onFailed) throw error;
        this.#failed ??= { error };
      }
      if (typeof answer === 'object' && answer !== null && 'then' in answer) this.#await(answer);
    };
  }

  /** Resolves when all promises have. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
    if (this.#failed) throw this.#failed.error;
  }

  #await(answer: object): void {
    const open = Promise.resolve(answer)
      .then(
        () => undefined,
        (error: unknown) => {
          if (this.#failed) return;
          this.#failed = { error };
          this.#onFailed?.(error);
        },
      )
      .finally(() => this.#open.delete(open));
    this.#open.add(open);
  }
}
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  async next<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

type Listener = (reason: unknown) => void;

const listeners = new WeakMap<AbortSignal, Set<Listener>>();

/**
 * Calls a listener when a signal aborts. All share a single listener on the signal: Node warns of a leak from
 * the eleventh on.
 *
 * @returns removes the listener
 */
export function onAbort(signal: AbortSignal | undefined, listener: Listener): () => void {
  if (signal === undefined) return () => undefined;
  const onceAborted = (reason: unknown): void => listener(reason);
  const waiting = listeners.get(signal) ?? listenTo(signal);
  waiting.add(onceAborted);
  return () => {
    if (!waiting.delete(onceAborted) || waiting.size > 0) return;
    signal.removeEventListener('abort', callAll);
    listeners.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Set<Listener> {
  const waiting = new Set<Listener>();
  listeners.set(signal, waiting);
  signal.addEventListener('abort', callAll, { once: true });
  return waiting;
}

function callAll(this: AbortSignal): void {
  const waiting = listeners.get(this);
  listeners.delete(this);
  for (const listener of waiting ?? []) listener(this.reason);
}

/** Waits for work that may never end, but not beyond the signal: the work continues without this caller. */
export async function orAborted<Value>(work: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject);
    // The reason is the caller's.
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    if (signal.aborted) reject(signal.reason);
    work.then(resolve, reject).finally(forget);
  });
}

/** Calls what a caller has given, and waits for it in the same way. */
export async function callOrAborted<Value>(
  call: () => Value | Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  signal?.throwIfAborted();
  return orAborted((async () => call())(), signal);
}

/** Lets others wait for a notification; one that came before counts. */
export class Notifier {
  readonly #waiting = new Set<() => void>();
  #isNotified = false;

  notify(): void {
    this.#isNotified = this.#waiting.size === 0;
    for (const wake of this.#waiting) wake();
  }

  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isNotified) {
      this.#isNotified = false;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const forget = onAbort(signal, (reason) => {
        this.#waiting.delete(wake);
        // The reason is the caller's.
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors
        reject(reason);
      });
      const wake = (): void => {
        forget();
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }
}
