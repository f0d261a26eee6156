import { describe, expect, inject, it } from 'vitest';
import { postgresSink, postgresStore } from '../../../../../src/lists/sql/postgres/index.js';
import type { Sink } from '../../../../../src/index.js';
import {
  describeSharedFeatures,
  expectPaidOnce,
  serve,
  together,
  workAlone,
} from '../../../runs/shared/shared-features-suite.js';
import { askPostgres } from '../../../../lists/sql/postgres/ask-postgres.js';
import { newName } from '../../../../lists/sql/harness/new-name.js';

describeSharedFeatures('PostgreSQL', () => {
  const run = newName();
  return () => postgresStore({ connectionString: inject('postgresUrl'), run, leaseMs: 3000 });
});

describe('a run that processes share', () => {
  it('writes the rows of a table by their key once', async () => {
    await serve();
    const [into, alone] = [newName(), newName()];
    const sinkInto = (table: string): Sink =>
      postgresSink({ url: inject('postgresUrl'), into: table, key: 'id' });
    await Promise.all(together(3, { sink: sinkInto(into) }));
    await expectPaidOnce();
    await workAlone({ sink: sinkInto(alone) });
    const rowsOf = async (table: string) => askPostgres(`select * from ${table} order by id::int`);
    expect(await rowsOf(into)).toEqual(await rowsOf(alone));
  });
});
