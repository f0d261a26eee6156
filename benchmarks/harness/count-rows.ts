/** A number of rows as the table has it: `20k`, `10M`. */
export function countRows(rows: number): string {
  return rows >= 1_000_000 ? `${rows / 1_000_000}M` : `${rows / 1000}k`;
}
