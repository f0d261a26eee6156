import { OutputError } from '../../../platform/errors/errors.js';
import type { SkippedUpdates } from '../../rows/sink.js';
import { type Connection, retryOnLock, type Waiting } from '../connection.js';
import type { Dialect, Staging } from '../dialect.js';
import { RefusedRows } from '../database-failure.js';
import { counted, grouped } from '../../../platform/text/shown-numbers.js';
import { addSkippedUpdates, findSkippedUpdates } from './update-guard.js';
import type { TablePlan, RunMarker } from './table-plan.js';
import { createMarker, createMarkers, findWritten, isMarked, writeMarker } from './run-marker.js';
import {
  definitionStatements,
  droppedRowQuery,
  repeatedKeysQuery,
  rowStatements,
  type RowRange,
} from '../statements.js';

export interface TableWriting<Database extends Connection> {
  readonly dialect: Dialect<Database>;
  readonly connection: Database;
  readonly plan: TablePlan;
  readonly staging: Staging;
  readonly runId: string | undefined;
  /** Most rows that one transaction writes into an existing table. */
  readonly maxRows: number;
  readonly waiting: Waiting;
}

/**
 * Applies the staged rows with a marker of the run: in one transaction or, beyond `maxRows`, in ranges;
 * ranges committed by an earlier process are skipped.
 *
 * @returns the skipped updates
 */
export async function applyStaged<Database extends Connection>(
  writing: TableWriting<Database>,
): Promise<SkippedUpdates | undefined> {
  const marker = createMarker(writing.runId, await writing.staging.end());
  try {
    return await applyMarked(writing, marker);
  } catch (error) {
    if (await hasAppeared(writing, marker)) return undefined;
    throw error;
  }
}

/**
 * Whether a table to be created exists by now: the commit of a killed process of the same run may arrive
 * late.
 */
async function hasAppeared<Database extends Connection>(
  { dialect, connection, plan }: TableWriting<Database>,
  made: RunMarker,
): Promise<boolean> {
  if (plan.mode !== 'create') return false;
  try {
    // Without a transaction there is nothing to roll back.
    await connection.query('ROLLBACK').catch(() => undefined);
    const { marker } = await findWritten(dialect, connection, plan.name);
    return isMarked(marker, made) && marker.applied >= made.rows;
  } catch {
    return false;
  }
}

async function applyMarked<Database extends Connection>(
  writing: TableWriting<Database>,
  marker: RunMarker,
): Promise<SkippedUpdates | undefined> {
  const { dialect, connection, plan, staging, maxRows, waiting } = writing;
  const { statements, putInPlace } = dialect;
  const { usual } = statements.lockWaits ?? {};
  const { rows } = marker;
  const isBegun = isMarked(plan.marker, marker);
  let applied = isBegun ? (plan.marker?.applied ?? 0) : 0;
  let skippedUpdates =
    applied > 0
      ? await findSkippedUpdates(plan, statements, connection, { after: 0, upTo: applied })
      : undefined;
  if (isBegun && applied >= rows) return skippedUpdates;
  if (staging.isInPlace === true) {
    await writeMarkers(writing, marker);
    await connection.query('COMMIT');
    return skippedUpdates;
  }
  const isRanged = plan.mode !== 'replace' && rows > maxRows;
  await staging.prepare?.(isRanged);
  await refuseRepeatedKeys(writing);
  if (putInPlace?.modes.includes(plan.mode) === true) {
    await retryOnLock(waiting, connection, () => putInPlace.run(connection, plan, marker, false));
    return skippedUpdates;
  }
  if (statements.definitionsCommit === true) {
    await retryOnLock(waiting, connection, () => define(writing, applied > 0));
  }
  do {
    const after = applied;
    const upTo = isRanged ? Math.min(rows, after + maxRows) : rows;
    const range = isRanged || after > 0 ? { after, upTo } : undefined;
    await retryOnLock(waiting, connection, async () => {
      await askAll(connection, statements.begin);
      if (statements.definitionsCommit !== true) await define(writing, after > 0);
      if (usual !== undefined && plan.mode !== 'replace') await connection.query(usual);
      const left = await applyStatements(writing, range);
      await writeMarker(dialect, connection, plan.name, { ...marker, applied: upTo });
      await connection.query('COMMIT');
      skippedUpdates = addSkippedUpdates(skippedUpdates, left);
    });
    applied = upTo;
  } while (applied < rows);
  return skippedUpdates;
}

/** Applies staged rows; returns the skipped updates. */
export async function applyStatements<Database extends Connection>(
  { dialect: { statements }, connection, plan }: TableWriting<Database>,
  range: RowRange | undefined,
): Promise<SkippedUpdates | undefined> {
  await askAll(connection, rowStatements(plan, statements, range));
  const query = droppedRowQuery(plan, statements, range);
  const [[dropped = null] = []] = query === undefined ? [] : await connection.query(query);
  if (dropped !== null) {
    throw new RefusedRows(
      'a trigger or a row security policy drops what is written, without an error,',
      {
        kind: 'dropped',
        row: Number(dropped),
      },
    );
  }
  return findSkippedUpdates(plan, statements, connection, range);
}

/** Adds missing columns and the table of markers, without blocking others behind a lock. */
export async function define<Database extends Connection>(
  { dialect, connection, plan }: TableWriting<Database>,
  isDefined = false,
): Promise<void> {
  const { statements } = dialect;
  const { short } = statements.lockWaits ?? {};
  const definitions = isDefined ? [] : definitionStatements(plan, statements);
  const locks = definitions.length > 0 || plan.mode === 'replace';
  if (locks && short !== undefined) await connection.query(short);
  await askAll(connection, definitions);
  await createMarkers(dialect, connection, plan.name);
}

/** Writes a marker where the table of markers may not exist yet. */
export async function writeMarkers<Database extends Connection>(
  { dialect, connection, plan }: TableWriting<Database>,
  marker: RunMarker,
): Promise<void> {
  await createMarkers(dialect, connection, plan.name);
  await writeMarker(dialect, connection, plan.name, marker);
}

export async function askAll(connection: Connection, queries: readonly string[]): Promise<void> {
  for (const query of queries) await connection.query(query);
}

/**
 * Refuses keys that the database considers equal although their texts differ.
 *
 * @param numbers of the staged rows in the input; further rows repeat them. @default all are staged
 */
export async function refuseRepeatedKeys<Database extends Connection>(
  { dialect, connection, plan }: TableWriting<Database>,
  numbers?: readonly number[],
): Promise<void> {
  if (plan.key.length === 0) return;
  const range = numbers && { after: 0, upTo: numbers.length };
  const [found] = await connection.query(repeatedKeysQuery(plan, dialect.statements, range));
  if (!found) return;
  const [count = 0, ...rows] = found.map(Number);
  const [first, last] = rows.map((row) => grouped(numbers?.[row - 1] ?? row));
  throw new OutputError(
    `${counted(count, 'key')} ${count === 1 ? 'occurs' : 'occur'} in more than one row of the input${count === 1 ? '' : ', the first'} (data rows ${first} and ${last}), and a table has one row for each: ${plan.key.join(', ')} must be different in each row`,
  );
}
