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
