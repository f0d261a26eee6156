import type { Kind } from '../rows/values/kinds.js';
import { CellsChunk } from '../rows/chunks/object-chunk.js';
import type { CellText } from '../rows/chunks/row-chunk.js';
import { shownDigits } from './number-format.js';

/** How a cell's number is displayed. */
export interface CellFormat {
  readonly code: string | undefined;
  /** The number of a built-in format. */
  readonly builtIn?: number | undefined;
  /** The number itself, where the cell's value is its text: a date, a time. */
  readonly serial?: number;
  /** The kind of such a text. */
  readonly kind?: 'date' | 'time' | 'timestamp';
}

/** Rows of a sheet: cells with their types, and the formats of numbers and dates. */
export class XlsxChunk extends CellsChunk {
  readonly sheetName: string;
  readonly #numbers: readonly number[];
  readonly #formats: readonly (readonly (CellFormat | undefined)[] | undefined)[];

  /**
   * @param formats for each row the formats of its cells; `undefined` without any
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

  /** A number is read as its cell displays it: leading zeros of a phone number come from its format. */
  override text(row: number, column: number): CellText {
    const value = this.value(row, column);
    const code = typeof value === 'number' ? this.format(row, column)?.code : undefined;
    const shown = code === undefined ? undefined : shownDigits(value as number, code);
    return shown ?? super.text(row, column);
  }

  number(row: number): number {
    return this.#numbers[row] ?? 0;
  }

  /** The format of a cell's number, if any. */
  format(row: number, column: number): CellFormat | undefined {
    return this.#formats[row]?.[column];
  }

  kind(row: number, column: number): Kind | undefined {
    const name = this.format(row, column)?.kind;
    return name === undefined ? undefined : { name, scale: 3 };
  }
}
