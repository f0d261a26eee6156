import { ConfigurationError } from '../../../platform/errors/errors.js';
import { mostSilentMs } from '../connection.js';
import type { Dialect, Statements } from '../dialect.js';
import {
  qualifiedName,
  quoteName,
  type TableName,
  type TablePlan,
  type RunMarker,
} from '../tables/table-plan.js';
import { addColumnStatements, createTableStatement, rowStatements } from '../statements.js';
import { failureOf, type MysqlConnection } from './connect.js';
import { decimalDigits, type ColumnFacts } from '../../rows/values/kind-tally.js';
import { secondDigits, type KindName } from '../../rows/values/kinds.js';

export const statements: Statements = {
  quote: (name) => quoteName(name, '`'),
  longestName: { most: 64, unit: 'characters' },
  ignoresCase: true,
  parameter: () => '?',
  staging: 'sluice_staging',
  rowNumber: 'sluice_row',
  stagedName: (_, at) => `c${at}`,
  keyType: keyTypeOf,
  tableOptions: ' ENGINE=InnoDB DEFAULT CHARSET=utf8mb4',
  definitionsCommit: true,
  begin: ['START TRANSACTION'],
  lockWaits: {
    short: 'SET SESSION lock_wait_timeout = 1',
    usual: 'SET SESSION lock_wait_timeout = 60',
  },
  isSame: (cell, other) => `CAST(${cell} AS BINARY) <=> CAST(${other} AS BINARY)`,
  readsLatest: ' LOCK IN SHARE MODE',
  update: ({ table, staged, cells, where }) =>
    `UPDATE ${table} JOIN ${staged} ON ${where} SET ${cells.map(({ name, cell }) => `t.${name} = ${cell}`).join(', ')}`,
  markers: {
    targetOf: ({ table }) => table,
    definition:
      'target VARCHAR(64) PRIMARY KEY, run VARCHAR(64) NOT NULL, digest VARCHAR(64) NOT NULL, applied BIGINT NOT NULL, row_count BIGINT NOT NULL, result_columns TEXT NOT NULL, written_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP',
    rowCount: 'row_count',
    replace: 'REPLACE',
    now: 'CURRENT_TIMESTAMP',
  },
};

export async function claim(connection: MysqlConnection, name: string): Promise<boolean> {
  // The lock of a machine that is gone must not outlive it by hours.
  await connection.query(`SET SESSION wait_timeout = ${mostSilentMs / 1000}`);
  // The name of a lock has at most 64 characters.
  const lock = 'SELECT GET_LOCK(sha1(?), 0)';
  const [[isMine] = []] = await connection.query(lock, [`sluice ${name}`]);
  return Number(isMine) === 1;
}

/** A table appears by rename: creating one is not transactional on this server. */
export const putInPlace: NonNullable<Dialect<MysqlConnection>['putInPlace']> = {
  modes: ['create', 'replace'],
  async run(connection, plan, marker, isTrial) {
    const { mode, target, name, columns, key } = plan;
    const beside = (table: string): string => qualifiedName({ ...name, table }, statements.quote);
    const aside = beside(`sluice_${marker.run}${isTrial ? '_trial' : ''}`);
    const old = beside(`sluice_${marker.run}_old`);
    const { short = '', usual = '' } = statements.lockWaits ?? {};
    const all = [
      `DROP TABLE IF EXISTS ${aside}`,
      mode === 'create'
        ? createTableStatement(aside, columns, key, statements)
        : `CREATE TABLE ${aside} LIKE ${target}`,
      ...rowStatements({ ...plan, mode: 'create', target: aside }, statements),
      `ALTER TABLE ${aside} COMMENT = '${commentOf(marker)}'`,
      ...(isTrial
        ? [`RENAME TABLE ${aside} TO ${old}`, `DROP TABLE ${old}`]
        : mode === 'create'
          ? [`RENAME TABLE ${aside} TO ${target}`]
          : [
              short,
              `RENAME TABLE ${target} TO ${old}, ${aside} TO ${target}`,
              usual,
              `DROP TABLE ${old}`,
            ]),
    ];
    for (const statement of all) await connection.query(statement);
  },
};

/**
 * Changes of a table cannot be rolled back here: the columns are added to an empty temporary copy, and
 * privileges are checked by statements that change nothing.
 */
export async function tryDefinitions(
  connection: MysqlConnection,
  plan: TablePlan,
  markers: 'missing' | 'older' | 'complete',
): Promise<TablePlan> {
  const { target, missing } = plan;
  const trial = 'sluice_trial';
  const all: string[] = [];
  if (missing.length > 0) {
    await refuseVersioned(connection, plan);
    all.push(
      // LIKE would take the table's indexes and partitions too, and a temporary table cannot have all of them.
      `CREATE TEMPORARY TABLE ${trial}${statements.tableOptions ?? ''} AS SELECT * FROM ${target} LIMIT 0`,
      ...addColumnStatements(trial, missing, statements),
      `DROP TEMPORARY TABLE ${trial}`,
      `ALTER TABLE ${target}`,
    );
  }
  for (const statement of all) await connection.query(statement);
  if (markers !== 'complete') await tryMarkers(connection, plan.name, markers === 'older');
  return { ...plan, withheld: missing };
}

/** MariaDB refuses to add columns to a table that keeps its history, unless told what becomes of that. */
async function refuseVersioned(
  connection: MysqlConnection,
  { name: { within, table }, target, missing }: TablePlan,
): Promise<void> {
  const [found] = await connection.query(
    "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND TABLE_TYPE = 'SYSTEM VERSIONED'",
    [...within, table],
  );
  if (!found) return;
  const names = missing.map((column) => statements.quote(column.name)).join(', ');
  throw new ConfigurationError(
    `the table ${target} keeps the history of its rows, which new columns would change: add ${names} to it first (SET system_versioning_alter_history = KEEP), or name another table`,
  );
}

/** The server looks for the rights first, and then for what is not there. Another run may make the table meanwhile. */
async function tryMarkers(
  connection: MysqlConnection,
  name: TableName,
  isOlder: boolean,
): Promise<void> {
  const markers = qualifiedName({ ...name, table: 'sluice_runs' }, statements.quote);
  for (const [statement, ...allowed] of [
    isOlder
      ? [`ALTER TABLE ${markers}`]
      : [
          `CREATE TABLE ${markers} AS SELECT sluice_trial`,
          'ER_BAD_FIELD_ERROR',
          'ER_TABLE_EXISTS_ERROR',
        ],
    [`REPLACE INTO ${markers} SELECT * FROM ${markers} LIMIT 0`, 'ER_NO_SUCH_TABLE'],
  ] as const) {
    await connection.query(statement).catch((error: unknown) => {
      if (!allowed.some((code) => code === failureOf(error).code)) throw error;
    });
  }
}

const longestComment = 2048;

/** The comment of a table created by a run: it comes and goes with the table. */
function commentOf({ run, digest, rows, written }: RunMarker): string {
  return `sluice run ${run} ${digest} ${rows} ${written}`.slice(0, longestComment);
}

export const mostSecondDigits = 6;

/** The types of new columns; limits of the server are below. */
const types: Readonly<Record<Exclude<KindName, 'interval'>, string>> = {
  text: 'LONGTEXT',
  boolean: 'BOOLEAN',
  int8: 'TINYINT',
  int16: 'SMALLINT',
  int32: 'INT',
  int64: 'BIGINT',
  uint8: 'TINYINT UNSIGNED',
  uint16: 'SMALLINT UNSIGNED',
  uint32: 'INT UNSIGNED',
  uint64: 'BIGINT UNSIGNED',
  decimal: 'DECIMAL',
  // Its own smaller type prints fewer digits than it holds.
  float32: 'DOUBLE',
  float64: 'DOUBLE',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'DATETIME',
  timestamptz: 'TIMESTAMP',
  uuid: 'CHAR(36)',
  json: 'JSON',
  binary: 'LONGBLOB',
};

/** Limits of a decimal's digits: in all, and after the point. */
const [mostDigits, mostScale] = [65, 30];

export function typeOf(facts: ColumnFacts): string | undefined {
  const { kind = { name: 'text' }, isSpecial, isBeyond31Bits } = facts;
  const { name } = kind;
  // Zero dates, hours beyond a day, NaN: the server would refuse them when they are written.
  if (isSpecial || name === 'interval') return undefined;
  switch (name) {
    case 'decimal': {
      const { precision, scale } = decimalDigits(facts);
      const isKept = precision <= mostDigits && scale <= mostScale;
      return isKept ? `DECIMAL(${precision},${scale})` : undefined;
    }
    case 'time':
    case 'timestamp':
    case 'timestamptz': {
      const digits = secondDigits(kind);
      const isMoment = name === 'timestamptz';
      // Its timestamps count seconds in 31 bits.
      if (digits > mostSecondDigits || (isMoment && isBeyond31Bits)) return undefined;
      return `${types[name]}(${digits})${isMoment ? ' NULL DEFAULT NULL' : ''}`;
    }
    default:
      return types[name];
  }
}

/** A type that an index accepts: long text cannot be indexed. */
export function keyTypeOf(type: string): string {
  if (type.endsWith(' NULL DEFAULT NULL'))
    return type.replace(' NULL ', ' NOT NULL ').replace('DEFAULT NULL', 'DEFAULT 0');
  if (type === 'LONGTEXT') return 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
  return type === 'LONGBLOB' ? 'VARBINARY(255)' : type;
}
