import { ConfigurationError } from '../../errors/family.js';
import { writeAny, writeValue } from '../cell-text.js';
import { givesNoRows, type Asking, type QueryRows } from '../query-source.js';
import type { MysqlConnection, MysqlField } from './connect.js';
import { formOfKind } from '../table-form.js';
import { isBooleanField, isGeometry, kindOfField, typeOfField } from './kinds.js';

/** Rows that wait in this process at most. */
const rowsAtOnce = 500;

export async function ask(
  connection: MysqlConnection,
  { query, connect }: Asking<MysqlConnection>,
): Promise<QueryRows> {
  // Of the session: a statement that ends the transaction must change nothing either.
  await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  const asked = connection.stream(query);
  const fields = new Promise<readonly MysqlField[]>((resolve, reject) => {
    const refuseNone = (): void => {
      reject(givesNoRows());
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
  refuseGeometry(found);
  const isJson = await findJson(found, connect);
  return {
    columns: found.map((field) => ({
      name: field.name,
      ...formOfKind(isJson(field) ? { name: 'json' } : kindOfField(field)),
      type: typeOfField(field),
      ...(field.orgTable && {
        origin: { table: `${schemaOf(field)}.${field.orgTable}`, column: field.orgName },
      }),
    })),
    bytes: printRows(rows as AsyncIterable<readonly unknown[]>, found),
  };
}

function schemaOf({ schema, db }: MysqlField): string {
  return schema ?? db ?? '';
}

function refuseGeometry(fields: readonly MysqlField[]): void {
  const found = fields.find(isGeometry);
  if (!found) return;
  const name = JSON.stringify(found.name);
  throw new ConfigurationError(
    `the column ${name} holds places or shapes, which no output has a form for: ask for ST_AsText(${found.name}) in the query, or leave it out`,
  );
}

/** What a column of long texts is called on the wire, JSON of MariaDB among them. */
const longText = { columnType: 252, columnLength: 2 ** 32 - 1 };

/**
 * Which columns hold JSON. MariaDB keeps it as text with a check that it is some; it is asked over a
 * connection of its own, for the rows keep theirs busy.
 */
async function findJson(
  fields: readonly MysqlField[],
  connect: () => Promise<MysqlConnection>,
): Promise<(field: MysqlField) => boolean> {
  const texts = fields.filter(
    (field) =>
      field.columnType === longText.columnType &&
      field.columnLength === longText.columnLength &&
      Boolean(field.orgTable) &&
      kindOfField(field) !== 'any',
  );
  if (texts.length === 0) return () => false;
  const checked = new Set<string>();
  const other = await connect();
  try {
    // MySQL has JSON as a type, and no such column here.
    const [[version] = []] = await other.query('SELECT VERSION()');
    if (!/mariadb/i.test(String(version))) return () => false;
    for (const { orgTable, ...field } of texts) {
      const checks = await other.query(
        'SELECT CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ? AND TABLE_NAME = ?',
        [schemaOf({ orgTable, ...field }), orgTable],
      );
      for (const [clause] of checks) {
        const [, column] = /^json_valid\(`((?:[^`]|``)+)`\)$/i.exec(String(clause)) ?? [];
        if (column !== undefined) {
          checked.add(`${orgTable}\0${column.replaceAll('``', '`')}`);
        }
      }
    }
  } finally {
    await other.close();
  }
  return ({ orgTable, orgName }) => checked.has(`${orgTable}\0${orgName}`);
}

async function* printRows(
  rows: AsyncIterable<readonly unknown[]>,
  fields: readonly MysqlField[],
): AsyncGenerator<Uint8Array> {
  const printers = fields.map(printerFor);
  let lines: string[] = [];
  for await (const row of rows) {
    lines.push(`${row.map((cell, at) => printers[at]?.(cell) ?? '').join('\t')}\n`);
    if (lines.length < rowsAtOnce) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
  }
  if (lines.length > 0) yield Buffer.from(lines.join(''));
}

function printerFor(field: MysqlField): (cell: unknown) => string {
  if (isBooleanField(field)) {
    return (cell) => writeAny(cell === '0' || cell === '1' ? cell === '1' : numberOrNull(cell));
  }
  const kind = kindOfField(field);
  if (kind !== 'any' && kind.name === 'timestamptz') {
    // Zeros are no moment, and have no zone.
    return (cell) =>
      writeValue(typeof cell === 'string' && !cell.startsWith('0000-') ? `${cell}+00` : cell);
  }
  return writeValue;
}

function numberOrNull(cell: unknown): number | null {
  return cell === null ? null : Number(cell);
}
