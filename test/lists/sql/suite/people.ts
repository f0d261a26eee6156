import { changeFirst } from '../harness/spoilt-sinks.js';
import { startVerifying } from '../harness/verify-rows.js';
import type { Cells, Place } from './database.js';

/** Makes five rows of people, of which the third has a bad address. */
export async function makePeople({ ask, table }: Place): Promise<void> {
  const rows = [1, 2, 3, 4, 5].map(
    (id) => `(${id}, '${id === 3 ? 'bad' : 'good'}${id}@sluice.test')`,
  );
  await ask(
    `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email VARCHAR(80), note VARCHAR(20) DEFAULT 'kept' NOT NULL)`,
    `INSERT INTO ${table} (id, email) VALUES ${rows.join(', ')}`,
  );
}

/** Verifies a table's rows, read by another URL of its database; another session changes the first meanwhile. */
export async function verifyOwnRows({ ask, sink, source, table }: Place, url: string) {
  const verifying = await startVerifying();
  await verifying.run({
    source: source(`SELECT id, email FROM ${table}`, url),
    sink: changeFirst(sink({ key: 'id' }), () =>
      ask(`UPDATE ${table} SET email = 'newer@sluice.test' WHERE id = 1`),
    ),
    email: ['email'],
  });
  return ask(`SELECT email FROM ${table} WHERE id = 1`);
}

/** The cells of rows; what a database has as 0 and 1 is the same as its booleans. */
export function cellsOf(rows: readonly Cells[]): unknown[][] {
  return rows.map((row) =>
    Object.values(row).map((cell) => (typeof cell === 'boolean' ? Number(cell) : cell)),
  );
}

export async function countIn(place: Place, condition = 'true', table = place.table) {
  const [row] = await place.ask(`SELECT count(*) AS n FROM ${table} WHERE ${condition}`);
  return Number(row?.['n']);
}
