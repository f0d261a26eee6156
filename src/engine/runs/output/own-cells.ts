import type { AddedCells, JoinedRows, OutputCell, SinkWriting } from '../../../lists/rows/sink.js';
import type { Plan } from '../../plan/plan.js';

/** Ids begin again after so many: by then no sink remembers the first ones. */
const mostIds = 2 ** 31;

/**
 * Adds what is of each cell itself, which its outcome does not know (what was sent for it, which domain
 * was meant): it follows from the cell again, so that nothing has to be kept. Each cell has an id of its
 * own in place of its outcome's, good as long as its rows are being written.
 */
export class OwnCells {
  readonly #plan: Plan;
  #rows: JoinedRows | undefined;
  /** Id of the first cell of those rows. */
  #first = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  readonly cellsOf: AddedCells['cellsOf'] = (id, column): readonly OutputCell[] => {
    const { rows, at, outcome } = this.#find(id);
    const row = rows.from + Math.floor(at / rows.width);
    return this.#plan.withOwn(this.#plan.cellsOf(outcome, column), rows.chunk, row, column);
  };

  readonly wholeCellsOf: AddedCells['cellsOf'] = (id, column) =>
    this.#plan.wholeCellsOf(this.#find(id).outcome, column);

  /** Gives the cells of rows their ids while a sink writes them. */
  over(writing: SinkWriting): SinkWriting {
    let next = 0;
    return {
      givesBack: writing.givesBack ?? false,
      write: async (rows) => {
        const { length } = rows.outcomes;
        if (next + length > mostIds) next = 0;
        this.#rows = rows;
        this.#first = next;
        next += length;
        const ids = Uint32Array.from({ length }, (_, at) => this.#first + at);
        await writing.write({ ...rows, outcomes: ids });
      },
      finish: async () => writing.finish(),
      abort: async () => writing.abort(),
    };
  }

  #find(id: number): { readonly rows: JoinedRows; readonly at: number; readonly outcome: number } {
    const at = id - this.#first;
    const rows = this.#rows;
    const outcome = rows?.outcomes[at];
    if (rows === undefined || outcome === undefined) {
      throw new RangeError('cells are asked for whose rows are not being written');
    }
    return { rows, at, outcome };
  }
}
