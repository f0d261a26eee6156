import mysql from 'mysql2/promise';
import { inject } from 'vitest';

/** Runs statements on the tests' server; gives the rows of the last one. */
export async function askMysql(...statements: readonly string[]): Promise<unknown[]> {
  const connection = await mysql.createConnection({ uri: inject('mysqlUrl') });
  try {
    let rows: unknown;
    for (const statement of statements) [rows] = await connection.query(statement);
    return Array.isArray(rows) ? rows.map((row) => ({ ...(row as object) })) : [];
  } finally {
    await connection.end();
  }
}
