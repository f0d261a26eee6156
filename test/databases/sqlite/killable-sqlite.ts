import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { listRows, type Killable } from '../killable.js';
import { temporaryFolder } from '../verify-rows.js';
import { askSqlite } from './ask-sqlite.js';

export async function killableSqlite(): Promise<Killable> {
  const path = join(await temporaryFolder(), 'kill.db');
  askSqlite(
    path,
    "CREATE TABLE kill_out (id INTEGER PRIMARY KEY, email TEXT, filling TEXT, note TEXT NOT NULL DEFAULT 'kept')",
    `INSERT INTO kill_out (id) VALUES (${listRows})`,
    'SELECT 1',
  );
  return {
    url: `sqlite:${path}`,
    query: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${listRows})
      SELECT i AS id, 'good' || i || '@sluice.test' AS email, printf('%500d', i) AS filling FROM n`,
    table: 'kill_out',
    async count() {
      const isThere =
        askSqlite(path, "SELECT 1 FROM pragma_table_info('kill_out') WHERE name = 'email_valid'")
          .length > 0;
      const [counts] = askSqlite(
        path,
        `SELECT count(*) AS rows, ${isThere ? "sum(email_verification = 'verified' AND note = 'kept')" : '0'} AS verified FROM kill_out`,
      );
      const { rows, verified } = counts as {
        readonly rows: number;
        readonly verified: number | null;
      };
      return { rows, verified: verified ?? 0 };
    },
    async holdUp() {
      // Who reads keeps a writer from its commit, and from nothing before.
      const reader = new Database(path);
      reader.exec('BEGIN');
      reader.prepare('SELECT * FROM kill_out').all();
      return {
        async hasWaiting() {
          const journal = await stat(`${path}-journal`).catch(() => undefined);
          return journal !== undefined && journal.size > 0;
        },
        async release() {
          reader.exec('ROLLBACK');
          reader.close();
        },
      };
    },
  };
}
