/** What a spreadsheet may take for a formula, when a text begins with it. */
const formulaStart = /^[=+\-@\t\r]/;
/** A number in international form: digits behind a plus are no formula. */
const internationalNumber = /^\+\d+$/;
/** What XML cannot hold, in any form. */
// oxlint-disable-next-line no-control-regex
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/**
 * A text from outside as a cell of a spreadsheet: one that a program might run gets an apostrophe in
 * front, which also holds when the sheet is saved as CSV.
 */
export function safeCell(text: string): string {
  const written = text.replaceAll(unwritable, '\ufffd');
  if (!formulaStart.test(written) || internationalNumber.test(written)) return written;
  return `'${written}`;
}
