import type { FileHandle } from 'node:fs/promises';

/**
 * Closes a file that was only read, or whose bytes are safe on the disk: what the system says to that
 * changes nothing, and must not hide what went wrong before.
 */
export async function closeFile(file: FileHandle): Promise<void> {
  try {
    await file.close();
  } catch {
    // The descriptor is gone all the same.
  }
}
