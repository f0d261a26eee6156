/** A row as a dialect cuts it. */
export interface CutRow {
  /** Where it starts in the text. */
  readonly start: number;
  /** Texts of its cells, without the quotes around them. */
  readonly cells: readonly string[];
}

/** What cutting the first rows of a file with a dialect shows of that dialect. */
export interface RowCut {
  /** The rows that are whole; the only row, when none is. */
  readonly rows: readonly CutRow[];
  /** Whether a row cannot be cut: something follows a closing quote, or a quote stands inside a cell. */
  readonly isBroken: boolean;
  /** Whether all cells of the first row are in quotes. */
  readonly isFirstQuoted: boolean;
}

interface CutOptions {
  readonly delimiter: string;
  readonly quote: string | undefined;
  readonly escape: string;
  /** Whether nothing follows the text: its last row is whole without a line end. @default false */
  readonly isWhole?: boolean;
}

const mostRows = 200;

/** Cuts text, a character for each byte, into rows and cells, as far as it goes. */
export function cutRows(text: string, dialect: CutOptions): RowCut {
  const { delimiter, quote, isWhole = false } = dialect;
  const rows: CutRow[] = [];
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
    // A last row that the text does not hold whole says nothing.
    if (stop === text.length && rows.length > 0 && !(isWhole && start < stop)) break;
    const rest = text.slice(end, stop).replace(/\r+$/, '');
    if (isQuoted ? rest !== '' : quote !== undefined && rest.includes(quote)) isBroken = true;
    cells.push(isQuoted ? text.slice(at + quote.length, end - quote.length) : rest);
    if (text.startsWith(delimiter, stop)) {
      at = stop + delimiter.length;
      continue;
    }
    rows.push({ start, cells });
    cells = [];
    at = start = stop + 1;
    if (stop === text.length) break;
  }
  return { rows, isBroken, isFirstQuoted };
}

/** Where the cell ends whose unquoted rest starts at `from`. */
function cellEnd(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== '\n' && !text.startsWith(delimiter, at)) at += 1;
  return at;
}

/** Where a quoted cell's closing quote ends; `undefined` when the text ends before. */
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
