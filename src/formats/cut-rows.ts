/** What cutting the first rows of a file with a dialect shows of that dialect. */
export interface RowCut {
  /** Cells of each row that is whole; of the only row, when none is. */
  readonly cells: readonly number[];
  /** Whether a row cannot be cut: something follows a closing quote, or a quote stands inside a cell. */
  readonly isBroken: boolean;
  /** Whether all cells of the first row are in quotes. */
  readonly isFirstQuoted: boolean;
}

const mostRows = 200;

/** Cuts text, a character for each byte, into rows and cells, as far as it goes. */
export function cutRows(
  text: string,
  dialect: {
    readonly delimiter: string;
    readonly quote: string | undefined;
    readonly escape: string;
  },
): RowCut {
  const { delimiter, quote } = dialect;
  const cells: number[] = [];
  let count = 0;
  let isBroken = false;
  let isFirstQuoted = quote !== undefined;
  let at = 0;
  while (at <= text.length && cells.length < mostRows) {
    const isQuoted = quote !== undefined && text.startsWith(quote, at);
    if (cells.length === 0) isFirstQuoted &&= isQuoted;
    const end = isQuoted ? closingQuote(text, at + quote.length, quote, dialect.escape) : at;
    if (end === undefined) break;
    const stop = cellEnd(text, end, delimiter);
    // A last row that the text does not hold whole says nothing.
    if (stop === text.length && cells.length > 0) break;
    const rest = text.slice(end, stop).replace(/\r$/, '');
    if (isQuoted ? rest !== '' : quote !== undefined && rest.includes(quote)) isBroken = true;
    count += 1;
    if (text.startsWith(delimiter, stop)) {
      at = stop + delimiter.length;
      continue;
    }
    cells.push(count);
    count = 0;
    at = stop + 1;
    if (stop === text.length) break;
  }
  return { cells, isBroken, isFirstQuoted };
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
