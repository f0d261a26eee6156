import { findHeaderRow } from '../csv/dialect/find-header-row.js';
import type { SheetRow } from './sheet-rows.js';

/** So many rows show the header; more would only be looked at longer. */
const mostRows = 200;

/**
 * Reads the rows of a sheet up to its header, and some of those behind it.
 *
 * @param next gives some more rows; nothing at the end
 * @returns the header and the rows behind it that were read; none where the sheet has none
 */
export async function readToHeader(
  next: () => Promise<SheetRow[] | undefined>,
  { hasHeader, skipRows }: { readonly hasHeader: boolean; readonly skipRows: number | undefined },
): Promise<{ readonly rows: readonly SheetRow[]; readonly isGuessed: boolean }> {
  let rows: readonly SheetRow[] = [];
  for (;;) {
    const more = await next();
    rows = [...rows, ...(more ?? [])].filter(({ number }) => number > (skipRows ?? 0));
    const isEnough = more === undefined || rows.length >= mostRows;
    if (skipRows !== undefined || !hasHeader) {
      if (rows.length > 0 || isEnough) return { rows, isGuessed: false };
      continue;
    }
    const found = findHeaderRow(rows.map(({ values }) => values));
    if (found === 'undecided' && !isEnough) continue;
    const at = typeof found === 'number' ? found : 0;
    return { rows: rows.slice(at), isGuessed: at > 0 };
  }
}
