import { constants } from 'node:fs';
import * as fileSystem from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { refuseWriting, systemErrorCode } from '../../../platform/files/disk-errors.js';
import type { FilePermissions } from '../../../platform/files/file-system.js';
import { openRandomFile } from '../../../platform/files/random-file.js';
import { besidePath, putInPlace } from '../../../platform/files/whole-file.js';
import type { ByteOutput } from './byte-output.js';
import {
  holdOutput,
  mostOpen,
  checkOutputPath,
  type OutputFiles,
  type OutputTarget,
} from './output-path.js';

export interface OutputFileOptions {
  /**
   * Permissions of the file.
   * @default those of the file that is replaced, else what the process gives new files
   */
  readonly mode?: number | undefined;
  /** A new file gets no more than these permissions: what is in it comes from the file that has them. */
  readonly noMoreOpenThan?: FilePermissions | undefined;
  /** The calls on the disk, for tests. @default the system's @internal */
  readonly files?: OutputFiles | undefined;
}

/**
 * Opens a file for writing that appears whole, by rename, when it is finished, or not at all. Links are
 * followed; mode and, where permitted, owner of the file that is replaced are kept. What is no regular
 * file (a pipe, a device) is written directly.
 */
export async function createOutputFile(
  path: string,
  options: OutputFileOptions = {},
): Promise<ByteOutput> {
  const { mode, noMoreOpenThan, files = fileSystem } = options;
  const target = await checkOutputPath(path, files);
  const fail = refuseWriting(path);
  const output = await (
    target.kind === 'direct'
      ? openDirectly(target, files)
      : createReplacement(target, { mode: mode ?? target.existing?.mode, noMoreOpenThan, files })
  ).catch(fail);
  return {
    givesBack: output.givesBack ?? false,
    write: (bytes) => output.write(bytes).catch(fail),
    finish: () => output.finish().catch(fail),
    ...(output.readBack && { readBack: output.readBack }),
    abort: () => output.abort(),
  };
}

/**
 * Writes such a file from its first byte to its last.
 *
 * @throws ConfigurationError, OutputError; what the bytes fail with
 */
export async function writeOutputFile(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options?: OutputFileOptions,
): Promise<void> {
  const output = await createOutputFile(path, options);
  try {
    for await (const piece of bytes) await output.write(piece);
    await output.finish();
  } catch (error) {
    await output.abort();
    throw error;
  }
}

/** Removes what a process that was killed has left of a file, beside it. Never fails. */
export async function removeUnfinished(path: string): Promise<void> {
  try {
    const { kind, realPath } = await checkOutputPath(path);
    if (kind === 'direct') return;
    const release = await holdOutput(path, realPath);
    await fileSystem.rm(besidePath(realPath, 'partial'), { force: true });
    await release();
  } catch {
    // Another run writes it, or nothing is there that could be removed.
  }
}

async function openDirectly({ realPath }: OutputTarget, files: OutputFiles): Promise<ByteOutput> {
  // Appending: `>> list.csv` with /dev/stdout keeps what the list holds already.
  const handle = await files.open(realPath, constants.O_WRONLY | constants.O_APPEND);
  return {
    givesBack: true,
    write: (bytes) => handle.writeFile(bytes),
    finish: () => handle.close(),
    abort: () => handle.close().catch(() => undefined),
  };
}

interface ReplacementOptions {
  /** Permissions it is to have; `undefined` for those that the process gives new files. */
  readonly mode: number | undefined;
  /** Holds the permissions of a new file back. */
  readonly noMoreOpenThan: FilePermissions | undefined;
  readonly files: OutputFiles;
}

/** A file that is written beside its target and then takes the target's place. Errors are the system's. */
async function createReplacement(
  target: OutputTarget,
  options: ReplacementOptions,
): Promise<ByteOutput> {
  const { files, mode, noMoreOpenThan } = options;
  const path = besidePath(target.realPath, 'partial');
  // What a process that was killed has left.
  await files.rm(path, { force: true });
  // While it is written nobody may read it who may not when it is complete.
  const handle = await files.open(path, 'wx', 0o600).catch((error: unknown) => {
    throw systemErrorCode(error) === 'EEXIST' ? writtenByAnother() : error;
  });
  const own = await handle.stat().catch(async (error: unknown) => {
    await handle.close().catch(ignore);
    throw error;
  });

  /** The path is no secret: another process may have put its own file there. */
  const isOwn = async (): Promise<boolean> => {
    const found = await files.stat(path).catch((error: unknown) => {
      if (systemErrorCode(error) !== 'ENOENT') throw error;
    });
    return found !== undefined && found.ino === own.ino && found.dev === own.dev;
  };
  let isOpen = true;
  const abort = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await handle.close().catch(ignore);
    if (await isOwn().catch(() => false)) await files.rm(path, { force: true }).catch(ignore);
  };

  return {
    givesBack: true,
    write: (bytes) => handle.writeFile(bytes),
    async finish() {
      try {
        if (mode !== undefined) await takeOver(handle, own, { ...target.existing, mode });
        // Where it cannot be opened to others it stays closed.
        else {
          const most = mostOpen(noMoreOpenThan, own.gid);
          await handle.chmod(await givenMode(`${path}.mode`, most, files)).catch(ignore);
        }
        await putInPlace(files, handle, { from: path, to: target.realPath }, async () => {
          await handle.close();
          if (!(await isOwn())) throw writtenByAnother();
        });
      } catch (error) {
        await abort();
        throw error;
      }
      isOpen = false;
    },
    readBack: () => openRandomFile(path, target.realPath),
    abort,
  };
}

function writtenByAnother(): Error {
  return new Error('another process writes it at the same time');
}

/**
 * What the process makes of a new file's permissions. Only a file shows it: to ask for the umask is to
 * change it for a moment, for all threads.
 */
async function givenMode(
  path: string,
  most: number,
  files: ReplacementOptions['files'],
): Promise<number> {
  await files.rm(path, { force: true });
  const file = await files.open(path, 'wx', most);
  try {
    return (await file.stat()).mode & most;
  } finally {
    await file.close();
    await files.rm(path, { force: true });
  }
}

/** Gives a file its mode, and its owner where that is permitted. */
async function takeOver(
  handle: FileHandle,
  own: { readonly uid: number; readonly gid: number },
  { mode, uid = own.uid, gid = own.gid }: { mode: number; uid?: number; gid?: number },
): Promise<void> {
  const isOwned = uid === own.uid && gid === own.gid;
  const isKept =
    isOwned ||
    (await handle.chown(uid, gid).then(
      () => true,
      () => false,
    ));
  // Rights that a set-id bit gave with the old owner must not be given with the new one.
  await handle.chmod(isKept ? mode : mode & 0o777);
}

function ignore(): void {
  // Nothing is lost by it.
}
