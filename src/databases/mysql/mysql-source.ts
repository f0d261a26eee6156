import { ConfigurationError } from '../../errors/family.js';
import type { Source } from '../../rows/source.js';
import { writeAny, writeValue } from '../cell-text.js';
import { querySource, type Asking } from '../query-source.js';
import type { TableForm } from '../table-form.js';
import type { QueryRows } from '../table-source.js';
import {
  connectMysql,
  mysqlFailure,
  mysqlName,
  type MysqlConnection,
  type MysqlField,
} from './connect-mysql.js';
import { isBooleanField, kindOfField, typeOfField } from './mysql-kinds.js';

export interface MysqlSourceOptions {
  /** `mysql://user:password@host:port/database`, also of MariaDB; its password is never shown. */
  readonly url: string;
  /** One statement that gives rows and changes nothing: it runs in a read-only transaction. */
  readonly query: string;
}

/** Rows that wait in this process at most. */
const rowsAtOnce = 500;

/**
 * The rows of a query in MySQL or MariaDB, of one snapshot, streamed.
 *
 * @throws ConfigurationError when the URL has not the form of one; opened, ConfigurationError when the
 *   query is wrong, InputError `input_unreadable` when the server is
 */
export function mysqlSource(options: MysqlSourceOptions): Source {
  const { url, query } = options;
  return querySource({
    name: mysqlName(url),
    query,
    tellFailure: mysqlFailure,
    connect: (signal) => connectMysql(url, signal),
    askRows,
  });
}

async function askRows(connection: MysqlConnection, { query, refuse }: Asking): Promise<QueryRows> {
  // Of the session: a statement that ends the transaction must change nothing either.
  await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  const asked = connection.stream(query);
  const fields = new Promise<readonly MysqlField[]>((resolve, reject) => {
    const refuseNone = (): void => {
      reject(new ConfigurationError('the query gives no rows: it has to be a statement that does'));
    };
    asked.on('fields', (found: readonly MysqlField[] | undefined) => {
      if (found) resolve(found);
      else refuseNone();
    });
    asked.on('error', reject);
    asked.on('end', refuseNone);
  });
  const rows = asked.stream({ highWaterMark: rowsAtOnce });
  // Whoever reads hears of it; the driver itself leaves a stream waiting whose connection is lost.
  rows.on('error', () => undefined);
  void connection.lost.then((error) => rows.destroy(error));
  const found = await Promise.race([
    fields,
    connection.lost.then((error) => Promise.reject(error)),
  ]);
  return {
    form: formOf(found, connection.store),
    bytes: printRows(rows as AsyncIterable<readonly unknown[]>, found, refuse),
    close: () => connection.close(),
  };
}

function formOf(fields: readonly MysqlField[], store: string): TableForm {
  return {
    dialect: 'mysql',
    store,
    columns: fields.map((field) => ({
      name: field.name,
      kind: kindOfField(field),
      type: typeOfField(field),
      ...(field.orgTable && {
        origin: { table: `${field.schema ?? field.db}.${field.orgTable}`, column: field.orgName },
      }),
    })),
  };
}

async function* printRows(
  rows: AsyncIterable<readonly unknown[]>,
  fields: readonly MysqlField[],
  refuse: (error: unknown) => never,
): AsyncGenerator<Uint8Array> {
  const printers = fields.map(printerFor);
  let lines: string[] = [];
  try {
    for await (const row of rows) {
      lines.push(`${row.map((cell, at) => printers[at]?.(cell) ?? '').join('\t')}\n`);
      if (lines.length < rowsAtOnce) continue;
      yield Buffer.from(lines.join(''));
      lines = [];
    }
  } catch (error) {
    refuse(error);
  }
  if (lines.length > 0) yield Buffer.from(lines.join(''));
}

function printerFor(field: MysqlField): (cell: unknown) => string {
  if (isBooleanField(field)) {
    return (cell) => writeAny(cell === '0' || cell === '1' ? cell === '1' : numberOrNull(cell));
  }
  if (kindOfField(field) === 'timestamptz') {
    return (cell) => writeValue(typeof cell === 'string' ? `${cell}+00` : cell);
  }
  return writeValue;
}

function numberOrNull(cell: unknown): number | null {
  return cell === null ? null : Number(cell);
}
