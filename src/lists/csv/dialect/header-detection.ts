import { InputError } from '../../../platform/errors/errors.js';
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
import { findHeaderRow, isData } from './find-header-row.js';

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
export const mostLookedAt = 64 * 1024;

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
  readonly table: FoundTable | undefined;
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
