import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { OutputError } from '../errors/errors.js';
import { openOwnFile } from './own-files.js';

/** open(2) on macOS and the BSDs takes the lock itself; Node does not name the flag. */
const bsdExclusiveLock = 0x20;
const bsdPlatforms: readonly string[] = ['darwin', 'freebsd', 'openbsd'];

/**
 * Opens a file and locks it by flock(2), which ends with the open file: neither a time stamp nor a
 * process number has to be believed.
 *
 * @returns `undefined` when another process holds the lock
 * @throws the system's error when the file cannot be locked: `ENOLCK` where the file system has no locks;
 *   OutputError where the command flock is missing
 */
export async function openLocked(path: string): Promise<FileHandle | undefined> {
  if (bsdPlatforms.includes(process.platform)) return openBsd(path);
  const file = await openOwnFile(path, 'a');
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
  const { O_CREAT, O_RDWR, O_NONBLOCK, O_NOFOLLOW } = constants;
  try {
    return await open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW | bsdExclusiveLock, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

/**
 * Lends a descriptor to the command flock: the lock belongs to the open file, which stays this
 * process's own when the command has ended.
 *
 * @returns whether the lock was taken; `false` when another process holds it
 */
async function flock(descriptor: number): Promise<boolean> {
  const { PATH } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn('flock', ['-n', '3'], {
      // Nothing else of the environment: it holds the key.
      env: { ...(PATH !== undefined && { PATH }) },
      stdio: ['ignore', 'ignore', 'pipe', descriptor],
    });
    let words = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      words = `${words}${text}`.slice(0, mostWords);
    });
    child.once('error', (cause) => {
      reject(
        new OutputError('the command flock (package util-linux) is needed for locks: install it', {
          cause,
        }),
      );
    });
    child.once('close', (code, signal) => {
      words = words.trim();
      if (code === 0) resolve(true);
      // The flocks of util-linux and BusyBox say nothing when another process holds the lock.
      else if (code === 1 && words === '') resolve(false);
      else reject(flockFailure(words === '' ? `flock ended with ${code ?? signal}` : words));
    });
  });
}

const mostWords = 500;

/** What the command says in the C locale, and the codes that Node has for it. */
const failures: readonly (readonly [RegExp, string])[] = [
  [/No locks available/, 'ENOLCK'],
  [/Operation not supported|Not supported/, 'ENOTSUP'],
  [/Function not implemented/, 'ENOSYS'],
];

function flockFailure(words: string): Error {
  const code = failures.find(([pattern]) => pattern.test(words))?.[1];
  return Object.assign(new Error(words), code !== undefined && { code });
}
