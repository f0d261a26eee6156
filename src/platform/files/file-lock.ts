import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemClock, type Clock } from '../waiting/clock.js';
import { ConfigurationError, OutputError, StateError } from '../errors/errors.js';
import { isSluiceError } from '../errors/is-sluice-error.js';
import { closeFile, type FileSystem } from './file-system.js';
import { systemErrorCode } from '../text/system-errors.js';
import { optionName } from '../text/sentence.js';

/** A lock on something on disk, released when its process ends in any way. */
export interface FileLock {
  release(): Promise<void>;
}

/** How long to wait for another run that has what this one needs, such as the same output. */
export interface LockWait {
  /** In milliseconds. @default 0: fails at once */
  readonly waitLockMs?: number | undefined;
  /** Ends the wait, with its reason. @default never */
  readonly signal?: AbortSignal | undefined;
  /** @default the system's */
  readonly clock?: Clock | undefined;
  /** Called when another run has taken it, while the server that knows of it was away. */
  readonly onLost?: ((error: Error) => void) | undefined;
}

interface LockTarget {
  readonly name: string;
  /** The locked file; created when missing. */
  readonly path: string;
  /** What its holder does with it. @default 'is working in' */
  readonly does?: string;
  /** The option that gives its location, by its name in a program. */
  readonly option: string;
  /** Whether the user can wait for it, with `waitLockMs`. @default true */
  readonly canWait?: boolean;
  /** Whether others may hold it so, too. @default false */
  readonly isShared?: boolean;
  /** Recreates the file's folder, where others may remove it. */
  readonly remake?: () => Promise<void>;
}

const maxTries = 10;
const firstPauseMs = 50;
const longestPauseMs = 1000;

export async function lockFile(
  files: FileSystem,
  target: LockTarget,
  { waitLockMs = 0, signal, clock = systemClock }: LockWait = {},
): Promise<FileLock> {
  const { name, path, remake } = target;
  const untilMs = clock.now() + waitLockMs;
  for (let tries = 0; tries < maxTries; tries += 1) {
    const file = await waitToOpen();
    if (file && (await isHeld(file))) return lockOf(path, file);
    // Its holder finished and removed it, or the whole folder, in between.
    await remake?.();
  }
  throw new OutputError(`${name} is removed again and again by others`);

  /** @returns nothing where the file's folder is gone */
  async function waitToOpen(): Promise<FileHandle | undefined> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        const file = await files.openLocked(path, target.isShared);
        if (file) {
          heldHere.add(path);
          return file;
        }
      } catch (error) {
        if (remake && systemErrorCode(error) === 'ENOENT') return undefined;
        refuseLock(target, error);
      }
      const leftMs = untilMs - clock.now();
      if (leftMs <= 0) throw lockedError({ ...target, isHere: heldHere.has(path) }, waitLockMs);
      await clock.sleep(Math.min(pauseMs, leftMs), signal);
    }
  }

  async function isHeld(file: FileHandle): Promise<boolean> {
    try {
      if (await stillExists(files, path, file)) return true;
    } catch (error) {
      await lockOf(path, file).release();
      throw error;
    }
    await lockOf(path, file).release();
    return false;
  }
}

const heldHere = new Set<string>();

function lockOf(path: string, file: FileHandle): FileLock {
  return {
    async release() {
      heldHere.delete(path);
      await closeFile(file);
    },
  };
}

export function lockedError(
  {
    name,
    canWait,
    does = 'is working in',
    option,
    path,
    isHere,
  }: Pick<LockTarget, 'name' | 'canWait' | 'does' | 'option'> & {
    readonly path?: string;
    /** Whether this process holds it, where that is known. */
    readonly isHere?: boolean;
  },
  waitLockMs: number,
): StateError {
  const waited = waitLockMs > 0 ? ` after ${waitLockMs / 1000} s` : '';
  const paidAgain =
    option === 'history'
      ? ''
      : ` (a finished run is paid for again without ${optionName('history')})`;
  const advice =
    canWait === false || waitLockMs > 0
      ? ''
      : `; wait for it with ${optionName('waitLockMs')}${paidAgain}`;
  const holder = isHere === true ? 'another run of this process' : 'another process';
  return new StateError(`${holder} ${does} ${name}${waited}${advice}`, {
    code: 'state_locked',
    option: advice && 'waitLockMs',
    file: path,
    ...(isHere !== undefined && { fault: isHere ? 'same_process' : 'other_process' }),
  });
}

/** System errors of file systems without locks, such as some network folders. */
const noLocks: readonly unknown[] = ['ENOLCK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

function refuseLock({ name, path, option }: LockTarget, cause: unknown): never {
  if (isSluiceError(cause) || !(cause instanceof Error)) throw cause;
  if (systemErrorCode(cause) === 'ENOENT') {
    throw new ConfigurationError(`cannot write ${name}: its folder does not exist`, {
      cause,
      file: path,
      fault: 'missing',
    });
  }
  if (!noLocks.includes((cause as NodeJS.ErrnoException).code)) {
    throw new OutputError(`cannot lock ${name}: ${cause.message}`, { cause });
  }
  throw new ConfigurationError(
    `the file system of ${dirname(path)} does not support locks, so two processes could work in ${name} at once: put ${optionName(option)} on a local disk`,
    { cause, option, file: path, fault: 'no_locks' },
  );
}

async function stillExists(files: FileSystem, path: string, file: FileHandle): Promise<boolean> {
  const held = await file.stat();
  try {
    const current = await files.stat(path);
    return current.ino === held.ino && current.dev === held.dev;
  } catch {
    return false;
  }
}
