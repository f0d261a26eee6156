import { withSubmitted } from '../results/columns.js';
import type { JoinedRows, OpenSinkOptions, OutputCell, SinkWriting } from '../rows/sink.js';
import type { Plan } from '../batches/plan.js';

/** Ids begin again after so many: by then no sink remembers the first ones. */
const mostIds = 2 ** 31;

/**
 * Adds what was sent for each cell, which its outcome does not know: it follows from the cell again, so
 * that nothing has to be kept. Each cell has an id of its own in place of its outcome's, good as long
 * as its rows are being written.
 */
export class SubmittedCells {
  readonly #plan: Plan;
  #rows: JoinedRows | undefined;
  /** Id of the first cell of those rows. */
  #first = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  readonly cellsOf: OpenSinkOptions['cellsOf'] = (id, column): readonly OutputCell[] => {
    const at = id - this.#first;
    const outcome = this.#rows?.outcomes[at];
    if (this.#rows === undefined || outcome === undefined) {
      throw new RangeError('cells are asked for whose rows are not being written');
    }
    const { chunk, from, width } = this.#rows;
    const line = this.#plan.planner.lineOf(chunk, from + Math.floor(at / width), column);
    return withSubmitted(this.#plan.cellsOf(outcome, column), line);
  };

  /** Gives the cells of rows their ids while a sink writes them. */
  over(writing: SinkWriting): SinkWriting {
    let next = 0;
    return {
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
}
