import { mkdir, readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { makeScratch } from '../../../src/engine/stores/scratch.js';
import { systemFiles } from '../../../src/platform/files/file-system.js';
import { withFolder } from '../../service/with-service.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

it('removes what processes have left that were killed, and nothing of those that live', async () => {
  const folder = await withFolder();
  vi.stubEnv('TMPDIR', folder);
  const living = await makeScratch(systemFiles, undefined);
  await mkdir(join(folder, 'sluice-run-Killed'));
  await mkdir(join(folder, 'sluice-of-others'));
  const past = new Date(Date.now() - 3_600_000);
  for (const name of await readdir(folder)) await utimes(join(folder, name), past, past);
  const next = await makeScratch(systemFiles, undefined);
  const left = [living.path, next.path, join(folder, 'sluice-of-others')];
  expect((await readdir(folder)).map((name) => join(folder, name)).toSorted()).toEqual(
    left.toSorted(),
  );
  await living.remove();
  await next.remove();
  expect(await readdir(folder)).toEqual(['sluice-of-others']);
});
