import { execFileSync } from 'node:child_process';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, OutputError } from '../../../../src/platform/errors/errors.js';
import {
  checkOutputPath,
  isSameFile,
  isMoreOpen,
  mostOpen,
  mostOpenFolder,
  permissionsOf,
} from '../../../../src/lists/files/outputs/output-path.js';
import { useTemporaryFolder } from '../temporary-folder.js';

const at = useTemporaryFolder();

describe('checkOutputPath', () => {
  it('finds a file that is still to be made, and one that stands there', async () => {
    expect(await checkOutputPath(at('new.csv'))).toEqual({
      path: at('new.csv'),
      realPath: at('new.csv'),
      kind: 'file',
      existing: undefined,
    });
    await writeFile(at('old.csv'), '', { mode: 0o600 });
    expect(await checkOutputPath(at('old.csv'))).toMatchObject({
      kind: 'file',
      existing: { mode: 0o600, uid: process.getuid?.(), gid: process.getgid?.() },
    });
  });

  it('follows links, also to a file that is still to be made', async () => {
    await mkdir(at('folder'));
    await symlink('folder/real.csv', at('one.csv'));
    await symlink(at('one.csv'), at('two.csv'));
    await symlink('folder', at('linked'));
    expect((await checkOutputPath(at('two.csv'))).realPath).toBe(at('folder/real.csv'));
    expect((await checkOutputPath(at('linked/x.csv'))).realPath).toBe(at('folder/x.csv'));
  });

  it('tells pipes, devices and open files of the process from files', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    await symlink('/dev/null', at('nowhere'));
    for (const path of [at('pipe'), at('nowhere'), '/dev/null', '/dev/stdout', '/dev/fd/1']) {
      expect((await checkOutputPath(path)).kind).toBe('direct');
    }
  });

  it('refuses a folder and a file in a folder that is missing', async () => {
    await mkdir(at('folder'));
    await writeFile(at('file'), '');
    for (const [path, fault] of [
      [at('folder'), 'folder'],
      ['/', 'folder'],
      [`${at('new')}/`, 'folder'],
      [at('none/new.csv'), 'missing'],
      [at('file/new.csv'), 'missing'],
    ] as const) {
      const checking = checkOutputPath(path);
      await expect(checking).rejects.toThrow(ConfigurationError);
      await expect(checking).rejects.toMatchObject({ fault, file: path });
    }
  });

  it('refuses links that lead in a circle, a closed descriptor and a name that is too long', async () => {
    await symlink(at('two'), at('one'));
    await symlink(at('one'), at('two'));
    for (const path of [at('one'), '/dev/fd/999', at('x'.repeat(300))]) {
      await expect(checkOutputPath(path)).rejects.toThrow(OutputError);
    }
  });

  it('refuses what may not be written; root may write everything', async () => {
    await mkdir(at('closed'), { mode: 0o500 });
    await writeFile(at('read-only.csv'), '', { mode: 0o400 });
    const paths = [at('closed/new.csv'), at('read-only.csv')];
    const answers = paths.map((path) =>
      checkOutputPath(path).then(
        () => 'may be written',
        (error: unknown) => String(error),
      ),
    );
    expect(await Promise.all(answers)).toEqual(
      paths.map((path) =>
        process.getuid?.() === 0
          ? 'may be written'
          : `OutputError: cannot write ${path}: permission denied`,
      ),
    );
  });
});

describe('isSameFile', () => {
  it('sees through links of both kinds', async () => {
    await writeFile(at('a.csv'), '');
    await writeFile(at('b.csv'), '');
    await symlink('a.csv', at('soft.csv'));
    await link(at('a.csv'), at('hard.csv'));
    for (const other of ['a.csv', 'soft.csv', 'hard.csv', './a.csv']) {
      expect(await isSameFile(at('a.csv'), at(other))).toBe(true);
    }
    expect(await isSameFile(at('a.csv'), at('b.csv'))).toBe(false);
  });

  it('knows that two paths lead to one place before a file is there', async () => {
    await symlink('new.csv', at('soft.csv'));
    await mkdir(at('folder'));
    await symlink('folder', at('other'));
    expect(await isSameFile(at('new.csv'), at('soft.csv'))).toBe(true);
    expect(await isSameFile(at('folder/new.csv'), at('other/new.csv'))).toBe(true);
    expect(await isSameFile(at('folder/new.csv'), at('new.csv'))).toBe(false);
    await writeFile(at('a.csv'), '');
    expect(await isSameFile(at('a.csv'), at('new.csv'))).toBe(false);
  });

  it('takes a device, or what no file can be made of, for no file', async () => {
    expect(await isSameFile(at('none/a.csv'), at('none/a.csv'))).toBe(false);
    expect(await isSameFile('/dev/null', '/dev/null')).toBe(false);
  });
});

describe('permissions of a new file', () => {
  it('are for its group what the other file gives to everybody, when that has another group', () => {
    expect(mostOpen(undefined, 1)).toBe(0o666);
    expect(mostOpen({ mode: 0o640, gid: 1 }, 1)).toBe(0o640);
    expect(mostOpen({ mode: 0o640, gid: 1 }, 2)).toBe(0o600);
    expect(mostOpen({ mode: 0o644, gid: 1 }, 2)).toBe(0o644);
    expect(mostOpen({ mode: 0o604, gid: 1 }, 2)).toBe(0o600);
    expect(mostOpenFolder({ mode: 0o640, gid: 1 }, 1)).toBe(0o750);
    expect(mostOpenFolder({ mode: 0o640, gid: 1 }, 2)).toBe(0o700);
    expect(mostOpenFolder(undefined, 1)).toBe(0o777);
  });

  it('are more open when anybody may do what the other file forbids', () => {
    const input = { mode: 0o640, gid: 1 };
    expect(isMoreOpen({ mode: 0o640, gid: 1 }, input)).toBe(false);
    expect(isMoreOpen({ mode: 0o700, gid: 2 }, input)).toBe(false);
    expect(isMoreOpen({ mode: 0o660, gid: 1 }, input)).toBe(true);
    expect(isMoreOpen({ mode: 0o640, gid: 2 }, input)).toBe(true);
    expect(isMoreOpen({ mode: 0o644, gid: 1 }, input)).toBe(true);
  });

  it('are those of a secret file where the other cannot be asked', async () => {
    await writeFile(at('file'), '', { mode: 0o640 });
    expect((await permissionsOf(at('file'))).mode).toBe(0o640);
    await mkdir(at('folder'));
    expect((await permissionsOf(at('folder/missing'))).mode).toBe(0o600);
  });
});
