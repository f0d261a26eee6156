import { isAscii } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { openPrivateFile } from '../../platform/files/private-files.js';

const blockBytes = 256 * 1024;

/** Buffers kept for the files and answers that are open at once. */
const mostKept = 16;
const kept: Buffer[] = [];

/** Borrows a buffer with any content: new ones for each file and piece would cause garbage collections. */
export function borrowBuffer(): Buffer {
  return kept.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
}

/** Returns a buffer that is no longer used; one of another size is left to the collector. */
export function returnBuffer(block: Buffer): void {
  if (block.length === blockBytes && kept.length < mostKept) kept.push(block);
}

const newline = 0x0a;
const lineEnd = Uint8Array.of(newline);

/**
 * Lines of a text file as bytes: trimmed, without blank ones. Most are only compared, hashed and copied,
 * without making text. Valid until the next block is requested.
 */
export class LineBlock {
  readonly bytes: Buffer;
  readonly count: number;
  readonly #bounds: Uint32Array;
  /** The block as text if it is ASCII; else `null`. */
  #ascii: string | null | undefined;

  constructor(bytes: Buffer, bounds: Uint32Array, count: number) {
    this.bytes = bytes;
    this.#bounds = bounds;
    this.count = count;
  }

  begin(index: number): number {
    return this.#bounds[index * 2] ?? 0;
  }

  end(index: number): number {
    return this.#bounds[index * 2 + 1] ?? 0;
  }

  text(index: number): string {
    if (this.#ascii === undefined) {
      this.#ascii = isAscii(this.bytes) ? this.bytes.toString('latin1') : null;
    }
    return this.#ascii === null
      ? this.bytes.toString('utf8', this.begin(index), this.end(index))
      : this.#ascii.slice(this.begin(index), this.end(index));
  }

  texts(): string[] {
    return Array.from({ length: this.count }, (_, index) => this.text(index));
  }

  /** The lines at these ascending positions, as bytes, each ending with LF. */
  *runs(places: Uint32Array): Generator<Uint8Array, void> {
    let index = 0;
    while (index < places.length) {
      const begin = this.begin(places[index] ?? 0);
      let end = this.end(places[index] ?? 0);
      // Lines separated only by LF are one run.
      for (index += 1; index < places.length; index += 1) {
        const next = places[index] ?? 0;
        if (this.begin(next) !== end + 1) break;
        end = this.end(next);
      }
      if (this.bytes[end] === newline) {
        yield this.bytes.subarray(begin, end + 1);
      } else {
        yield this.bytes.subarray(begin, end);
        yield lineEnd;
      }
    }
  }
}

/**
 * Reads a UTF-8 file in blocks of lines. Only LF ends a line; a CR before it is trimmed, like a byte-order
 * mark.
 *
 * @param source its path, or the open file, which is closed at the end
 */
export async function* readLineBlocks(
  source: string | FileHandle,
): AsyncGenerator<LineBlock, void> {
  const file = typeof source === 'string' ? await openPrivateFile(source) : source;
  let buffer = borrowBuffer();
  try {
    let bounds = new Uint32Array(2048);
    /** Bytes at the beginning of the buffer that are read, and in no block yet. */
    let filled = 0;
    let isAtEnd = false;
    while (!isAtEnd) {
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled);
      isAtEnd = bytesRead === 0;
      const from = filled;
      filled += bytesRead;
      const whole = isAtEnd ? filled : lastLineEnd(buffer, from, filled);
      if (whole > 0) {
        const bytes = buffer.subarray(0, whole);
        const found = findLines(bytes, bounds);
        bounds = found.bounds;
        if (found.count > 0) yield new LineBlock(bytes, bounds, found.count);
        buffer.copyWithin(0, whole, filled);
        filled -= whole;
      }
      if (filled === buffer.length) {
        const larger = Buffer.allocUnsafe(buffer.length * 2);
        buffer.copy(larger);
        buffer = larger;
      }
    }
  } finally {
    await file.close();
    returnBuffer(buffer);
  }
}

/** Position after the last LF of the new bytes; 0 without one. */
function lastLineEnd(buffer: Buffer, from: number, filled: number): number {
  const last = buffer.subarray(from, filled).lastIndexOf(newline);
  return last === -1 ? 0 : from + last + 1;
}

function findLines(
  bytes: Buffer,
  room: Uint32Array<ArrayBuffer>,
): { readonly bounds: Uint32Array<ArrayBuffer>; readonly count: number } {
  let bounds = room;
  let count = 0;
  let next = 0;
  while (next < bytes.length) {
    let begin = next;
    let end = begin;
    // Lines are short: the call of a search takes longer.
    while (end < bytes.length && bytes[end] !== newline) end += 1;
    next = end + 1;
    while (begin < end && isAsciiSpace(bytes[end - 1])) end -= 1;
    while (begin < end && isAsciiSpace(bytes[begin])) begin += 1;
    if (begin === end) continue;
    if (!isAsciiByte(bytes[begin]) || !isAsciiByte(bytes[end - 1])) {
      const text = bytes.toString('utf8', begin, end);
      end -= Buffer.byteLength(text.slice(text.trimEnd().length));
      begin += Buffer.byteLength(text.slice(0, text.length - text.trimStart().length));
      if (begin >= end) continue;
    }
    if (count * 2 === bounds.length) {
      const larger = new Uint32Array(bounds.length * 2);
      larger.set(bounds);
      bounds = larger;
    }
    bounds[count * 2] = begin;
    bounds[count * 2 + 1] = end;
    count += 1;
  }
  return { bounds, count };
}

function isAsciiByte(byte = 0): boolean {
  return byte < 0x80;
}

/** The single-byte characters that `String.trim` removes. */
function isAsciiSpace(byte = 0): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

export async function* readLines(path: string): AsyncGenerator<readonly string[], void> {
  for await (const block of readLineBlocks(path)) yield block.texts();
}
