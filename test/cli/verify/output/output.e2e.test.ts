import {
  chmod,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { withFolder } from '../../../service/with-service.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { eventsOf } from '../../harness/logged-events.js';

const columns = ['--email', 'email', '--country', 'US', '--local', '--quiet'];

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
  await writeFile(join(folder, 'list.csv'), 'email\ngood@sluice.test\n');
});

async function verify(...args: string[]): ReturnType<typeof runInProcess> {
  return runInProcess(['verify', ...args, ...columns], { cwd: folder });
}

describe('the output file', () => {
  it('takes the place of an older one and keeps its mode', async () => {
    const output = join(folder, 'out.csv');
    await writeFile(output, 'old\n');
    await chmod(output, 0o640);
    expect(await verify('list.csv', '-o', 'out.csv')).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(output, 'utf8')).toMatch(/^email,email_verification,.*\ngood@sluice/);
    expect((await stat(output)).mode & 0o7777).toBe(0o640);
  });

  it('says before it is paid for that a TXT file shows no results', async () => {
    const loud = columns.filter((option) => option !== '--quiet');
    const printed = await runInProcess(['verify', 'list.csv', '-o', 'out.txt', ...loud], {
      cwd: folder,
    });
    expect(printed.code, printed.stderr).toBe(0);
    expect(eventsOf(printed, 'hidden_results')).toMatchObject([{ output: 'out.txt' }]);
    expect(await readFile(join(folder, 'out.txt'), 'utf8')).toBe('good@sluice.test\n');
    const args = ['list.csv', '-o', 'out.txt', '--keep', 'valid'];
    const kept = await runInProcess(['verify', ...args, ...loud], { cwd: folder });
    expect(kept.code, kept.stderr).toBe(0);
    expect(eventsOf(kept, 'hidden_results')).toEqual([]);
  });

  it('stands where a link leads, and the link stays', async () => {
    await mkdir(join(folder, 'elsewhere'));
    await writeFile(join(folder, 'elsewhere', 'real.csv'), 'old\n');
    await symlink('elsewhere/real.csv', join(folder, 'out.csv'));
    expect((await verify('list.csv', '-o', 'out.csv')).code).toBe(0);
    expect(await readlink(join(folder, 'out.csv'))).toBe('elsewhere/real.csv');
    expect((await lstat(join(folder, 'elsewhere', 'real.csv'))).isFile()).toBe(true);
    expect(await readFile(join(folder, 'elsewhere', 'real.csv'), 'utf8')).toContain('good@sluice');
    expect((await readdir(folder)).toSorted()).toEqual(['elsewhere', 'list.csv', 'out.csv']);
    expect(await readdir(join(folder, 'elsewhere'))).toEqual(['real.csv']);
  });

  it('is untouched when the run fails, and nothing else is left', async () => {
    await writeFile(join(folder, 'out.csv'), 'old\n');
    await writeFile(join(folder, 'broken.csv'), 'email\ngood@sluice.test\na,b\n');
    expect((await verify('broken.csv', '-o', 'out.csv')).code).toBe(6);
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toBe('old\n');
    expect((await readdir(folder)).toSorted()).toEqual(['broken.csv', 'list.csv', 'out.csv']);
  });

  it('does not take a summary for the input, the output, or a folder that is missing', async () => {
    const list = await readFile(join(folder, 'list.csv'));
    await symlink('list.csv', join(folder, 'link.json'));
    for (const summary of [
      'list.csv',
      'link.json',
      'out.csv',
      './out.csv',
      'missing/summary.json',
    ]) {
      const ended = await verify('list.csv', '-o', 'out.csv', '--summary', summary);
      expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('[invalid_option]') });
    }
    expect(await readFile(join(folder, 'list.csv'))).toEqual(list);
    expect((await readdir(folder)).toSorted()).toEqual(['link.json', 'list.csv']);
  });
});

describe('the state directory', () => {
  it('is never a folder of somebody else', async () => {
    await mkdir(join(folder, 'mine'));
    await writeFile(join(folder, 'mine', 'precious'), 'x');
    const foreign = await verify('list.csv', '-o', 'out.csv', '--state', 'mine');
    expect(foreign.code).toBe(2);
    expect(eventsOf(foreign, 'error')).toMatchObject([
      { code: 'invalid_option', message: expect.stringContaining('precious') },
    ]);
    const here = await verify('list.csv', '-o', 'out.csv', '--state', '.', '--fresh');
    expect(here.code).toBe(2);
    expect(await readdir(join(folder, 'mine'))).toEqual(['precious']);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'mine']);
  });

  it('may be an empty folder that is there already', async () => {
    await mkdir(join(folder, 'run'));
    expect((await verify('list.csv', '-o', 'out.csv', '--state', 'run')).code).toBe(0);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });

  it('is reported when it cannot be made', async () => {
    const ended = await verify('list.csv', '-o', 'out.csv', '--state', 'list.csv');
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/list\.csv/),
    });
    expect(await readdir(folder)).toEqual(['list.csv']);
  });
});
