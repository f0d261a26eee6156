import type { FileHandle } from 'node:fs/promises';
import { openOwnFile } from '../../platform/files/own-files.js';
import { StringDecoder } from 'node:string_decoder';
import { readLineBlocks } from './line-block.js';

const blockBytes = 64 * 1024;

/**
 * Reads a UTF-8 file in blocks of lines, trimmed and without blank ones, as {@link readLineBlocks} finds
 * them.
 *
 * @param source its path, or the open file, which is closed at the end
 */
export async function* readLines(
  source: string | FileHandle,
): AsyncGenerator<readonly string[], void> {
  for await (const block of readLineBlocks(source)) yield block.texts();
}

/** Reads a UTF-8 file as pieces of text that never cut a character. */
export async function* readText(source: string | FileHandle): AsyncGenerator<string, void> {
  const decoder = new StringDecoder('utf8');
  for await (const block of readBlocks(source)) {
    const text = decoder.write(block);
    if (text !== '') yield text;
  }
  const last = decoder.end();
  if (last !== '') yield last;
}

/** Reads a file in blocks; each block is only good until the next is asked for. */
export async function* readBlocks(
  source: string | FileHandle,
  bytes: number = blockBytes,
): AsyncGenerator<Buffer, void> {
  const file = typeof source === 'string' ? await openOwnFile(source) : source;
  try {
    const buffer = Buffer.allocUnsafe(bytes);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, bytes);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
