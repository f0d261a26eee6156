import { crc32 } from 'node:zlib';

/*
 * A line of a log: eight hexadecimal digits of CRC-32, a blank, JSON.
 *
 * A log may give its checksums a seed for each place. What an older file has left in pages that were
 * never written can look like a line, but then never like one of this log.
 */

const newline = 0x0a;
const headBytes = 9;

/** How a log is read. */
export interface LogReading {
  /**
   * What may be missing at the end. `last write`: a log whose every write is one line, and on the disk
   * before the next. A power cut may leave any pages of the last one, in any order, so nothing counts that
   * follows the last whole line; a whole line further on shows that more than one write is damaged.
   * `last line`: a log whose lines are on the disk some at a time. Each may be paid for, so one at most is
   * given up, the last.
   */
  readonly dropped: 'last write' | 'last line';
  /** The seed of the checksum of a line that begins at a place. @default 0 everywhere */
  seedAt?(at: number): number;
  /** Takes the value of each whole line, in order; null for what is no JSON. */
  take(value: unknown, at: number): void;
}

export function encodeLine(json: string, seed = 0): Buffer {
  return Buffer.from(`${checksum(json, seed)} ${json}\n`);
}

/**
 * Reads the lines of a log up to the first that is not whole.
 *
 * @returns where the whole lines end, and whether what follows is more than may be missing
 */
export function readLines(
  bytes: Buffer,
  reading: LogReading,
): { readonly keptBytes: number; readonly isDamaged: boolean } {
  const lineAt = (at: number): Line | undefined => readLine(bytes, at, reading.seedAt?.(at) ?? 0);
  let at = 0;
  for (let line = lineAt(0); line; line = lineAt(at)) {
    reading.take(line.value, at);
    at = line.end;
  }
  if (reading.dropped === 'last write') {
    const rest = [...bytes.toString('latin1', at).matchAll(/[0-9a-f]{8} /g)];
    const isDamaged = rest.some(({ index }) => index > 0 && lineAt(at + index) !== undefined);
    return { keptBytes: at, isDamaged };
  }
  const end = bytes.indexOf(newline, at);
  return { keptBytes: at, isDamaged: end !== -1 && end !== bytes.length - 1 };
}

interface Line {
  readonly value: unknown;
  readonly end: number;
}

function readLine(bytes: Buffer, at: number, seed: number): Line | undefined {
  const end = bytes.indexOf(newline, at);
  if (end === -1) return undefined;
  const body = bytes.subarray(at + headBytes, end);
  if (bytes.toString('latin1', at, at + headBytes) !== `${checksum(body, seed)} `) return undefined;
  return { value: parse(body), end: end + 1 };
}

/** What has the right checksum was written so: it is whole, whatever it is. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function checksum(body: Uint8Array | string, seed: number): string {
  return crc32(body, seed).toString(16).padStart(8, '0');
}
