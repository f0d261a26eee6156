import { expect, test } from 'vitest';
import { rowsSource } from '../../../../src/index.js';
import { rejection } from '../rejection.js';
import { describeDatabase } from '../suite/describe-database.js';
import { startVerifying } from '../verify-rows.js';
import { mariadb } from './mysql-database.js';

describeDatabase(mariadb);

test('a key is one in capitals where the table takes capitals for small letters', async () => {
  const { ask, sink, table } = await mariadb.open();
  await ask(`CREATE TABLE ${table} (email VARCHAR(80) COLLATE utf8mb4_general_ci PRIMARY KEY)`);
  const verifying = await startVerifying();
  const run = (into: string) =>
    verifying.run({
      source: rowsSource(['ann@sluice.test', 'Ann@sluice.test'].map((email) => ({ email }))),
      sink: sink({ into, key: 'email' }),
      email: ['email'],
    });
  expect((await rejection(run(table))).message).toContain('data rows 1 and 2 of the input');
  expect(await verifying.charges()).toBe(0);
  // A table that is made tells them apart.
  expect((await run(`${table}_made`)).rows).toBe(2);
});
