import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { OutputError } from '../errors/family.js';

/** open(2) on macOS and the BSDs takes the lock itself; Node does not name the flag. */
const bsdExclusiveLock = 0x20;
const bsdPlatforms: readonly string[] = ['darwin', 'freebsd', 'openbsd'];

/**
 * Opens a file and locks it by flock(2), which ends with the open file: neither a time stamp nor a
 * process number has to be believed.
 *
 * @returns `undefined` when another process holds the lock
 * @throws OutputError where the command flock is missing
 */
export async function openLocked(path: string): Promise<FileHandle | undefined> {
  if (bsdPlatforms.includes(process.platform)) return openBsd(path);
  const file = await open(path, 'a', 0o600);
  try {
    if (await flock(file.fd)) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

async function openBsd(path: string): Promise<FileHandle | undefined> {
  const { O_CREAT, O_RDWR, O_NONBLOCK } = constants;
  try {
    return await open(path, O_RDWR | O_CREAT | O_NONBLOCK | bsdExclusiveLock, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

/**
 * Lends a descriptor to the command flock: the lock belongs to the open file, which stays this
 * process's own when the command has ended.
 */
async function flock(descriptor: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', ['-n', '3'], {
      stdio: ['ignore', 'ignore', 'ignore', descriptor],
    });
    child.once('error', (cause) => {
      reject(
        new OutputError(
          'the command flock (package util-linux) is needed to lock the state directory: install it',
          { cause },
        ),
      );
    });
    child.once('exit', (code) => {
      resolve(code === 0);
    });
  });
}
