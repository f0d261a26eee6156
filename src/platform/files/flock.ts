import { spawn } from 'node:child_process';
import { constants, open, readFile, stat, type FileHandle } from 'node:fs/promises';
import { OutputError } from '../errors/errors.js';
import { openPrivateFile } from './private-files.js';

/** open(2) on macOS and the BSDs takes the lock itself; Node has no names for the flags. */
const [bsdSharedLock, bsdExclusiveLock] = [0x10, 0x20];
const bsdPlatforms: readonly string[] = ['darwin', 'freebsd', 'openbsd'];

/**
 * Opens a file and locks it with flock(2), which ends with the open file: no time stamp or process id has to
 * be trusted.
 *
 * @returns `undefined` when another process holds the lock
 * @throws the system's error when the file cannot be locked: `ENOLCK` where the file system has no locks;
 * OutputError where the command flock is missing
 */
export async function openLocked(path: string, isShared = false): Promise<FileHandle | undefined> {
  if (bsdPlatforms.includes(process.platform)) return openBsd(path, isShared);
  const file = await openPrivateFile(path, 'a');
  try {
    if (await flock(file.fd, isShared)) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

async function openBsd(path: string, isShared: boolean): Promise<FileHandle | undefined> {
  const { O_CREAT, O_RDWR, O_NONBLOCK, O_NOFOLLOW } = constants;
  try {
    const lock = isShared ? bsdSharedLock : bsdExclusiveLock;
    return await open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW | lock, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

/**
 * Passes a descriptor to the command flock: the lock belongs to the open file, which this process keeps when
 * the command has ended.
 *
 * @returns whether the lock was taken; `false` when another process holds it
 */
async function flock(descriptor: number, isShared: boolean): Promise<boolean> {
  const { PATH } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn('flock', [isShared ? '-sn' : '-n', '3'], {
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
      // The flock of util-linux and BusyBox prints nothing when another process holds the lock.
      else if (code === 1 && words === '') resolve(false);
      else reject(flockFailure(words === '' ? `flock ended with ${code ?? signal}` : words));
    });
  });
}

const mostWords = 500;

/** The command's messages in the C locale, and Node's codes for them. */
const failures: readonly (readonly [RegExp, string])[] = [
  [/No locks available/, 'ENOLCK'],
  [/Operation not supported|Not supported/, 'ENOTSUP'],
  [/Function not implemented/, 'ENOSYS'],
];

function flockFailure(words: string): Error {
  const code = failures.find(([pattern]) => pattern.test(words))?.[1];
  return Object.assign(new Error(words), code !== undefined && { code });
}

/**
 * Whether the system lists a lock on a file: `false` proves nothing (macOS, containers).
 *
 * @param access `READ` for locks that others may share. @default any
 * @param list @default Linux's
 */
export async function isListedLocked(
  path: string,
  access?: 'READ',
  list = '/proc/locks',
): Promise<boolean> {
  try {
    const [{ dev, ino }, lines] = await Promise.all([stat(path), readFile(list, 'utf8')]);
    // As makedev(3) has put them together.
    const numbers = [(dev >>> 8) & 0xfff, (dev & 0xff) | ((dev >>> 12) & 0xfff00)];
    const device = numbers.map((each) => each.toString(16).padStart(2, '0')).join(':');
    const locks = lines.split('\n').map((line) => line.trim().split(/\s+/));
    const isOfFile = ([, kind, , , , file]: readonly string[]): boolean =>
      kind === 'FLOCK' && file === `${device}:${ino}`;
    return locks.some((lock) => isOfFile(lock) && (access ?? lock[3]) === lock[3]);
  } catch {
    return false;
  }
}
