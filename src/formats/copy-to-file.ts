import type { ByteReader } from './byte-reader.js';
import { createOutputFile } from '../output-files/output-file.js';

/** The file stands when all of the input is in it; only its owner can read it. */
export async function copyToFile(
  path: string,
  openReader: () => Promise<ByteReader>,
): Promise<void> {
  const file = await createOutputFile(path, { mode: 0o600 });
  let reader: ByteReader | undefined;
  try {
    reader = await openReader();
    for (;;) {
      const piece = await reader.read();
      if (piece === undefined) break;
      await file.write(piece);
    }
    await file.finish();
  } catch (error) {
    await file.abort();
    throw error;
  } finally {
    await reader?.close();
  }
}
