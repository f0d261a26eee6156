import { InputError, ConfigurationError } from '../../../platform/errors/errors.js';
import type { PeekReader } from '../../files/bytes/byte-reader.js';
import { markBytesOf } from '../../files/file-signature.js';
import { lineFeedByte, emptyInput } from '../csv-format.js';
import {
  sampleRows,
  type SampledRow,
  bytesAsText,
  findDialect,
  usualDelimiters,
  type CsvDialect,
  type FoundDialect,
  type CsvInput,
} from './find-dialect.js';
import type { OpenSourceOptions } from '../../rows/source.js';
import { optionName } from '../../../platform/text/sentence.js';

/** What is in a text file above its header: title lines, and the `sep=` line of spreadsheets. */
interface HeaderDetection {
  /** The lines as they are, a byte-order mark included. */
  readonly bytes: Buffer;
  readonly lines: number;
  /** Whether the header was found by the rows around it. */
  readonly isGuessed: boolean;
}

export interface CsvTable extends CsvInput {
  readonly above: HeaderDetection;
  readonly dialect: CsvDialect;
}

/** Enough of a file to show its dialect and header. */
const mostLookedAt = 64 * 1024;

/**
 * Reads the lines above the header and detects the dialect; the reader is then at the header.
 *
 * @throws InputError `input_malformed` when there are fewer lines than `skipRows`
 */
export async function readToHeader(reader: PeekReader, input: CsvInput): Promise<CsvTable> {
  const { skipRows, header = true, name } = input;
  const sep = sepLine(await reader.peekLine(mostLookedAt));
  const look = skipRows === undefined && header ? await lookForTable(reader, input) : undefined;
  const isGuessed = look?.table !== undefined && look.table.headerRow > 0;
  let end = sep?.end ?? 0;
  if (isGuessed) end = look.table.headerStart;
  if (skipRows !== undefined) end = await endOfLines(reader, Math.max(skipRows, sep ? 1 : 0), name);
  const bytes = reader.take(end);
  const above = { bytes, lines: countLines(bytes), isGuessed };
  if (look && !isGuessed) return { ...input, above, dialect: look.dialect };
  const first = await reader.peekLine(mostLookedAt);
  const given = withDelimiter(input, sep?.delimiter);
  const { dialect } = findDialect(first.subarray(0, mostLookedAt), given);
  return { ...input, above, dialect };
}

/** Whether a text is clearly a table, not one address a line. */
export async function isTable(reader: PeekReader, input: CsvInput): Promise<boolean> {
  const first = await reader.peekLine(mostLookedAt);
  if (sepLine(first) !== undefined || input.skipRows !== undefined) return true;
  if (input.delimiter !== undefined || input.quote !== undefined) return true;
  const { table, rows } = await lookForTable(reader, input);
  if (input.header ?? true) return table !== undefined && table.columns > 1;
  const [row] = rows;
  return row !== undefined && row.cells.length > 1 && isData(row.cells);
}

interface FoundTable {
  readonly headerRow: number;
  readonly headerStart: number;
  readonly columns: number;
}

interface Look extends FoundDialect {
  /** Absent without a clear header. */
  readonly table: FoundTable | undefined;
  /** Whether more bytes could show one. */
  readonly isUndecided: boolean;
}

/** Reads as little as shows the header: a stream may be slow. */
async function lookForTable(reader: PeekReader, input: CsvInput): Promise<Look> {
  let look: Look | undefined;
  const first = await reader.peekUntil((bytes) => {
    const found = lookAt(bytes, input, false);
    const isPlain = found.table !== undefined || !found.isUndecided;
    if (isPlain || bytes.length >= mostLookedAt) look = found;
    return look !== undefined;
  });
  if (look) return look;
  // Of blank lines alone the first would be a header without a name.
  if (first.length > 0 && first.toString('latin1', markBytesOf(first)).trim() === '') {
    throw emptyInput(input.name);
  }
  return lookAt(first, input, true);
}

/** @param isWhole whether these are all bytes */
function lookAt(first: Buffer, input: CsvInput, isWhole: boolean): Look {
  const sep = sepLine(first);
  const start = sep?.end ?? markBytesOf(first);
  const bytes = first.subarray(start, mostLookedAt);
  const given = withDelimiter(input, sep?.delimiter);
  const found = findDialect(bytes, given, isWhole);
  const isSure = given.delimiter !== undefined || input.isTsv || isAlike(found.rows);
  const cuts = isSure ? [found.rows] : cutByEach(bytes, found.dialect, isWhole);
  const candidates = cuts.map((rows) => ({
    rows,
    at: findHeaderRow(rows.map(({ cells }) => cells)),
  }));
  const tables = candidates.flatMap(({ rows, at }) => {
    const header = typeof at === 'number' ? rows[at] : undefined;
    if (typeof at !== 'number' || header === undefined) return [];
    return [{ headerRow: at, headerStart: start + header.start, columns: header.cells.length }];
  });
  // Cut at a wrong delimiter, a table has a column or two.
  const [table] = tables.toSorted((one, other) => other.columns - one.columns);
  return { ...found, table, isUndecided: candidates.some(({ at }) => at === 'undecided') };
}

/** Whether at least half of the rows have as many cells as the first. */
function isAlike(rows: readonly SampledRow[]): boolean {
  const columns = rows[0]?.cells.length ?? 1;
  const alike = rows.filter(({ cells }) => cells.length === columns).length;
  return columns > 1 && alike * 2 >= rows.length;
}

/** The rows cut at each delimiter that titles above them may have hidden. */
function cutByEach(
  bytes: Buffer,
  { quote, escape }: CsvDialect,
  isWhole: boolean,
): readonly (readonly SampledRow[])[] {
  const text = bytes.toString('latin1');
  const quotes = {
    quote: quote === undefined ? undefined : bytesAsText(quote),
    escape: bytesAsText(escape),
  };
  return usualDelimiters.map(
    (delimiter) => sampleRows(text, { delimiter, ...quotes, isWhole }).rows,
  );
}

function withDelimiter(given: CsvInput, found: string | undefined): CsvInput {
  const delimiter = given.delimiter ?? found;
  return delimiter === undefined ? given : { ...given, delimiter };
}

/** The first line if it names the delimiter for spreadsheets, as `sep=;` does. */
function sepLine(first: Buffer): { readonly delimiter: string; readonly end: number } | undefined {
  const mark = markBytesOf(first);
  const text = first.toString('latin1', mark, mark + 16);
  const [line, delimiter] = /^"?sep=([^\r\n])"?\r?\n/i.exec(text) ?? [];
  if (line === undefined || delimiter === undefined) return undefined;
  return { delimiter, end: mark + line.length };
}

/** Longer text is not a title. */
const mostSkipped = 16 * 1024 * 1024;

async function endOfLines(reader: PeekReader, lines: number, name: string): Promise<number> {
  let end = 0;
  let found = 0;
  const first = await reader.peekUntil((bytes) => {
    while (found < lines) {
      const lineFeed = bytes.indexOf(lineFeedByte, end);
      if (lineFeed === -1) return bytes.length >= mostSkipped;
      end = lineFeed + 1;
      found += 1;
    }
    return true;
  });
  if (found === lines) return end;
  throw new InputError(
    first.length >= mostSkipped
      ? `${name}: the ${lines} lines above the header are longer than ${mostSkipped} bytes`
      : `${name} has fewer than the ${lines} lines that are to be skipped above its header`,
    { line: 1 },
  );
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === lineFeedByte) lines += 1;
  return lines;
}

/** Cells of a row: text, or other values where the format has them. */
type LookedAt = readonly unknown[];

/**
 * Finds the header among the first rows of a table: 0 for the first row, more below title lines. `none`: no
 * row is clearly a header; `undecided`: more rows could show it.
 *
 * A header shows by the rows around it: a row below it holds an address or a number, the header holds none,
 * and all rows above are narrower than that row or mostly empty.
 */
export function findHeaderRow(rows: readonly LookedAt[]): number | 'none' | 'undecided' {
  // Once for each row: sheets may have thousands of empty columns.
  const filled = rows.map((row) => filledCells(row).length);
  for (const [at, row] of rows.entries()) {
    if (!isData(row)) continue;
    const width = row.length;
    const found = rows.findIndex((each, place) => !isTitle(each.length, filled[place] ?? 0, width));
    const header = rows[found];
    // A separate line, such as a title's number of rows, or rows without a header.
    if (found >= at || header === undefined) continue;
    // Wider rows follow, a header and more: this was part of the title.
    if (rows.slice(at).filter(({ length }) => length > header.length).length > 1) continue;
    return isHeader(header) ? found : 'none';
  }
  return 'undecided';
}

/** Whether a row holds what only data contain. */
function isData(row: LookedAt): boolean {
  return row.some((cell) => isFilled(cell) && isDatum(cell));
}

function isTitle(length: number, filled: number, width: number): boolean {
  return filled === 0 || length < width || filled * 2 < width;
}

function isHeader(row: LookedAt): boolean {
  const filled = filledCells(row);
  return filled.length * 2 >= row.length && !filled.some((cell) => isDatum(cell));
}

function filledCells(row: LookedAt): readonly unknown[] {
  return row.filter((cell) => isFilled(cell));
}

function isFilled(cell: unknown): boolean {
  const isNothing = cell === undefined || cell === null;
  return typeof cell === 'string' ? cell.trim() !== '' : !isNothing;
}

/** Whether a cell cannot be a column's name: an address, a number, a date. */
function isDatum(cell: unknown): boolean {
  return typeof cell !== 'string' || isAddress(cell) || isNumber(cell);
}

export function isAddress(text: string): boolean {
  return /^[^\s@,;|<>]+@[^\s@,;|<>]+$/.test(text.trim());
}

export function isNumber(text: string): boolean {
  return /^['+(]*\d[\d\s().,:/+-]*$/.test(text.trim());
}

/**
 * Guards a table whose header was not specified: a first row with an address would be lost as a header.
 *
 * @param name the input's name in messages
 * @returns a function that refuses such a header with ConfigurationError `header_missing`
 */
export function withoutMissingHeader(
  opening: OpenSourceOptions,
  name: string,
  {
    header = true,
    skipRows,
  }: { readonly header?: boolean | undefined; readonly skipRows?: number | undefined },
): OpenSourceOptions {
  if (!header || skipRows !== undefined) return opening;
  return {
    ...opening,
    wanted: (names) => {
      const at = names.findIndex((each) => isSurelyContact(each));
      if (at === -1) return opening.wanted(names);
      // The message may be logged: it holds no cell.
      throw new ConfigurationError(
        `${name} seems to have no header: column ${at + 1} of its first row is an email address or a phone number, which would be taken for a column's name and not be verified. Read that row as data with ${optionName('header', false)}, and name columns by position (#${at + 1}); if it is the header all the same, say so with ${optionName('skipRows', 0)}`,
        { code: 'header_missing', option: 'header' },
      );
    },
  };
}

/** Whether a text is exactly one email address or phone number, which no column is named. */
export function isSurelyContact(text: string): boolean {
  const cell = text.trim();
  return /^[^\s@,;|<>]+@[^\s@,;|<>]+\.[^\s@,;|<>.]{2,}$/.test(cell) || isSurelyPhone(cell);
}

/** With a calling code, or in the groups of a national number. */
function isSurelyPhone(cell: string): boolean {
  const { length: digits } = cell.replaceAll(/\D/g, '');
  if (digits < 8 || digits > 15) return false;
  if (/^\+[1-9][\d\s()./-]*$/.test(cell) || /^\d{3}[-. ]\d{3}[-. ]\d{4}$/.test(cell)) return true;
  // `01-02-2024`, `01/24-12/24` and `01/2024 - 12/2024` are times.
  const isTime =
    cell.includes(' - ') ||
    cell.split('/').length > 2 ||
    /[/-]\d\d?[/-]/.test(cell) ||
    /(?<!\d)(?:19|20)\d\d(?!\d)/.test(cell);
  return (
    !isTime &&
    /^(?:0[1-9]\d{7}|(?:\(\d{2,5}\)|0[1-9]\d{0,4}[ /-])[\d ()/-]{5})[\d ()/-]*$/.test(cell)
  );
}
