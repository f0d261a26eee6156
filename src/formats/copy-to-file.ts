import { writeOutputFile } from '../output-files/output-file.js';
import type { ByteReader } from './byte-reader.js';

/** The file is there when all of the input is in it; only its owner can read it. */
export async function copyToFile(
  path: string,
  openReader: () => Promise<ByteReader>,
): Promise<void> {
  await writeOutputFile(path, piecesOf(openReader), { mode: 0o600 });
}

async function* piecesOf(openReader: () => Promise<ByteReader>): AsyncGenerator<Uint8Array> {
  const reader = await openReader();
  try {
    for (;;) {
      const piece = await reader.read();
      if (piece === undefined) return;
      yield piece;
    }
  } finally {
    await reader.close();
  }
}
