import { open, type FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';

const blockBytes = 64 * 1024;

/**
 * Reads a text file in blocks of lines, trimmed and without blank ones; a byte-order mark at its
 * beginning is no part of the first line. Only LF ends a line; a CR before it falls to trimming.
 *
 * @param source its path, or the open file, which is closed at the end
 */
export async function* readLines(
  source: string | FileHandle,
): AsyncGenerator<readonly string[], void> {
  let rest = '';
  let isFirst = true;
  for await (let text of readText(source)) {
    if (isFirst && text.startsWith('\uFEFF')) text = text.slice(1);
    isFirst = false;
    const pieces = (rest + text).split('\n');
    rest = pieces.pop() ?? '';
    const lines = trimmed(pieces);
    if (lines.length > 0) yield lines;
  }
  const last = trimmed([rest]);
  if (last.length > 0) yield last;
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
  const file = typeof source === 'string' ? await open(source, 'r') : source;
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

function trimmed(lines: readonly string[]): string[] {
  const kept: string[] = [];
  for (const line of lines) {
    const text = line.trim();
    if (text !== '') kept.push(text);
  }
  return kept;
}
