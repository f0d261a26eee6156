import { ConfigurationError } from '../../../platform/errors/errors.js';
import { qualifiedName, quoteName, type TableName } from '../names.js';
import type { TableThere } from '../tables/table-plan.js';
import type { PostgresConnection } from './connect.js';

export const nameParts = 2;

/** @throws ConfigurationError where there is no schema for it */
export async function locate(
  connection: PostgresConnection,
  parts: readonly string[],
): Promise<TableName> {
  const [first = '', second] = parts;
  if (second !== undefined) return { within: [first], table: second };
  const [[found] = []] = await connection.query(
    `SELECT coalesce((SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.oid = to_regclass($1)), current_schema())`,
    [quoteName(first)],
  );
  if (found) return { within: [found], table: first };
  throw new ConfigurationError(`there is no schema for the table ${first}`);
}

export async function findTable(
  connection: PostgresConnection,
  name: TableName,
): Promise<TableThere | undefined> {
  const [[oid, kind] = []] = await connection.query(
    `SELECT oid, relkind FROM pg_class WHERE oid = to_regclass($1)`,
    [qualifiedName(name)],
  );
  if (!oid) return undefined;
  const columns = await connection.query(
    `SELECT a.attname, t.typcategory = 'S', a.attgenerated <> '', t.typname = 'citext'
       FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
      WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [oid],
  );
  const keys = await connection.query(
    `SELECT (SELECT json_agg(a.attname ORDER BY k.at)
               FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, at)
               JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
              WHERE k.at <= i.indnkeyatts)
       FROM pg_index i
      WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
        AND i.indexprs IS NULL AND i.indimmediate`,
    [oid],
  );
  return {
    id: oid,
    isTable: kind === 'r' || kind === 'p',
    columns: columns.map(([column, isText, isGenerated, isCaseless]) => ({
      name: column ?? '',
      isText: isText === 't',
      isGenerated: isGenerated === 't',
      isCaseless: isCaseless === 't',
    })),
    keys: keys.map(([names]) => JSON.parse(names ?? '[]') as readonly string[]),
  };
}
