import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot, readProjectJson, mustRun } from '../../../scripts/project.mjs';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-executable-'));
  await mustRun(process.execPath, ['scripts/executable.mjs', join(folder, 'sluice')]);
  await writeFile(
    join(folder, 'list.csv'),
    'id,email,mobile\n1,good@sluice.test,+4915112345678\n2,bad@sluice.test,\n',
  );
}, 300_000);
afterAll(async () => rm(folder, { recursive: true, force: true }));

/** Runs the executable in its folder, on a machine where nothing else is found. */
async function sluice(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { PATH: '/usr/bin:/bin', HOME: folder } };
    const child = execFile(join(folder, 'sluice'), args, options, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

const columns = ['--email', 'email', '--phone', 'mobile', '--country', 'DE'];

describe('the executable, alone in a folder', () => {
  it('says its version', async () => {
    const { version } = (await readProjectJson('package.json')) as { readonly version: string };
    expect(await sluice('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('verifies a list, and leaves nothing but the output', async () => {
    const { code } = await sluice('verify', 'list.csv', ...columns, '-o', 'verified.csv');
    expect(code).toBe(0);
    const [header = [], ...rows] = (await readFile(join(folder, 'verified.csv'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    const column = (name: string) => rows.map((row) => row[header.indexOf(name)]);
    expect(column('email_valid')).toEqual(['true', 'false']);
    expect(column('mobile_verification')).toEqual(['verified', 'not_submitted']);
    expect(column('mobile_type')).toEqual(['mobile', '']);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'sluice', 'verified.csv']);
  });

  it('names the package that an option needs, and takes it from beside itself', async () => {
    const toParquet = ['verify', 'list.csv', ...columns, '-o', 'verified.parquet'];
    const without = await sluice(...toParquet);
    expect(without).toMatchObject({ code: 2, stdout: '' });
    expect(without.stderr).toContain(
      'Parquet needs packages that are not installed: npm install hyparquet',
    );
    await symlink(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
    const { code } = await sluice(...toParquet);
    expect(code).toBe(0);
    const bytes = await readFile(join(folder, 'verified.parquet'));
    expect(bytes.subarray(0, 4).toString()).toBe('PAR1');
    const read = await sluice(
      'verify',
      'verified.parquet',
      '--email',
      'email',
      '--prefix',
      'email=e2',
      '--country',
      'DE',
      '-o',
      'again.csv',
    );
    expect(read.code).toBe(0);
  });
});
