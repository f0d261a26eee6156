import { ConfigurationError, InputError } from '../../platform/errors/errors.js';
import { OutcomeForms, type RowsWriter } from '../files/rows-writer.js';
import type { ByteOutput } from '../files/outputs/byte-output.js';
import type { FormatWriting } from '../files/writer-sink.js';
import { TableRows } from '../rows/chunks/table-rows.js';
import type { JoinedRows, OpenSinkOptions } from '../rows/sink.js';
import type { Kind } from '../rows/values/kinds.js';
import { printValue } from '../rows/values/print-value.js';
import { reportTextCells } from '../rows/values/report-text-columns.js';
import {
  escapeXml,
  type OutputStyle,
  sheetHead,
  sheetTail,
  stylesPart,
  workbookParts,
} from './xlsx-parts.js';
import { isCellKind, numberCell } from './number-cell.js';
import { type CellFormat, XlsxChunk } from './xlsx-chunk.js';
import { ZipWriter } from './zip-writer.js';

/** Most characters that a cell can hold. */
const mostCellCharacters = 32_767;
const blockCharacters = 256 * 1024;
/** So many rows decide how wide the columns are. */
const mostMeasured = 200;
const [leastWidth, mostWidth] = [8, 48];
/** Looks that are kept; a workbook with more is one that makes them up. */
const mostStyles = 4096;

/** Writes joined rows as a workbook of one sheet. */
class XlsxWriter implements RowsWriter {
  readonly #opening: OpenSinkOptions;
  readonly #zip: ZipWriter;
  readonly #rows: TableRows;
  readonly #added: OutcomeForms<(row: string) => string>;
  readonly #letters: readonly string[];
  readonly #styles: OutputStyle[] = [{ code: undefined, isQuoted: false }];
  readonly #styleNumbers = new Map<string, number>();
  /** Of the columns, in characters: of their names, and of the first rows. */
  readonly #widths: number[];
  #isBegun = false;
  #isHeadSent = false;
  #row = 0;
  #block = '';

  constructor(output: ByteOutput, opening: OpenSinkOptions) {
    this.#opening = opening;
    this.#zip = new ZipWriter(output);
    const own = opening.reading.header.length;
    this.#rows = new TableRows(own);
    const added = opening.added.flat().length;
    this.#widths = [...opening.reading.header, ...opening.added.flat().map(({ name }) => name)].map(
      widthFor,
    );
    this.#letters = Array.from({ length: own + added }, (_, column) => lettersOf(column));
    const starts = opening.added.map((_, column) =>
      opening.added.slice(0, column).reduce((sum, names) => sum + names.length, own),
    );
    this.#added = new OutcomeForms(opening, (cells, column) => {
      const parts = cells.map((cell, at) => this.#cell((starts[column] ?? 0) + at, cell));
      return (row) => parts.map((part) => part(row)).join('');
    });
  }

  async write(rows: JoinedRows): Promise<void> {
    const { chunk, from, to, outcomes, width } = rows;
    const { kinds } = this.#opening.reading;
    if (!this.#isBegun) await this.#begin(chunk instanceof XlsxChunk ? chunk.sheetName : undefined);
    for (let row = from; row < to; row += 1) {
      const cells = this.#rows.read(chunk, row);
      this.#row += 1;
      const number = String(this.#row);
      this.#block += `<row r="${number}">`;
      for (let column = 0; column < cells.length; column += 1) {
        const format = chunk instanceof XlsxChunk ? chunk.format(row, column) : undefined;
        const kind = kinds?.[column] ?? chunk.kind?.(row, column);
        const written = this.#value(cells[column], format, kind);
        if (written !== '') this.#block += `<c r="${this.#letters[column]}${number}"${written}`;
        if (!this.#isHeadSent) this.#widen(column, cells[column]);
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
    if (!this.#isBegun) await this.#begin(undefined);
    const last = `${this.#letters.at(-1) ?? 'A'}${this.#row}`;
    this.#block += sheetTail(this.#hasNames ? `A1:${last}` : undefined);
    await this.#sendBlock();
    await this.#zip.close();
    await this.#zip.begin('xl/styles.xml');
    await this.#zip.write(Buffer.from(stylesPart(this.#styles)));
    await this.#zip.close();
    await this.#zip.end();
  }

  async #begin(sheetName: string | undefined): Promise<void> {
    this.#isBegun = true;
    for (const [name, xml] of workbookParts(sheetName ?? 'Sheet1')) {
      await this.#zip.begin(name);
      await this.#zip.write(Buffer.from(xml));
      await this.#zip.close();
    }
    await this.#zip.begin('xl/worksheets/sheet1.xml');
    if (!this.#hasNames) return;
    const { reading, added } = this.#opening;
    this.#row = 1;
    const names = [...reading.header, ...added.flat().map(({ name }) => name)];
    const cells = names.map((name, column) => this.#cell(column, name)('1'));
    this.#block += `<row r="1">${cells.join('')}</row>`;
  }

  get #hasNames(): boolean {
    return this.#opening.reading.isUnnamed !== true;
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

  /** A cell of a column, as it stands in any row. */
  #cell(column: number, value: unknown): (row: string) => string {
    const letters = this.#letters[column] ?? '';
    const written = this.#value(value);
    return (row) => (written === '' ? '' : `<c r="${letters}${row}"${written}`);
  }

  /** What follows a cell's place; nothing for a cell that is empty. */
  #value(value: unknown, format?: CellFormat, kind?: Kind): string {
    if (typeof value === 'boolean') return ` t="b"><v>${value ? '1' : '0'}</v></c>`;
    if (value === null || value === undefined) return '';
    const found =
      format?.serial === undefined
        ? numberCell(kind, value)
        : { number: format.serial, code: undefined };
    if (found) {
      const { code = found.code, builtIn } = format ?? {};
      const style = this.#style({ code, builtIn, isQuoted: false });
      return `${style}><v>${String(found.number)}</v></c>`;
    }
    const text = printValue(value) ?? '';
    if (text === '') return '';
    refuseLong(text);
    // As text it is none, but a program that is asked to edit the cell would take it for one.
    const style = this.#style({ code: undefined, isQuoted: /^[=+\-@\t\r]/.test(text) });
    return ` t="inlineStr"${style}><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`;
  }

  #style(style: OutputStyle): string {
    if (style.code === undefined && !style.isQuoted) return '';
    const key = `${String(style.isQuoted)} ${String(style.builtIn)} ${style.code ?? ''}`;
    let number = this.#styleNumbers.get(key);
    if (number === undefined) {
      if (this.#styles.length >= mostStyles) return '';
      number = this.#styles.length;
      this.#styles.push(style);
      this.#styleNumbers.set(key, number);
    }
    return ` s="${String(number)}"`;
  }
}

/** Beside the text there is room for the button of a filter. */
function widthFor(text: string): number {
  return Math.min(mostWidth, Math.max(leastWidth, text.length + 3));
}

/** @throws InputError `input_malformed` */
function refuseLong(text: string): void {
  if (text.length <= mostCellCharacters) return;
  throw new InputError(
    `a cell of the input has ${String(text.length)} characters, and one of a workbook at most ${String(mostCellCharacters)}: write another format`,
  );
}

function lettersOf(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : lettersOf(Math.floor(column / 26) - 1) + last;
}

/** What a sheet can hold; one row is for the names. */
const mostRows = 1_048_576 - 1;
const mostColumns = 16_384;

/** How rows are written as a workbook. */
export const xlsxWriting: FormatWriting = {
  maxRows: mostRows,
  create(output, opening) {
    const { reading, onTextColumn } = opening;
    // What is only seen in rows is told where they are looked at first.
    reportTextCells({ reading, output: 'XLSX', onTextColumn }, isCellKind);
    return new XlsxWriter(output, opening);
  },
  validate(reading, { added, onTextColumn }) {
    const { header } = reading;
    const columns = header.length + added.flat().length;
    if (columns > mostColumns) {
      throw new ConfigurationError(
        `the output has ${String(columns)} columns, and a workbook at most ${String(mostColumns)}: write another format`,
      );
    }
    const rows = new TableRows(header.length);
    const report = reportTextCells({ reading, output: 'XLSX', onTextColumn }, isCellKind);
    return (chunk) => {
      for (let row = 0; row < chunk.length; row += 1) {
        const cells = rows.read(chunk, row);
        for (const cell of cells) refuseLong(printValue(cell) ?? '');
        report(chunk, row, cells);
      }
    };
  },
};
