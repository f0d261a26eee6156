import { isUtf8 } from 'node:buffer';
import { ConfigurationError, InputError } from '../../platform/errors/errors.js';
import { optionName } from '../../platform/text/sentence.js';
import { type CellText, invalidText } from '../rows/chunks/row-chunk.js';
import type { OutputCell } from '../rows/sink.js';
import { grouped } from '../../platform/text/shown-numbers.js';

/** A cell as it is in a CSV file: in quotes where a reader would else take it for something else. */
export function quoteCell(text: string, delimiter: string): string {
  const isPlain =
    !text.includes(delimiter) && !/["\r\n]/.test(text) && !/^[ \t\ufeff]|[ \t]$/.test(text);
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}

/** The text of a new cell: `true` and `false` for booleans, nothing for null. */
export function cellText(cell: OutputCell): string {
  return cell === null ? '' : String(cell);
}

/** Keeps foreign text from being a formula in a spreadsheet, by an apostrophe in front; E.164 numbers are none. */
export function neutralizeFormula(cell: OutputCell): OutputCell {
  const isFormula =
    typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) && !/^\+\d{1,15}$/.test(cell);
  return isFormula ? `'${cell}` : cell;
}

/** What is wrong with a row, and what to do about it. */
const words = {
  unclosed_quote:
    'a quoted cell begins here and never ends; close its quote, or double the quotes inside it',
  stray_quote:
    'a quote is inside a cell that does not begin with one; put the whole cell in quotes and double the quotes inside it',
  text_after_quote:
    'something other than the delimiter or the end of the line follows a closing quote; double the quotes inside a quoted cell',
  lone_carriage_return:
    'a line ends with a carriage return alone; convert the line ends to line feeds first',
  get too_many_cells() {
    return `the row has more cells than the header; quote the cells that hold the delimiter, or, where title lines are above the header, give their number with ${optionName('skipRows')}`;
  },
  too_long: 'the row is too long; perhaps a quote that was opened in it is never closed',
} as const;

export type CsvErrorDetails = keyof typeof words;

export function csvError(
  trouble: CsvErrorDetails,
  at: { readonly name: string; readonly line: number; readonly figures?: string | undefined },
): InputError {
  const figures = at.figures === undefined ? '' : ` (${at.figures})`;
  return new InputError(`${at.name}, line ${grouped(at.line)}: ${words[trouble]}${figures}`, {
    code: 'input_malformed',
    line: at.line,
    fault: trouble,
  });
}

/** Bytes that separate the cells of a CSV file. The quote is never another one. */
export const quoteByte = 0x22;
export const lineFeedByte = 0x0a;
export const carriageReturnByte = 0x0d;

/** The byte of a delimiter. ASCII only: no byte of another UTF-8 character is one, so rows are cut undecoded. */
export function parseDelimiter(delimiter: string): number {
  const byte = delimiter.charCodeAt(0);
  const isReserved =
    byte === quoteByte || byte === lineFeedByte || byte === carriageReturnByte || byte === 0;
  if (delimiter.length !== 1 || byte > 0x7e || isReserved) {
    throw new ConfigurationError(
      `${JSON.stringify(delimiter)} cannot be the delimiter of a CSV file: it is one ASCII character, and neither a quote nor a line end`,
      { option: 'delimiter' },
    );
  }
  return byte;
}

export interface CsvHead {
  /** Names of the columns; `#1`, `#2`, … without a header. */
  readonly names: readonly string[];
  /** The header's own bytes, a byte-order mark included; `undefined` without a header. */
  readonly bytes: Buffer | undefined;
  readonly markBytes: number;
  /** The first row's own line end; empty when the file ends with that row. */
  readonly lineEnd: Buffer;
}

/** Position of the first row: its start (with a byte-order mark), its end, and its line end's. */
interface FirstRow {
  readonly markBytes: number;
  readonly end: number;
  readonly lineEnd: number;
}

export function readCsvHead(
  bytes: Buffer,
  row: FirstRow,
  options: {
    readonly delimiter: number;
    readonly hasHeader: boolean;
  },
): CsvHead {
  const bounds = findCells(bytes, row.markBytes, row.end, options.delimiter);
  const names: string[] = [];
  for (let cell = 0; cell < bounds.length; cell += 2) {
    const [from, to] = [bounds[cell] as number, bounds[cell + 1] as number];
    // A name in another encoding is still a name: invalid UTF-8 is replaced.
    const text = options.hasHeader ? decodeCell(bytes, from, to, 'utf8') : undefined;
    names.push(typeof text === 'string' ? text : `#${String(names.length + 1)}`);
  }
  return {
    names,
    markBytes: row.markBytes,
    bytes: options.hasHeader ? Buffer.from(bytes.subarray(0, row.end)) : undefined,
    lineEnd: Buffer.from(bytes.subarray(row.end, row.lineEnd)),
  };
}

/** The form of a CSV input that a CSV output takes over. */
export interface CsvForm {
  /** The lines above the header as they are; a byte-order mark is the first of their bytes. */
  readonly aboveHeader: Uint8Array;
  /** The lines below the last row as they are; nothing before they were read. */
  readonly footer: () => Uint8Array;
  /** The header's own bytes, a byte-order mark included, where they can be copied. */
  readonly headerBytes: Uint8Array | undefined;
  readonly hasMark: boolean;
  /** The first row's own line end; empty when nothing follows that row. */
  readonly lineEnd: Uint8Array;
  readonly delimiter: string;
  readonly isBare: boolean;
  /** Whether the input is TSV; a CSV output then still has commas. */
  readonly isTsv: boolean;
  /** Whether the input is a table named .txt: so is a .txt output then. */
  readonly isTxt: boolean;
}

/** What is known of a cell's bytes: the more, the less is checked again. */
export type KnownText = 'ascii' | 'utf8' | 'unknown';

/** Bounds of the cells of a scanned row without its line end, `[start, end, start, end, …]`, including quotes. */
export function findCells(
  bytes: Uint8Array,
  from: number,
  to: number,
  delimiter: number,
): number[] {
  const bounds: number[] = [];
  let start = from;
  let at = from;
  for (;;) {
    if (at === start && bytes[at] === quoteByte && at < to) at = closingQuote(bytes, at) + 1;
    while (at < to && bytes[at] !== delimiter) at += 1;
    bounds.push(start, at);
    if (at >= to) return bounds;
    at += 1;
    start = at;
  }
}

function closingQuote(bytes: Uint8Array, openingQuote: number): number {
  let at = openingQuote + 1;
  for (;;) {
    at = bytes.indexOf(quoteByte, at);
    if (bytes[at + 1] !== quoteByte) return at;
    at += 2;
  }
}

/** Text of the cell between two bounds: unquoted, and decoded from UTF-8. */
export function decodeCell(bytes: Buffer, from: number, to: number, known: KnownText): CellText {
  const isQuoted = from < to && bytes[from] === quoteByte;
  const start = isQuoted ? from + 1 : from;
  const end = isQuoted ? to - 1 : to;
  if (start >= end) return '';
  let text;
  if (known === 'ascii' || isAsciiRange(bytes, start, end)) {
    text = bytes.toString('latin1', start, end);
  } else if (known === 'utf8' || isUtf8(bytes.subarray(start, end))) {
    text = bytes.toString('utf8', start, end);
  } else {
    return invalidText;
  }
  return isQuoted && text.includes('"') ? text.replaceAll('""', '"') : text;
}

/** A loop: for cells of a few dozen bytes it costs less than the view for `isAscii`. */
function isAsciiRange(bytes: Uint8Array, start: number, end: number): boolean {
  let seen = 0;
  for (let at = start; at < end; at += 1) seen |= bytes[at] as number;
  return seen < 0x80;
}

export function emptyInput(name: string, firstLine = 1): InputError {
  const where = firstLine === 1 ? '' : ` from line ${firstLine} on`;
  return new InputError(`${name} is empty${where}: check what makes the list`, {
    line: firstLine,
    fault: 'empty',
  });
}
