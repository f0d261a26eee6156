import { type FileHandle, readdir, rm, truncate } from 'node:fs/promises';
import { systemFiles, makeSafe } from '../../platform/files/file-system.js';
import { openPrivateFile } from '../../platform/files/private-files.js';
import { returnBuffer, borrowBuffer } from './line-block.js';
import { join } from 'node:path';
import { limits } from '../../contract/limits.js';

/** Reads records of equal size, some at a time. */
interface RecordReader {
  /** @returns exactly `count` records; the buffer is valid until the next call */
  read(count: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Opens a record file for reading. Reading beyond its end is an error. */
export async function openRecords(path: string, recordBytes: number): Promise<RecordReader> {
  const file = await openPrivateFile(path);
  let buffer = Buffer.alloc(0);
  return {
    async read(count) {
      const wanted = count * recordBytes;
      if (buffer.length < wanted) buffer = Buffer.allocUnsafe(wanted);
      let got = 0;
      while (got < wanted) {
        const { bytesRead } = await file.read(buffer, got, wanted - got);
        if (bytesRead === 0) throw new Error(`${path} is shorter than it should be`);
        got += bytesRead;
      }
      return buffer.subarray(0, wanted);
    },
    close: () => file.close(),
  };
}

/** Writes a file piece by piece, valid only after `finish`. */
export class FileWriter {
  readonly #file: FileHandle;
  readonly #path: string;
  #block: Buffer | undefined = borrowBuffer();
  #pendingBytes = 0;

  private constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** Creates a file readable by its owner only, or replaces what interrupted work has left of it. */
  static async create(path: string): Promise<FileWriter> {
    return new FileWriter(await openPrivateFile(path, 'w'), path);
  }

  async write(piece: Uint8Array): Promise<void> {
    for (let taken = 0; taken < piece.length;) {
      const block = this.#blockOfOpen();
      const room = block.length - this.#pendingBytes;
      const part =
        taken === 0 && piece.length <= room ? piece : piece.subarray(taken, taken + room);
      block.set(part, this.#pendingBytes);
      this.#pendingBytes += part.length;
      taken += part.length;
      if (this.#pendingBytes === block.length) await this.#drain();
    }
  }

  /** Writes the rest and closes; with `durable`, content and name are synced. @param options.named see {@link makeSafe} */
  async finish(options: { readonly durable: boolean; readonly named?: boolean }): Promise<void> {
    try {
      await this.#drain();
      if (options.durable) await makeSafe(systemFiles, this.#file, this.#path, options);
    } finally {
      await this.close();
    }
  }

  /** Closes without finishing; may be called again. */
  async close(): Promise<void> {
    const block = this.#block;
    this.#block = undefined;
    await this.#file.close().catch(() => undefined);
    if (block) returnBuffer(block);
  }

  async #drain(): Promise<void> {
    await this.#file.appendFile(this.#blockOfOpen().subarray(0, this.#pendingBytes));
    this.#pendingBytes = 0;
  }

  #blockOfOpen(): Buffer {
    if (this.#block === undefined) throw new Error('the file is closed');
    return this.#block;
  }
}

const dayMs = 24 * 60 * 60 * 1000;
/** Records read at once: blocks never cut one. */
const blockRecords = 10_000;

/** Record files by owner and day: old days are removed as a whole. */
interface DayFiles {
  readonly folder: string;
  /** Matches the names; the first group is the owner, the second the day. */
  readonly name: RegExp;
  readonly recordBytes: number;
}

export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/**
 * Reads the files day by day, so that later entries count, and removes those too old for any cache. A block
 * is valid until the next; its last record may be torn.
 */
export async function loadDays(
  { folder, name, recordBytes }: DayFiles,
  nowMs: number,
  take: (block: Buffer, file: { readonly owner: string; readonly day: number }) => void,
): Promise<void> {
  const oldest = dayOf(nowMs) - limits.cacheBackoffDays.max;
  const files = (await readdir(folder)).flatMap((entry) => {
    const [, owner, day] = name.exec(entry) ?? [];
    return owner === undefined ? [] : [{ path: join(folder, entry), owner, day: Number(day) }];
  });
  for (const file of files.toSorted((a, b) => a.day - b.day)) {
    if (file.day < oldest) {
      await rm(file.path, { force: true });
      continue;
    }
    let bytes = 0;
    for await (const block of readRecords(file.path, recordBytes)) {
      take(block, file);
      bytes += block.length;
    }
    // A kill may have torn the last record: the next one must begin at a whole one.
    if (bytes % recordBytes !== 0) await truncate(file.path, bytes - (bytes % recordBytes));
  }
}

/** Reads a file in blocks of whole records; each is valid until the next. */
export async function* readRecords(
  path: string,
  recordBytes: number,
): AsyncGenerator<Buffer, void> {
  const file = await openPrivateFile(path);
  try {
    const buffer = Buffer.allocUnsafe(blockRecords * recordBytes);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
