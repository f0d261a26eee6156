import { TableRows } from '../../rows/chunks/table-rows.js';
import type { RowChunk } from '../../rows/chunks/row-chunk.js';
import { type JoinedRows, type OpenSinkOptions, OutcomeForms } from '../../rows/sink.js';
import { writeValue } from '../cell-text.js';
import type { TablePlan } from '../tables/table-plan.js';
import { addedValues, plainText } from '../tables/row-values.js';
import { TableChunk } from '../tables/table-reading.js';

/** Writes joined rows in the format of `cell-text.ts`: cells already in that format are copied. */
export class RowLines {
  readonly #plan: TablePlan;
  readonly #isWhole: boolean;
  readonly #rows: TableRows;
  readonly #added: OutcomeForms<Buffer>;
  #count = 0;

  constructor(plan: TablePlan, opening: OpenSinkOptions) {
    const { header } = opening.reading;
    this.#plan = plan;
    this.#rows = new TableRows(header.length);
    this.#isWhole =
      plan.positions.length === header.length &&
      plan.positions.every((column, at) => column === at);
    const last = opening.added.length - 1;
    const valuesOf = addedValues(plan, opening);
    this.#added = new OutcomeForms(opening, (cells, column) => {
      const text = valuesOf(cells, column)
        .map((value) => `\t${writeValue(value)}`)
        .join('');
      return Buffer.from(column === last ? `${text}\n` : text);
    });
  }

  /** Number of rows written so far. */
  get count(): number {
    return this.#count;
  }

  /** The lines of some rows. */
  write(joined: JoinedRows): Uint8Array {
    const { chunk, from, to, outcomes, width } = joined;
    this.#count += to - from;
    const added = Array.from(outcomes.subarray(0, (to - from) * width), (outcome, at) =>
      this.#added.of(at % width, outcome),
    );
    const formed = this.#isInForm(chunk) ? chunk : undefined;
    if (this.#isWhole && formed) return copyRows(formed, joined, added);
    const parts: Uint8Array[] = [];
    for (let row = from; row < to; row += 1) {
      const first = (row - from) * width;
      const own = formed
        ? this.#plan.positions.map((column) => formed.field(row, column) ?? '')
        : this.#encodeCells(this.#rows.read(chunk, row));
      parts.push(Buffer.from(own.join('\t')), ...added.slice(first, first + width));
    }
    return Buffer.concat(parts);
  }

  #encodeCells(cells: readonly unknown[]): readonly string[] {
    const { positions, columns } = this.#plan;
    return positions.map((position, at) => {
      const cell = cells[position];
      if (cell === '' && !this.#plan.isText(position)) return '\\N';
      const isPrinted = typeof cell !== 'string' && columns[at]?.isPrinted === true;
      return writeValue(isPrinted ? plainText(cell) : cell);
    });
  }

  /** Whether a chunk's cells are in the form that their columns take. */
  #isInForm(chunk: RowChunk): chunk is TableChunk {
    if (!(chunk instanceof TableChunk)) return false;
    const { positions, columns } = this.#plan;
    return chunk.form.columns.every(({ kind }, position) => {
      const isPrinted = columns[positions.indexOf(position)]?.isPrinted === true;
      return kind !== 'any' && !(isPrinted && (kind === 'boolean' || kind === 'binary'));
    });
  }
}

/** Copies rows unchanged, each with its added cells, into one piece. */
function copyRows(
  chunk: TableChunk,
  { from, to, width }: JoinedRows,
  added: readonly Buffer[],
): Uint8Array {
  let size = 0;
  for (let row = from; row < to; row += 1) size += chunk.rowEnd(row) - chunk.rowStart(row);
  for (const { length } of added) size += length;
  const lines = Buffer.allocUnsafeSlow(size);
  let at = 0;
  let next = 0;
  for (let row = from; row < to; row += 1) {
    at += chunk.bytes.copy(lines, at, chunk.rowStart(row), chunk.rowEnd(row));
    for (const last = next + width; next < last; next += 1) {
      at += (added[next] as Buffer).copy(lines, at);
    }
  }
  return lines;
}
