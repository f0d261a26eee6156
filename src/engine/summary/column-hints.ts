import { isPlusLost } from '../plan/column-quality.js';
import type { Plan } from '../plan/plan.js';
import type { MisspeltDomains } from './misspelt-domains.js';
import type { RefusedCells } from './refused-cells.js';
import type { ColumnHints } from './summary.js';

/** What can be put right in a column of the list. */
export function columnHints(
  column: number,
  {
    plan,
    refused,
    misspelt,
  }: {
    readonly plan: Plan;
    readonly refused: RefusedCells;
    readonly misspelt: MisspeltDomains;
  },
): ColumnHints {
  const forms = refused.forms(column);
  const domains = misspelt.of(column);
  const looks = plan.planner.looks[column];
  const foreign = looks?.callingCodes?.foreign();
  return {
    ...(forms && { forms }),
    ...(domains && { misspelt: domains }),
    ...(looks && isPlusLost(looks) && { ambiguous: looks.ambiguous, ambiguous_rows: looks.rows }),
    ...(foreign && { foreign }),
  };
}
