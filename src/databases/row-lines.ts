import { OutcomeForms } from '../formats/outcome-forms.js';
import { TableRows } from '../formats/table-rows.js';
import type { RowChunk } from '../rows/row-chunk.js';
import type { JoinedRows, OpenSinkOptions, OutputCell } from '../rows/sink.js';
import { writeValue } from './cell-text.js';
import { addedKind } from './column-kind.js';
import { TableChunk } from './table-chunk.js';

const lineFeed = Buffer.from('\n');

export interface RowLinesOptions extends Pick<OpenSinkOptions, 'reading' | 'added' | 'cellsOf'> {
  /** Positions of the input's columns that are written, in order. */
  readonly columns: readonly number[];
  /** Whether an empty cell of such a column is null, because the column takes no empty text. */
  readonly isEmptyNull: (column: number) => boolean;
}

/** Writes joined rows in the form of `cell-text.ts`: what is in that form already is copied. */
export class RowLines {
  readonly #options: RowLinesOptions;
  readonly #isWhole: boolean;
  readonly #rows: TableRows;
  readonly #added: OutcomeForms<Buffer>;
  #count = 0;

  constructor(options: RowLinesOptions) {
    const { reading, columns } = options;
    this.#options = options;
    this.#rows = new TableRows(reading.header.length);
    this.#isWhole =
      columns.length === reading.header.length && columns.every((column, at) => column === at);
    this.#added = new OutcomeForms(options, (cells, column) =>
      Buffer.from(
        cells.map((cell, at) => `\t${addedText(options.added[column]?.[at], cell)}`).join(''),
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
    const { columns } = this.#options;
    if (!isInForm(chunk)) {
      const cells = this.#rows.read(chunk, row);
      return Buffer.from(columns.map((column) => this.#encode(cells[column], column)).join('\t'));
    }
    if (this.#isWhole) return chunk.line(row);
    const fields = chunk.fields(row);
    return Buffer.from(columns.map((column) => fields[column] ?? '').join('\t'));
  }

  #encode(cell: unknown, column: number): string {
    if (cell === '' && this.#options.isEmptyNull(column)) return '\\N';
    return writeValue(cell);
  }
}

/** Whether a chunk's cells stand as they are written. */
function isInForm(chunk: RowChunk): chunk is TableChunk {
  return chunk instanceof TableChunk && chunk.form.columns.every(({ kind }) => kind !== 'any');
}

/** A flag that is neither true nor false has no place in a column of booleans; text holds no NUL. */
function addedText(name = '', cell: OutputCell): string {
  if (addedKind(name) !== 'boolean') {
    return writeValue(typeof cell === 'string' ? cell.replaceAll('\0', '') : cell);
  }
  if (cell === true || cell === 'true') return 't';
  return cell === false || cell === 'false' ? 'f' : '\\N';
}
