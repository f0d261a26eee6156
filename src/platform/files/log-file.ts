import { ftruncateSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { OutputError } from '../errors/errors.js';
import { isSluiceError } from '../errors/is-sluice-error.js';
import type { SluiceError } from '../errors/sluice-error.js';
import { closeFile, type FileSystem } from './file-system.js';
import { makeSafe, writeWhole } from './whole-file.js';

export interface LogOptions {
  /** How messages call it: `the journal /var/runs/journal`. */
  readonly name: string;
  /**
   * Says that another process has changed the file; without it nobody looks. A lock keeps others away,
   * but not on every file system: in a folder that machines share it may have no effect.
   *
   * @param isGone whether nothing has its name any more: its folder may have gone away
   */
  readonly refuseOthers?: (isGone: boolean) => SluiceError;
  /** Whether what is settled is on the disk itself. @default true */
  readonly durable?: boolean;
}

/** What was read of a log. */
export interface LogContent {
  /** What comes after them is the rest of a torn write: it is cut off, it never counted. */
  readonly keptBytes: number;
  readonly readBytes: number;
}

/**
 * A file that grows at its end, by whole pieces that carry checksums of their own. After a failed write
 * nobody knows what is in the file: nothing is ever appended to it.
 *
 * A piece is appended in one of two ways. `append` is for anyone who can wait: it is on the disk when this
 * returns. `appendNow` is for anyone who changes what is in memory in the same turn: it either is in the
 * file, where a kill cannot undo it, or was not written at all; `settle` waits for the disk.
 */
export class LogFile {
  readonly #files: FileSystem;
  readonly #path: string;
  readonly #options: LogOptions;
  #file: FileHandle;
  /** Bytes that are in the file, as far as this process knows. */
  #size: number;
  #settled: number;
  #settling: Promise<void> | undefined;
  #broken: SluiceError | undefined;

  private constructor(
    files: FileSystem,
    path: string,
    options: LogOptions,
    opened: { readonly file: FileHandle; readonly size: number },
  ) {
    this.#files = files;
    this.#path = path;
    this.#options = options;
    this.#file = opened.file;
    this.#size = opened.size;
    this.#settled = opened.size;
  }

  /**
   * Opens a log, making it when it is missing, and cuts off a torn write.
   *
   * @param read reads the file from its beginning
   */
  static async open(
    files: FileSystem,
    path: string,
    options: LogOptions,
    read: (file: FileHandle) => Promise<LogContent>,
  ): Promise<LogFile> {
    const file = await files.open(path, 'a+', 0o600);
    try {
      const { keptBytes, readBytes } = await read(file);
      const log = new LogFile(files, path, options, { file, size: readBytes });
      await log.#fence();
      await file.truncate(keptBytes);
      log.#size = keptBytes;
      log.#settled = keptBytes;
      if (options.durable !== false) await makeSafe(files, file, path);
      return log;
    } catch (error) {
      await closeFile(file);
      throw error;
    }
  }

  /** Where the next piece begins. */
  get size(): number {
    return this.#size;
  }

  /**
   * Appends a piece; it is on the disk when this returns. One at a time.
   *
   * @throws OutputError when it could not be written, or what `refuseOthers` says; from then on for all
   */
  async append(bytes: Uint8Array): Promise<void> {
    if (this.#broken) throw this.#broken;
    try {
      await this.#fence();
      await this.#file.appendFile(bytes);
      this.#size += bytes.length;
      await this.#file.datasync();
      // Another process may have written between the look and the write.
      await this.#fence();
    } catch (error) {
      throw this.#break(error);
    }
    this.#settled = this.#size;
  }

  /** Appends a piece at once. */
  appendNow(bytes: Uint8Array): void {
    if (this.#broken) throw this.#broken;
    try {
      let written = 0;
      while (written < bytes.length) written += writeSync(this.#file.fd, bytes, written);
      this.#size += bytes.length;
    } catch (error) {
      this.#cutTorn();
      throw error;
    }
  }

  /** Resolves when everything appended so far would survive a power cut too. */
  async settle(): Promise<void> {
    if (this.#options.durable === false) return;
    const wanted = this.#size;
    while (this.#settled < wanted) {
      // One flush serves all who wait for it; who came later than its beginning waits for the next.
      this.#settling ??= this.#flush();
      await this.#settling;
    }
  }

  /** Writes another file in its place: anyone who opens the path finds the one or the other, whole. */
  async replace(write: (file: FileHandle) => Promise<void>): Promise<void> {
    try {
      await writeWhole(this.#files, this.#path, write);
      const file = await this.#files.open(this.#path, 'a+', 0o600);
      await closeFile(this.#file);
      this.#file = file;
      this.#size = (await file.stat()).size;
      this.#settled = this.#size;
    } catch (error) {
      // Nobody knows which of the two has the name.
      this.#break(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    await closeFile(this.#file);
  }

  #break(cause: unknown): SluiceError {
    this.#broken ??= isSluiceError(cause)
      ? cause
      : new OutputError(`cannot write ${this.#options.name}`, { cause });
    return this.#broken;
  }

  /** Should even this fail, no piece may follow: a torn one would be in front of it. */
  #cutTorn(): void {
    try {
      ftruncateSync(this.#file.fd, this.#size);
    } catch (error) {
      this.#break(error);
    }
  }

  async #flush(): Promise<void> {
    const reached = this.#size;
    try {
      await this.#file.datasync();
      this.#settled = reached;
    } catch (error) {
      throw this.#break(error);
    } finally {
      this.#settling = undefined;
    }
  }

  /** Each writer looks whether the file is as it left it. */
  async #fence(): Promise<void> {
    const { refuseOthers } = this.#options;
    if (!refuseOthers) return;
    const { size, nlink } = await this.#file.stat();
    if (nlink === 0) throw refuseOthers(!(await this.#isNamed()));
    if (size !== this.#size) throw refuseOthers(false);
  }

  async #isNamed(): Promise<boolean> {
    return this.#files.stat(this.#path).then(
      () => true,
      () => false,
    );
  }
}

/*
 * A line of a log: eight hexadecimal digits of CRC-32, a blank, JSON.
 *
 * A log may give its checksums a seed for each place. What an older file has left in pages that were
 * never written can look like a line, but then never like one of this log.
 */

const newline = 0x0a;
const headBytes = 9;

interface LogReading {
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
