/** Callbacks that may give a promise, which nobody waits for until the end. */
export class CalledBack {
  readonly #onFailed: ((error: unknown) => void) | undefined;
  readonly #open = new Set<Promise<void>>();
  #failed: { readonly error: unknown } | undefined;

  /**
   * @param onFailed ends the work, with the error of the first that was rejected; what a callback throws
   *   passes. @default the work continues, whatever they throw: `settled` has the first error
   */
  constructor(onFailed?: (error: unknown) => void) {
    this.#onFailed = onFailed;
  }

  /** The same callback, whose promises are watched. */
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
/** Does one piece of work after the other. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  /** Begins when all that came before is done, well or not. */
  async next<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
