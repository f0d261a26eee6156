import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** A folder of its own for each test; gives the path of what is in it. */
export function useTemporaryFolder(): (name: string) => string {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-formats-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  return (name) => join(folder, name);
}
