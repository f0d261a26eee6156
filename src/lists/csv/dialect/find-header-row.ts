/** Cells of a row that is looked at: text as it is read, other values where the format has them. */
type LookedAt = readonly unknown[];

/**
 * Finds the header among the first rows of a table: 0 where it is the first row, more where title lines
 * are above it. `none` says that no row is plainly a header, `undecided` that more rows could show it.
 *
 * A header is found by the rows around it: a row below holds an address or a number, the header holds
 * none, and all rows above it are narrower than that row or mostly empty.
 */
export function findHeaderRow(rows: readonly LookedAt[]): number | 'none' | 'undecided' {
  // Once for each row: sheets may have thousands of empty columns.
  const filled = rows.map((row) => filledCells(row).length);
  for (const [at, row] of rows.entries()) {
    if (!isData(row)) continue;
    const width = row.length;
    const found = rows.findIndex((each, place) => !isTitle(each.length, filled[place] ?? 0, width));
    const header = rows[found];
    // A line of its own, such as the number of rows in a title, or rows without a header.
    if (found >= at || header === undefined) continue;
    // Wider rows follow, a header and more, not a broken row: this was a part of the title.
    if (rows.slice(at).filter(({ length }) => length > header.length).length > 1) continue;
    return isHeader(header) ? found : 'none';
  }
  return 'undecided';
}

/** Whether a row holds what only data are. */
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

/** Whether a cell is what no column is called: an address, a number, a date. */
function isDatum(cell: unknown): boolean {
  return typeof cell !== 'string' || isAddress(cell) || isNumber(cell);
}

function isAddress(text: string): boolean {
  return /^[^\s@,;|<>]+@[^\s@,;|<>]+$/.test(text.trim());
}

function isNumber(text: string): boolean {
  return /^['+(]*\d[\d\s().,:/+-]*$/.test(text.trim());
}
