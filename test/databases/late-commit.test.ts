import { describe, expect, test } from 'vitest';
import type { Sink } from '../../src/index.js';
import type { JoinedRows } from '../../src/rows/sink.js';
import { databases } from './places.js';
import { askPostgres } from './postgres/ask-postgres.js';
import { startVerifying } from './verify-rows.js';

/** Who is to write makes a plan, and waits if need be, while a process that was killed commits. */
function committedMeanwhile(sink: Sink, killed: Sink, hasPlanned: () => Promise<void>): Sink {
  return {
    ...sink,
    async open(opening) {
      const other = await killed.open(opening);
      const chunks: JoinedRows[] = [];
      return {
        async write(rows) {
          chunks.push(rows);
          await other.write(rows);
        },
        async finish() {
          const next = sink.open(opening);
          await Promise.race([next, hasPlanned()]);
          await other.finish();
          const writing = await next;
          for (const rows of chunks) await writing.write(rows);
          await writing.finish();
        },
        abort: () => other.abort(),
      };
    },
  };
}

/** Never, where nobody waits for another. */
async function someoneWaits(): Promise<void> {
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
  while ((await askPostgres(waiting)).length === 0);
}

describe('a new table whose commit arrives after its process was killed', () => {
  for (const [name, isThere, open] of databases) {
    // A file of DuckDB has one process, whose end is the end of what it sent.
    if (name === 'DuckDB') continue;
    test.skipIf(!isThere)(`is what the next process was to make: ${name}`, async () => {
      const place = await open();
      const verifying = await startVerifying();
      const people = await open();
      await people.ask(
        `CREATE TABLE ${people.table} (id INTEGER PRIMARY KEY, email VARCHAR(80))`,
        `INSERT INTO ${people.table} VALUES (1, 'good1@sluice.test'), (2, 'bad2@sluice.test')`,
      );
      await verifying.run({
        source: people.source(`SELECT id, email FROM ${people.table} ORDER BY id`),
        sink: committedMeanwhile(place.sink(), place.sink(), () =>
          name === 'PostgreSQL' ? someoneWaits() : new Promise(() => undefined),
        ),
        email: ['email'],
      });
      const rows = await place.ask(`SELECT id, email_wrong AS w FROM ${place.table} ORDER BY id`);
      expect(rows.map(({ id, w }) => [Number(id), Boolean(Number(w))])).toEqual([
        [1, false],
        [2, true],
      ]);
    });
  }
});
