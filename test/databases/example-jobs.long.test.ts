import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { projectRoot } from '../docs/page.js';
import { askPostgres } from './postgres/ask-postgres.js';
import { temporaryFolder } from './verify-rows.js';

const run = promisify(execFile);

/** Runs a job of the examples against the tests' server. */
async function runJob(name: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const cwd = await temporaryFolder();
  const program = join(projectRoot, 'dist', 'cli', 'main.js');
  await writeFile(join(cwd, 'sluice'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
  await chmod(join(cwd, 'sluice'), 0o755);
  const env = {
    PATH: `${cwd}:${process.env['PATH'] ?? ''}`,
    HOME: cwd,
    DATABASE_URL: inject('postgresUrl'),
  };
  return run(join(projectRoot, 'examples', name), ['--local', '--quiet'], { cwd, env });
}

test('examples/psql-pipe.sh fills a table from another through a pipe', async () => {
  await askPostgres('DROP TABLE IF EXISTS contacts, contacts_checked');
  await askPostgres(
    "CREATE TABLE contacts AS SELECT i AS id, CASE WHEN i % 10 = 0 THEN NULL ELSE 'good' || i || '@sluice.test' END AS email FROM generate_series(1, 50) i",
  );
  expect(await runJob('psql-pipe.sh')).toEqual({ stdout: '', stderr: '' });
  expect(
    await askPostgres(
      'SELECT count(*)::int AS rows, count(*) FILTER (WHERE email_valid)::int AS valid FROM contacts_checked',
    ),
  ).toEqual([{ rows: 50, valid: 45 }]);
});

test('examples/warehouse-step.sh writes rows by their key, as often as it is run', async () => {
  await askPostgres('DROP TABLE IF EXISTS stg_contacts, contacts_verified');
  await askPostgres(
    "CREATE TABLE stg_contacts AS SELECT i AS id, 'good' || i || '@sluice.test' AS email FROM generate_series(1, 20) i",
  );
  for (const _ of ['first', 'second']) {
    expect(await runJob('warehouse-step.sh')).toEqual({ stdout: '', stderr: '' });
  }
  expect(
    await askPostgres('SELECT count(*)::int AS n FROM contacts_verified WHERE email_valid'),
  ).toEqual([{ n: 20 }]);
});
