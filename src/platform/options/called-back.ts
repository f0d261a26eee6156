/**
 * Callbacks that may give a promise, which nobody waits for until the end: one that is rejected ends the work,
 * as one that throws does.
 */
export class CalledBack {
  readonly #onFailed: (error: unknown) => void;
  readonly #open = new Set<Promise<void>>();
  #failed: { readonly error: unknown } | undefined;

  /** @param onFailed called once, with the error of the first that was rejected */
  constructor(onFailed: (error: unknown) => void) {
    this.#onFailed = onFailed;
  }

  /** The same callback, whose promises are watched. */
  watch<Given extends unknown[]>(
    call: ((...given: Given) => unknown) | undefined,
  ): ((...given: Given) => void) | undefined {
    if (!call) return undefined;
    return (...given) => {
      const answer = call(...given);
      if (typeof answer === 'object' && answer !== null && 'then' in answer) this.#await(answer);
    };
  }

  /** Resolves when all promises have. @throws the error of the first that was rejected */
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
          this.#onFailed(error);
        },
      )
      .finally(() => this.#open.delete(open));
    this.#open.add(open);
  }
}
