import { execFileSync } from 'node:child_process';
import {
  chmod,
  link,
  lstat,
  mkdir,
  readFile,
  readdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ErrorFault } from '../../../src/index.js';
import {
  checkPrivateFile,
  checkPrivateFolder,
  openPrivateFile,
  openPrivateFileSync,
  readPrivateFile,
  readPrivateFileIfExists,
  type OpenFlags,
} from '../../../src/platform/files/private-files.js';
import { withFolder } from '../../service/with-service.js';
import { strangersFile, strangersFolder } from '../strangers.js';

let folder: string;
let path: string;
let precious: string;
beforeEach(async () => {
  folder = await withFolder();
  path = join(folder, 'kept');
  precious = join(folder, 'precious');
  await writeFile(precious, 'mine', { mode: 0o600 });
});

const everyFlags: readonly OpenFlags[] = ['r', 'r+', 'a', 'a+', 'w', 'wx'];

const refused = (fault: ErrorFault, file = path, named = file): unknown =>
  expect.objectContaining({
    code: 'invalid_option',
    fault,
    file,
    message: expect.stringContaining(named),
  });

describe('a file that Sluice keeps', () => {
  it('is never opened through a link, and what the link leads to is not touched', async () => {
    await symlink(precious, path);
    for (const flags of everyFlags) {
      if (flags === 'wx') await expect(openPrivateFile(path, flags)).rejects.toThrow(/EEXIST/);
      else await expect(openPrivateFile(path, flags)).rejects.toEqual(refused('link'));
      expect(() => openPrivateFileSync(path, flags)).toThrow();
    }
    await expect(readPrivateFile(path)).rejects.toEqual(refused('link'));
    await expect(readPrivateFileIfExists(path)).rejects.toEqual(refused('link'));
    expect(await readFile(precious, 'utf8')).toBe('mine');
  });

  it('is not made where a link leads nowhere', async () => {
    await symlink(join(folder, 'missing'), path);
    for (const flags of ['a', 'a+', 'w'] as const) {
      await expect(openPrivateFile(path, flags)).rejects.toEqual(refused('link'));
    }
    expect(await readdir(folder)).not.toContain('missing');
  });

  it('has no second name', async () => {
    await link(precious, path);
    for (const flags of everyFlags.filter((one) => one !== 'wx')) {
      await expect(openPrivateFile(path, flags)).rejects.toEqual(refused('second_name'));
      expect(() => openPrivateFileSync(path, flags)).toThrow(refused('second_name'));
    }
    expect(await readFile(precious, 'utf8')).toBe('mine');
  });

  it('is no pipe, which would be waited for', async () => {
    execFileSync('mkfifo', ['-m', '600', path]);
    for (const flags of ['r', 'a', 'w', 'a+'] as const) {
      await expect(openPrivateFile(path, flags)).rejects.toEqual(refused('unsupported'));
    }
  });

  it("is no other user's", async () => {
    const theirs = await strangersFile(folder);
    await expect(openPrivateFile(theirs)).rejects.toEqual(refused('other_user', theirs));
    await expect(checkPrivateFile(theirs)).rejects.toEqual(refused('other_user', theirs));
    const folderOfTheirs = await strangersFolder(folder);
    await expect(checkPrivateFolder(folderOfTheirs)).rejects.toEqual(
      refused('other_user', folderOfTheirs),
    );
  });

  it('is opened, made, emptied and read as any other when it is the own one', async () => {
    const made = await openPrivateFile(path, 'wx');
    await made.writeFile('first');
    await made.close();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const emptied = await openPrivateFile(path, 'w');
    await emptied.writeFile('2');
    await emptied.close();
    const more = await openPrivateFile(path, 'a+');
    await more.appendFile('nd');
    await more.close();
    expect((await readPrivateFile(path)).toString()).toBe('2nd');
    expect(await readPrivateFileIfExists(join(folder, 'missing'))).toHaveLength(0);
    // Folders are opened to be synced, through links too: theirs are above what is kept.
    await symlink(folder, join(folder, 'through'));
    await (await openPrivateFile(join(folder, 'through'))).close();
  });
});

describe('a place that Sluice keeps things in', () => {
  it('is closed to others, or is refused with what to do', async () => {
    await writeFile(path, '', { mode: 0o600 });
    await checkPrivateFile(path);
    for (const mode of [0o640, 0o604, 0o620, 0o601]) {
      await chmod(path, mode);
      await expect(checkPrivateFile(path)).rejects.toEqual(
        refused('open_to_others', path, ` go= ${path}`),
      );
    }
    const inside = join(folder, 'inside');
    await mkdir(inside);
    await writeFile(join(inside, 'journal'), '');
    await chmod(inside, 0o750);
    await expect(checkPrivateFolder(inside)).rejects.toEqual(
      refused('open_to_others', inside, ` -R go= ${inside}`),
    );
    execFileSync('chmod', ['-R', 'go=', inside]);
    await checkPrivateFolder(inside);
  });

  it('is closed when it is empty', async () => {
    await mkdir(path);
    await chmod(path, 0o777);
    await checkPrivateFolder(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it('may be missing', async () => {
    await checkPrivateFolder(path);
    await checkPrivateFile(path);
    await expect(lstat(path)).rejects.toThrow(/ENOENT/);
  });

  it('is asked to be closed only when it is what it should be', async () => {
    await writeFile(path, '', { mode: 0o644 });
    await checkPrivateFolder(path);
    await checkPrivateFile(folder);
  });

  it('is no link, and holds none, not even in its folders', async () => {
    await mkdir(path, { mode: 0o700 });
    await symlink(path, join(folder, 'to-it'));
    await expect(checkPrivateFolder(join(folder, 'to-it'))).rejects.toEqual(
      refused('link', join(folder, 'to-it'), ` ${path},`),
    );
    await mkdir(join(path, 'batches'));
    await checkPrivateFolder(path);
    await symlink(precious, join(path, 'batches', '000001.txt'));
    await expect(checkPrivateFolder(path)).rejects.toEqual(
      refused('link', join(path, 'batches', '000001.txt')),
    );
    // Names that are not used may be anything.
    await checkPrivateFolder(path, (name) => name !== 'batches');
    await symlink(folder, join(path, 'results'));
    await expect(checkPrivateFolder(path, (name) => name !== 'batches')).rejects.toEqual(
      refused('link', join(path, 'results')),
    );
  });
});
