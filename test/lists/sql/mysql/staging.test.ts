import { expect, test } from 'vitest';
import { ObjectChunk } from '../../../../src/lists/rows/chunks/object-chunk.js';
import type { OpenSinkOptions } from '../../../../src/lists/rows/sink.js';
import type { MysqlConnection } from '../../../../src/lists/sql/mysql/connect.js';
import { stage } from '../../../../src/lists/sql/mysql/staging.js';
import type { TablePlan } from '../../../../src/lists/sql/tables/table-plan.js';

test('rows that are long go out few at a time: a server takes statements of some size only', async () => {
  const header = ['note'];
  const rows = Array.from({ length: 500 }, () => ({ note: 'x'.repeat(10_000) }));
  const sizes: number[] = [];
  const connection = {
    async query(_: string, [values]: readonly (readonly unknown[][])[] = []) {
      if (values) sizes.push(values.flat().join('').length);
      return [];
    },
  } as unknown as MysqlConnection;
  const plan = {
    mode: 'create',
    target: 't',
    columns: [{ name: 'note', type: 'LONGTEXT' }],
    missing: [],
    key: [],
    positions: [0],
    isText: () => true,
  } as unknown as TablePlan;
  const opening = { reading: { header }, added: [], cellsOf: () => [] };
  const staging = await stage(connection, plan, opening as unknown as OpenSinkOptions);
  const chunk = new ObjectChunk(rows, header);
  await staging.write({ chunk, from: 0, to: 500, outcomes: new Uint32Array(0), width: 0 });
  expect(await staging.end()).toMatchObject({ rows: 500 });
  expect(sizes.reduce((sum, size) => sum + size)).toBe(500 * 10_000);
  expect(Math.max(...sizes)).toBeLessThan(200_000);
});
