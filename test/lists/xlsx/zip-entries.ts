import { openRandomFile } from '../../../src/lists/files/bytes/random-file.js';
import { readZipDirectory, readZipEntry } from '../../../src/lists/xlsx/zip/zip-reader.js';
import { ZipWriter } from '../../../src/lists/xlsx/zip/zip-writer.js';
import { MemoryOutput } from '../files/outputs/memory-output.js';

/** A zip archive of these files, by name. */
export async function zipOf(
  entries: Iterable<readonly [name: string, content: string | Uint8Array]>,
): Promise<Buffer> {
  const output = new MemoryOutput();
  const writer = new ZipWriter(output);
  for (const [name, content] of entries) {
    await writer.begin(name);
    await writer.write(Buffer.from(content));
    await writer.close();
  }
  await writer.end();
  return output.bytes;
}

/** The texts of the files in an archive, by name. */
export async function unzip(path: string): Promise<Map<string, string>> {
  const file = await openRandomFile(path, path);
  const entries = new Map<string, string>();
  for (const entry of (await readZipDirectory(file)).values()) {
    const pieces: Buffer[] = [];
    for await (const piece of readZipEntry(file, entry)) pieces.push(piece);
    entries.set(entry.name, Buffer.concat(pieces).toString());
  }
  await file.close();
  return entries;
}
