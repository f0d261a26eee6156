import * as z from 'zod';
import type { FileHandle } from 'node:fs/promises';
import { endianness } from 'node:os';
import { OutputError, StateError } from '../../platform/errors/errors.js';
import { type FileSystem, partPath } from '../../platform/files/file-system.js';
import { LogFile, type LogContent } from '../../platform/files/log-file.js';
import { crc32 } from 'node:zlib';

/*
 * The format of a history file: consecutive frames. A frame has a mark of four bytes, the length and the
 * CRC-32 of its content, then the content: the length of a JSON text, the text, and entries of six 32-bit
 * words. Numbers are little-endian.
 */

/** Words of an entry: three of its hash, the shard (seven more bits of it), its outcome, its origin. */
export const entryWords = 6;
const entryBytes = entryWords * 4;
const headBytes = 12;
const mark = 0x31_48_4c_53;
/** Most entries of a frame: a single write stays under a megabyte. */
export const maxFrameEntries = 32_768;
/** A larger length is damage. */
const maxContentBytes = 64 * 1024 * 1024;

export interface Frame {
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
  const at = headBytes + 4 + text.length;
  bytes.set(Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength), at);
  if (endianness() === 'BE') bytes.subarray(at).swap32();
  bytes.writeUInt32LE(crc32(bytes.subarray(headBytes)), 8);
  return bytes;
}

/** The frame at a position: complete, with its end; cut off; or no frame. */
type FrameReading =
  | { readonly frame: Frame; readonly end: number }
  /** Bytes that a complete frame would have. */
  | { readonly needsBytes: number }
  | 'none';

function readFrame(bytes: Buffer, start: number): FrameReading {
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

/** With a right checksum nothing is torn: an unknown form is an unknown frame. */
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

/** Whether a complete frame follows anywhere: then the damage before it is not a torn end. */
function hasFrameBehind(bytes: Buffer): boolean {
  const sought = Buffer.alloc(4);
  sought.writeUInt32LE(mark);
  for (let at = bytes.indexOf(sought, 1); at !== -1; at = bytes.indexOf(sought, at + 1)) {
    const reading = readFrame(bytes, at);
    if (typeof reading === 'object' && 'frame' in reading) return true;
  }
  return false;
}

function readWords(bytes: Buffer): Uint32Array {
  const words = new Uint32Array(bytes.length / 4);
  const into = Buffer.from(words.buffer);
  into.set(bytes);
  if (endianness() === 'BE') into.swap32();
  return words;
}

const chunkBytes = 1024 * 1024;

const headMeta = z.object({
  history: z.literal('sluice'),
  version: z.literal(1),
  key: z.string(),
  service: z.string(),
});
type HistoryHead = z.infer<typeof headMeta>;

export function historyHead(key: string, service: string): HistoryHead {
  return { history: 'sluice', version: 1, key, service };
}

/** An append-only file of frames. A frame counts when `append` has returned. */
export class HistoryFile {
  readonly #log: LogFile;
  readonly head: HistoryHead;
  /** Size of the torn write that was dropped from its end. */
  readonly cutBytes: number;

  private constructor(log: LogFile, head: HistoryHead, cutBytes: number) {
    this.#log = log;
    this.head = head;
    this.cutBytes = cutBytes;
  }

  /**
   * Opens a history's file, or begins one.
   *
   * @param begin makes the head of a new one
   * @param take takes each frame after the head; `false` for an unknown one
   */
  static async open(
    files: FileSystem,
    path: string,
    begin: () => HistoryHead,
    take: (frame: Frame) => boolean,
  ): Promise<HistoryFile> {
    // Left by a killed rewrite.
    await files.rm(partPath(path), { force: true });
    let head: HistoryHead | undefined;
    let cutBytes = 0;
    const options = { name: `the history ${path}`, refuseOthers: () => changedByAnother(path) };
    const log = await LogFile.open(files, path, options, async (handle) => {
      const content = await readFrames(handle, path, (frame) => {
        if (head) {
          if (!take(frame)) throw unknownEntries(path);
          return;
        }
        const parsed = headMeta.safeParse(frame.meta);
        if (!parsed.success) throw unknownForm(path);
        head = parsed.data;
      });
      cutBytes = content.readBytes - content.keptBytes;
      return content;
    });
    if (head) return new HistoryFile(log, head, cutBytes);
    // Nothing else was in a file without its head.
    const file = new HistoryFile(log, begin(), 0);
    try {
      await file.append(headFrame(file.head));
    } catch (error) {
      await log.close();
      throw error;
    }
    return file;
  }

  /** @throws OutputError when a write fails; from then on for every frame */
  async append(frame: Frame): Promise<void> {
    await this.#log.append(encodeFrame(frame));
  }

  async rewrite(frames: Iterable<Frame>): Promise<void> {
    await this.#log.replace(async (file) => {
      await file.appendFile(encodeFrame(headFrame(this.head)));
      for (const frame of frames) await file.appendFile(encodeFrame(frame));
    });
  }

  get sizeBytes(): number {
    return this.#log.size;
  }

  async close(): Promise<void> {
    await this.#log.close();
  }
}

function headFrame(meta: HistoryHead): Frame {
  return { meta, entries: new Uint32Array() };
}

/** Reads the complete frames of a file, not a torn last write. @returns the end of the last one, and the file */
export async function readFrames(
  file: FileHandle,
  path: string,
  visit: (frame: Frame) => void,
): Promise<LogContent> {
  let rest = Buffer.alloc(0);
  let keptBytes = 0;
  let wantedBytes = 0;
  for (;;) {
    rest = Buffer.concat([rest, ...(await readMore(file, wantedBytes - rest.length))]);
    const isEnd = rest.length < wantedBytes || rest.length === 0;
    let reading = readFrame(rest, 0);
    let at = 0;
    for (; typeof reading === 'object' && 'frame' in reading; reading = readFrame(rest, at)) {
      visit(reading.frame);
      at = reading.end;
    }
    keptBytes += at;
    rest = rest.subarray(at);
    if (isEnd) {
      if (hasFrameBehind(rest)) throw damaged(path, keptBytes);
      if (keptBytes === 0 && rest.length > 0 && !isTornHead(rest)) throw unknownForm(path);
      return { keptBytes, readBytes: keptBytes + rest.length };
    }
    // What more bytes cannot complete is judged together with everything after it.
    wantedBytes = typeof reading === 'object' ? reading.needsBytes : Infinity;
  }
}

/** At least this many bytes, unless the file ends before. */
async function readMore(file: FileHandle, bytes: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for (let read = 0; read === 0 || read < bytes;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes));
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    read += bytesRead;
  }
  return chunks;
}

/**
 * Distinguishes a torn history from a foreign file: its first bytes are there, with zeros after them where
 * only the length had reached the disk.
 */
function isTornHead(bytes: Buffer): boolean {
  const mark = encodeFrame({ meta: {}, entries: new Uint32Array() }).subarray(0, 4);
  const torn = mark.findIndex((byte, at) => byte !== bytes[at]);
  return torn === -1 || bytes.subarray(torn).every((byte) => byte === 0);
}

/** Results that it takes in may be lost: a run that ended all the same would have them nowhere. */
function changedByAnother(path: string): OutputError {
  return new OutputError(
    `the history ${path} was removed, replaced or changed while it was in use: make sure that nothing else writes it`,
    { file: path },
  );
}

function damaged(path: string, at: number): StateError {
  return new StateError(
    `the history ${path} is damaged at byte ${at}: put back a copy of it, or name another history`,
    { code: 'state_damaged', option: 'history', file: path, fault: 'damaged' },
  );
}

function unknownEntries(path: string): StateError {
  return new StateError(
    `the history ${path} holds entries that this version of Sluice does not know, though their checksum is right: use the version that wrote them, put back a copy of it, or name another history`,
    { code: 'state_damaged', option: 'history', file: path, fault: 'unsupported' },
  );
}

function unknownForm(path: string): StateError {
  return new StateError(
    `${path} is not a history that this version of Sluice knows: name another file`,
    { code: 'state_damaged', option: 'history', file: path, fault: 'other_format' },
  );
}

export async function hasBytes(files: FileSystem, path: string): Promise<boolean> {
  const found = await files.stat(path).catch(() => undefined);
  return (found?.size ?? 0) > 0;
}
