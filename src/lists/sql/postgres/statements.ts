import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import type { OpenSinkOptions } from '../../rows/sink.js';
import { mostSilentMs } from '../connection.js';
import type { Staging, Statements } from '../dialect.js';
import { qualifiedName, quoteName, type TablePlan } from '../tables/table-plan.js';
import { addColumnStatements, createTableStatement } from '../statements.js';
import { RowLines } from '../tables/row-values.js';
import type { PostgresConnection } from './connect.js';
import type { ColumnFacts } from '../../rows/values/kind-tally.js';
import { secondDigits, type KindName } from '../../rows/values/kinds.js';

export const statements: Statements = {
  quote: quoteName,
  longestName: { most: 63, unit: 'bytes' },
  parameter: (at) => `$${at}`,
  staging: 'pg_temp.sluice_staging',
  rowNumber: 'sluice_row',
  // By its real name: COPY's errors name the column.
  stagedName: (name) => quoteName(name),
  addColumn: 'ADD COLUMN IF NOT EXISTS',
  begin: ['BEGIN ISOLATION LEVEL READ COMMITTED'],
  lockWaits: {
    short: "SET LOCAL lock_timeout = '1s'",
    usual: "SET LOCAL lock_timeout = '60s'",
  },
  empty: 'TRUNCATE',
  overriding: 'OVERRIDING SYSTEM VALUE',
  updatesOnConflict: true,
  // A table's triggers must see each given row.
  skipsSame: ['update'],
  isSame: (cell, other) => `${cell}::text IS NOT DISTINCT FROM ${other}::text`,
  // Or one of its own subtransactions, whose numbers are higher.
  isWritten: 't.xmin::text::bigint >= txid_current() % 4294967296',
  checkDeferred: 'SET CONSTRAINTS ALL IMMEDIATE',
  markers: {
    targetOf: (name) => qualifiedName(name),
    definition:
      'target text PRIMARY KEY, run text NOT NULL, digest text NOT NULL, applied bigint NOT NULL, rows bigint NOT NULL, result_columns text NOT NULL, written_at timestamptz NOT NULL DEFAULT now()',
    rowCount: 'rows',
    // IF NOT EXISTS does not see a table whose commit it waits for, and fails then.
    createBesideOthers: (create) =>
      `DO $sluice$ BEGIN ${create}; EXCEPTION WHEN unique_violation OR duplicate_table OR duplicate_object THEN NULL; END $sluice$`,
    replace: 'INSERT',
    onConflict:
      ' ON CONFLICT (target) DO UPDATE SET run = excluded.run, digest = excluded.digest, applied = excluded.applied, rows = excluded.rows, result_columns = excluded.result_columns, written_at = now()',
    now: 'now()',
  },
};

/** While its transaction is open, VACUUM cannot clean up rows that others delete. */
export const newTableMayWaitMs = 60_000;

export async function claim(connection: PostgresConnection, name: string): Promise<boolean> {
  const number = createHash('sha256').update(`sluice ${name}`).digest().readBigInt64BE();
  // The lock of a machine that is gone must not outlive it by hours.
  await connection.query(
    `SELECT set_config(name, '${mostSilentMs}', false) FROM pg_settings WHERE name = 'idle_session_timeout'`,
  );
  const [[isMine] = []] = await connection.query(`SELECT pg_try_advisory_lock(${number})`);
  return isMine === 't';
}

const pieceBytes = 256 * 1024;

/** Copies rows into their staging table, or into a new table that is invisible until complete. */
export async function stage(
  connection: PostgresConnection,
  plan: TablePlan,
  opening: OpenSinkOptions,
): Promise<Staging> {
  const isInPlace = plan.mode === 'create';
  if (isInPlace) {
    await connection.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const { target, columns, key } = plan;
    await connection.query(createTableStatement(target, columns, key, statements));
  } else {
    await createStaging(connection, plan);
  }
  const copy = copyIn(connection, isInPlace ? plan.target : statements.staging, plan);
  const lines = new RowLines(plan, opening);
  const digest = createHash('sha256');
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  const send = async (): Promise<void> => {
    if (waitingBytes === 0) return;
    const [first = new Uint8Array(0), ...others] = waiting;
    const bytes = others.length === 0 ? first : Buffer.concat(waiting, waitingBytes);
    waiting = [];
    waitingBytes = 0;
    digest.update(bytes);
    await copy.write(bytes);
  };
  return {
    isInPlace,
    async write(rows) {
      const bytes = lines.write(rows);
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes >= pieceBytes) await send();
    },
    async end() {
      await send();
      await copy.end();
      return { digest: digest.digest('hex'), rows: lines.count };
    },
    async prepare(ranges) {
      const { staging, rowNumber } = statements;
      if (ranges) await connection.query(`CREATE INDEX ON ${staging} (${rowNumber})`);
      await connection.query(`ANALYZE ${staging}`);
    },
  };
}

/** The staging table has the target's columns, and those to be added. */
async function createStaging(
  connection: PostgresConnection,
  { target, columns, missing }: TablePlan,
): Promise<void> {
  const { staging, rowNumber } = statements;
  const existing = columns.filter((column) => !missing.includes(column));
  const names = existing.map(({ name }) => quoteName(name));
  await connection.query(
    `CREATE TEMP TABLE sluice_staging AS SELECT ${names.join(', ')} FROM ${target} WITH NO DATA`,
  );
  await connection.query(
    `ALTER TABLE ${staging} ADD COLUMN ${rowNumber} bigint GENERATED ALWAYS AS IDENTITY`,
  );
  for (const statement of addColumnStatements(staging, missing, statements)) {
    await connection.query(statement);
  }
}

interface CopyIn {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when the server has accepted all of them. */
  end(): Promise<void>;
}

function copyIn(connection: PostgresConnection, table: string, { columns }: TablePlan): CopyIn {
  const names = columns.map(({ name }) => quoteName(name));
  const stream: Writable = connection.submit(
    connection.copy.from(`COPY ${table} (${names.join(', ')}) FROM STDIN`),
  );
  // A write to a lost or refusing server may wait for ever: the failure ends the wait.
  const failed = new Promise<never>((_, reject) => {
    stream.on('error', reject);
    void connection.disconnected.then(reject);
  });
  failed.catch(() => undefined);
  const orFail = (start: (done: (error?: Error | null) => void) => void): Promise<void> =>
    Promise.race([failed, promisify(start)()]);
  return {
    write: (bytes) => orFail((done) => stream.write(bytes, done)),
    end: () => orFail((done) => stream.end(done)),
  };
}

/** The types of new columns; limits of the server are below. */
const types: Readonly<Record<KindName, string>> = {
  text: 'text',
  boolean: 'boolean',
  int8: 'smallint',
  int16: 'smallint',
  int32: 'integer',
  int64: 'bigint',
  uint8: 'smallint',
  uint16: 'integer',
  uint32: 'bigint',
  uint64: 'numeric(20,0)',
  decimal: 'numeric',
  float32: 'real',
  float64: 'double precision',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  interval: 'interval',
  uuid: 'uuid',
  // `jsonb` drops repeated keys and reorders the others.
  json: 'json',
  binary: 'bytea',
};

export function typeOf({ kind = { name: 'text' }, isSpecial }: ColumnFacts): string | undefined {
  switch (kind.name) {
    case 'decimal':
      return kind.precision === undefined || isSpecial
        ? 'numeric'
        : `numeric(${kind.precision},${kind.scale ?? 0})`;
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'interval':
      return isSpecial || secondDigits(kind) > 6 ? undefined : types[kind.name];
    default:
      return types[kind.name];
  }
}
