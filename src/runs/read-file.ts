import { closeFile } from './close-file.js';
import type { FileSystem } from './file-system.js';
import { onDisk } from './on-disk.js';

const chunkBytes = 256 * 1024;

/**
 * The bytes of a file of the state directory, from its first to its last; the file is closed when the
 * reading ends.
 *
 * @throws OutputError
 */
export async function* readFileBytes(files: FileSystem, path: string): AsyncGenerator<Buffer> {
  const doing = `read ${path}`;
  const file = await onDisk(doing, async () => files.open(path, 'r'));
  try {
    for (;;) {
      // A fresh buffer each time: whoever reads may keep what it was given.
      const { bytesRead, buffer } = await onDisk(doing, async () =>
        file.read(Buffer.allocUnsafe(chunkBytes)),
      );
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await closeFile(file);
  }
}
