import { markerOfRow, markersTable, type RunMarker } from '../run-marker.js';
import type { PostgresConnection } from './connect-postgres.js';
import { quoteName } from '../quote-name.js';

/** The table of markers, beside the tables that they are of. */
export function markersName(schema: string): string {
  return `${quoteName(schema)}.${quoteName(markersTable)}`;
}

export async function createMarkers(
  connection: PostgresConnection,
  markers: string,
): Promise<void> {
  const [[found] = []] = await connection.query('SELECT to_regclass($1)', [markers]);
  if (found) return;
  await connection.query(
    `CREATE TABLE IF NOT EXISTS ${markers} (
       target text PRIMARY KEY, run text NOT NULL, digest text NOT NULL,
       applied bigint NOT NULL, rows bigint NOT NULL, written_at timestamptz NOT NULL DEFAULT now())`,
  );
}

export async function readMarker(
  connection: PostgresConnection,
  markers: string,
  target: string,
): Promise<RunMarker | undefined> {
  const [[exists] = []] = await connection.query('SELECT to_regclass($1)', [markers]);
  if (!exists) return undefined;
  const [found] = await connection.query(
    `SELECT run, digest, applied, rows FROM ${markers} WHERE target = $1`,
    [target],
  );
  return markerOfRow(found);
}

export async function writeMarker(
  connection: PostgresConnection,
  markers: string,
  target: string,
  { run, digest, applied, rows }: RunMarker,
): Promise<void> {
  await connection.query(
    `INSERT INTO ${markers} AS m (target, run, digest, applied, rows) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (target) DO UPDATE SET run = excluded.run, digest = excluded.digest,
       applied = excluded.applied, rows = excluded.rows, written_at = now()`,
    [target, run, digest, applied, rows],
  );
}
