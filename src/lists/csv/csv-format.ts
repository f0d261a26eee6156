import { isUtf8 } from 'node:buffer';
import { ConfigurationError, InputError } from '../../platform/errors/errors.js';
import { optionName } from '../../platform/text/option-name.js';
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

/**
 * Keeps text that came from outside from being a formula where the file is opened as a spreadsheet: an
 * apostrophe goes in front. A phone number in E.164 form is none.
 */
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

/** The error for a malformed row. Holds no cell. */
export function csvError(
  trouble: CsvErrorDetails,
  at: { readonly name: string; readonly line: number; readonly figures?: string | undefined },
): InputError {
  const figures = at.figures === undefined ? '' : ` (${at.figures})`;
  return new InputError(`${at.name}, line ${grouped(at.line)}: ${words[trouble]}${figures}`, {
    code: 'input_malformed',
    line: at.line,
  });
}

/** Bytes that separate the cells of a CSV file. The quote is never another one. */
export const quoteByte = 0x22;
export const lineFeedByte = 0x0a;
export const carriageReturnByte = 0x0d;

/**
 * The byte of a delimiter given as text. ASCII only: such a byte never is a part of another character
 * in UTF-8, so rows can be cut without decoding them.
 */
export function parseDelimiter(delimiter: string): number {
  const byte = delimiter.charCodeAt(0);
  const isReserved =
    byte === quoteByte || byte === lineFeedByte || byte === carriageReturnByte || byte === 0;
  if (delimiter.length !== 1 || byte > 0x7e || isReserved) {
    throw new ConfigurationError(
      `${JSON.stringify(delimiter)} cannot be the delimiter of a CSV file: it is one ASCII character, and neither a quote nor a line end`,
    );
  }
  return byte;
}

/** What the first row of a CSV file shows. */
export interface CsvHead {
  /** Names of the columns; `#1`, `#2`, … when the file has no header. */
  readonly names: readonly string[];
  /** The header's own bytes, a byte-order mark included; `undefined` when the file has none. */
  readonly bytes: Buffer | undefined;
  /** Bytes of a byte-order mark in front. */
  readonly markBytes: number;
  /** The first row's own line end; empty when the file ends with that row. */
  readonly lineEnd: Buffer;
}

/** Where the first row lies: its start (a byte-order mark in front), its end, and its line end's. */
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
    // In another encoding a name is still a name, if not a pretty one: what is no UTF-8 is replaced.
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

/** What a CSV output needs to take over the form of a CSV input. */
export interface CsvForm {
  /** The lines above the header as they are; a byte-order mark is the first of their bytes. */
  readonly aboveHeader: Uint8Array;
  /** The lines below the last row as they are; nothing before they were read. */
  readonly footer: () => Uint8Array;
  /** The header's own bytes, a byte-order mark included, where it can be copied. */
  readonly headerBytes: Uint8Array | undefined;
  /** Whether the input begins with a byte-order mark. */
  readonly hasMark: boolean;
  /** The first row's own line end; empty when nothing follows that row. */
  readonly lineEnd: Uint8Array;
  readonly delimiter: string;
  /** Whether quotes are characters like any other. */
  readonly isBare: boolean;
  /** Whether the input is TSV: a CSV output then has commas all the same. */
  readonly isTsv: boolean;
  /** Whether the input is a table under a name that ends in .txt: so is a .txt output then. */
  readonly isTxt: boolean;
}

/** What is known of the bytes a cell lies in: the more, the less is looked at again. */
export type KnownText = 'ascii' | 'utf8' | 'unknown';

/**
 * Bounds of the cells of one row, `[start, end, start, end, …]`, the quotes of a quoted cell included.
 * The row is one that the scanner has accepted, without its line end.
 */
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

/** Text of the cell between two bounds: quotes taken off, doubled quotes undone, UTF-8 decoded. */
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

/** A loop: for cells of a few dozen bytes it costs less than the view that `isAscii` asks for. */
function isAsciiRange(bytes: Uint8Array, start: number, end: number): boolean {
  let seen = 0;
  for (let at = start; at < end; at += 1) seen |= bytes[at] as number;
  return seen < 0x80;
}
