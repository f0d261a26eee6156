import { join } from 'node:path';
import { ClaimLostError } from '../../batches/batch-claim.js';
import { ConfigurationError, StateError } from '../../../platform/errors/errors.js';
import type { Source } from '../../../lists/rows/source.js';
import { systemClock, type Clock } from '../../../platform/waiting/clock.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { writeWhole } from '../../../platform/files/whole-file.js';
import { grouped } from '../../../platform/text/shown-numbers.js';
import { onDisk } from '../../../platform/files/on-disk.js';
import { readFileBytes } from '../../../platform/files/read-file.js';
import type { SharedRunStore } from '../run-store.js';

export interface SharedSourceOptions {
  readonly source: Source;
  /** The run and where it is, for messages. */
  readonly name: string;
  readonly state: Pick<SharedRunStore, 'copy' | 'known'>;
  /** A folder of this process: what it reads of the copy is kept in it. */
  readonly folder: string;
  readonly files: FileSystem;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  /** Whether the list is needed no more. */
  readonly isOver: () => boolean;
}

const pauseMs = 1000;
const watchMs = 100;
const mostMissed = 5;

/**
 * Makes a source that all processes of a run read alike of one that can be read once, or may give other
 * rows the next time: the first copies it into the store, each other waits for that and reads the copy.
 *
 * @returns the source itself where any process may read it, and nothing once the run has finished
 * @throws ConfigurationError when it is too large to be copied; StateError `state_mismatch` when the copy is
 *   one of another source; InputError, OutputError
 */
export async function sharedSource(options: SharedSourceOptions): Promise<Source | undefined> {
  const { source, state, folder, files, signal, isOver, clock = systemClock } = options;
  if (!source.keep || !source.kept) return source;
  const path = join(folder, 'input');
  const of = JSON.stringify([source.name, source.decides ?? {}]);
  for (let missed = 0; !isOver();) {
    // It was whole when the run was begun, and is dropped when it ends, which is heard of a little later.
    const isBegun = state.known.run !== undefined;
    const copy = await state.copy.read();
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
    const claim = await state.copy.claim();
    if (!claim) {
      await clock.sleep(pauseMs, signal);
      continue;
    }
    try {
      const kept = await keepWithin(options, path, AbortSignal.any([signal, claim.lost]));
      await claim.write(readFileBytes(files, path), of);
      return kept;
    } catch (error) {
      // Another process begins again.
      if (!(error instanceof ClaimLostError)) throw error;
    }
  }
  return undefined;
}

/** Reads all of a source into a file, while that is not too large. */
async function keepWithin(
  { source, state, folder, files }: SharedSourceOptions,
  path: string,
  signal: AbortSignal,
): Promise<Source> {
  const { limitBytes } = state.copy;
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

/** Of all files in a folder: one that is not whole has another name. */
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
    `${name} can be read once only, or may give other rows the next time, so the processes of the run read a copy of it in the store; it has more than ${grouped(limitBytes)} bytes (\`copyLimitBytes\`). Export it to a file or to object storage first, and verify that. Nothing was sent`,
  );
}

function otherSource({ source, name }: SharedSourceOptions): StateError {
  return new StateError(
    `${source.name} is not the source that ${name} was begun with, or it is read in another way; give all processes the same, or another name to another run. Nothing was sent by this process`,
    { code: 'state_mismatch' },
  );
}
