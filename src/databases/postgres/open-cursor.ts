import { ConfigurationError } from '../../errors/family.js';
import { writeText } from '../cell-text.js';
import { loadDriver } from '../load-driver.js';
import type { QueryRows } from '../table-source.js';
import { postgresDrivers, type PostgresConnection } from './connect-postgres.js';
import { describeFields, type PostgresField } from './describe-query.js';

/** Rows that are asked for with one message. */
const rowsAtOnce = 1000;

type PrintedRow = readonly (string | null)[];

/** What is used of the driver's cursor, which it does not describe itself. */
interface Cursor {
  read(rows: number): Promise<readonly PrintedRow[]>;
  readonly _result: { readonly fields: readonly PostgresField[] };
}

/**
 * Fetches the rows of a statement that COPY does not take, some at a time and no sooner than they are
 * asked for. Errors are the driver's.
 *
 * @throws ConfigurationError when it gives no rows
 */
export async function openCursor(
  connection: PostgresConnection,
  query: string,
  connectAgain: () => Promise<PostgresConnection>,
): Promise<Pick<QueryRows, 'form' | 'bytes'>> {
  const { default: QueryStream } = await loadDriver(
    () => import('pg-query-stream'),
    postgresDrivers,
  );
  const stream = connection.submit(
    new QueryStream(query, [], {
      rowMode: 'array',
      types: { getTypeParser: () => (text: string) => text },
    }),
  );
  // The stream itself does not end when it is destroyed and its connection is lost.
  const cursor = stream.cursor as Cursor;
  const read = async (): Promise<readonly PrintedRow[]> =>
    Promise.race([cursor.read(rowsAtOnce), connection.lost.then((error) => Promise.reject(error))]);
  // The columns are known when the first rows are.
  const first = await read();
  const { fields } = cursor._result;
  if (fields.length === 0) {
    throw new ConfigurationError('the query gives no rows: it has to be a statement that does');
  }
  // The cursor keeps its own connection busy.
  const other = await connectAgain();
  try {
    return { form: await describeFields(other, fields), bytes: printRows(first, read) };
  } finally {
    await other.close();
  }
}

async function* printRows(
  first: readonly PrintedRow[],
  read: () => Promise<readonly PrintedRow[]>,
): AsyncGenerator<Uint8Array> {
  for (let rows = first; rows.length > 0; rows = await read()) {
    const lines = rows.map((row) => row.map(printCell).join('\t'));
    yield Buffer.from(`${lines.join('\n')}\n`);
  }
}

function printCell(cell: string | null): string {
  return cell === null ? '\\N' : writeText(cell);
}
