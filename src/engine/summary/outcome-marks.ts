import type { Outcome, OutcomeTable } from '../results/outcome-table.js';

const notSeen = 255;

/** A small number for each outcome, found once: a look at a byte for each cell. */
export class OutcomeMarks {
  readonly #outcomes: OutcomeTable;
  readonly #mark: (outcome: Outcome) => number;
  #marks = new Uint8Array(1024).fill(notSeen);

  /** @param mark gives 0 to 254 */
  constructor(outcomes: OutcomeTable, mark: (outcome: Outcome) => number) {
    this.#outcomes = outcomes;
    this.#mark = mark;
  }

  of(id: number): number {
    if (id >= this.#marks.length) {
      const grown = new Uint8Array(Math.max(id + 1, this.#marks.length * 2)).fill(notSeen);
      grown.set(this.#marks);
      this.#marks = grown;
    }
    const known = this.#marks[id] as number;
    if (known !== notSeen) return known;
    const mark = this.#mark(this.#outcomes.get(id));
    this.#marks[id] = mark;
    return mark;
  }
}
