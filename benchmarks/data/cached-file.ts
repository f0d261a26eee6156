import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Where data and outputs of the benchmarks lie. They are run in the project's folder. */
export const dataFolder = resolve('.cache/benchmark-data');

/** Makes a file from pieces of text unless it is there: the same name is the same content. */
export async function cachedFile(name: string, pieces: () => Iterable<string>): Promise<string> {
  const path = join(dataFolder, name);
  if (existsSync(path)) return path;
  await mkdir(dataFolder, { recursive: true });
  const file = await open(`${path}.part`, 'w');
  try {
    for (const block of blocks(pieces())) await file.appendFile(block);
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
  return path;
}

const blockCharacters = 1024 * 1024;

function* blocks(pieces: Iterable<string>): Generator<string> {
  let block = '';
  for (const piece of pieces) {
    block += piece;
    if (block.length < blockCharacters) continue;
    yield block;
    block = '';
  }
  yield block;
}

export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
