import Database from 'libsql';

/** Runs statements on a file; gives the rows of the last one, which has to give some. */
export function askSqlite(path: string, ...statements: readonly string[]): unknown[] {
  const database = new Database(path);
  try {
    for (const statement of statements.slice(0, -1)) database.exec(statement);
    return database
      .prepare(statements.at(-1) ?? '')
      .all()
      .map((row) => ({ ...(row as object) }));
  } finally {
    database.close();
  }
}
