import { existsSync } from 'node:fs';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { exitCodeOf } from '../../../src/cli/exit-code.js';
import { postgresSink } from '../../../src/databases/postgres/index.js';
import { pgbouncerProgram, startPgbouncer } from '../../servers/start-pgbouncer.js';
import { rejection } from '../rejection.js';

describe.skipIf(!existsSync(pgbouncerProgram))('a table behind PgBouncer', () => {
  test('is refused in transaction mode before anything is sent', async () => {
    const pooler = await startPgbouncer(inject('postgresUrl'));
    onTestFinished(() => pooler.stop());
    const error = await rejection(
      Promise.resolve(postgresSink({ url: pooler.url, into: 'pooled', key: 'id' }).check(1)),
    );
    expect(error.message).toContain('or a pool with pool_mode = session');
    expect(exitCodeOf(error)).toBe(2);
  });
});
