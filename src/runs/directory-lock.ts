import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { OutputError, StateError } from '../errors/family.js';
import type { FileSystem } from './file-system.js';

/** A lock on a state directory: it dies with its process, however that ends. */
export interface DirectoryLock {
  release(): Promise<void>;
}

/** open(2) on macOS and the BSDs takes the lock itself; Node does not name the flag. */
const bsdExclusiveLock = 0x20;
const bsdPlatforms: readonly string[] = ['darwin', 'freebsd', 'openbsd'];
const maxTries = 10;

/**
 * Locks a directory through a file in it.
 *
 * @throws StateError `state_locked` when another process holds it
 */
export async function lockDirectory(files: FileSystem, directory: string): Promise<DirectoryLock> {
  const path = join(directory, 'lock');
  for (let tries = 0; tries < maxTries; tries += 1) {
    const file = await openLocked(files, path, directory);
    if (await isStillThere(files, path, file)) return { release: async () => file.close() };
    // Its holder finished and removed the directory in between: this lock guards nothing.
    await file.close();
    await files.mkdir(directory, { recursive: true, mode: 0o700 });
  }
  throw new OutputError(`the state directory ${directory} is removed again and again by others`);
}

async function openLocked(files: FileSystem, path: string, directory: string): Promise<FileHandle> {
  if (bsdPlatforms.includes(process.platform)) return openBsd(files, path, directory);
  const file = await files.open(path, 'a', 0o600);
  try {
    if (!(await flock(file.fd))) throw lockedByOther(directory);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openBsd(files: FileSystem, path: string, directory: string): Promise<FileHandle> {
  const { O_CREAT, O_RDWR, O_NONBLOCK } = constants;
  try {
    return await files.open(path, O_RDWR | O_CREAT | O_NONBLOCK | bsdExclusiveLock, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') throw lockedByOther(directory);
    throw error;
  }
}

/**
 * Takes flock(2) on a descriptor by lending it to the command of that name: the lock belongs to the
 * open file, which stays this process's own when the command has ended.
 */
async function flock(descriptor: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', ['-n', '3'], {
      stdio: ['ignore', 'ignore', 'ignore', descriptor],
    });
    child.once('error', (cause) => {
      reject(
        new OutputError(
          'the command flock (package util-linux) is needed to lock the state directory; install it',
          { cause },
        ),
      );
    });
    child.once('exit', (code) => {
      resolve(code === 0);
    });
  });
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

function lockedByOther(directory: string): StateError {
  return new StateError(`another process is working in the state directory ${directory}`, {
    code: 'state_locked',
  });
}
