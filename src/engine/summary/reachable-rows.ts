import type { VerificationType } from '../../contract/enums.js';
import type { RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import type { RowsFrom } from '../../lists/rows/sink.js';
import { trimCell } from '../addresses/address.js';
import type { ColumnLayout } from '../columns/column-layout.js';
import { isNamedOptOut, optOutOf } from '../columns/opt-outs.js';
import type { Plan } from '../plan/plan.js';
import { isStatusUnknown, verdictOf } from '../results/outcome-table.js';
import { OutcomeMarks } from './rejected-cells.js';

/** Of several the highest counts for a row. */
const [nothing, byForm, suppressed, valid] = [0, 1, 2, 3];

/** Most texts of a column whose meaning is kept. */
const mostTexts = 1000;

/** A column of the list that says who has opted out. */
class OptOutColumn {
  readonly position: number;
  readonly #says: (cell: string) => boolean;
  readonly #known = new Map<string, boolean>();

  /** @param says whether a cell says of its row that it has opted out */
  constructor(position: number, says: (cell: string) => boolean) {
    this.position = position;
    this.#says = says;
  }

  isOut(chunk: RowChunk, row: number): boolean {
    const cell = chunk.text(row, this.position);
    return typeof cell === 'string' && this.#meaningOf(cell);
  }

  #meaningOf(cell: string): boolean {
    const known = this.#known.get(cell);
    if (known !== undefined) return known;
    const isOut = this.#says(trimCell(cell));
    if (this.#known.size < mostTexts) this.#known.set(cell, isOut);
    return isOut;
  }
}

/** By verified column: the columns of the list that are named for who has opted out of its type. */
export function optOutColumns(
  header: readonly string[],
  { columns }: ColumnLayout,
): readonly (readonly OptOutColumn[])[] {
  const ofType = (type: VerificationType): readonly OptOutColumn[] =>
    header.flatMap((title, position) => {
      const says = isNamedOptOut(title) ? optOutOf(title, [type]) : undefined;
      return says ? [new OptOutColumn(position, says)] : [];
    });
  const byType = { email: ofType('email'), phone: ofType('phone') };
  return columns.map(({ type }) => byType[type]);
}

/** Counts the people of a list that can be written to or called: rows split off one row are one of them. */
export class ReachableRows {
  readonly #marks: OutcomeMarks;
  readonly #optOuts: readonly (readonly OptOutColumn[])[];
  /** Of the row before. */
  #last = nothing;
  reachable = 0;
  /** Others with a phone that is valid by its form: nothing says that it is in service. */
  byForm = 0;
  /** Those that are not reachable as they have opted out. */
  optedOut = 0;
  /** Rows that were split off others. */
  splitOff = 0;

  constructor(plan: Plan, header: readonly string[]) {
    this.#marks = new OutcomeMarks(plan.outcomes, (outcome) => {
      if (verdictOf(outcome) === 'valid') return isStatusUnknown(outcome) ? byForm : valid;
      return outcome.reason === 'suppressed' ? suppressed : nothing;
    });
    this.#optOuts = optOutColumns(header, plan.layout);
  }

  /** @param outcomes of whole rows, from row `from` of the chunk */
  add(outcomes: Uint32Array, { chunk, from }: RowsFrom): void {
    const width = this.#optOuts.length;
    for (let index = 0, row = from; index < outcomes.length; index += width, row += 1) {
      const found = this.#ofRow(outcomes, index, row, chunk);
      if (chunk.isSplitOff?.(row) === true) {
        this.splitOff += 1;
        if (found <= this.#last) continue;
        this.#count(this.#last, -1);
      }
      this.#count(found, 1);
      this.#last = found;
    }
  }

  #count(found: number, by: number): void {
    if (found === valid) this.reachable += by;
    else if (found === suppressed) this.optedOut += by;
    else if (found === byForm) this.byForm += by;
  }

  #ofRow(outcomes: Uint32Array, start: number, row: number, chunk: RowChunk): number {
    let found = nothing;
    for (let column = 0; column < this.#optOuts.length; column += 1) {
      const mark = this.#marks.of(outcomes[start + column] ?? 0);
      if (mark === nothing) continue;
      const isOut = mark === suppressed || hasOptedOut(this.#optOuts[column] ?? [], chunk, row);
      if (!isOut && mark === valid) return valid;
      // Who has opted out of a phone that may not be in service was not reachable by it.
      if (isOut && mark === byForm) continue;
      found = Math.max(found, isOut ? suppressed : byForm);
    }
    return found;
  }
}

function hasOptedOut(columns: readonly OptOutColumn[], chunk: RowChunk, row: number): boolean {
  for (const column of columns) {
    if (column.isOut(chunk, row)) return true;
  }
  return false;
}
