/** When rows came in, to about a thousandth of the time that they may wait. */
export class ArrivalTimes {
  readonly #grainMs: number;
  /** First rows of stretches that came in at about the same time. */
  #noted: { readonly row: number; readonly at: number }[] = [];

  constructor(maxWaitMs: number) {
    this.#grainMs = maxWaitMs / 1000;
  }

  /** @param row number of the first row that came in then; numbers only grow */
  note(row: number, at: number): void {
    const latest = this.#noted.at(-1);
    // Noted one by one, they would outnumber what waits.
    if (!latest || at - latest.at >= this.#grainMs) this.#noted.push({ row, at });
  }

  /**
   * When a row came in, or a little before. What is noted of earlier ones is forgotten.
   *
   * @throws RangeError when nothing is noted of it
   */
  of(row: number): number {
    const place = this.#noted.findLastIndex((noted) => noted.row <= row);
    const noted = this.#noted[place];
    if (!noted) throw new RangeError(`nothing is noted of row ${row}`);
    this.#noted = this.#noted.slice(place);
    return noted.at;
  }

  forget(): void {
    this.#noted = [];
  }
}
