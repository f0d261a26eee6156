import { mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { makeScratch } from '../../../src/engine/stores/scratch.js';
import { systemFiles } from '../../../src/platform/files/file-system.js';
import { withFolder } from '../../service/with-service.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

it('removes what processes have left that were killed, and nothing else', async () => {
  const folder = await withFolder();
  vi.stubEnv('TMPDIR', folder);
  await mkdir(join(folder, 'sluice-process-Killed'));
  await mkdir(join(folder, 'sluice-process-of-others'));
  const past = new Date(Date.now() - 3_600_000);
  for (const name of await readdir(folder)) await utimes(join(folder, name), past, past);
  const one = await makeScratch(systemFiles, undefined);
  const other = await makeScratch(systemFiles, undefined);
  const shared = dirname(one.path);
  expect(dirname(other.path)).toBe(shared);
  expect(await readdir(folder)).toHaveLength(2);
  expect(await readdir(folder)).toEqual(
    expect.arrayContaining(['sluice-process-of-others', basename(shared)]),
  );
  await one.remove();
  expect((await readdir(shared)).toSorted()).toEqual(['lock', basename(other.path)].toSorted());
  await other.remove();
  expect(await readdir(shared)).toEqual(['lock']);
});

it('has another where the folder of the process was removed', async () => {
  const folder = await withFolder();
  vi.stubEnv('TMPDIR', folder);
  const first = await makeScratch(systemFiles, undefined);
  await rm(dirname(first.path), { recursive: true });
  const next = await makeScratch(systemFiles, undefined);
  expect(await readdir(next.path)).toEqual(['batches']);
  expect(await readdir(folder)).toEqual([basename(dirname(next.path))]);
});
