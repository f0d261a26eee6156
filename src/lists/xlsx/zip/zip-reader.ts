import { createInflateRaw, crc32 } from 'node:zlib';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InputError, type ErrorFault } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { pieceBytes } from '../../files/bytes/byte-reader.js';
import { describeFile } from '../../files/file-signature.js';
import type { RandomFile } from '../../files/bytes/random-file.js';

export interface ZipEntry {
  readonly name: string;
  /** 0: stored; 8: deflated. */
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly crc: number;
  readonly compressedBytes: number;
  readonly bytes: number;
  /** Where its own header is. */
  readonly at: number;
}

/** Part names are compared like in Excel: without case, and with either slash. */
export function partKey(name: string): string {
  return name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase();
}

const endBytes = 22 + 0xffff;
const mostDirectoryBytes = 16 * 1024 * 1024;
/** Larger parts of real workbooks compress less; bombs a thousandfold. */
const mostRatio = 250;
const smallBytes = 16 * 1024 * 1024;

/**
 * Reads the directory of a zip archive, by part key.
 *
 * @throws InputError `input_malformed` for an invalid or truncated archive, or a bomb
 */
export async function readZipDirectory(file: RandomFile): Promise<ReadonlyMap<string, ZipEntry>> {
  const head = await file.read(0, 16);
  if (head.length < 4 || head.readUInt32LE() !== 0x04_03_4b_50) {
    const is = describeFile(head, file.name) ?? 'not a zip archive';
    const fault = head.length === 0 ? 'empty' : 'other_format';
    throw new InputError(`${file.name} is not an XLSX workbook: it is ${is}`, { fault });
  }
  const { from, bytes, count } = await findDirectory(file);
  if (bytes > mostDirectoryBytes || from + bytes > file.size) {
    throw broken(file, 'its directory lies outside of it');
  }
  const directory = await file.read(from, from + bytes);
  const entries = new Map<string, ZipEntry>();
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== 0x02_01_4b_50) {
      throw broken(file, 'its directory is damaged');
    }
    const [nameBytes, extraBytes, commentBytes] = [
      directory.readUInt16LE(at + 28),
      directory.readUInt16LE(at + 30),
      directory.readUInt16LE(at + 32),
    ];
    const name = directory.toString('utf8', at + 46, at + 46 + nameBytes);
    const extra = directory.subarray(at + 46 + nameBytes, at + 46 + nameBytes + extraBytes);
    const [size, compressed, offset] = longSizes(extra, [
      directory.readUInt32LE(at + 24),
      directory.readUInt32LE(at + 20),
      directory.readUInt32LE(at + 42),
    ]);
    const entry: ZipEntry = {
      name,
      method: directory.readUInt16LE(at + 10),
      isEncrypted: (directory.readUInt16LE(at + 8) & 1) === 1,
      crc: directory.readUInt32LE(at + 16),
      compressedBytes: compressed,
      bytes: size,
      at: offset,
    };
    refuseBomb(file, entry);
    entries.set(partKey(name), entry);
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  return entries;
}

/** A file's bytes in an archive: exactly as many as its directory says. @throws InputError `input_malformed` */
export async function* readZipEntry(file: RandomFile, entry: ZipEntry): AsyncGenerator<Buffer> {
  if (entry.isEncrypted) throw broken(file, 'it is encrypted', 'unsupported');
  if (entry.method !== 0 && entry.method !== 8) {
    throw broken(file, 'it is compressed in a way that workbooks are not', 'unsupported');
  }
  let bytes = 0;
  let crc = 0;
  try {
    for await (const piece of inflated(file, entry)) {
      bytes += piece.length;
      if (bytes > entry.bytes)
        throw broken(file, 'a part of it is larger than it says', 'too_large');
      crc = crc32(piece, crc);
      yield piece;
    }
  } catch (error) {
    file.signal?.throwIfAborted();
    throw isSluiceError(error)
      ? error
      : broken(file, 'its compressed data are damaged or cut short');
  }
  if (bytes !== entry.bytes || crc !== entry.crc) {
    throw broken(file, 'a part of it is not what it was when it was written');
  }
}

async function* inflated(file: RandomFile, entry: ZipEntry): AsyncGenerator<Buffer> {
  const stored = storedBytes(file, entry);
  if (entry.method === 0) {
    yield* stored;
    return;
  }
  const inflate = createInflateRaw({ chunkSize: pieceBytes });
  const flow = pipeline(Readable.from(stored), inflate);
  let failure: unknown;
  flow.catch((error: unknown) => {
    failure = error;
  });
  try {
    for await (const piece of inflate) yield piece as Buffer;
    await flow;
  } catch (error) {
    // The first error gives the reason; the other only that it has ended.
    throw isSluiceError(failure) ? failure : error;
  } finally {
    inflate.destroy();
  }
}

/** The position of a file's bytes in an archive. @throws InputError `input_malformed` */
export async function storedRange(
  file: RandomFile,
  entry: ZipEntry,
): Promise<{ readonly start: number; readonly end: number }> {
  const header = await file.read(entry.at, entry.at + 30);
  if (header.length < 30 || header.readUInt32LE() !== 0x04_03_4b_50) {
    throw broken(file, 'it was cut short, or its directory is damaged');
  }
  const start = entry.at + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  const end = start + entry.compressedBytes;
  if (end > file.size) throw broken(file, 'it was cut short', 'cut_short');
  return { start, end };
}

/** The same, still compressed. */
export async function* storedBytes(file: RandomFile, entry: ZipEntry): AsyncGenerator<Buffer> {
  const { start, end } = await storedRange(file, entry);
  for (let at = start; at < end; at += pieceBytes) {
    const piece = await file.read(at, Math.min(end, at + pieceBytes));
    if (piece.length === 0) throw broken(file, 'it was cut short', 'cut_short');
    yield piece;
  }
}

async function findDirectory(
  file: RandomFile,
): Promise<{ readonly from: number; readonly bytes: number; readonly count: number }> {
  const from = Math.max(0, file.size - endBytes);
  const tail = await file.read(from, file.size);
  const at = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (at === -1 || at + 22 > tail.length) throw broken(file, 'it was cut short', 'cut_short');
  const short = {
    count: tail.readUInt16LE(at + 10),
    bytes: tail.readUInt32LE(at + 12),
    from: tail.readUInt32LE(at + 16),
  };
  const locator = at - 20;
  if (locator < 0 || tail.readUInt32LE(locator) !== 0x07_06_4b_50) return short;
  const place = Number(tail.readBigUInt64LE(locator + 8));
  const long = await file.read(place, place + 56);
  if (long.length < 56 || long.readUInt32LE() !== 0x06_06_4b_50) {
    throw broken(file, 'its directory is damaged');
  }
  return {
    count: Number(long.readBigUInt64LE(32)),
    bytes: Number(long.readBigUInt64LE(40)),
    from: Number(long.readBigUInt64LE(48)),
  };
}

/** Sizes that do not fit into four bytes are in a field of their own, in this order. */
function longSizes(
  extra: Buffer,
  short: readonly [bytes: number, compressed: number, at: number],
): readonly [bytes: number, compressed: number, at: number] {
  for (let at = 0; at + 4 <= extra.length;) {
    const [id, bytes] = [extra.readUInt16LE(at), extra.readUInt16LE(at + 2)];
    if (id === 1) {
      let next = at + 4;
      const [size, compressed, offset] = short.map((value) => {
        if (value !== 0xff_ff_ff_ff || next + 8 > extra.length) return value;
        next += 8;
        return Number(extra.readBigUInt64LE(next - 8));
      });
      return [size ?? 0, compressed ?? 0, offset ?? 0];
    }
    at += 4 + bytes;
  }
  return short;
}

function refuseBomb(file: RandomFile, { bytes, compressedBytes }: ZipEntry): void {
  if (bytes <= smallBytes || bytes <= compressedBytes * mostRatio) return;
  throw broken(
    file,
    `a part of it would inflate from ${String(compressedBytes)} bytes to ${String(bytes)}, as no list does`,
    'too_large',
  );
}

function broken(file: RandomFile, why: string, fault: ErrorFault = 'damaged'): InputError {
  return new InputError(`${file.name} cannot be read as XLSX: ${why}`, { fault });
}
