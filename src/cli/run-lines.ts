import type { Summary, TypeSummary } from '../index.js';

/** Something that happened: a text for people, the same as fields for a log. */
export interface Said {
  readonly event: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly line: string;
  /** Whether it is said even when quiet. */
  readonly isUrgent?: boolean;
}

/** What is said of a run at its end. */
export function summaryLines(summary: Summary): readonly Said[] {
  const said: Said[] = [];
  if (summary.rows_left_out > 0) {
    const line = `left ${summary.rows_left_out} of ${summary.rows} rows out, which are not to be kept`;
    said.push({ event: 'left_out', line });
  }
  // What was asked for is not there: said even when quiet.
  if (summary.left_alone) {
    const { changed, gone } = summary.left_alone;
    const line = `${changed + gone} rows got no result: ${changed} changed and ${gone} were deleted while they were verified; run again to verify those that changed (--summary has their keys)`;
    said.push({ event: 'left_alone', line, isUrgent: true });
  }
  if (summary.suspect) {
    const line = `too many verdicts are unknown: the output is untouched, the rows are in ${summary.output}`;
    said.push({ event: 'suspect', line, isUrgent: true });
  }
  for (const type of ['email', 'phone'] as const) {
    const counts = summary[type];
    if (counts) said.push({ event: type, line: `${type}: ${describeCounts(counts)}` });
    const lost = counts?.reasons.scientific_notation ?? 0;
    if (lost > 0) said.push({ event: 'scientific_notation', line: describeLostDigits(lost) });
    const credits = summary.credits[type];
    if (credits && credits.net !== null) {
      const spent = credits.spent === null ? '' : `${credits.spent} spent, `;
      const refunded = credits.refunded === null ? '' : `${credits.refunded} refunded, `;
      said.push({
        event: 'credits',
        line: `${type} credits: ${spent}${refunded}${credits.net} net`,
      });
    }
  }
  return said;
}

/** What a trial has left. */
export function limitLines(
  { rows, limit }: Pick<Summary, 'rows' | 'limit'>,
  hasHistory: boolean,
): readonly Said[] {
  if (limit === undefined || rows < limit) return [];
  const again = hasHistory
    ? 'what was verified now is not paid for again'
    : 'with --history <file> in both, what was verified is not paid for again';
  const line = `the first ${limit} rows only; leave out --limit for the rest (${again})`;
  return [{ event: 'limited', fields: { rows, limit }, line }];
}

/** What to do about cells that a spreadsheet has written as `4.91702E+11`. */
export function describeLostDigits(cells: number): string {
  const are = cells === 1 ? '1 cell is' : `${cells} cells are`;
  return `phone: ${are} in scientific notation, and the last digits are lost: format the column as text or as a number without decimals, export the list again, and run again`;
}

function describeCounts({
  addresses,
  duplicates,
  from_history: fromHistory,
  buckets,
  verdicts,
}: TypeSummary): string {
  return [
    `${addresses} addresses (${duplicates} duplicates${fromHistory > 0 ? `, ${fromHistory} from earlier runs` : ''})`,
    `${buckets.verified} verified (${verdicts.valid} valid, ${verdicts.wrong} wrong, ${verdicts.unknown} unknown)`,
    `${buckets.no_result} without result`,
    `${buckets.not_submitted} not submitted`,
    `${buckets.failed} failed`,
  ].join(', ');
}
