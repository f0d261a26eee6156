import { join } from 'node:path';
import { listRows, type Killable } from '../killable.js';
import { temporaryFolder } from '../verify-rows.js';
import { askDuckdb } from './ask-duckdb.js';

export async function killableDuckdb(): Promise<Killable> {
  const path = join(await temporaryFolder(), 'kill.duckdb');
  await askDuckdb(
    path,
    "CREATE TABLE kill_out (id INTEGER PRIMARY KEY, email VARCHAR, filling VARCHAR, note VARCHAR NOT NULL DEFAULT 'kept', email_verification VARCHAR)",
    `INSERT INTO kill_out (id) VALUES (${listRows})`,
  );
  return {
    url: `duckdb:${path}`,
    query: `SELECT i AS id, 'good' || i || '@sluice.test' AS email, repeat('x', 500) AS filling FROM range(1, ${listRows + 1}) t(i)`,
    table: 'kill_out',
    async count() {
      const [counts] = await askDuckdb(
        path,
        "SELECT count(*)::INTEGER AS rows, count(*) FILTER (email_verification = 'verified' AND note = 'kept')::INTEGER AS verified FROM kill_out",
      );
      return counts as { readonly rows: number; readonly verified: number };
    },
    // Nobody else can open the file to hold a commit up: the process is killed while it works at it.
    writesTo: `${path}.wal`,
  };
}
