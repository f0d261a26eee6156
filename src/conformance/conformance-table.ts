import type { CheckedClause, ConformanceReport } from './check-conformance.js';
import type { Outcome } from './clause.js';
import { optionName } from '../platform/text/option-name.js';

const words: Readonly<Record<Outcome, string>> = {
  holds: 'holds',
  fails: 'FAILS',
  needs_spend: 'not asked: it costs',
  not_reached: 'not reached',
  not_observable: 'not observable',
  not_shown: 'open',
};

/** What the outcomes mean, as the last lines of the table say it. */
const sums = (): readonly (readonly [Outcome, string])[] => [
  ['holds', 'hold'],
  ['fails', 'fail'],
  ['needs_spend', `not asked, because they cost credits (${optionName('spend')})`],
  ['not_reached', 'not reached: the occasion did not come'],
  ['not_observable', 'cannot be observed from outside'],
  ['not_shown', 'left open by the specification'],
];

/**
 * What the table has for one clause: its line, below the place of its section where that begins.
 *
 * @param before the section of the line before
 */
export function conformanceLines(checked: CheckedClause, before?: string): string {
  const line = `${conformanceLine(checked)}\n`;
  if (checked.section === before) return line;
  return `${before === undefined ? '' : '\n'}${checked.section}\n${line}`;
}

/** A line of the table for one clause. */
function conformanceLine({ clause, says, outcome, note }: CheckedClause): string {
  const why = note === null ? '' : ` (${note})`;
  return `${words[outcome].padEnd(15)} ${clause.padEnd(36)} ${says}${why}`;
}

/** The last lines of the table: how many clauses came out how. */
export function conformanceSums({ clauses, outcomes, batchesLeft }: ConformanceReport): string {
  const lines = sums().map(
    ([outcome, text]) => `${String(outcomes[outcome]).padStart(5)}  ${text}`,
  );
  const left =
    batchesLeft.length === 0 ? [] : ['', `batches that were left: ${batchesLeft.join(', ')}`];
  return ['', `${clauses.length} clauses`, ...lines, ...left, ''].join('\n');
}
