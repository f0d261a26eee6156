import type { FileHandle } from 'node:fs/promises';
import { InputError } from '../../../platform/errors/errors.js';
import { type FileSystem, readFileBytes } from '../../../platform/files/file-system.js';
import { onDisk } from '../../../platform/files/disk-errors.js';

/**
 * The tickets of all rows, in order, as native 32-bit numbers: the first reading writes them, and the second
 * finds each row's results without its cells. It can be made again.
 */
export class TicketFile {
  readonly #files: FileSystem;
  readonly #path: string;
  readonly #file: FileHandle;

  private constructor(files: FileSystem, path: string, file: FileHandle) {
    this.#files = files;
    this.#path = path;
    this.#file = file;
  }

  static async create(files: FileSystem, path: string): Promise<TicketFile> {
    const file = await onDisk(`write ${path}`, async () => files.open(path, 'w', 0o600));
    return new TicketFile(files, path, file);
  }

  async append(tickets: Uint32Array): Promise<void> {
    await onDisk(`write ${this.#path}`, async () => this.#file.appendFile(bytesOf(tickets)));
  }

  async close(): Promise<void> {
    await onDisk(`write ${this.#path}`, async () => this.#file.close());
  }

  /** Reads the tickets in portions. @param source the source's name in messages */
  read(source = 'the input'): TicketReader {
    return new TicketReader(readFileBytes(this.#files, this.#path), source);
  }
}

export class TicketReader {
  readonly #source: string;
  readonly #bytes: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(bytes: AsyncIterator<Buffer>, source: string) {
    this.#bytes = bytes;
    this.#source = source;
  }

  /** @throws InputError `input_changed` when there are fewer, as the source has more rows than before */
  async next(count: number): Promise<Uint32Array> {
    const tickets = new Uint32Array(count);
    const target = bytesOf(tickets);
    let filled = 0;
    while (filled < target.length) {
      if (this.#rest.length === 0) await this.#more();
      const taken = this.#rest.copy(target, filled);
      filled += taken;
      this.#rest = this.#rest.subarray(taken);
    }
    return tickets;
  }

  async isAtEnd(): Promise<boolean> {
    if (this.#rest.length > 0) return false;
    const next = await this.#bytes.next();
    return next.done === true;
  }

  async close(): Promise<void> {
    await this.#bytes.return?.();
  }

  async #more(): Promise<void> {
    const next = await this.#bytes.next();
    if (next.done === true) {
      throw inputChanged(this.#source);
    }
    this.#rest = next.value;
  }
}

function bytesOf(numbers: Uint32Array): Buffer {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

export function inputChanged(source: string): InputError {
  return new InputError(
    `${source} has changed since the run read it: run again, which uses what was paid for with what it holds then`,
    { code: 'input_changed' },
  );
}
