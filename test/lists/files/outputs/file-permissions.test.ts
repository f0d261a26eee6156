import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  isMoreOpen,
  mostOpen,
  mostOpenFolder,
  permissionsOf,
} from '../../../../src/lists/files/outputs/output-path.js';
import { useTemporaryFolder } from '../temporary-folder.js';

const at = useTemporaryFolder();

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
