import { DuckDBInstance } from '@duckdb/node-api';

/** Runs statements on a file; gives the rows of the last one. */
export async function askDuckdb(
  path: string,
  ...statements: readonly string[]
): Promise<readonly unknown[]> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  try {
    let rows: readonly unknown[] = [];
    for (const statement of statements) {
      rows = await (await connection.run(statement)).getRowObjectsJS();
    }
    return rows.map((row) => ({ ...(row as object) }));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
