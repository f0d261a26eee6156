import { inspect } from 'node:util';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../../../src/index.js';
import { sourceChecks } from '../../../../src/testing/index.js';
import { readAll } from '../harness/carry.js';
import { rejection } from '../harness/rejection.js';
import { withFolder } from '../../../service/with-service.js';
import type { Database, Place } from './database.js';
import { makePeople } from './people.js';

/** A table that more rows are read of than any buffer holds. */
async function manyRows({ open, numbers }: Database): Promise<{ place: Place; source: Source }> {
  const place = await open();
  await makePeople(place);
  const source = place.source(
    `SELECT p.id, '${'x'.repeat(100)}' AS filling FROM ${numbers(60_000)}, ${place.table} p`,
  );
  return { place, source };
}

/** Nobody can who still reads it. */
async function expectLetGo({ ask, table }: Place): Promise<void> {
  await ask(`DROP TABLE ${table}`);
}

export function describeSource(database: Database): void {
  const { numbers, open, values } = database;

  describe('rows of a query', () => {
    test('have the values that the database has', async () => {
      const place = await open();
      const { ask, source, table } = place;
      if (values.statements) await ask(...values.statements(table));
      else await makePeople(place);
      expect(await readAll(source(values.query(table)))).toEqual(values.rows);
    });

    test('come in order, some at a time, and may be none', async () => {
      const place = await open();
      await makePeople(place);
      const { source } = place;
      const many = `SELECT i FROM ${numbers(5000)} ORDER BY i DESC -- all`;
      const read = (await readAll(source(many))).map(([i]) => Number(i));
      expect(read).toEqual(Array.from({ length: 5000 }, (_, at) => 5000 - at));
      const none = `SELECT id AS one, email AS two FROM ${place.table} WHERE id > 9 ; `;
      const reading = await source(none).open({ wanted: () => [] });
      expect(reading.header).toEqual(['one', 'two']);
      for await (const chunk of reading.chunks) expect(chunk.length).toBe(0);
    });

    test('pass an abort on untouched, and let go of the database', async () => {
      const { place, source } = await manyRows(database);
      const controller = new AbortController();
      const reason = new Error('enough');
      const reading = await source.open({ wanted: () => [], signal: controller.signal });
      const chunks = reading.chunks[Symbol.asyncIterator]();
      await chunks.next();
      controller.abort(reason);
      const rest = async (): Promise<void> => {
        while ((await chunks.next()).done !== true);
      };
      await expect(rest()).rejects.toBe(reason);
      await expectLetGo(place);
    });

    test('let go of the database when they are not wanted any more', async () => {
      const { place, source } = await manyRows(database);
      const reading = await source.open({ wanted: () => [] });
      for await (const chunk of reading.chunks) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
      await expectLetGo(place);
    });

    test.each(database.refusedQueries)(
      'are none of %s, which is said',
      async (_, query, refusal) => {
        const place = await open();
        await makePeople(place);
        const error = await rejection(readAll(place.source(query)));
        expect(error).toMatchObject({ code: 'invalid_option' });
        if (refusal instanceof RegExp) expect(error.message).toMatch(refusal);
        else expect(error).toMatchObject(refusal);
        expect(await rejection(place.ask('SELECT * FROM made'))).toBeInstanceOf(Error);
        expect(await place.ask(`SELECT id FROM ${place.table}`)).toHaveLength(5);
      },
    );

    const { failingQuery } = database;
    if (failingQuery !== undefined) describeFailing(database, failingQuery);
  });

  describe('as a source', () => {
    const header = ['id', 'email', 'note'];
    const rows = [
      ['1', 'ann@example.com', 'x, "q"'],
      ['2', undefined, 'ümlaut'],
      ['3', 'cid@example.com', ''],
    ];
    const query = `SELECT '1' AS id, 'ann@example.com' AS email, 'x, "q"' AS note UNION ALL
      SELECT '2', NULL, 'ümlaut' UNION ALL SELECT '3', 'cid@example.com', ''`;
    const create = async (): Promise<Source> => {
      const place = await open();
      await makePeople(place);
      return place.source(query);
    };
    const newPath = async (): Promise<string> => join(await withFolder(), 'kept');
    const checks = sourceChecks({ header, rows, create, newPath });
    test.each(checks.map((check) => [check.name, check] as const))('%s', async (_, check) => {
      await expect(check.run()).resolves.toBeUndefined();
    });
  });
}

function describeFailing({ open }: Database, failingQuery: string): void {
  test('that fail in the middle are no end, and show no cell', async () => {
    const place = await open();
    await makePeople(place);
    const error = await rejection(readAll(place.source(failingQuery)));
    expect(error).toMatchObject({ code: 'input_unreadable' });
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('private cell');
  });
}
