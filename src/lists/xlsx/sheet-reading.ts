import { ConfigurationError, InputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { RandomFile } from '../files/bytes/random-file.js';
import { optionName } from '../../platform/text/sentence.js';
import { findFooter, footerKindOf, type FooterKind } from '../csv/dialect/footer-detection.js';
import { findHeaderRow, isSurelyContact } from '../csv/dialect/find-header-row.js';
import type { FileOptions } from '../files/file-format.js';
import type { ColumnMap } from '../rows/sources/combine-headers.js';
import type { OpenSourceOptions } from '../rows/source.js';
import { printValue } from '../rows/values/print-value.js';
import { XmlError } from './scan-xml.js';
import { readSheetRows, type SheetRow } from './sheet-rows.js';
import type { Sheet, Workbook } from './workbook.js';
import { notice } from '../../platform/text/notices.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import type { Kind } from '../rows/values/kinds.js';
import { CellsChunk } from '../rows/chunks/object-chunk.js';
import type { CellFormat, CellText } from '../rows/chunks/row-chunk.js';
import { shownDigits } from './number-format.js';

/** Enough rows to show the header. */
const mostRows = 200;

export class SheetReading {
  readonly name: string;
  readonly label: string;
  header: readonly string[] = [];
  readonly #rows: ReturnType<typeof readSheetRows>;
  readonly #file: RandomFile;
  readonly #options: FileOptions;
  readonly #opening: OpenSourceOptions;
  /** The row of the header, and the first after it; all of them where there is no header. */
  #first: readonly SheetRow[] = [];
  #uncomputed = 0;
  #hidden = 0;

  constructor(
    workbook: Workbook,
    sheet: Sheet,
    of: {
      readonly file: RandomFile;
      readonly label: string;
      readonly options: FileOptions;
      readonly opening: OpenSourceOptions;
    },
  ) {
    this.name = sheet.name;
    this.label = of.label;
    this.#file = of.file;
    this.#options = of.options;
    this.#opening = of.opening;
    this.#rows = readSheetRows(workbook, sheet, () => (this.#uncomputed += 1));
  }

  async findHeader(): Promise<boolean> {
    const above = await this.#readToHeader();
    const [head] = this.#first;
    if (head === undefined) return false;
    if (above > 0) {
      this.#opening.onHeaderFound?.({ input: this.label, unit: 'row', number: head.number });
    }
    this.header = namesOf(head, this.#options.header ?? true);
    return true;
  }

  get isBelow(): boolean {
    return (this.#first[0]?.number ?? 1) > 1;
  }

  emptyError(): InputError {
    const { skipRows } = this.#options;
    const where = skipRows === undefined ? '' : ` below row ${skipRows}`;
    return new InputError(
      `the sheet ${JSON.stringify(this.name)} of ${this.#file.name} is empty${where}: name another with ${optionName('sheet')}, or check what makes the list`,
      { fault: 'empty' },
    );
  }

  /** @param lacks what the sheet lacks @param others names of the sheets that have it */
  otherListError(lacks: string, others: readonly string[]): ConfigurationError {
    return new ConfigurationError(
      `the sheet ${JSON.stringify(this.name)} of ${this.#file.name} has no column ${lacks}: take ${optionName('sheet', others.join(','))}, and a command of its own for each other sheet that is a list, with the same ${optionName('history')}, so that no address is paid for twice; nothing was sent`,
      { option: 'sheet' },
    );
  }

  /** @param map positions of the combined header's columns in its own. @default its own header */
  async *chunks(map?: ColumnMap): AsyncGenerator<XlsxChunk> {
    const { header: hasHeader = true, skipFooter } = this.#options;
    const [head] = this.#first;
    if (head === undefined) return;
    const columns = head.values.length;
    let some: readonly SheetRow[] | undefined = hasHeader ? this.#first.slice(1) : this.#first;
    let held: readonly SheetRow[] = [];
    let above = head.number;
    while (some !== undefined) {
      const rows: readonly SheetRow[] = [...held, ...some];
      const from = startOfLast(rows, columns, skipFooter);
      held = rows.slice(from);
      above = rows[from - 1]?.number ?? above;
      if (from > 0) yield this.#chunkOf(rows.slice(0, from), head, map);
      some = await this.#next();
    }
    const last = this.#withoutFooter(held, above, columns);
    if (last.length > 0) yield this.#chunkOf(last, head, map);
    if (this.#uncomputed > 0) {
      const formulas = this.#uncomputed;
      this.#opening.onNotice?.(notice('formulas_without_result', { input: this.label, formulas }));
    }
    if (this.#hidden > 0) {
      const rows = this.#hidden;
      this.#opening.onNotice?.(notice('rows_hidden', { input: this.label, rows }));
    }
  }

  /** Not awaited: it releases its inflater when it can. */
  close(): void {
    this.#rows.return(undefined).catch(() => undefined);
  }

  async #next(): Promise<SheetRow[] | undefined> {
    try {
      const step = await this.#rows.next();
      return step.done === true ? undefined : step.value;
    } catch (error) {
      if (isSluiceError(error) || !(error instanceof XmlError)) throw error;
      throw new InputError(`${this.#file.name} cannot be read as XLSX: ${error.message}`, {
        fault: error.fault,
      });
    }
  }

  /**
   * Reads the rows of the sheet up to its header, and some of those after it.
   *
   * @returns how many of the rows that were looked at are above the header that was found
   */
  async #readToHeader(): Promise<number> {
    const { header: hasHeader = true, skipRows } = this.#options;
    let rows: readonly SheetRow[] = [];
    for (;;) {
      const more = await this.#next();
      rows = [...rows, ...(more ?? [])].filter(({ number }) => number > (skipRows ?? 0));
      this.#first = rows;
      const isEnough = more === undefined || rows.length >= mostRows;
      if (skipRows !== undefined || !hasHeader) {
        if (rows.length > 0 || isEnough) return 0;
        continue;
      }
      const found = findHeaderRow(rows.map(({ values }) => values));
      if (found === 'undecided' && !isEnough) continue;
      const at = typeof found === 'number' ? found : 0;
      this.#first = rows.slice(at);
      return at;
    }
  }

  #chunkOf(rows: readonly SheetRow[], head: SheetRow, map: ColumnMap | undefined): XlsxChunk {
    const columns = head.values.length;
    for (const { number, values, isHidden } of rows) {
      if (isHidden) this.#hidden += 1;
      if (values.length <= columns) continue;
      throw new InputError(
        `${this.label}, row ${grouped(number)} of the sheet: it has a value in column ${String(values.length)}, and the header in row ${grouped(head.number)} only ${String(columns)} columns; name the column there, or clear the cell; where the header is in another row, say so with ${optionName('skipRows')}`,
        { line: number, fault: 'too_many_cells' },
      );
    }
    const inPlace = <Cell>(cells: readonly Cell[]): readonly (Cell | undefined)[] =>
      map?.map((at) => cells[at]) ?? cells;
    return new XlsxChunk(
      rows.map(({ values }) => inPlace(values)),
      rows.map(({ formats }) => formats && inPlace(formats)),
      this.name,
      rows.map(({ number }) => number),
    );
  }

  /** The last rows of the sheet without its footer. @param above number of the row before them @throws InputError */
  #withoutFooter(rows: readonly SheetRow[], above: number, columns: number): readonly SheetRow[] {
    const { skipFooter } = this.#options;
    if (skipFooter !== undefined) {
      this.#refuseFooter(rows, skipFooter);
      return rows.slice(0, Math.max(0, rows.length - skipFooter));
    }
    // Rows without a value lie between others, and are not in the list.
    const kinds: { readonly row: number; readonly kind: FooterKind }[] = [];
    for (const [row, { number, values }] of rows.entries()) {
      const kind = footerKindOf(values, columns);
      if (kind === undefined) return rows;
      if (number > (rows[row - 1]?.number ?? above) + 1) kinds.push({ row, kind: 'blank' });
      kinds.push({ row, kind });
    }
    const from = kinds[findFooter(kinds.map(({ kind }) => kind))]?.row ?? rows.length;
    const count = rows.length - from;
    const first = rows[from]?.number;
    if (first !== undefined) {
      this.#opening.onFooterFound?.({ input: this.label, unit: 'row', count, first });
    }
    return rows.slice(0, from);
  }

  /** The message may be logged: it holds no cell. */
  #refuseFooter(rows: readonly SheetRow[], skipFooter: number): void {
    if (rows.length < skipFooter) {
      throw new InputError(
        `${this.label} has ${rows.length} rows below its header, and ${optionName('skipFooter', skipFooter)} leaves out more`,
      );
    }
    const contact = rows
      .slice(rows.length - skipFooter)
      .find(({ values }) => values.some((value) => isSurelyContact(printValue(value) ?? '')));
    if (contact === undefined) return;
    throw new InputError(
      `${this.label}, row ${grouped(contact.number)} of the sheet: ${optionName('skipFooter', skipFooter)} leaves it out, and it holds an email address or a phone number, which would not be verified: give the number of rows that are below the last row, or leave the option out to have them found`,
      { line: contact.number },
    );
  }
}

/** Unnamed columns are named by position. */
function namesOf({ values }: SheetRow, hasHeader: boolean): readonly string[] {
  return values.map((value, at) => {
    const name = hasHeader ? printValue(value) : undefined;
    return name === undefined || name === '' ? `#${String(at + 1)}` : name;
  });
}

const mostFooterRows = 500;

/** Start of the last rows that may be a footer. */
function startOfLast(
  rows: readonly SheetRow[],
  columns: number,
  skipFooter: number | undefined,
): number {
  if (skipFooter !== undefined) return Math.max(0, rows.length - skipFooter);
  const isRow = ({ values }: SheetRow): boolean => footerKindOf(values, columns) === undefined;
  const from = rows.findLastIndex(isRow) + 1;
  return rows.length - from > mostFooterRows ? rows.length : from;
}

/** Rows of a sheet: cells with their types, and the formats of numbers and dates. */
export class XlsxChunk extends CellsChunk {
  readonly sheetName: string;
  readonly #numbers: readonly number[];
  readonly #formats: readonly (readonly (CellFormat | undefined)[] | undefined)[];

  /** @param formats by row: its cells' formats; `undefined` without any @param numbers of the rows in the sheet */
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

  format(row: number, column: number): CellFormat | undefined {
    return this.#formats[row]?.[column];
  }

  kind(row: number, column: number): Kind | undefined {
    const name = this.format(row, column)?.kind;
    return name === undefined ? undefined : { name, scale: 3 };
  }
}
