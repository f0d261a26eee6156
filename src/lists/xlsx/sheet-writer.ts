import { InputError } from '../../platform/errors/errors.js';
import type { CellFormat } from '../rows/chunks/row-chunk.js';
import type { TableRows } from '../rows/chunks/table-rows.js';
import { type JoinedRows, type OpenSinkOptions, OutcomeForms } from '../rows/sink.js';
import type { Kind } from '../rows/values/kinds.js';
import { printValue } from '../rows/values/print-value.js';
import { numberCell } from './number-format.js';
import type { SheetTable } from './workbook.js';
import { escapeXml, type OutputStyle, sheetHead, sheetTail } from './xlsx-parts.js';
import type { ZipWriter } from './zip/zip-writer.js';

const mostCellCharacters = 32_767;
const blockCharacters = 256 * 1024;
/** Rows that decide the widths of columns. */
const mostMeasured = 200;
const [leastWidth, mostWidth] = [8, 48];
/** Most styles kept; a workbook with more is artificial. */
const mostStyles = 4095;

export class Styles {
  readonly added: OutputStyle[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #first: number;

  constructor(first: number) {
    this.#first = first;
  }

  mark(style: OutputStyle): string {
    if (style.code === undefined && !style.isQuoted) return '';
    const key = `${String(style.isQuoted)} ${String(style.builtIn)} ${style.code ?? ''}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      if (this.added.length >= mostStyles) return '';
      number = this.#first + this.added.length;
      this.added.push(style);
      this.#numbers.set(key, number);
    }
    return ` s="${String(number)}"`;
  }
}

/** A sheet of the output whose part was begun. */
export class SheetWriter {
  readonly #opening: OpenSinkOptions;
  readonly #zip: ZipWriter;
  readonly #table: SheetTable;
  readonly #styles: Styles;
  readonly #added: OutcomeForms<(row: string) => string>;
  readonly #letters: readonly string[];
  /** Widths of the columns in characters: of their names and the first rows. */
  readonly #widths: number[];
  readonly #hasNames: boolean;
  #isHeadSent = false;
  #row = 0;
  #block = '';

  constructor(
    zip: ZipWriter,
    table: SheetTable,
    { opening, styles }: { readonly opening: OpenSinkOptions; readonly styles: Styles },
  ) {
    this.#opening = opening;
    this.#zip = zip;
    this.#table = table;
    this.#styles = styles;
    const { added, reading } = opening;
    const names = [...table.header, ...added.flat().map(({ name }) => name)];
    this.#widths = names.map(widthFor);
    this.#letters = names.map((_, column) => lettersOf(column));
    const starts = added.map((_, column) =>
      added.slice(0, column).reduce((sum, each) => sum + each.length, table.header.length),
    );
    this.#added = new OutcomeForms(opening, (cells, column) => {
      const parts = cells.map((cell, at) => this.#cell((starts[column] ?? 0) + at, cell));
      return (row) => parts.map((part) => part(row)).join('');
    });
    this.#hasNames = reading.isUnnamed !== true;
    if (!this.#hasNames) return;
    this.#row = 1;
    const cells = names.map((name, column) => this.#cell(column, name)('1'));
    this.#block = `<row r="1">${cells.join('')}</row>`;
  }

  async write({ chunk, from, to, outcomes, width }: JoinedRows, taken: TableRows): Promise<void> {
    const { kinds } = this.#opening.reading;
    const { columns } = this.#table;
    for (let row = from; row < to; row += 1) {
      const cells = taken.read(chunk, row);
      this.#row += 1;
      const number = String(this.#row);
      this.#block += `<row r="${number}">`;
      for (let at = 0; at < columns.length; at += 1) {
        const column = columns[at] ?? at;
        const format = chunk.format?.(row, column);
        const kind = kinds?.[column] ?? chunk.kind?.(row, column);
        const written = this.#value(cells[column], format, kind);
        if (written !== '') this.#block += `<c r="${this.#letters[at]}${number}"${written}`;
        if (!this.#isHeadSent) this.#widen(at, cells[column]);
      }
      for (let column = 0; column < width; column += 1) {
        const form = this.#added.of(column, outcomes[(row - from) * width + column]);
        this.#block += form(number);
      }
      this.#block += '</row>';
      if (this.#block.length >= blockCharacters) await this.#sendBlock();
    }
  }

  async end(): Promise<void> {
    const last = `${this.#letters.at(-1) ?? 'A'}${this.#row}`;
    this.#block += sheetTail(this.#hasNames ? `A1:${last}` : undefined);
    await this.#sendBlock();
    await this.#zip.close();
  }

  #widen(column: number, value: unknown): void {
    if (this.#row > mostMeasured || value === null || value === undefined) return;
    const width = widthFor(printValue(value) ?? '');
    this.#widths[column] = Math.max(this.#widths[column] ?? 0, width);
  }

  async #sendBlock(): Promise<void> {
    const form = { widths: this.#widths, hasNames: this.#hasNames };
    const block = Buffer.from(this.#isHeadSent ? this.#block : sheetHead(form) + this.#block);
    this.#isHeadSent = true;
    this.#block = '';
    await this.#zip.write(block);
  }

  /** A cell of a column, as it is in any row. */
  #cell(column: number, value: unknown): (row: string) => string {
    const letters = this.#letters[column] ?? '';
    const written = this.#value(value);
    return (row) => (written === '' ? '' : `<c r="${letters}${row}"${written}`);
  }

  /** A cell after its reference; nothing for an empty one. */
  #value(value: unknown, format?: CellFormat, kind?: Kind): string {
    if (typeof value === 'boolean') return ` t="b"><v>${value ? '1' : '0'}</v></c>`;
    if (value === null || value === undefined) return '';
    const found =
      format?.serial === undefined
        ? numberCell(kind, value)
        : { number: format.serial, code: undefined };
    if (found) {
      const { code = found.code, builtIn } = format ?? {};
      const style = this.#styles.mark({ code, builtIn, isQuoted: false });
      return `${style}><v>${String(found.number)}</v></c>`;
    }
    const text = printValue(value) ?? '';
    if (text === '') return '';
    refuseLong(text);
    // Text is no formula, but a program that edits the cell would take it for one.
    const style = this.#styles.mark({ code: undefined, isQuoted: /^[=+\-@\t\r]/.test(text) });
    return ` t="inlineStr"${style}><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`;
  }
}

/** Leaves room for a filter's button beside the text. */
function widthFor(text: string): number {
  return Math.min(mostWidth, Math.max(leastWidth, text.length + 3));
}

export function refuseLong(text: string): void {
  if (text.length <= mostCellCharacters) return;
  throw new InputError(
    `a cell of the input has ${String(text.length)} characters, and one of a workbook at most ${String(mostCellCharacters)}: write another format`,
    { fault: 'too_long' },
  );
}

function lettersOf(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : lettersOf(Math.floor(column / 26) - 1) + last;
}
