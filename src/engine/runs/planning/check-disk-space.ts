import { OutputError } from '../../../platform/errors/errors.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { counted, grouped } from '../../../platform/text/shown-numbers.js';
import { onDisk } from '../../../platform/files/on-disk.js';

/** What a result takes: eight bytes, and its share of the distinct ones, for which as much is allowed. */
const resultBytesPerAddress = 16;

/**
 * Says before anything is paid that the results would not fit beside the state directory.
 *
 * @throws OutputError naming what is needed and what there is
 */
export async function checkDiskSpace(
  files: FileSystem,
  stateDir: string,
  addresses: number,
): Promise<void> {
  const neededBytes = addresses * resultBytesPerAddress;
  await checkFree(
    files,
    stateDir,
    neededBytes,
    `the results of ${counted(addresses, 'address')} take`,
  );
}

/**
 * Says before the addresses of a large list are numbered that its batches and tickets would not fit.
 *
 * @throws OutputError naming what is needed and what there is
 */
export async function checkPlanSpace(
  files: FileSystem,
  stateDir: string,
  neededBytes: number,
): Promise<void> {
  await checkFree(files, stateDir, neededBytes, 'the batches of the list take');
}

async function checkFree(
  files: FileSystem,
  stateDir: string,
  neededBytes: number,
  what: string,
): Promise<void> {
  const { bavail, bsize } = await onDisk(`look at the disk of ${stateDir}`, async () =>
    files.statfs(stateDir),
  );
  const freeBytes = bavail * bsize;
  if (freeBytes >= neededBytes) return;
  throw new OutputError(
    `the disk of the state directory ${stateDir} has ${shownSize(freeBytes)} free, and ${what} about ${shownSize(neededBytes)}: make room, or name a state directory elsewhere with \`stateDir\``,
  );
}

/** In the smaller unit as long as one is too coarse to compare. */
function shownSize(bytes: number): string {
  return bytes < 10_000_000
    ? `${grouped(Math.ceil(bytes / 1000))} KB`
    : `${grouped(Math.ceil(bytes / 1_000_000))} MB`;
}
