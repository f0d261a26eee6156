import { OutputError } from '../errors/family.js';
import type { Connection } from './connection.js';
import type { Dialect, Staging } from './dialect.js';
import type { TablePlan } from './plan-table.js';
import { createMarker, createMarkers, isMarked, writeMarker } from './run-marker.js';
import { definitionStatements, repeatedKeysQuery, rowStatements } from './statements.js';

/** One writing of a table. */
export interface TableWriting<Database extends Connection> {
  readonly dialect: Dialect<Database>;
  readonly connection: Database;
  readonly plan: TablePlan;
  readonly staging: Staging;
  readonly runId: string | undefined;
  /** Most rows that one transaction brings into a table that is there. */
  readonly maxRows: number;
}

/**
 * Brings the staged rows to where they belong, with a marker of the run: all in one transaction or, where
 * there are more than `maxRows`, in ranges; those that an earlier process has committed are passed over.
 *
 * @param ending `ROLLBACK` takes back what was done
 * @throws OutputError
 */
export async function applyStaged<Database extends Connection>(
  { dialect, connection, plan, staging, runId, maxRows }: TableWriting<Database>,
  ending: 'COMMIT' | 'ROLLBACK' = 'COMMIT',
): Promise<void> {
  const { statements, putInPlace } = dialect;
  const ask = async (queries: readonly string[]): Promise<void> => {
    for (const query of queries) await connection.query(query);
  };
  const marker = createMarker(runId, await staging.end());
  const { rows } = marker;
  const isBegun = isMarked(plan.marker, marker);
  let applied = isBegun ? (plan.marker?.applied ?? 0) : 0;
  if (isBegun && applied >= rows) return;
  if (staging.isInPlace === true) {
    await createMarkers(dialect, connection, plan.name);
    await writeMarker(dialect, connection, plan.name, marker);
    return ask([ending]);
  }
  const isRanged = plan.mode !== 'replace' && rows > maxRows;
  await staging.prepare?.(isRanged);
  await refuseRepeatedKeys(dialect, connection, plan);
  if (putInPlace?.modes.includes(plan.mode) === true) {
    return putInPlace.run(connection, plan, marker);
  }
  const define = async (): Promise<void> => {
    if (applied === 0) await ask(definitionStatements(plan, statements));
    await createMarkers(dialect, connection, plan.name);
  };
  if (statements.definitionsCommit === true) await define();
  do {
    const upTo = isRanged ? Math.min(rows, applied + maxRows) : rows;
    await ask(statements.begin);
    if (statements.definitionsCommit !== true) await define();
    const range = isRanged || applied > 0 ? { after: applied, upTo } : undefined;
    await ask(rowStatements(plan, statements, range));
    await writeMarker(dialect, connection, plan.name, { ...marker, applied: upTo });
    await ask([ending]);
    applied = upTo;
  } while (applied < rows);
}

/**
 * Refuses keys that the database takes for the same, though their texts differ: those were told apart
 * before.
 *
 * @throws OutputError
 */
async function refuseRepeatedKeys<Database extends Connection>(
  { statements }: Dialect<Database>,
  connection: Database,
  plan: TablePlan,
): Promise<void> {
  if (plan.key.length === 0) return;
  const [[count] = []] = await connection.query(repeatedKeysQuery(plan, statements));
  if (Number(count) === 0) return;
  throw new OutputError(
    `${String(count)} keys stand in more than one row of the input, and a table has one row for each: ${plan.key.join(', ')} must tell the rows apart`,
  );
}
