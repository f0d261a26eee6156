import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { withFolder } from '../../service/with-service.js';
import { csvRows, expectInputKept } from '../harness/csv-cells.js';

const execute = promisify(execFile);
const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** What git would clone, with what is changed and not committed yet. */
async function cloneInto(folder: string): Promise<void> {
  const { stdout } = await execute('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: projectRoot,
  });
  for (const file of stdout.trimEnd().split('\n')) {
    const to = join(folder, file);
    await mkdir(dirname(to), { recursive: true });
    await cp(join(projectRoot, file), to).catch((error: unknown) => {
      // Deleted, and not committed yet.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    });
  }
}

it('installs only what the command needs for the first command of the README, and refuses to pack that', async () => {
  const clone = await withFolder();
  await cloneInto(clone);
  const readme = await readFile(join(clone, 'README.md'), 'utf8');
  const command = /^npm ci --omit=dev && (npx .*)$/m.exec(readme)?.[0] ?? expect.fail('no command');
  const { SLUICE_BASE_URL: _url, SLUICE_API_KEY: _key, ...env } = process.env;

  const { stderr } = await execute('sh', ['-c', command], { cwd: clone, env });

  expect(stderr).toContain('wrote 281 rows');
  await expectInputKept(join(clone, 'examples/contacts.csv'), join(clone, 'verified.csv'));
  const rows = csvRows(await readFile(join(clone, 'verified.csv')));
  for (const verdict of ['email_valid', 'email_wrong', 'email_unknown', 'mobile_valid']) {
    expect([verdict, rows.some((row) => row[verdict] === 'true')]).toEqual([verdict, true]);
  }
  const lock = await readFile(join(clone, 'node_modules/.package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { readonly packages: object };
  expect(Object.keys(packages).length).toBeLessThanOrEqual(8);
  const size = await execute('du', ['-skc', 'node_modules', '.cache'], { cwd: clone });
  expect(Number(/(\d+)\s+total/.exec(size.stdout)?.[1])).toBeLessThan(60_000);

  const intoDatabase = [
    'verify',
    'examples/contacts.csv',
    '--email',
    'email',
    '--country',
    'US',
    '--local',
  ];
  const run = async () =>
    execute(
      process.execPath,
      ['dist/cli/main.js', ...intoDatabase, '-o', 'sqlite:crm.db', '--into', 't'],
      {
        cwd: clone,
        env,
      },
    );
  const missing: unknown = await run().catch((error: unknown) => error);
  expect((missing as { readonly stderr: string }).stderr).toContain(
    'not installed: npm run drivers -- sqlite [',
  );
  await execute('npm', ['run', 'drivers', '--', 'sqlite'], { cwd: clone, env });
  expect((await run()).stderr).toContain('wrote 281 rows');
  for (const file of ['package.json', 'package-lock.json']) {
    expect(await readFile(join(clone, file))).toEqual(await readFile(join(projectRoot, file)));
  }

  const packed = await execute('npm', ['pack'], { cwd: clone, env }).catch(
    (error: unknown) => error,
  );
  expect(packed).toHaveProperty('code', 1);
  expect((packed as { readonly stderr: string }).stderr).toContain(
    'a package needs its type declarations: run `npm ci` first',
  );
});
