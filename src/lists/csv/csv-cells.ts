import { isUtf8 } from 'node:buffer';
import { invalidText, type CellText } from '../rows/chunks/row-chunk.js';
import { quoteByte } from './dialect/csv-dialect.js';

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
