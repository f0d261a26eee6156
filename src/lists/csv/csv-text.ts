import type { OutputCell } from '../rows/sink.js';

/** A cell as it stands in a CSV file: in quotes where a reader would else take it for something else. */
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
