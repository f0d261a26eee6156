import { isUtf8 } from 'node:buffer';

/** Longest accepted line: no address comes near it, and memory stays bounded. */
export const maxLineBytes = 4096;

const comma = 0x2c;
const newline = 0x0a;

/**
 * Checks uploaded content as it arrives: "plain text (`.TXT`) in UTF-8: one address a line, without a header
 * row, without commas, not CSV" (spec 1).
 */
interface ContentCheck {
  add(chunk: Uint8Array): void;
  /** What is wrong with the content; `undefined` when it can be parsed. */
  finish(): string | undefined;
}

export function createContentCheck(): ContentCheck {
  let trouble: string | undefined;
  let line = 1;
  let lineBytes = 0;
  let carried = new Uint8Array();

  function checkLines(chunk: Uint8Array): void {
    if (isSound(chunk, lineBytes)) {
      line += countLineEnds(chunk);
      const last = chunk.lastIndexOf(newline);
      lineBytes = last === -1 ? lineBytes + chunk.length : chunk.length - last - 1;
      return;
    }
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === newline) {
        line += 1;
        lineBytes = 0;
      } else if (byte === comma) {
        trouble ??= `line ${line} holds a comma`;
      } else if (byte === 0) {
        trouble ??= `line ${line} holds a null byte`;
      } else {
        lineBytes += 1;
        if (lineBytes > maxLineBytes)
          trouble ??= `line ${line} is longer than ${maxLineBytes} bytes`;
      }
      if (trouble !== undefined) return;
    }
  }

  /** A character may be cut at the end of a chunk: its beginning waits for the next. */
  function checkEncoding(chunk: Uint8Array): void {
    const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
    const whole = wholeCharacters(bytes);
    if (!isUtf8(bytes.subarray(0, whole))) trouble ??= 'the file is not UTF-8';
    carried = Uint8Array.from(bytes.subarray(whole));
  }

  return {
    add(chunk) {
      if (trouble !== undefined) return;
      checkLines(chunk);
      checkEncoding(chunk);
    },
    finish() {
      if (trouble === undefined && carried.length > 0) trouble = 'the file is not UTF-8';
      return trouble;
    },
  };
}

/**
 * Whether a chunk has neither commas, nor null bytes, nor long lines, by fast searches: only a bad chunk is
 * examined line by line.
 *
 * @param begunBytes length of the line that it continues with
 */
function isSound(chunk: Uint8Array, begunBytes: number): boolean {
  if (chunk.includes(comma) || chunk.includes(0)) return false;
  let begin = -begunBytes;
  // The last line end within reach: one jump instead of a step for each line.
  while (chunk.length - begin > maxLineBytes) {
    const end = chunk.lastIndexOf(newline, begin + maxLineBytes);
    if (end < Math.max(begin, 0)) return false;
    begin = end + 1;
  }
  return true;
}

function countLineEnds(bytes: Uint8Array): number {
  let count = 0;
  // Branch-free: a branch would be mispredicted once a line. Only 0 becomes negative when 1 is subtracted.
  for (let at = 0; at < bytes.length; at += 1) count += (((bytes[at] ?? 0) ^ newline) - 1) >>> 31;
  return count;
}

/** Length of `bytes` without an incomplete UTF-8 character at the end. */
function wholeCharacters(bytes: Uint8Array): number {
  const longest = 4;
  for (let back = 1; back < longest && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const expected = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return expected > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
