import { crc32 } from 'node:zlib';

/*
 * The form of a history on disk: frames, one after the other. A frame is a mark of four bytes, the
 * length of its content and the content's CRC-32, then the content: the length of a JSON text, the text,
 * and entries of six 32-bit words. All numbers are little-endian.
 */

/** Words of an entry: three of its hash, the shard (seven more bits of it), its outcome, its origin. */
export const entryWords = 6;
const entryBytes = entryWords * 4;
const headBytes = 12;
const mark = 0x31_48_4c_53;
/** Most entries of a frame: what is written at once is under a megabyte. */
export const maxFrameEntries = 32_768;
/** No frame is larger: a length that says so is damage. */
const maxContentBytes = 64 * 1024 * 1024;

export interface Frame {
  /** What the JSON text holds. */
  readonly meta: unknown;
  /** {@link entryWords} words each. */
  readonly entries: Uint32Array;
}

export function encodeFrame({ meta, entries }: Frame): Buffer {
  const text = Buffer.from(JSON.stringify(meta));
  const content = 4 + text.length + entries.length * 4;
  const bytes = Buffer.alloc(headBytes + content);
  bytes.writeUInt32LE(mark, 0);
  bytes.writeUInt32LE(content, 4);
  bytes.writeUInt32LE(text.length, headBytes);
  bytes.set(text, headBytes + 4);
  let at = headBytes + 4 + text.length;
  for (const word of entries) at = bytes.writeUInt32LE(word, at);
  bytes.writeUInt32LE(crc32(bytes.subarray(headBytes)), 8);
  return bytes;
}

/** How a frame is at a place: whole, with the place after it; cut off by the end; or no frame. */
type FrameReading =
  | { readonly frame: Frame; readonly end: number }
  /** So many bytes from its beginning on would make it whole. */
  | { readonly needsBytes: number }
  | 'none';

export function readFrame(bytes: Buffer, start: number): FrameReading {
  const left = bytes.length - start;
  if (left < headBytes) return { needsBytes: headBytes };
  if (bytes.readUInt32LE(start) !== mark) return 'none';
  const length = bytes.readUInt32LE(start + 4);
  if (length < 4 || length > maxContentBytes) return 'none';
  if (left < headBytes + length) return { needsBytes: headBytes + length };
  const content = bytes.subarray(start + headBytes, start + headBytes + length);
  if (crc32(content) !== bytes.readUInt32LE(start + 8)) return 'none';
  return { frame: readContent(content), end: start + headBytes + length };
}

/** With a right checksum nothing is torn: what has not the form of a frame is one that nobody knows. */
function readContent(content: Buffer): Frame {
  const textEnd = 4 + content.readUInt32LE(0);
  const entriesLength = content.length - textEnd;
  if (entriesLength < 0 || entriesLength % entryBytes !== 0) return unknownFrame;
  try {
    const meta = JSON.parse(content.toString('utf8', 4, textEnd)) as unknown;
    return { meta, entries: readWords(content.subarray(textEnd)) };
  } catch {
    return unknownFrame;
  }
}

const unknownFrame: Frame = { meta: null, entries: new Uint32Array() };

/** Whether a whole frame is anywhere after a place: then what is before it is no torn end. */
export function hasFrameBehind(bytes: Buffer, start: number): boolean {
  const sought = Buffer.alloc(4);
  sought.writeUInt32LE(mark);
  for (let at = bytes.indexOf(sought, start + 1); at !== -1; at = bytes.indexOf(sought, at + 1)) {
    const reading = readFrame(bytes, at);
    if (typeof reading === 'object' && 'frame' in reading) return true;
  }
  return false;
}

function readWords(bytes: Buffer): Uint32Array {
  const words = new Uint32Array(bytes.length / 4);
  for (let index = 0; index < words.length; index += 1)
    words[index] = bytes.readUInt32LE(index * 4);
  return words;
}
