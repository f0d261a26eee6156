import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { onDisk } from '../../platform/files/disk-errors.js';
import { describeSystemError } from '../../platform/text/system-errors.js';
import type { FileSystem } from '../../platform/files/file-system.js';
import { makePrivateFolder, type PrivateFolder } from '../../platform/files/private-folder.js';

/** Files that a process derives from its list: any other process derives the same. */
export interface RunScratch {
  readonly path: string;
  readonly batchesPath: string;
  /** The address number of every verified cell. */
  readonly ticketsPath: string;
  /** Folder for the addresses of a list too large for one table, while it is planned. */
  readonly partitionsPath: string;
  readonly recalledPath: string;
}

export interface PrivateScratch extends RunScratch {
  readonly remove: () => Promise<void>;
}

/**
 * Makes a private folder for a process. In the temporary folder it is locked, and those of killed processes
 * are removed.
 *
 * @param parent its parent. @default the system's temporary folder
 */
export async function makeScratch(
  files: FileSystem,
  parent: string | undefined,
): Promise<PrivateScratch> {
  const { path, remove } =
    parent === undefined ? await makePrivateFolder() : await makeFolderIn(files, parent);
  const batchesPath = join(path, 'batches');
  await onDisk(`make ${batchesPath}`, async () => files.mkdir(batchesPath, { mode: 0o700 }));
  return {
    path,
    batchesPath,
    ticketsPath: join(path, 'tickets'),
    partitionsPath: join(path, 'partitions'),
    recalledPath: join(path, 'recalled'),
    remove,
  };
}

async function makeFolderIn(files: FileSystem, parent: string): Promise<PrivateFolder> {
  const path = join(parent, `sluice-${randomUUID()}`);
  try {
    await files.mkdir(path, { recursive: true, mode: 0o700 });
    const remove = async (): Promise<void> =>
      files.rm(path, { recursive: true, force: true }).catch(() => undefined);
    return { path, remove };
  } catch (cause) {
    throw new ConfigurationError(`cannot write to ${parent}: ${describeSystemError(cause)}`, {
      cause,
      file: parent,
    });
  }
}
