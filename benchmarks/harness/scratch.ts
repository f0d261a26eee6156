import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFolder } from '../data/cached-file.js';

/** Lends a folder on the disk of the data, and removes it with all it holds. */
export async function withScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(dataFolder, { recursive: true });
  const folder = await mkdtemp(join(dataFolder, 'scratch-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
