import { trimCell } from '../trim-cell.js';

/** Two zeros only behind so many digits and no zero in front: `0800.00` may be written by hand. */
const fraction = /^(?:\+?\d+[.,]0|[1-9]\d{6,}[.,]00)$/;

/**
 * A phone cell without what a spreadsheet or a data frame has put around its number: the apostrophe that
 * keeps a cell a text, and the fraction of a number (`412345678.0`, `412345678,00`).
 *
 * @param trimmed without white space at its ends
 */
export function barePhone(trimmed: string): string {
  let text = trimmed;
  // All of them: what is sent must come to the same when it is read again.
  while (text.startsWith("'")) text = trimCell(text.slice(1));
  return mayBeFraction(text) && fraction.test(text) ? text.slice(0, text.search(/[.,]/)) : text;
}

/** Whether a comma or a point stands in front of the last digit or the last two. */
function mayBeFraction(text: string): boolean {
  const { length } = text;
  return isPoint(text.charCodeAt(length - 2)) || isPoint(text.charCodeAt(length - 3));
}

function isPoint(code: number): boolean {
  return code === 0x2e || code === 0x2c;
}

/** Whether a cell is a number in scientific notation (`4.91702E+11`): its last digits are lost. */
export function isScientific(text: string): boolean {
  return /^[+-]?\d{1,3}(?:[.,]\d+)?e[+-]?\d{1,3}$/i.test(text);
}
