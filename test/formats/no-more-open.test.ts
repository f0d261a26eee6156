import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  isMoreOpen,
  newFileMode,
  newFolderMode,
  permissionsOf,
} from '../../src/formats/no-more-open.js';
import { useTemporaryFolder } from './temporary-folder.js';

const at = useTemporaryFolder();

describe('permissions of a new file', () => {
  it('are for its group what the other file gives to everybody, when that has another group', () => {
    const before = process.umask(0o002);
    onTestFinished(() => {
      process.umask(before);
    });
    expect(newFileMode(undefined, 1)).toBe(0o664);
    expect(newFileMode({ mode: 0o640, gid: 1 }, 1)).toBe(0o640);
    expect(newFileMode({ mode: 0o640, gid: 1 }, 2)).toBe(0o600);
    expect(newFileMode({ mode: 0o644, gid: 1 }, 2)).toBe(0o644);
    expect(newFileMode({ mode: 0o604, gid: 1 }, 2)).toBe(0o600);
    expect(newFolderMode({ mode: 0o640, gid: 1 }, 1)).toBe(0o750);
    expect(newFolderMode({ mode: 0o640, gid: 1 }, 2)).toBe(0o700);
    expect(newFolderMode(undefined, 1)).toBe(0o775);
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
