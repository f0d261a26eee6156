import { join } from 'node:path';
import type { Source } from '../../../lists/rows/source.js';
import { ConfigurationError, StateError } from '../../../platform/errors/errors.js';
import { type FileSystem, readFileBytes, writeWhole } from '../../../platform/files/file-system.js';
import { onDisk } from '../../../platform/files/disk-errors.js';
import { grouped } from '../../../platform/text/shown-numbers.js';
import { type Clock, systemClock } from '../../../platform/waiting/clock.js';
import { ClaimRevokedError } from '../../batches/claim.js';
import type { SharedRunStore } from '../run-store.js';
import { optionName } from '../../../platform/text/sentence.js';

interface SharedSourceOptions {
  readonly source: Source;
  readonly name: string;
  readonly store: SharedRunStore;
  /** A folder of this process for the copy that it reads. */
  readonly folder: string;
  readonly files: FileSystem;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  /** Whether the list is no longer needed. */
  readonly isOver: () => boolean;
}

const pauseMs = 1000;
const watchMs = 100;
const mostMissed = 5;

/**
 * Makes a source that all processes of a run read alike: one that can be read once, or may give other rows
 * the next time, is copied into the store by the first, and the others read the copy.
 *
 * @returns the source itself where any process may read it; nothing once the run has finished
 */
export async function sharedSource(options: SharedSourceOptions): Promise<Source | undefined> {
  const { source, store, folder, files, signal, isOver, clock = systemClock } = options;
  if (!source.keep || !source.kept) return source;
  const path = join(folder, 'input');
  const of = JSON.stringify([source.name, source.decides ?? {}]);
  for (let missed = 0; !isOver();) {
    // It was complete when the run began, and is dropped at its end, which may be noticed later.
    const isBegun = store.state.run !== undefined;
    const copy = await store.copy.read();
    if (isBegun && !copy) missed += 1;
    if (missed > mostMissed || (copy && copy.of !== of)) throw otherSource(options);
    await onDisk(`remove ${folder}`, async () =>
      files.rm(folder, { recursive: true, force: true }),
    );
    await onDisk(`make ${folder}`, async () => files.mkdir(folder, { mode: 0o700 }));
    if (copy) {
      await writeWhole(files, path, async (file) => {
        for await (const bytes of copy.bytes) await file.writeFile(bytes);
      });
      return source.kept(path);
    }
    const claim = await store.copy.claim();
    if (!claim) {
      await clock.sleep(pauseMs, signal);
      continue;
    }
    try {
      const kept = await keepWithin(options, path, AbortSignal.any([signal, claim.revoked]));
      await claim.write(readFileBytes(files, path), of);
      return kept;
    } catch (error) {
      // Another process begins again.
      if (!(error instanceof ClaimRevokedError)) throw error;
    }
  }
  return undefined;
}

/** Copies a source into a file, within the size limit. */
async function keepWithin(
  { source, store, folder, files }: SharedSourceOptions,
  path: string,
  signal: AbortSignal,
): Promise<Source> {
  const { limitBytes } = store.copy;
  const [tooLarge, over] = [new AbortController(), new AbortController()];
  const check = async (): Promise<void> => {
    if ((await sizeOf(files, folder)) > limitBytes)
      tooLarge.abort(tooLargeError(source, limitBytes));
  };
  const watch = async (): Promise<void> => {
    while (!tooLarge.signal.aborted) {
      await systemClock.sleep(watchMs, over.signal);
      await check();
    }
  };
  const watching = watch().catch(() => undefined);
  try {
    const kept = await source.keep?.(path, AbortSignal.any([signal, tooLarge.signal]));
    await check();
    tooLarge.signal.throwIfAborted();
    return kept ?? source;
  } catch (error) {
    tooLarge.signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
    await watching;
  }
}

/** Size of all files in a folder; an unfinished one has another name. */
async function sizeOf(files: FileSystem, folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await files.readdir(folder)) {
    bytes += await files.stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  return bytes;
}

function tooLargeError({ name }: Source, limitBytes: number): ConfigurationError {
  return new ConfigurationError(
    `${name} can be read once only, or may give other rows the next time, so the processes of the run read a copy of it in the store; it has more than ${grouped(limitBytes)} bytes (${optionName('copyLimitBytes')}). Export it to a file or to object storage first, and verify that. Nothing was sent`,
    { option: 'copyLimitBytes', fault: 'too_large' },
  );
}

function otherSource({ source, name }: SharedSourceOptions): StateError {
  return new StateError(
    `${source.name} is not the source that ${name} was begun with, or it is read in another way; give all processes the same, or another name to another run. Nothing was sent by this process`,
    { code: 'state_mismatch' },
  );
}
