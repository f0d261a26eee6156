import { refuseRepeatedKeys, repeatedKeysQuery } from '../repeated-keys.js';
import { isMarked, type RunMarker } from '../run-marker.js';
import type { PostgresConnection } from './connect-postgres.js';
import type { PostgresWriting } from './plan-writing.js';
import { quoteName } from '../quote-name.js';
import { createMarkers, writeMarker } from './run-marker.js';

/** Name of the table that rows are in before they are where they belong; it ends with the session. */
export const staging = 'pg_temp.sluice_staging';
/** The column that numbers its rows, from 1. */
const rowNumber = 'sluice_row';

/** Makes the staging table: its columns are those of the target, and of what is to be added to it. */
export async function createStaging(
  connection: PostgresConnection,
  { target, columns, missing }: PostgresWriting,
): Promise<void> {
  const there = columns.filter((column) => !missing.includes(column));
  const names = there.map(({ name }) => quoteName(name));
  await connection.query(
    `CREATE TEMP TABLE sluice_staging AS SELECT ${names.join(', ')} FROM ${target} WITH NO DATA`,
  );
  await connection.query(
    `ALTER TABLE ${staging} ADD COLUMN ${rowNumber} bigint GENERATED ALWAYS AS IDENTITY`,
  );
  await addColumns(connection, staging, missing);
}

/**
 * Brings the staged rows to where they belong, all in one transaction or, where there are more than
 * `maxRows`, in ranges; those that an earlier process has committed are passed over.
 */
export async function applyStaging(
  connection: PostgresConnection,
  writing: PostgresWriting,
  { run, digest, rows }: Omit<RunMarker, 'applied'>,
  maxRows: number,
): Promise<void> {
  const { marker, markers, target, key } = writing;
  let applied = isMarked(marker, { run, digest }) ? marker.applied : 0;
  const isBegun = applied > 0;
  if (isBegun && applied >= rows) return;
  if (key.length > 0) {
    const query = repeatedKeysQuery(staging, key.map(quoteName));
    refuseRepeatedKeys(await connection.query(query), key);
  }
  if (rows > maxRows) {
    await connection.query(`CREATE INDEX ON ${staging} (${rowNumber})`);
  }
  await connection.query(`ANALYZE ${staging}`);
  do {
    const upTo = writing.mode === 'replace' ? rows : Math.min(rows, applied + maxRows);
    await connection.query('BEGIN');
    if (!isBegun && applied === 0) await addColumns(connection, target, writing.missing);
    await createMarkers(connection, markers);
    for (const statement of statementsFor(writing, applied, upTo))
      await connection.query(statement);
    await writeMarker(connection, markers, target, { run, digest, applied: upTo, rows });
    await connection.query('COMMIT');
    applied = upTo;
  } while (applied < rows);
}

async function addColumns(
  connection: PostgresConnection,
  table: string,
  columns: PostgresWriting['missing'],
): Promise<void> {
  if (columns.length === 0) return;
  const clauses = columns.map(
    ({ name, type }) => `ADD COLUMN IF NOT EXISTS ${quoteName(name)} ${type}`,
  );
  await connection.query(`ALTER TABLE ${table} ${clauses.join(', ')}`);
}

function statementsFor(writing: PostgresWriting, after: number, upTo: number): readonly string[] {
  const { mode, target, key, columns } = writing;
  const names = columns.map(({ name }) => quoteName(name));
  const keys = key.map(quoteName);
  const others = names.filter((name) => !keys.includes(name));
  const range = `s.${rowNumber} > ${after} AND s.${rowNumber} <= ${upTo}`;
  const isSame = keys.map((name) => `t.${name} = s.${name}`).join(' AND ');
  const insert = `INSERT INTO ${target} (${names.join(', ')}) OVERRIDING SYSTEM VALUE SELECT ${names.map((name) => `s.${name}`).join(', ')} FROM ${staging} AS s WHERE ${range}`;
  if (mode === 'replace' || mode === 'create') {
    return [`TRUNCATE ${target}`, `${insert} ORDER BY s.${rowNumber}`];
  }
  const update = `UPDATE ${target} AS t SET ${others.map((name) => `${name} = s.${name}`).join(', ')} FROM ${staging} AS s WHERE ${isSame} AND ${range}`;
  if (mode === 'update') {
    const row = (table: string): string =>
      others.map((name) => `${table}.${name}::text`).join(', ');
    // What is the same already is not written anew.
    return [`${update} AND (${row('t')}) IS DISTINCT FROM (${row('s')})`];
  }
  // First those that are there: a column that only they have may take no null.
  return [
    update,
    `${insert} AND NOT EXISTS (SELECT 1 FROM ${target} AS t WHERE ${isSame}) ORDER BY s.${rowNumber} ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  ];
}
