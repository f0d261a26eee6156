import { readFile } from 'node:fs/promises';

/** Where the system does not say how many files may be open, or says more than is of use. */
const mostConnections = 10_000;
/** What is left for the log, batches that are worked on, and conversations with others. */
const reservedFiles = 256;
/** A connection, and the files of the answer or the upload on it. */
const filesAConnection = 3;

/** How many files this process may have open, where the system says so. */
export async function openFilesLimit(path = '/proc/self/limits'): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const line = text.split('\n').find((each) => each.startsWith('Max open files'));
  // The name has three words; the soft limit, which is the one that holds, follows it.
  const soft = Number(line?.split(' ').filter((word) => word !== '')[3]);
  return Number.isSafeInteger(soft) ? soft : undefined;
}

/** How many connections there may be at once, so that files can still be opened. */
export function connectionsFor(openFiles: number | undefined): number {
  if (openFiles === undefined) return 1000;
  const free = openFiles - Math.min(reservedFiles, Math.floor(openFiles / 2));
  return Math.min(mostConnections, Math.max(4, Math.floor(free / filesAConnection)));
}
