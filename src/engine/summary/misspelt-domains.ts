import { suggestDomain } from '../addresses/suggest-domain.js';
import type { Plan } from '../plan/plan.js';
import type { JoinedRows } from '../../lists/rows/sink.js';
import type { ColumnSummary } from './summary.js';

/** Where no suggestions are written, so many rows are enough to say that there would be some. */
const firstRows = 1000;

/** Counts the emails whose domain looks misspelt: in all rows where suggestions are written, else in the first. */
export class MisspeltDomains {
  readonly #columns: readonly {
    readonly column: number;
    readonly position: number;
    readonly suggestedIn: string | null;
  }[];
  readonly #mostRows: number;
  readonly #cells = new Map<number, number>();
  #rows = 0;

  constructor({ layout }: Plan) {
    this.#columns = layout.columns.flatMap(({ type, position }, column) => {
      const added = layout.added[column]?.find(({ field }) => field === 'suggestion');
      return type === 'email' ? [{ column, position, suggestedIn: added?.name ?? null }] : [];
    });
    const isWritten = this.#columns.some(({ suggestedIn }) => suggestedIn !== null);
    this.#mostRows = isWritten ? Infinity : firstRows;
  }

  /** @param count of rows, from the row `from` of the chunk on */
  add({ chunk, from }: Pick<JoinedRows, 'chunk' | 'from'>, count: number): void {
    const to = from + Math.min(count, this.#mostRows - this.#rows);
    this.#rows += to - from;
    for (const { column, position } of this.#columns) {
      for (let row = from; row < to; row += 1) {
        if (suggestDomain(chunk.text(row, position)) === undefined) continue;
        this.#cells.set(column, (this.#cells.get(column) ?? 0) + 1);
      }
    }
  }

  /** @returns `undefined` where no domain of the column looks misspelt */
  of(column: number): ColumnSummary['misspelt'] {
    const cells = this.#cells.get(column);
    if (cells === undefined) return undefined;
    const suggestedIn = this.#columns.find((each) => each.column === column)?.suggestedIn ?? null;
    return { cells, of_rows: this.#rows, suggested_in: suggestedIn };
  }
}
