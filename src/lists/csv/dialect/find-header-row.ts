import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { OpenSourceOptions } from '../../rows/source.js';
import { optionName } from '../../../platform/text/sentence.js';

/** Cells of a row: text, or other values where the format has them. */
type LookedAt = readonly unknown[];

/**
 * Finds the header among the first rows of a table: 0 for the first row, more below title lines. `none`: no
 * row is clearly a header; `undecided`: more rows could show it.
 *
 * A header shows by the rows around it: a row below it holds an address or a number, the header holds none,
 * and all rows above are narrower than that row or mostly empty.
 */
export function findHeaderRow(rows: readonly LookedAt[]): number | 'none' | 'undecided' {
  // Once for each row: sheets may have thousands of empty columns.
  const filled = rows.map((row) => filledCells(row).length);
  for (const [at, row] of rows.entries()) {
    if (!isData(row)) continue;
    const width = row.length;
    const found = rows.findIndex((each, place) => !isTitle(each.length, filled[place] ?? 0, width));
    const header = rows[found];
    // A separate line, such as a title's number of rows, or rows without a header.
    if (found >= at || header === undefined) continue;
    // Wider rows follow, a header and more: this was part of the title.
    if (rows.slice(at).filter(({ length }) => length > header.length).length > 1) continue;
    return isHeader(header) ? found : 'none';
  }
  return 'undecided';
}

export function isData(row: LookedAt): boolean {
  return row.some((cell) => isFilled(cell) && isDatum(cell));
}

function isTitle(length: number, filled: number, width: number): boolean {
  return filled === 0 || length < width || filled * 2 < width;
}

function isHeader(row: LookedAt): boolean {
  const filled = filledCells(row);
  return filled.length * 2 >= row.length && !filled.some((cell) => isDatum(cell));
}

function filledCells(row: LookedAt): readonly unknown[] {
  return row.filter((cell) => isFilled(cell));
}

function isFilled(cell: unknown): boolean {
  const isNothing = cell === undefined || cell === null;
  return typeof cell === 'string' ? cell.trim() !== '' : !isNothing;
}

/** Whether a cell cannot be a column's name: an address, a number, a date. */
function isDatum(cell: unknown): boolean {
  return typeof cell !== 'string' || isAddress(cell) || isNumber(cell);
}

export function isAddress(text: string): boolean {
  return /^[^\s@,;|<>]+@[^\s@,;|<>]+$/.test(text.trim());
}

export function isNumber(text: string): boolean {
  return /^['+(]*\d[\d\s().,:/+-]*$/.test(text.trim());
}

/**
 * Guards a table whose header was not specified: a first row with an address would be lost as a header.
 *
 * @param name the input's name in messages
 * @returns a function that refuses such a header with ConfigurationError `header_missing`
 */
export function withoutMissingHeader(
  opening: OpenSourceOptions,
  name: string,
  {
    header = true,
    skipRows,
  }: { readonly header?: boolean | undefined; readonly skipRows?: number | undefined },
): OpenSourceOptions {
  if (!header || skipRows !== undefined) return opening;
  return {
    ...opening,
    wanted: (names) => {
      const at = names.findIndex((each) => isSurelyContact(each));
      if (at === -1) return opening.wanted(names);
      // The message may be logged: it holds no cell.
      throw new ConfigurationError(
        `${name} seems to have no header: column ${at + 1} of its first row is an email address or a phone number, which would be taken for a column's name and not be verified. Read that row as data with ${optionName('header', false)}, and name columns by position (#${at + 1}); if it is the header all the same, say so with ${optionName('skipRows', 0)}`,
        { code: 'header_missing', option: 'header' },
      );
    },
  };
}

/** Whether a text is exactly one email address or phone number, which no column is named. */
export function isSurelyContact(text: string): boolean {
  const cell = text.trim();
  return /^[^\s@,;|<>]+@[^\s@,;|<>]+\.[^\s@,;|<>.]{2,}$/.test(cell) || isSurelyPhone(cell);
}

/** With a calling code, or in the groups of a national number. */
function isSurelyPhone(cell: string): boolean {
  const { length: digits } = cell.replaceAll(/\D/g, '');
  if (digits < 8 || digits > 15) return false;
  if (/^\+[1-9][\d\s()./-]*$/.test(cell) || /^\d{3}[-. ]\d{3}[-. ]\d{4}$/.test(cell)) return true;
  // `01-02-2024`, `01/24-12/24` and `01/2024 - 12/2024` are times.
  const isTime =
    cell.includes(' - ') ||
    cell.split('/').length > 2 ||
    /[/-]\d\d?[/-]/.test(cell) ||
    /(?<!\d)(?:19|20)\d\d(?!\d)/.test(cell);
  return (
    !isTime &&
    /^(?:0[1-9]\d{7}|(?:\(\d{2,5}\)|0[1-9]\d{0,4}[ /-])[\d ()/-]{5})[\d ()/-]*$/.test(cell)
  );
}
