import { closeFile } from './close-file.js';
import type { FileSystem } from './file-system.js';
import { onDisk } from './disk-errors.js';

/** The first chunk is small, as most files are; the one after a full one is larger, up to the most. */
const firstChunkBytes = 16 * 1024;
const mostChunkBytes = 256 * 1024;
const growth = 4;

/**
 * The bytes of a file of the state directory, from its first to its last; the file is closed when the
 * reading ends.
 *
 * @param isLent a chunk is only the reader's until it asks for the one after the next: memory does not
 *   grow with the file, not even by what waits to be collected
 * @throws OutputError
 */
export async function* readFileBytes(
  files: FileSystem,
  path: string,
  isLent = false,
): AsyncGenerator<Buffer> {
  const doing = `read ${path}`;
  const file = await onDisk(doing, async () => files.open(path, 'r'));
  const lent: Buffer[] = [];
  let chunkBytes = firstChunkBytes;
  try {
    for (;;) {
      // One of the two that were lent, or a fresh one, which whoever reads may keep.
      const free = lent.length === 2 ? lent.shift() : undefined;
      const chunk = free?.length === chunkBytes ? free : Buffer.allocUnsafeSlow(chunkBytes);
      if (isLent) lent.push(chunk);
      const { bytesRead, buffer } = await onDisk(doing, async () => file.read(chunk));
      if (bytesRead === 0) return;
      if (bytesRead === chunk.length) chunkBytes = Math.min(chunkBytes * growth, mostChunkBytes);
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await closeFile(file);
  }
}
