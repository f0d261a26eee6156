import type { Row } from '../rows/object-chunk.js';
import type { JoinedRows, OutputCell } from '../rows/sink.js';
import type { Plan } from './plan.js';

type Fragment = Readonly<Record<string, OutputCell>>;

/** Adds the output columns to row objects. */
export class RowEnricher {
  readonly #plan: Plan;
  /** By verified column, then by outcome: the fields it adds. */
  readonly #fragments: Fragment[][];

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#fragments = plan.layout.columns.map(() => []);
  }

  /** @param row position in the stretch's chunk */
  enrich(input: Row, joined: JoinedRows, row: number): Row {
    const start = (row - joined.from) * joined.width;
    let enriched: Row = input;
    for (let column = 0; column < joined.width; column += 1) {
      enriched = { ...enriched, ...this.#fragment(column, joined.outcomes[start + column] ?? 0) };
    }
    return enriched;
  }

  #fragment(column: number, outcome: number): Fragment {
    const known = this.#fragments[column]?.[outcome];
    if (known) return known;
    const names = this.#plan.layout.added[column] ?? [];
    const cells = this.#plan.cellsOf(outcome, column);
    const fragment = Object.fromEntries(names.map((name, index) => [name, cells[index] ?? null]));
    const fragments = this.#fragments[column];
    if (fragments) fragments[outcome] = fragment;
    return fragment;
  }
}
