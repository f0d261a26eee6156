import { ConfigurationError } from '../../../platform/errors/errors.js';
import { bufferOf } from '../../rows/values/print-value.js';
import { writeAny, writeValue } from '../cell-text.js';
import { givesNoRows } from '../query-source.js';
import type { QueryOptions, QueryRows } from '../dialect.js';
import { derivedNames, type Relation } from '../tables-read.js';
import type { MysqlConnection, MysqlField } from './connect.js';
import { formOfKind } from '../tables/table-reading.js';
import { isBitField, isBooleanField, isGeometry, kindOfField, typeOfField } from './kinds.js';

/** Most rows waiting in this process. */
const rowsAtOnce = 500;

export async function ask(
  connection: MysqlConnection,
  { query, signal }: QueryOptions<MysqlConnection>,
): Promise<QueryRows> {
  // For the session: a statement that ends the transaction must not change anything either.
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
  const rows = asked.stream({ highWaterMark: rowsAtOnce, ...(signal && { signal }) });
  // The reader gets it; the driver leaves a stream waiting when its connection is lost.
  rows.on('error', () => undefined);
  void connection.disconnected.then((error) => rows.destroy(error));
  const found = await Promise.race([
    fields,
    connection.disconnected.then((error) => Promise.reject(error)),
  ]);
  refuseGeometry(found);
  // MariaDB takes the name of a subquery for that of a table.
  const derived = derivedNames(query);
  return {
    columns: found.map((field) => ({
      name: field.name,
      ...formOfKind(kindOfField(field)),
      type: typeOfField(field),
      ...(field.orgTable &&
        !derived.has(field.orgTable.toLowerCase()) && {
          origin: { table: `${field.schema ?? field.db}.${field.orgTable}`, column: field.orgName },
        }),
    })),
    bytes: printRows(rows as AsyncIterable<readonly unknown[]>, found),
  };
}

export async function relationsNamed(
  connection: MysqlConnection,
  names: readonly string[],
): Promise<readonly Relation[]> {
  const found = await connection.query(
    `SELECT t.TABLE_SCHEMA, t.TABLE_NAME, IF(t.TABLE_TYPE = 'VIEW', COALESCE(v.VIEW_DEFINITION, ''), NULL)
       FROM information_schema.TABLES t
       LEFT JOIN information_schema.VIEWS v ON v.TABLE_SCHEMA = t.TABLE_SCHEMA AND v.TABLE_NAME = t.TABLE_NAME
      WHERE t.TABLE_TYPE IN ('BASE TABLE', 'VIEW') AND LOWER(t.TABLE_NAME) IN (?)`,
    [names],
  );
  return found.map(([schema, name, definition]) => ({
    schema: String(schema),
    name: String(name),
    id: `${String(schema)}.${String(name)}`,
    definition: typeof definition === 'string' ? definition : undefined,
  }));
}

function refuseGeometry(fields: readonly MysqlField[]): void {
  const found = fields.find(isGeometry);
  if (!found) return;
  const name = JSON.stringify(found.name);
  throw new ConfigurationError(
    `the column ${name} holds places or shapes, which no output has a form for: ask for ST_AsText(${found.name}) in the query, or leave it out`,
  );
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
  if (isBooleanField(field)) return (cell) => writeAny(booleanOf(cell));
  if (isBitField(field)) {
    return (cell) =>
      writeValue(cell instanceof Uint8Array ? BigInt(`0x${bufferOf(cell).toString('hex')}`) : cell);
  }
  const kind = kindOfField(field);
  if (kind !== 'any' && kind.name === 'timestamptz') {
    // A zero date is not a moment, and has no zone.
    return (cell) =>
      writeValue(typeof cell === 'string' && !cell.startsWith('0000-') ? `${cell}+00` : cell);
  }
  return writeValue;
}

/** Also of a single bit, which is a byte. */
function booleanOf(cell: unknown): boolean | number | null {
  if (cell === null) return null;
  const number = Number(cell instanceof Uint8Array ? cell[0] : cell);
  return number === 0 || number === 1 ? number === 1 : number;
}
