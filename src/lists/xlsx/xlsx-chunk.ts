import type { Kind } from '../rows/values/kinds.js';
import { CellsChunk } from '../rows/chunks/object-chunk.js';
import type { CellText } from '../rows/chunks/row-chunk.js';
import { shownDigits } from './number-format.js';

/** How a number in a cell is shown. */
export interface CellFormat {
  readonly code: string | undefined;
  /** The format's number, where every workbook has it. */
  readonly builtIn?: number | undefined;
  /** The number itself, where the cell's value is a text of it: a date, a time. */
  readonly serial?: number;
  /** What such a text is. */
  readonly kind?: 'date' | 'time' | 'timestamp';
}

/** Rows of a sheet: their cells with their types, and the formats of numbers and dates. */
export class XlsxChunk extends CellsChunk {
  readonly sheetName: string;
  readonly #numbers: readonly number[];
  readonly #formats: readonly (readonly (CellFormat | undefined)[] | undefined)[];

  /**
   * @param formats for each row those of its cells; `undefined` where no cell has one
   * @param numbers of the rows in the sheet
   */
  constructor(
    rows: readonly (readonly unknown[])[],
    formats: readonly (readonly (CellFormat | undefined)[] | undefined)[],
    sheetName: string,
    numbers: readonly number[],
  ) {
    super(rows);
    this.#formats = formats;
    this.sheetName = sheetName;
    this.#numbers = numbers;
  }

  /** A number is the digits that its cell shows: the zeros before a phone number are its format's. */
  override text(row: number, column: number): CellText {
    const value = this.value(row, column);
    const code = typeof value === 'number' ? this.format(row, column)?.code : undefined;
    const shown = code === undefined ? undefined : shownDigits(value as number, code);
    return shown ?? super.text(row, column);
  }

  number(row: number): number {
    return this.#numbers[row] ?? 0;
  }

  /** How a cell's number is shown, when that is said. */
  format(row: number, column: number): CellFormat | undefined {
    return this.#formats[row]?.[column];
  }

  kind(row: number, column: number): Kind | undefined {
    const name = this.format(row, column)?.kind;
    return name === undefined ? undefined : { name, scale: 3 };
  }
}
