import type { FileHandle } from 'node:fs/promises';
import { systemClock, type Clock } from './clock.js';
import { OutputError, StateError } from '../errors/family.js';
import { closeFile } from './close-file.js';
import type { FileSystem } from './file-system.js';

/** A lock on something on disk: it dies with its process, however that ends. */
export interface FileLock {
  release(): Promise<void>;
}

/** How long to wait for another process to let go. */
export interface LockPatience {
  /** @default 0: a lock that another holds is an error at once */
  readonly waitLockMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

export interface LockedThing {
  /** How messages call what the lock guards. */
  readonly name: string;
  /** The file that is locked; made if need be. */
  readonly path: string;
  /** Makes the folder of the file again, where others may remove it. */
  readonly remake?: () => Promise<void>;
}

const maxTries = 10;
const firstPauseMs = 50;
const longestPauseMs = 1000;

/**
 * Locks a file.
 *
 * @throws StateError `state_locked` when another process holds it for longer than is waited; OutputError
 */
export async function lockFile(
  files: FileSystem,
  { name, path, remake }: LockedThing,
  { waitLockMs = 0, signal, clock = systemClock }: LockPatience = {},
): Promise<FileLock> {
  const untilMs = clock.now() + waitLockMs;
  let pauseMs = firstPauseMs;
  for (let tries = 0; tries < maxTries;) {
    const file = await files.openLocked(path);
    if (!file) {
      const leftMs = untilMs - clock.now();
      if (leftMs <= 0) throw busyError(name, waitLockMs);
      await clock.sleep(Math.min(pauseMs, leftMs), signal);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      continue;
    }
    let isHeld: boolean;
    try {
      isHeld = await isStillThere(files, path, file);
    } catch (error) {
      await closeFile(file);
      throw error;
    }
    if (isHeld) return { release: async () => closeFile(file) };
    // Its holder finished and removed it in between: this lock guards nothing.
    await closeFile(file);
    await remake?.();
    tries += 1;
  }
  throw new OutputError(`${name} is removed again and again by others`);
}

function busyError(name: string, waitLockMs: number): StateError {
  const waited = waitLockMs > 0 ? ` after ${waitLockMs / 1000} s` : '';
  const advice = waitLockMs > 0 ? '' : '; --wait-lock <s> waits for it';
  return new StateError(`another process is working in ${name}${waited}${advice}`, {
    code: 'state_locked',
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
