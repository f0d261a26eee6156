import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { OutputError, StateError } from '../errors/family.js';
import { closeFile } from './close-file.js';
import type { FileSystem } from './file-system.js';

/** A lock on a state directory: it dies with its process, however that ends. */
export interface DirectoryLock {
  release(): Promise<void>;
}

const maxTries = 10;

/**
 * Locks a directory through a file in it.
 *
 * @throws StateError `state_locked` when another process holds it
 */
export async function lockDirectory(files: FileSystem, directory: string): Promise<DirectoryLock> {
  const path = join(directory, 'lock');
  for (let tries = 0; tries < maxTries; tries += 1) {
    const file = await files.openLocked(path);
    if (!file) {
      throw new StateError(`another process is working in the state directory ${directory}`, {
        code: 'state_locked',
      });
    }
    let isHeld: boolean;
    try {
      isHeld = await isStillThere(files, path, file);
    } catch (error) {
      await closeFile(file);
      throw error;
    }
    if (isHeld) return { release: async () => closeFile(file) };
    // Its holder finished and removed the directory in between: this lock guards nothing.
    await closeFile(file);
    await files.mkdir(directory, { recursive: true, mode: 0o700 });
  }
  throw new OutputError(`the state directory ${directory} is removed again and again by others`);
}

async function isStillThere(files: FileSystem, path: string, file: FileHandle): Promise<boolean> {
  const own = await file.stat();
  try {
    const there = await files.stat(path);
    return there.ino === own.ino && there.dev === own.dev;
  } catch {
    return false;
  }
}
