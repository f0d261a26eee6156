import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { describeSystemError, onDisk } from '../../platform/files/disk-errors.js';
import type { FileSystem } from '../../platform/files/file-system.js';
import { makePrivateFolder, type PrivateFolder } from '../../platform/files/private-folder.js';

/** Where a process keeps what it has made of its list on disk: any other process makes the same of it. */
export interface RunScratch {
  readonly path: string;
  readonly batchesPath: string;
  /** For every verified cell the number of its address. */
  readonly ticketsPath: string;
  /** A folder for the addresses of a list that is too large for one table, while it is planned. */
  readonly partitionsPath: string;
  /** Results of earlier runs that stand for addresses of this one. */
  readonly recalledPath: string;
}

/** A scratch of one process, which goes with it. */
export interface PrivateScratch extends RunScratch {
  readonly remove: () => Promise<void>;
}

/**
 * Makes a folder of its own for a process. One among the temporary files is locked, and those of processes
 * that were killed are removed.
 *
 * @param parent the folder in which it is made. @default the system's for temporary files
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
    });
  }
}
