import type { FilePermissions } from '../index.js';
import { createOutputFile } from '../output-files/output-file.js';

/**
 * Writes a file that appears whole, by rename, or not at all.
 *
 * @param noMoreOpenThan permissions of the file that it tells of
 * @throws ConfigurationError, OutputError; what the bytes fail with
 */
export async function writeWholeFile(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  noMoreOpenThan?: FilePermissions,
): Promise<void> {
  const output = await createOutputFile(path, { noMoreOpenThan });
  try {
    for await (const piece of bytes) await output.write(piece);
    await output.finish();
  } catch (error) {
    await output.abort();
    throw error;
  }
}
