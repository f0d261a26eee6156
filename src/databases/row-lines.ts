import { OutcomeForms } from '../formats/outcome-forms.js';
import { TableRows } from '../formats/table-rows.js';
import type { RowChunk } from '../rows/row-chunk.js';
import type { JoinedRows, OpenSinkOptions } from '../rows/sink.js';
import { writeValue } from './cell-text.js';
import type { TablePlan } from './table-plan.js';
import { addedValue, plainText } from './row-values.js';
import { TableChunk } from './table-chunk.js';

const lineFeed = Buffer.from('\n');

type LinesPlan = Pick<TablePlan, 'positions' | 'isText' | 'isPrinted'>;

/** Writes joined rows in the form of `cell-text.ts`: what is in that form already is copied. */
export class RowLines {
  readonly #plan: LinesPlan;
  readonly #isWhole: boolean;
  readonly #rows: TableRows;
  readonly #added: OutcomeForms<Buffer>;
  #count = 0;

  constructor(plan: LinesPlan, opening: Pick<OpenSinkOptions, 'reading' | 'added' | 'cellsOf'>) {
    const { header } = opening.reading;
    this.#plan = plan;
    this.#rows = new TableRows(header.length);
    this.#isWhole =
      plan.positions.length === header.length &&
      plan.positions.every((column, at) => column === at);
    this.#added = new OutcomeForms(opening, (cells, column) =>
      Buffer.from(
        cells
          .map((cell, at) => `\t${writeValue(addedValue(opening.added[column]?.[at], cell))}`)
          .join(''),
      ),
    );
  }

  /** Number of rows written so far. */
  get count(): number {
    return this.#count;
  }

  /** The lines of some rows. */
  write({ chunk, from, to, outcomes, width }: JoinedRows): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let row = from; row < to; row += 1) {
      this.#count += 1;
      parts.push(this.#ownCells(chunk, row));
      for (let column = 0; column < width; column += 1) {
        parts.push(this.#added.of(column, outcomes[(row - from) * width + column]));
      }
      parts.push(lineFeed);
    }
    return Buffer.concat(parts);
  }

  #ownCells(chunk: RowChunk, row: number): Uint8Array {
    const { positions } = this.#plan;
    if (!isInForm(chunk)) {
      const cells = this.#rows.read(chunk, row);
      return Buffer.from(positions.map((column) => this.#encode(cells[column], column)).join('\t'));
    }
    if (this.#isWhole) return chunk.line(row);
    const fields = chunk.fields(row);
    return Buffer.from(positions.map((column) => fields[column] ?? '').join('\t'));
  }

  #encode(cell: unknown, column: number): string {
    if (cell === '' && !this.#plan.isText(column)) return '\\N';
    const isPrinted = typeof cell !== 'string' && cell !== null && this.#plan.isPrinted(column);
    return writeValue(isPrinted ? plainText(cell) : cell);
  }
}

/** Whether a chunk's cells stand as they are written. */
function isInForm(chunk: RowChunk): chunk is TableChunk {
  return chunk instanceof TableChunk && chunk.form.columns.every(({ kind }) => kind !== 'any');
}
