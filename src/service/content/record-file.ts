import { open, type FileHandle } from 'node:fs/promises';

/** Reads a file of records of equal size, some at a time. */
export interface RecordReader {
  /** @returns exactly `count` records; the buffer is only good until the next call */
  read(count: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Opens a record file for reading. A file shorter than what is asked of it is an error. */
export async function openRecords(path: string, recordBytes: number): Promise<RecordReader> {
  const file = await open(path, 'r');
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

const pendingBytes = 256 * 1024;

/** Writes a file piece by piece. It is worth something only after `finish`. */
export class FileWriter {
  readonly #file: FileHandle;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Makes a file that only its owner may read; one of that name must not be there. */
  static async create(path: string): Promise<FileWriter> {
    return new FileWriter(await open(path, 'wx', 0o600));
  }

  /** Takes a piece over: the caller must not change it any more. */
  async write(piece: Uint8Array): Promise<void> {
    this.#pending.push(piece);
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes >= pendingBytes) await this.#drain();
  }

  /** Writes the rest and closes; with `durable`, the content is on the disk itself. */
  async finish(options: { readonly durable: boolean }): Promise<void> {
    try {
      await this.#drain();
      if (options.durable) await this.#file.datasync();
    } finally {
      await this.close();
    }
  }

  /** Closes without finishing; closing twice does nothing. */
  async close(): Promise<void> {
    this.#pending = [];
    await this.#file.close().catch(() => undefined);
  }

  async #drain(): Promise<void> {
    if (this.#pendingBytes === 0) return;
    const bytes = Buffer.concat(this.#pending, this.#pendingBytes);
    this.#pending = [];
    this.#pendingBytes = 0;
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await this.#file.write(bytes, written, bytes.length - written);
      written += bytesWritten;
    }
  }
}
