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
