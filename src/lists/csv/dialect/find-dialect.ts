import { markBytesOf } from '../../files/file-signature.js';
import type { FileOptions } from '../../files/file-format.js';

export interface CsvDialect {
  /** One character or more. */
  readonly delimiter: string;
  /** What is around a cell, or nothing. */
  readonly quote: string | undefined;
  /** What is before a quote inside a quoted cell. */
  readonly escape: string;
}

/** A CSV or TSV text with what the caller knows of it: the rest is detected. */
export interface CsvInput extends FileOptions {
  readonly name: string;
  readonly isTsv: boolean;
  readonly isTxt: boolean;
  readonly maxRowBytes: number;
}

export const usualDelimiters = [',', ';', '\t', '|'];
const doubleQuote = '"';
const singleQuote = "'";
/** A first row that is entirely in such quotes is meant so. */
const singleQuoteBonus = 0.01;

export interface FoundDialect {
  readonly dialect: CsvDialect;
  readonly rows: readonly SampledRow[];
}

/**
 * Finds the dialect in the first bytes of a file: the delimiter that cuts most rows into as many cells as the
 * first, the quote and the escape with which they can be cut at all.
 *
 * @param isWhole whether these are all bytes
 */
export function findDialect(first: Buffer, given: CsvInput, isWhole = false): FoundDialect {
  const text = first.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  const candidates =
    given.delimiter === undefined ? (given.isTsv ? ['\t'] : usualDelimiters) : [given.delimiter];
  let best: (FoundDialect & { readonly score: number }) | undefined;
  for (const dialect of candidates.flatMap((delimiter) => variants(delimiter, given))) {
    if (best !== undefined && best.score >= mostFor(dialect, text)) continue;
    const cut = sampleRows(text, {
      // A delimiter of several bytes is compared byte by byte.
      delimiter: bytesAsText(dialect.delimiter),
      quote: dialect.quote === undefined ? undefined : bytesAsText(dialect.quote),
      escape: bytesAsText(dialect.escape),
      isWhole,
    });
    const score = rate(cut, dialect);
    // Of equals the first: the usual dialect, unless another fits better.
    if (best === undefined || score > best.score) best = { dialect, rows: cut.rows, score };
  }
  return best ?? { dialect: { delimiter: ',', quote: doubleQuote, escape: doubleQuote }, rows: [] };
}

/** The usual line end that the first row has, or is nearest to. */
export function firstLineEnd(first: Buffer, dialect: CsvDialect): Buffer {
  const text = first.toString('latin1', markBytesOf(first));
  const { delimiter, quote, escape } = dialect;
  const [row] = sampleRows(text, {
    delimiter: bytesAsText(delimiter),
    quote: quote === undefined ? undefined : bytesAsText(quote),
    escape: bytesAsText(escape),
  }).rows;
  const last = text.slice(0, row?.end ?? 0).slice(-3);
  return Buffer.from(last.endsWith('\r\n') && last !== '\r\r\n' ? '\r\n' : '\n');
}

/** An option as text with one character for each byte. */
export function bytesAsText(option: string): string {
  return Buffer.from(option, 'utf8').toString('latin1');
}

function variants(delimiter: string, given: CsvInput): readonly CsvDialect[] {
  if (given.quote === 'none') return [{ delimiter, quote: undefined, escape: doubleQuote }];
  const quotes = given.quote === undefined ? [doubleQuote, singleQuote] : [given.quote];
  const quoted = quotes.flatMap((quote) =>
    (given.escape === undefined ? [quote, '\\'] : [given.escape]).map((escape) => ({
      delimiter,
      quote,
      escape,
    })),
  );
  const isBare = given.isTsv && given.quote === undefined && given.escape === undefined;
  return isBare ? [...quoted, { delimiter, quote: undefined, escape: doubleQuote }] : quoted;
}

function mostFor({ quote }: CsvDialect, text: string): number {
  if (quote !== singleQuote) return 3;
  return text.startsWith(singleQuote) ? 3 + singleQuoteBonus : -1;
}

/** From 0 to about 3: whether rows can be cut, are alike, and use quotes. */
function rate(cut: RowCut, { quote }: CsvDialect): number {
  const columns = cut.rows[0]?.cells.length ?? 1;
  const alike = cut.rows.filter(({ cells }) => cells.length === columns).length;
  const share = columns > 1 ? alike / cut.rows.length : 0;
  // A single quote is an apostrophe, unless all of the first row is in such quotes.
  if (quote === singleQuote && !cut.isFirstQuoted) return -1;
  return (cut.isBroken ? 0 : 2) + share + (quote === singleQuote ? singleQuoteBonus : 0);
}

export interface SampledRow {
  readonly start: number;
  /** Where its line end ends. */
  readonly end: number;
  /** Texts of its cells, unquoted. */
  readonly cells: readonly string[];
}

/** What cutting the first rows shows about a dialect. */
interface RowCut {
  /** The complete rows; the only row, if none is. */
  readonly rows: readonly SampledRow[];
  /** Whether something follows a closing quote, or a quote is inside a cell: the quotes may be of another kind. */
  readonly isBroken: boolean;
  readonly isFirstQuoted: boolean;
}

interface CutOptions {
  readonly delimiter: string;
  readonly quote: string | undefined;
  readonly escape: string;
  /** Whether nothing follows the text: its last row is complete without a line end. @default false */
  readonly isWhole?: boolean;
}

const mostRows = 200;

export function sampleRows(text: string, dialect: CutOptions): RowCut {
  const { delimiter, quote, isWhole = false } = dialect;
  const rows: SampledRow[] = [];
  let cells: string[] = [];
  let start = 0;
  let isBroken = false;
  let isFirstQuoted = quote !== undefined;
  let at = 0;
  while (at <= text.length && rows.length < mostRows) {
    const isQuoted = quote !== undefined && text.startsWith(quote, at);
    if (rows.length === 0) isFirstQuoted &&= isQuoted;
    const end = isQuoted ? closingQuote(text, at + quote.length, quote, dialect.escape) : at;
    if (end === undefined) break;
    const stop = cellEnd(text, end, delimiter);
    // An incomplete last row is ignored.
    if (stop === text.length && rows.length > 0 && !(isWhole && start < stop)) break;
    const rest = withoutLast(text.slice(end, stop), '\r');
    if (isQuoted ? rest !== '' : quote !== undefined && rest.includes(quote)) isBroken = true;
    cells.push(isQuoted ? text.slice(at + quote.length, end - quote.length) : rest);
    if (text.startsWith(delimiter, stop)) {
      at = stop + delimiter.length;
      continue;
    }
    rows.push({ start, end: Math.min(stop + 1, text.length), cells });
    cells = [];
    at = start = stop + 1;
    if (stop === text.length) break;
  }
  return { rows, isBroken, isFirstQuoted };
}

/** End of a cell whose unquoted rest starts at `from`. */
function cellEnd(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== '\n' && !text.startsWith(delimiter, at)) at += 1;
  return at;
}

/** End of a quoted cell's closing quote; `undefined` when the text ends before. */
function closingQuote(
  text: string,
  from: number,
  quote: string,
  escape: string,
): number | undefined {
  let at = from;
  while (at < text.length) {
    if (text.startsWith(escape, at) && text.startsWith(quote, at + escape.length)) {
      at += escape.length + quote.length;
    } else if (text.startsWith(quote, at)) {
      return at + quote.length;
    } else if (escape !== quote && text.startsWith(escape, at)) {
      at += escape.length + 1;
    } else {
      at += 1;
    }
  }
  return undefined;
}

/** A text without these trailing characters: a regular expression would search from each of them. */
export function withoutLast(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
