import type { TablePlan } from '../plan-table.js';
import { refuseRepeatedKeys, repeatedKeysQuery } from '../repeated-keys.js';
import type { CellValue } from '../row-values.js';
import { markersTable, type RunMarker } from '../run-marker.js';
import type { MysqlConnection } from './connect-mysql.js';
import { commentOf, quoteTable, type MysqlName } from './find-table.js';
import { keyTypeOf } from './mysql-kinds.js';
import { quoteName } from './quote-name.js';

/** Name of the table that rows are in before they are where they belong; it ends with the session. */
export const staging = quoteName('sluice_staging');
const rowNumber = quoteName('sluice_row');

/** Makes the staging table: its columns are those of the target, or what they are to be. */
export async function createStaging(
  connection: MysqlConnection,
  { mode, target, columns, missing, key }: TablePlan,
): Promise<void> {
  const isNew = mode === 'create';
  const number = `${rowNumber} BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY`;
  const typed = (isNew ? columns : missing).map(
    ({ name, type }) => `${quoteName(name)} ${key.includes(name) ? keyTypeOf(type) : type}`,
  );
  const definitions = [number, ...typed].join(', ');
  const there = columns.filter((column) => !missing.includes(column));
  const like = `SELECT ${there.map(({ name }) => quoteName(name)).join(', ')} FROM ${target} LIMIT 0`;
  await connection.query(
    `CREATE TEMPORARY TABLE ${staging} (${definitions}) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4${isNew ? '' : ` AS ${like}`}`,
  );
}

const isTime = /^(?:datetime|timestamp)/i;

/** A value as the driver takes it for a column of the staging table. */
export function stagingValue(value: CellValue, type: string): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (value instanceof Uint8Array && !Buffer.isBuffer(value)) return Buffer.from(value);
  // The server takes no zone; the session has this one anyway.
  if (typeof value === 'string' && isTime.test(type)) return value.replace(/(?:\+00|Z)$/, '');
  return value;
}

/** Brings the staged rows to where they belong. */
export async function applyStaging(
  connection: MysqlConnection,
  plan: TablePlan,
  target: MysqlName,
  marker: Omit<RunMarker, 'applied'>,
): Promise<void> {
  const { key } = plan;
  if (key.length > 0) {
    const query = repeatedKeysQuery(staging, key.map(quoteName));
    refuseRepeatedKeys(await connection.query(query), key);
  }
  if (plan.mode === 'create' || plan.mode === 'replace') {
    await putInPlace(connection, plan, target, marker);
  } else {
    await applyByKey(connection, plan, target, marker);
  }
}

/** A table appears whole, by rename: no transaction of this server takes in the making of one. */
async function putInPlace(
  connection: MysqlConnection,
  { mode, columns, key }: TablePlan,
  target: MysqlName,
  marker: Omit<RunMarker, 'applied'>,
): Promise<void> {
  const aside = quoteTable({ schema: target.schema, table: `sluice_${marker.run}` });
  const old = quoteTable({ schema: target.schema, table: `sluice_${marker.run}_old` });
  const place = quoteTable(target);
  const names = columns.map(({ name }) => quoteName(name)).join(', ');
  await connection.query(`DROP TABLE IF EXISTS ${aside}`);
  const definitions = columns.map(
    ({ name, type }) => `${quoteName(name)} ${key.includes(name) ? keyTypeOf(type) : type}`,
  );
  const primary = key.length === 0 ? [] : [`PRIMARY KEY (${key.map(quoteName).join(', ')})`];
  await connection.query(
    mode === 'create'
      ? `CREATE TABLE ${aside} (${[...definitions, ...primary].join(', ')}) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`
      : `CREATE TABLE ${aside} LIKE ${place}`,
  );
  await connection.query(
    `INSERT INTO ${aside} (${names}) SELECT ${names} FROM ${staging} ORDER BY ${rowNumber}`,
  );
  await connection.query(`ALTER TABLE ${aside} COMMENT = '${commentOf(marker)}'`);
  if (mode === 'create') {
    await connection.query(`RENAME TABLE ${aside} TO ${place}`);
    return;
  }
  await connection.query(`RENAME TABLE ${place} TO ${old}, ${aside} TO ${place}`);
  await connection.query(`DROP TABLE ${old}`);
}

async function applyByKey(
  connection: MysqlConnection,
  { mode, columns, missing, key }: TablePlan,
  target: MysqlName,
  { run, digest, rows }: Omit<RunMarker, 'applied'>,
): Promise<void> {
  const place = quoteTable(target);
  const markers = quoteTable({ schema: target.schema, table: markersTable });
  const names = columns.map(({ name }) => quoteName(name));
  const keys = key.map(quoteName);
  const others = names.filter((name) => !keys.includes(name));
  const isSame = keys.map((name) => `t.${name} = s.${name}`).join(' AND ');
  const sets = others.map((name) => `t.${name} = s.${name}`).join(', ');
  // Such statements end a transaction: they come before it, and what they do is no row's content.
  const added = missing.map(({ name, type }) => `ADD COLUMN ${quoteName(name)} ${type}`);
  if (added.length > 0) await connection.query(`ALTER TABLE ${place} ${added.join(', ')}`);
  await connection.query(
    `CREATE TABLE IF NOT EXISTS ${markers} (target VARCHAR(64) PRIMARY KEY, run VARCHAR(64) NOT NULL, digest VARCHAR(64) NOT NULL, applied BIGINT NOT NULL, row_count BIGINT NOT NULL, written_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
  );
  await connection.query('START TRANSACTION');
  await connection.query(`UPDATE ${place} AS t JOIN ${staging} AS s ON ${isSame} SET ${sets}`);
  if (mode === 'upsert') {
    await connection.query(
      `INSERT INTO ${place} (${names.join(', ')}) SELECT ${names.map((name) => `s.${name}`).join(', ')} FROM ${staging} AS s WHERE NOT EXISTS (SELECT 1 FROM ${place} AS t WHERE ${isSame}) ORDER BY s.${rowNumber}`,
    );
  }
  await connection.query(
    `REPLACE INTO ${markers} (target, run, digest, applied, row_count) VALUES (?, ?, ?, ?, ?)`,
    [target.table, run, digest, rows, rows],
  );
  await connection.query('COMMIT');
}
