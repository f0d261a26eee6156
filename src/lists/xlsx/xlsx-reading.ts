import { InputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { RandomFile } from '../../platform/files/random-file.js';
import { optionName } from '../../platform/text/option-name.js';
import { findHeaderRow } from '../csv/dialect/header-detection.js';
import { findFooter, footerKindOf, type FooterKind } from '../csv/dialect/footer-detection.js';
import { isSurelyContact, withoutMissingHeader } from '../csv/dialect/missing-header.js';
import type { FileOptions } from '../files/file-options.js';
import { closableChunks } from '../rows/chunks/row-chunk.js';
import { digestAtEnd, type OpenSourceOptions, type SourceReading } from '../rows/source.js';
import { printValue } from '../rows/values/print-value.js';
import { XmlError } from './scan-xml.js';
import { readSheetRows, type SheetRow } from './sheet-rows.js';
import { openWorkbook } from './workbook.js';
import { XlsxChunk } from './xlsx-chunk.js';

const mostNamed = 10;

/** One reading of a sheet, which whoever writes another format tells from others by its class. */
export class XlsxReading implements SourceReading<XlsxChunk> {
  readonly header: readonly string[];
  readonly isUnnamed: boolean;
  readonly chunks: AsyncIterable<XlsxChunk>;
  readonly contentDigest: () => string;

  constructor(parts: {
    readonly header: readonly string[];
    readonly isUnnamed: boolean;
    readonly chunks: AsyncIterable<XlsxChunk>;
    readonly contentDigest: () => string;
  }) {
    this.header = parts.header;
    this.isUnnamed = parts.isUnnamed;
    this.chunks = parts.chunks;
    this.contentDigest = parts.contentDigest;
  }
}

export type XlsxOptions = Pick<FileOptions, 'header' | 'skipRows' | 'skipFooter' | 'sheet'>;

/**
 * Opens one reading of a sheet of an XLSX workbook; the file is closed when that fails.
 *
 * @throws InputError `input_malformed`; ConfigurationError when there is no such sheet; what `wanted`
 *   throws
 */
export async function openXlsx(
  file: RandomFile,
  { header: hasHeader = true, skipRows, skipFooter, sheet }: XlsxOptions,
  opening: OpenSourceOptions,
): Promise<SourceReading<XlsxChunk>> {
  let rows: ReturnType<typeof readSheetRows> | undefined;
  const close = async (): Promise<void> => {
    // Not waited for: it lets go of what it inflates when it can.
    rows?.return(undefined).catch(() => undefined);
    await file.close();
  };
  try {
    const workbook = await openWorkbook(file, sheet ?? 1);
    opening.onSheets?.(workbook.sheets);
    let uncomputed = 0;
    rows = readSheetRows(workbook, () => (uncomputed += 1));
    const sheetRows = rows;
    const { rows: first, isGuessed } = await readToHeader(async () => nextRows(sheetRows, file), {
      hasHeader,
      skipRows,
    });
    const [head] = first;
    if (head === undefined) {
      const where = skipRows === undefined ? '' : ` below row ${skipRows}`;
      throw new InputError(
        `the sheet ${JSON.stringify(workbook.sheetName)} of ${file.name} is empty${where}`,
      );
    }
    if (isGuessed) {
      opening.onHeaderFound?.({ input: file.name, unit: 'row', number: head.number });
    }
    const others = workbook.sheets.filter((name) => name !== workbook.sheetName);
    // Whoever names a sheet knows that there are others.
    if (others.length > 0 && sheet === undefined) {
      opening.onNotice?.(
        `${file.name}: only the sheet ${JSON.stringify(workbook.sheetName)} is verified and in the output; ${othersNamed(others)} not (${optionName('sheet')} names one)`,
      );
    }
    const header = namesOf(head, hasHeader);
    withoutMissingHeader(opening, file.name, { header: hasHeader, skipRows }).wanted(header);
    let digest: string | undefined;
    const chunks = async function* (): AsyncGenerator<XlsxChunk> {
      let some: readonly SheetRow[] | undefined = hasHeader ? first.slice(1) : first;
      let held: readonly SheetRow[] = [];
      let above = head.number;
      while (some !== undefined) {
        const rows: readonly SheetRow[] = [...held, ...some];
        const from = startOfLast(rows, head.values.length, skipFooter);
        held = rows.slice(from);
        above = rows[from - 1]?.number ?? above;
        if (from > 0) yield chunkOf(rows.slice(0, from), head, workbook.sheetName, file);
        some = await nextRows(sheetRows, file);
      }
      const last = withoutFooter(
        held,
        { above, columns: head.values.length, name: file.name, skipFooter },
        opening,
      );
      if (last.length > 0) yield chunkOf(last, head, workbook.sheetName, file);
      if (uncomputed > 0) opening.onNotice?.(uncomputedNotice(uncomputed, file));
      digest = await file.digest();
    };
    return new XlsxReading({
      header,
      isUnnamed: !hasHeader,
      chunks: closableChunks(chunks(), close),
      contentDigest: () => digestAtEnd(digest),
    });
  } catch (error) {
    await close();
    throw error;
  }
}

function othersNamed(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed).map((name) => JSON.stringify(name));
  const more = names.length > mostNamed ? ', …' : '';
  const are = names.length === 1 ? '1 other sheet' : `${names.length} other sheets`;
  return `${are} (${shown.join(', ')}${more}) ${names.length === 1 ? 'is' : 'are'}`;
}

function uncomputedNotice(count: number, { name }: RandomFile): string {
  const have = count === 1 ? '1 formula has' : `${count} formulas have`;
  return `${name}: ${have} no stored result, so ${count === 1 ? 'its cell is' : 'their cells are'} empty here: open the workbook in a spreadsheet program, save it there, and run again`;
}

async function nextRows(
  rows: AsyncGenerator<SheetRow[]>,
  { name }: RandomFile,
): Promise<SheetRow[] | undefined> {
  try {
    const step = await rows.next();
    return step.done === true ? undefined : step.value;
  } catch (error) {
    if (isSluiceError(error) || !(error instanceof XmlError)) throw error;
    throw new InputError(`${name} cannot be read as XLSX: ${error.message}`);
  }
}

/** Columns without a name of their own are named by their position. */
function namesOf({ values }: SheetRow, hasHeader: boolean): readonly string[] {
  return values.map((value, at) => {
    const name = hasHeader ? printValue(value) : undefined;
    return name === undefined || name === '' ? `#${String(at + 1)}` : name;
  });
}

function chunkOf(
  rows: readonly SheetRow[],
  head: SheetRow,
  sheetName: string,
  { name }: RandomFile,
): XlsxChunk {
  const columns = head.values.length;
  for (const { number, values } of rows) {
    if (values.length <= columns) continue;
    throw new InputError(
      `${name}, row ${String(number)} of the sheet: it has a value in column ${String(values.length)}, and the header in row ${String(head.number)} only ${String(columns)} columns; name the column there, or clear the cell; where the header is in another row, say so with ${optionName('skipRows')}`,
      { line: number },
    );
  }
  return new XlsxChunk(
    rows.map(({ values }) => values),
    rows.map(({ formats }) => formats),
    sheetName,
    rows.map(({ number }) => number),
  );
}

/** So many rows show the header; more would only be looked at longer. */
const mostRows = 200;

/**
 * Reads the rows of a sheet up to its header, and some of those behind it.
 *
 * @param next gives some more rows; nothing at the end
 * @returns the header and the rows behind it that were read; none where the sheet has none
 */
async function readToHeader(
  next: () => Promise<SheetRow[] | undefined>,
  { hasHeader, skipRows }: { readonly hasHeader: boolean; readonly skipRows: number | undefined },
): Promise<{ readonly rows: readonly SheetRow[]; readonly isGuessed: boolean }> {
  let rows: readonly SheetRow[] = [];
  for (;;) {
    const more = await next();
    rows = [...rows, ...(more ?? [])].filter(({ number }) => number > (skipRows ?? 0));
    const isEnough = more === undefined || rows.length >= mostRows;
    if (skipRows !== undefined || !hasHeader) {
      if (rows.length > 0 || isEnough) return { rows, isGuessed: false };
      continue;
    }
    const found = findHeaderRow(rows.map(({ values }) => values));
    if (found === 'undecided' && !isEnough) continue;
    const at = typeof found === 'number' ? found : 0;
    return { rows: rows.slice(at), isGuessed: at > 0 };
  }
}

/** More rows than that are no footer. */
const mostFooterRows = 500;

/** From where on rows may be a footer, if no other follows. */
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

/** The last rows of a sheet without those that are below its last row. @throws InputError */
function withoutFooter(
  rows: readonly SheetRow[],
  {
    above,
    columns,
    name,
    skipFooter,
  }: {
    /** Number of the row before them. */
    readonly above: number;
    readonly columns: number;
    readonly name: string;
    readonly skipFooter: number | undefined;
  },
  opening: OpenSourceOptions,
): readonly SheetRow[] {
  if (skipFooter !== undefined) {
    refuseFooter(rows, name, skipFooter);
    return rows.slice(0, Math.max(0, rows.length - skipFooter));
  }
  // Rows without a value are between others, and none themselves.
  const kinds: { readonly row: number; readonly kind: FooterKind }[] = [];
  for (const [row, { number, values }] of rows.entries()) {
    const kind = footerKindOf(values, columns);
    if (kind === undefined) return rows;
    if (number > (rows[row - 1]?.number ?? above) + 1) kinds.push({ row, kind: 'blank' });
    kinds.push({ row, kind });
  }
  const from = kinds[findFooter(kinds.map(({ kind }) => kind))]?.row ?? rows.length;
  const count = rows.length - from;
  if (count > 0) opening.onFooterFound?.({ input: name, unit: 'row', count });
  return rows.slice(0, from);
}

/** What is said may be a log: it holds no cell. */
function refuseFooter(rows: readonly SheetRow[], name: string, skipFooter: number): void {
  if (rows.length < skipFooter) {
    throw new InputError(
      `${name} has ${rows.length} rows below its header, and ${optionName('skipFooter', skipFooter)} leaves out more`,
    );
  }
  const contact = rows
    .slice(rows.length - skipFooter)
    .find(({ values }) => values.some((value) => isSurelyContact(printValue(value) ?? '')));
  if (contact === undefined) return;
  throw new InputError(
    `${name}, row ${contact.number} of the sheet: ${optionName('skipFooter', skipFooter)} leaves it out, and it holds an email address or a phone number, which would not be verified: give the number of rows that are below the last row, or leave the option out to have them found`,
    { line: contact.number },
  );
}
