import { constants } from 'node:fs';
import * as fileSystem from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { OutputError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { refuseWriting } from '../../../platform/files/disk-errors.js';
import { systemErrorCode } from '../../../platform/text/system-errors.js';
import {
  type FilePermissions,
  besidePath,
  putInPlace,
} from '../../../platform/files/file-system.js';
import { openRandomFile } from '../bytes/random-file.js';
import type { ByteOutput } from './byte-output.js';
import {
  holdOutput,
  mostOpen,
  checkOutputPath,
  type OutputFiles,
  type OutputTarget,
} from './output-path.js';

export interface OutputFileOptions {
  /** Permissions of the file. @default the replaced file's, else the process's default */
  readonly mode?: number | undefined;
  /** A new file gets at most these permissions: its content comes from the file that has them. */
  readonly noMoreOpenThan?: FilePermissions | undefined;
  /** The calls on the disk, for tests. @default the system's @internal */
  readonly files?: OutputFiles | undefined;
}

/**
 * Opens an output file that appears complete, by rename, when it is finished, or not at all. Links are
 * followed; mode and, where permitted, owner of a replaced file are kept. Anything but a regular file (a
 * pipe, a device) is written directly.
 */
export async function createOutputFile(
  path: string,
  options: OutputFileOptions = {},
): Promise<ByteOutput> {
  const { mode, noMoreOpenThan, files = fileSystem } = options;
  const target = await checkOutputPath(path, files);
  const refuse = refuseWriting(path);
  const fail = (error: unknown): never => {
    if (isSluiceError(error)) throw error;
    return refuse(error);
  };
  const output = await (
    target.kind === 'direct'
      ? openDirectly(target, files)
      : createReplacement(target, {
          path,
          mode: mode ?? target.existing?.mode,
          noMoreOpenThan,
          files,
        })
  ).catch(fail);
  return {
    givesBack: output.givesBack ?? false,
    write: (bytes) => output.write(bytes).catch(fail),
    finish: () => output.finish().catch(fail),
    ...(output.readBack && { readBack: output.readBack }),
    abort: () => output.abort(),
  };
}

/** Writes such a file from first byte to last. @throws ConfigurationError, OutputError; what the bytes fail with */
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

/** Removes an unfinished file of a killed process. Never fails. */
export async function removeUnfinished(path: string): Promise<void> {
  try {
    const { kind, realPath } = await checkOutputPath(path);
    if (kind === 'direct') return;
    const release = await holdOutput(path, realPath);
    await fileSystem.rm(besidePath(realPath, 'partial'), { force: true });
    await release();
  } catch {
    // Another run writes it, or it does not exist.
  }
}

async function openDirectly({ realPath }: OutputTarget, files: OutputFiles): Promise<ByteOutput> {
  // Appending: `>> list.csv` with /dev/stdout keeps the list's content.
  const handle = await files.open(realPath, constants.O_WRONLY | constants.O_APPEND);
  return {
    givesBack: true,
    write: (bytes) => handle.writeFile(bytes),
    finish: () => handle.close(),
    abort: () => handle.close().catch(() => undefined),
  };
}

interface ReplacementOptions {
  /** Its name in messages. */
  readonly path: string;
  /** Its permissions; `undefined` for the process's default. */
  readonly mode: number | undefined;
  readonly noMoreOpenThan: FilePermissions | undefined;
  readonly files: OutputFiles;
}

/** A file written beside its target that then replaces it. Errors are the system's, but for another process. */
async function createReplacement(
  target: OutputTarget,
  options: ReplacementOptions,
): Promise<ByteOutput> {
  const { files, mode, noMoreOpenThan } = options;
  const path = besidePath(target.realPath, 'partial');
  // Left by a killed process.
  await files.rm(path, { force: true });
  // While it is written it must not be readable to more than the complete file.
  const handle = await files.open(path, 'wx', 0o600).catch((error: unknown) => {
    throw systemErrorCode(error) === 'EEXIST' ? writtenByAnother(options.path) : error;
  });
  const created = await handle.stat().catch(async (error: unknown) => {
    await handle.close().catch(ignore);
    throw error;
  });

  /** Another process may have put its own file at that path. */
  const isUnchanged = async (): Promise<boolean> => {
    const found = await files.stat(path).catch((error: unknown) => {
      if (systemErrorCode(error) !== 'ENOENT') throw error;
    });
    return found !== undefined && found.ino === created.ino && found.dev === created.dev;
  };
  let isOpen = true;
  const abort = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await handle.close().catch(ignore);
    if (await isUnchanged().catch(() => false)) await files.rm(path, { force: true }).catch(ignore);
  };

  return {
    givesBack: true,
    write: (bytes) => handle.writeFile(bytes),
    async finish() {
      try {
        if (mode !== undefined) await takeOver(handle, created, { ...target.existing, mode });
        // Where it cannot be opened to others it stays closed.
        else {
          const most = mostOpen(noMoreOpenThan, created.gid);
          await handle.chmod(await givenMode(`${path}.mode`, most, files)).catch(ignore);
        }
        await putInPlace(files, handle, { from: path, to: target.realPath }, async () => {
          await handle.close();
          if (!(await isUnchanged())) throw writtenByAnother(options.path);
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

function writtenByAnother(path: string): OutputError {
  return new OutputError(`cannot write ${path}: another process writes it at the same time`, {
    file: path,
    fault: 'other_process',
  });
}

/** The process's default mode. Only a file shows it: reading the umask changes it for a moment, for all threads. */
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

/** Sets a file's mode, and its owner where permitted. */
async function takeOver(
  handle: FileHandle,
  created: { readonly uid: number; readonly gid: number },
  { mode, uid = created.uid, gid = created.gid }: { mode: number; uid?: number; gid?: number },
): Promise<void> {
  const isOwner = uid === created.uid && gid === created.gid;
  const isKept =
    isOwner ||
    (await handle.chown(uid, gid).then(
      () => true,
      () => false,
    ));
  // Rights that a set-id bit gave with the old owner must not pass to the new one.
  await handle.chmod(isKept ? mode : mode & 0o777);
}

const ignore = (): undefined => undefined;
