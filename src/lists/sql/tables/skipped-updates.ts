import type { LeftAlone } from '../../rows/sink.js';
import type { Connection } from '../connection.js';
import type { Statements } from '../dialect.js';
import type { TablePlan } from './table-plan.js';
import { leftAloneQueries, type RowRange } from '../statements.js';

/** So many keys are named. */
const mostKeys = 20;

/**
 * Looks for rows that changed, or went, while they were verified: among staged rows that are applied, in
 * the same transaction.
 */
export async function findLeftAlone(
  plan: TablePlan,
  form: Statements,
  connection: Connection,
  range: RowRange | undefined,
): Promise<LeftAlone | undefined> {
  if (plan.mode !== 'update') return undefined;
  const queries = leftAloneQueries(plan, form, range, mostKeys);
  const [[all, gone] = []] = await connection.query(queries.counts);
  if (Number(all) === 0) return undefined;
  const keys = await connection.query(queries.keys);
  return {
    changed: Number(all) - Number(gone),
    gone: Number(gone),
    keys: keys.map((cells) => cells.map(String).join(', ')),
  };
}

export function addLeftAlone(
  known: LeftAlone | undefined,
  more: LeftAlone | undefined,
): LeftAlone | undefined {
  if (!known || !more) return known ?? more;
  return {
    changed: known.changed + more.changed,
    gone: known.gone + more.gone,
    keys: [...known.keys, ...more.keys].slice(0, mostKeys),
  };
}
