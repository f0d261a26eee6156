import { duration } from '../words/shown-numbers.js';
import { rowsSentence } from '../words/rows-sentence.js';
import type { RunEnd, Summary } from '../index.js';

/** Something that happened: a text for people, the same as fields for a log. */
export interface Said {
  readonly event: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly line: string;
  /** Whether it is said even when quiet. */
  readonly isUrgent?: boolean;
}

export interface EndLinesOptions {
  /** Whether it is said how long the run took; a log has the times of its lines. @default false */
  readonly withTime?: boolean;
}

/** Where the rows are, and the one thing to know or do next. */
export function endLinesOf(
  summary: Summary,
  { message, next }: RunEnd,
  { withTime = false }: EndLinesOptions = {},
): readonly Said[] {
  const time = withTime ? ` in ${duration(summary.seconds)}` : '';
  const said: Said[] = [{ event: 'outputs', line: `${rowsSentence(summary)}${time}` }];
  // What was asked for is not there: said even when quiet.
  if (summary.left_alone) {
    const { changed, gone } = summary.left_alone;
    const line = `${changed + gone} rows got no result: ${changed} changed and ${gone} were deleted while they were verified (--summary has their keys)`;
    said.push({ event: 'left_alone', line, isUrgent: true });
  }
  if (message !== null) {
    said.push({ event: 'message', line: message, isUrgent: summary.suspect });
  }
  if (next !== null) said.push({ event: 'next', line: next });
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
