import { randomBytes } from 'node:crypto';
import type { Connection } from '../connection.js';
import type { Dialect } from '../dialect.js';
import {
  qualifiedName,
  type TableName,
  type RunMarker,
  type ExistingTable,
  type StagedRows,
} from './table-plan.js';

/** The marker of a run's rows; none for a run without an id. */
export function createMarker(runId: string | undefined, { digest, rows }: StagedRows): RunMarker {
  return { run: runId ?? randomBytes(8).toString('hex'), digest, applied: rows, rows };
}

/** Whether a run has written exactly these rows, all or some of them. */
export function isMarked(
  marker: RunMarker | undefined,
  { run, digest }: RunMarker,
): marker is RunMarker {
  return marker?.run === run && marker.digest === digest;
}

export async function findMarkers<Database extends Connection>(
  { findTable }: Dialect<Database>,
  connection: Database,
  name: TableName,
): Promise<ExistingTable | undefined> {
  return findTable(connection, markersOf(name));
}

function markersOf(name: TableName): TableName {
  return { ...name, table: 'sluice_runs' };
}

/** A table's present state and last marker; nothing for a missing one. */
export async function findWritten<Database extends Connection>(
  dialect: Dialect<Database>,
  connection: Database,
  name: TableName,
): Promise<{ readonly table: ExistingTable | undefined; readonly marker: RunMarker | undefined }> {
  const table = await dialect.findTable(connection, name);
  const marker = table && ((await readMarker(dialect, connection, name)) ?? table.marker);
  return { table, marker };
}

async function readMarker<Database extends Connection>(
  dialect: Dialect<Database>,
  connection: Database,
  name: TableName,
): Promise<RunMarker | undefined> {
  const { quote, parameter, markers } = dialect.statements;
  if (!(await findMarkers(dialect, connection, name))) return undefined;
  const [row] = await connection.query(
    `SELECT run, digest, applied, ${markers.rowCount} FROM ${qualifiedName(markersOf(name), quote)} WHERE target = ${parameter(1)}`,
    [markers.targetOf(name)],
  );
  if (!row) return undefined;
  const [run, digest, applied, rows] = row;
  return { run: String(run), digest: String(digest), applied: Number(applied), rows: Number(rows) };
}

/** An existing one is not created again: the right to write may come without that to create tables. */
export async function createMarkers<Database extends Connection>(
  dialect: Dialect<Database>,
  connection: Database,
  name: TableName,
): Promise<void> {
  const { quote, markers, tableOptions = '' } = dialect.statements;
  if (await findMarkers(dialect, connection, name)) return;
  await connection.query(
    `CREATE TABLE IF NOT EXISTS ${qualifiedName(markersOf(name), quote)} (${markers.definition})${tableOptions}`,
  );
}

export async function writeMarker<Database extends Connection>(
  { statements: { quote, parameter, markers } }: Dialect<Database>,
  connection: Database,
  name: TableName,
  { run, digest, applied, rows }: RunMarker,
): Promise<void> {
  const values = [markers.targetOf(name), run, digest, applied, rows];
  const parameters = values.map((_, at) => parameter(at + 1)).join(', ');
  await connection.query(
    `${markers.replace} INTO ${qualifiedName(markersOf(name), quote)} (target, run, digest, applied, ${markers.rowCount}, written_at) VALUES (${parameters}, ${markers.now})${markers.onConflict ?? ''}`,
    values,
  );
}
