import { spawn } from 'node:child_process';
import { cp, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { connectTo } from '../../../cli/harness/connect-to.js';
import { startVerifying } from '../harness/verify-rows.js';
import { withFolder } from '../../../service/with-service.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Installs the built package into a folder, with what it depends on and these packages beside. */
async function install(folder: string, packages: readonly string[]): Promise<string> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  for (const name of [...Object.keys(manifest.dependencies), ...packages]) {
    const place = join(folder, 'node_modules', name);
    await mkdir(dirname(place), { recursive: true });
    await symlink(join(root, 'node_modules', name), place);
  }
  for (const name of Object.keys(manifest.peerDependencies)) {
    // An empty folder is no package, and ends the search for one in the folders above.
    if (!packages.includes(name)) {
      await mkdir(join(folder, 'node_modules', name), { recursive: true });
    }
  }
  return join(folder, 'dist', 'cli', 'main.js');
}

async function verify(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const child = spawn(
    process.execPath,
    [program, 'verify', ...args, '--email', 'email', '--country', 'US'],
    { cwd, env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stderr });
    });
  });
}

const query = ['--query', "SELECT 'good@sluice.test' AS email"];
const into = ['--into', 'nowhere'];
const pg = 'npm install pg pg-copy-streams pg-query-stream';
const parquet = 'npm install hyparquet hyparquet-compressors hyparquet-writer';

/** What is named, what else is there, and a command that needs what is not. */
const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [pg, [], ['postgres://u:geheim@127.0.0.1:1/d', ...query, '-o', 'out.csv']],
  [pg, [], ['list.csv', '-o', 'postgres://u:geheim@127.0.0.1:1/d', ...into]],
  [pg, ['pg'], ['env:PG', ...query, '-o', 'out.csv']],
  [pg, ['pg'], ['list.csv', '-o', 'env:PG', ...into]],
  [pg, ['pg', 'pg-copy-streams'], ['env:PG', '--query', 'EXPLAIN SELECT 1', '-o', 'out.csv']],
  ['npm install mysql2', [], ['list.csv', '-o', 'mysql://u:geheim@127.0.0.1:1/d', ...into]],
  ['npm install libsql', [], ['list.csv', '-o', 'sqlite:crm.db', ...into]],
  ['npm install @duckdb/node-api', [], ['list.csv', '-o', 'duckdb:crm.duckdb', ...into]],
  ['npm install @aws-sdk/client-s3', [], ['s3://lists/list.csv', '-o', 'out.csv']],
  ['npm install @aws-sdk/client-s3', [], ['list.csv', '-o', 's3://lists/out.csv']],
  [parquet, [], ['list.parquet', '-o', 'out.csv']],
  [parquet, ['hyparquet'], ['list.parquet', '-o', 'out.csv']],
  [parquet, ['hyparquet', 'hyparquet-compressors'], ['list.csv', '-o', 'out.parquet']],
];

test('a driver that is not installed is named with what installs it, before anything is sent', async () => {
  const { service, client, charges } = await startVerifying();
  const env = { ...connectTo(service), PG: inject('postgresUrl') };
  const programs = new Map<string, Promise<string>>();
  const programWith = async (packages: readonly string[]): Promise<string> => {
    const key = packages.join(' ');
    const program = programs.get(key) ?? withFolder().then((at) => install(at, packages));
    programs.set(key, program);
    return program;
  };
  const ends = await Promise.all(
    cases.map(async ([words, packages, args]) => {
      const cwd = await withFolder();
      await writeFile(join(cwd, 'list.csv'), 'email\ngood@sluice.test\n');
      await writeFile(join(cwd, 'list.parquet'), 'PAR1 and so on');
      const ended = await verify(await programWith(packages), args, env, cwd);
      return { words, ended, left: await readdir(cwd) };
    }),
  );
  for (const { words, ended, left } of ends) {
    expect(ended.stderr).toContain(words);
    expect(ended.stderr).toContain('[missing_dependency]');
    expect(ended.stderr).not.toContain('geheim');
    expect(ended.code).toBe(2);
    expect(left.toSorted()).toEqual(['list.csv', 'list.parquet']);
  }
  expect(await charges()).toBe(0);
  expect(await client.listBatches()).toEqual([]);
});
