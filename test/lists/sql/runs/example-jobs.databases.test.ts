import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { chargesOf } from '../../../cli/harness/charges.js';
import { connectTo } from '../../../cli/harness/connect-to.js';
import { runScript } from '../../../cli/harness/run-script.js';
import { projectRoot } from '../../../docs/page.js';
import { withService, withFolder } from '../../../service/with-service.js';
import { askPostgres } from '../postgres/ask-postgres.js';

const run = promisify(execFile);

interface JobPlace {
  readonly cwd: string;
  /** Its local service is in the process if none is given. */
  readonly service?: Service;
}

/** Runs a job of the examples against the tests' server. */
async function runJob(
  name: string,
  { cwd, service }: JobPlace,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const program = join(projectRoot, 'dist', 'cli', 'main.js');
  await writeFile(join(cwd, 'sluice'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
  await chmod(join(cwd, 'sluice'), 0o755);
  const env = {
    PATH: `${cwd}:${process.env['PATH'] ?? ''}`,
    HOME: cwd,
    DATABASE_URL: inject('postgresUrl'),
    ...(service && connectTo(service)),
  };
  const options = service ? ['--quiet'] : ['--local', '--quiet'];
  return run(join(projectRoot, 'examples', name), options, { cwd, env });
}

test('examples/psql-pipe.sh fills a table from another, as often as it is run, and pays once', async () => {
  const place = { cwd: await withFolder(), service: (await withService()).service };
  await askPostgres('DROP TABLE IF EXISTS contacts, contacts_checked');
  await askPostgres(
    "CREATE TABLE contacts AS SELECT i AS id, CASE WHEN i % 10 = 0 THEN NULL ELSE 'good' || i || '@sluice.test' END AS email FROM generate_series(1, 50) i",
  );
  const checked = async (): Promise<unknown> =>
    askPostgres(
      'SELECT count(*)::int AS rows, count(*) FILTER (WHERE email_valid)::int AS valid FROM contacts_checked',
    );
  expect(await runJob('psql-pipe.sh', place)).toEqual({ stdout: '', stderr: '' });
  expect(await checked()).toEqual([{ rows: 50, valid: 45 }]);
  await askPostgres("UPDATE contacts SET email = 'bad@sluice.test' WHERE id = 1");
  await askPostgres('DELETE FROM contacts_checked WHERE id > 40');
  await askPostgres('ALTER TABLE contacts_checked ADD CONSTRAINT no_more CHECK (id < 0) NOT VALID');
  await expect(runJob('psql-pipe.sh', place)).rejects.toMatchObject({
    stderr: expect.stringContaining('no_more'),
  });
  expect(await checked()).toEqual([{ rows: 40, valid: 36 }]);
  await askPostgres('ALTER TABLE contacts_checked DROP CONSTRAINT no_more');
  expect(await runJob('psql-pipe.sh', place)).toEqual({ stdout: '', stderr: '' });
  expect(await checked()).toEqual([{ rows: 50, valid: 44 }]);
  expect(await chargesOf(place.service)).toHaveLength(46);
});

test('examples/cursor.ts reads a cursor of its own and leaves its connection free', async () => {
  await askPostgres('DROP TABLE IF EXISTS contacts');
  await askPostgres(
    "CREATE TABLE contacts AS SELECT i AS id, CASE i % 10 WHEN 0 THEN NULL WHEN 1 THEN 'bad' || i || '@sluice.test' ELSE 'good' || i || '@sluice.test' END AS email FROM generate_series(1, 30) i",
  );
  const script = new URL('../../../../examples/cursor.ts', import.meta.url);
  expect(await runScript(script, [inject('postgresUrl')])).toMatchObject({
    code: 0,
    stdout: '1\n11\n21\n',
    stderr: '',
  });
});

test('examples/warehouse-step.sh writes rows by their key, as often as it is run', async () => {
  await askPostgres('DROP TABLE IF EXISTS stg_contacts, contacts_verified');
  await askPostgres(
    "CREATE TABLE stg_contacts AS SELECT i AS id, 'good' || i || '@sluice.test' AS email FROM generate_series(1, 20) i",
  );
  const cwd = await withFolder();
  for (const _ of ['first', 'second']) {
    expect(await runJob('warehouse-step.sh', { cwd })).toEqual({ stdout: '', stderr: '' });
  }
  expect(
    await askPostgres('SELECT count(*)::int AS n FROM contacts_verified WHERE email_valid'),
  ).toEqual([{ n: 20 }]);
});
