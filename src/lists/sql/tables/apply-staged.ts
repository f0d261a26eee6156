import { OutputError } from '../../../platform/errors/errors.js';
import type { SkippedUpdates } from '../../rows/sink.js';
import { type Connection, retryOnLock, type Waiting } from '../connection.js';
import type { Dialect, Staging } from '../dialect.js';
import { RefusedRows } from '../database-failure.js';
import { counted, grouped } from '../../../platform/text/shown-numbers.js';
import { addSkippedUpdates, findSkippedUpdates } from './update-guard.js';
import {
  type TablePlan,
  type RunMarker,
  qualifiedName,
  type TableName,
  type ExistingTable,
  type StagedRows,
} from './table-plan.js';
import {
  definitionStatements,
  droppedRowQuery,
  repeatedKeysQuery,
  rowStatements,
  type RowRange,
} from '../statements.js';
import { createHash, randomBytes } from 'node:crypto';

export interface TableWriting {
  readonly dialect: Dialect;
  readonly connection: Connection;
  readonly plan: TablePlan;
  readonly staging: Staging;
  readonly runId: string | undefined;
  readonly maxRows: number;
  readonly waiting: Waiting;
}

/**
 * Applies the staged rows with a marker of the run: in one transaction or, beyond `maxRows`, in ranges;
 * ranges committed by an earlier process are skipped.
 *
 * @returns the skipped updates
 */
export async function applyStaged(writing: TableWriting): Promise<SkippedUpdates | undefined> {
  const marker = createMarker(writing, await writing.staging.end());
  try {
    return await applyMarked(writing, marker);
  } catch (error) {
    if (await hasAppeared(writing, marker)) return undefined;
    throw error;
  }
}

/** Whether a table to be created exists by now: the commit of a killed process of the same run may arrive late. */
async function hasAppeared(
  { dialect, connection, plan }: TableWriting,
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

async function applyMarked(
  writing: TableWriting,
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
    await retryOnLock(waiting, connection, async () => {
      await define(writing, applied > 0);
      await createMarkers(dialect, connection, plan.name);
    });
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
      // Last: until the commit, other runs that make the table of markers too wait for this one.
      await writeMarkers(writing, { ...marker, applied: upTo });
      await connection.query('COMMIT');
      skippedUpdates = addSkippedUpdates(skippedUpdates, left);
    });
    applied = upTo;
  } while (applied < rows);
  return skippedUpdates;
}

/** Applies staged rows; returns the skipped updates. */
export async function applyStatements(
  { dialect: { statements }, connection, plan }: TableWriting,
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

/** Creates the table or adds missing columns, without blocking others behind a lock. */
export async function define(
  { dialect, connection, plan }: TableWriting,
  isDefined = false,
): Promise<void> {
  const { statements } = dialect;
  const { short } = statements.lockWaits ?? {};
  const definitions = isDefined
    ? []
    : definitionStatements(await withoutAdded(dialect, connection, plan), statements);
  const locks = definitions.length > 0 || plan.mode === 'replace';
  if (locks && short !== undefined) await connection.query(short);
  await askAll(connection, definitions);
}

/** The plan without the columns that another run has added since it was made. */
export async function withoutAdded(
  dialect: Dialect,
  connection: Connection,
  plan: TablePlan,
): Promise<TablePlan> {
  if (plan.missing.length === 0) return plan;
  const found = await dialect.findTable(connection, plan.name);
  const added = new Set(found?.columns.map(({ name }) => name.toLowerCase()));
  return { ...plan, missing: plan.missing.filter(({ name }) => !added.has(name.toLowerCase())) };
}

/** Writes a marker where the table of markers may not exist yet. */
export async function writeMarkers(
  { dialect, connection, plan }: TableWriting,
  marker: RunMarker,
): Promise<void> {
  const { readsLatest } = dialect.statements;
  await createMarkers(dialect, connection, plan.name);
  // A run with other columns may have written since the plan.
  const latest = (await readMarker(dialect, connection, plan.name, readsLatest)) ?? plan.marker;
  const written = writtenColumns(plan, latest);
  await writeMarker(dialect, connection, plan.name, { ...marker, written });
}

export async function askAll(connection: Connection, queries: readonly string[]): Promise<void> {
  for (const query of queries) await connection.query(query);
}

/**
 * Refuses keys that the database considers equal although their texts differ.
 *
 * @param numbers of the staged rows in the input; further rows repeat them. @default all are staged
 */
export async function refuseRepeatedKeys(
  { dialect, connection, plan }: TableWriting,
  numbers?: readonly number[],
): Promise<void> {
  if (plan.key.length === 0) return;
  const range = numbers && { after: 0, upTo: numbers.length };
  const [found] = await connection.query(repeatedKeysQuery(plan, dialect.statements, range));
  if (!found) return;
  const [count = 0, ...rows] = found.map(Number);
  const [first = 0, last = 0] = rows.map((row) => numbers?.[row - 1] ?? row);
  throw new OutputError(
    `${counted(count, 'key')} ${count === 1 ? 'occurs' : 'occur'} in more than one row of the input${count === 1 ? '' : ', the first'} (data rows ${grouped(first)} and ${grouped(last)}), and a table has one row for each: ${plan.key.join(', ')} must be different in each row`,
    { rows: [first, last], fault: 'repeated' },
  );
}

/** The marker of a run's rows; none for a run without an id. */
export function createMarker(
  { plan, runId }: TableWriting,
  { digest, rows }: StagedRows,
): RunMarker {
  const run = runId ?? randomBytes(8).toString('hex');
  return { run, digest, applied: rows, rows, written: writtenColumns(plan, plan.marker) };
}

/** The id of a column in a marker: short, as a table's comment has little room. */
export function columnId(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 8);
}

function writtenColumns({ columns, positions }: TablePlan, earlier: RunMarker | undefined): string {
  const ids = columns.slice(positions.length).map(({ name }) => columnId(name));
  return [...new Set([...(earlier?.written.split(',') ?? []), ...ids])].join(',');
}

/** Whether a run has written exactly these rows, all or some of them. */
function isMarked(marker: RunMarker | undefined, { run, digest }: RunMarker): marker is RunMarker {
  return marker?.run === run && marker.digest === digest;
}

export async function findMarkers(
  dialect: Dialect,
  connection: Connection,
  name: TableName,
): Promise<ExistingTable | undefined> {
  return dialect.findTable(connection, markersOf(name));
}

function markersOf(name: TableName): TableName {
  return { ...name, table: 'sluice_runs' };
}

/** A table's present state and last marker; nothing for a missing one. */
export async function findWritten(
  dialect: Dialect,
  connection: Connection,
  name: TableName,
): Promise<{ readonly table: ExistingTable | undefined; readonly marker: RunMarker | undefined }> {
  const table = await dialect.findTable(connection, name);
  const marker = table && ((await readMarker(dialect, connection, name)) ?? table.marker);
  return { table, marker };
}

async function readMarker(
  dialect: Dialect,
  connection: Connection,
  name: TableName,
  ending = '',
): Promise<RunMarker | undefined> {
  const { quote, parameter, markers } = dialect.statements;
  const found = await findMarkers(dialect, connection, name);
  if (!found) return undefined;
  const written = hasAllColumns(found) ? 'result_columns' : 'NULL';
  const [row] = await connection.query(
    `SELECT run, digest, applied, ${markers.rowCount}, ${written} FROM ${qualifiedName(markersOf(name), quote)} WHERE target = ${parameter(1)}${ending}`,
    [markers.targetOf(name)],
  );
  if (!row) return undefined;
  const [run, digest, applied, rows, ids] = row;
  return {
    run: String(run),
    digest: String(digest),
    applied: Number(applied),
    rows: Number(rows),
    written: typeof ids === 'string' ? ids : '',
  };
}

/** The first versions did not keep which columns a run has written. */
export function hasAllColumns(markers: ExistingTable): boolean {
  return markers.columns.some(({ name }) => name.toLowerCase() === 'result_columns');
}

/** An existing one is not created again: the right to write may come without that to create tables. */
async function createMarkers(
  dialect: Dialect,
  connection: Connection,
  name: TableName,
): Promise<void> {
  const { quote, markers, tableOptions = '', addColumn = 'ADD COLUMN' } = dialect.statements;
  const table = qualifiedName(markersOf(name), quote);
  const found = await findMarkers(dialect, connection, name);
  if (found) {
    if (hasAllColumns(found)) return;
    await connection.query(`ALTER TABLE ${table} ${addColumn} result_columns TEXT`);
    return;
  }
  const create = `CREATE TABLE IF NOT EXISTS ${table} (${markers.definition})${tableOptions}`;
  await connection.query(markers.createBesideOthers?.(create) ?? create);
}

async function writeMarker(
  { statements: { quote, parameter, markers } }: Dialect,
  connection: Connection,
  name: TableName,
  { run, digest, applied, rows, written }: RunMarker,
): Promise<void> {
  const values = [markers.targetOf(name), run, digest, applied, rows, written];
  const parameters = values.map((_, at) => parameter(at + 1)).join(', ');
  await connection.query(
    `${markers.replace} INTO ${qualifiedName(markersOf(name), quote)} (target, run, digest, applied, ${markers.rowCount}, result_columns, written_at) VALUES (${parameters}, ${markers.now})${markers.onConflict ?? ''}`,
    values,
  );
}
