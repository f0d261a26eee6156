import type { TableColumn, TableForm } from '../table-form.js';
import type { PostgresConnection } from './connect-postgres.js';
import { isOwnPostgresType, kindOfPostgresType } from './postgres-kinds.js';

/** What the driver tells of a column. */
export interface PostgresField {
  readonly name: string;
  readonly tableID: number;
  readonly columnID: number;
  readonly dataTypeID: number;
  readonly dataTypeModifier: number;
}

/** Makes of the fields of an answer what is known of its columns, names for numbers. */
export async function describeFields(
  connection: PostgresConnection,
  fields: readonly PostgresField[],
): Promise<TableForm> {
  const columns: TableColumn[] = [];
  for (const field of fields) {
    const [[type, table, column] = []] = await connection.query(
      `SELECT format_type($1::oid, $2::int4), a.attrelid::regclass::text, a.attname
         FROM (SELECT 1) AS one
         LEFT JOIN pg_attribute AS a ON a.attrelid = $3::oid AND a.attnum = $4::int4 AND a.attnum > 0`,
      [field.dataTypeID, field.dataTypeModifier, field.tableID, field.columnID],
    );
    columns.push({
      name: field.name,
      kind: kindOfPostgresType(field.dataTypeID),
      type: type ?? 'text',
      ...(isOwnPostgresType(field.dataTypeID) && { isOwnType: true }),
      ...(table && column && { origin: { table: `${field.tableID}`, column } }),
    });
  }
  return { dialect: 'postgres', store: connection.store, columns };
}
