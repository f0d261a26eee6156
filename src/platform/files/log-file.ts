import { ftruncateSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { OutputError } from '../errors/errors.js';
import { isSluiceError } from '../errors/is-sluice-error.js';
import type { SluiceError } from '../errors/sluice-error.js';
import { describeSystemError } from '../text/system-errors.js';
import { closeFile, type FileSystem, makeSafe, writeWhole } from './file-system.js';

export interface LogOptions {
  /** Its name in messages: `the journal /var/runs/journal`. */
  readonly name: string;
  /**
   * The error when another process has changed the file; without it there is no check. A lock may have no
   * effect in a folder shared by machines.
   *
   * @param isGone whether the file no longer exists: its folder may have gone
   */
  readonly refuseOthers?: (isGone: boolean) => SluiceError;
  /** Whether settled pieces are on the disk itself. @default true */
  readonly durable?: boolean;
}

export interface LogContent {
  /** Later bytes are the rest of a torn write, which never counted: they are cut off. */
  readonly keptBytes: number;
  readonly readBytes: number;
}

/**
 * An append-only file of pieces with checksums of their own. After a failed write its content is unknown:
 * nothing is appended any more.
 *
 * A piece is appended in one of two ways. `append` returns once it is on disk. `appendNow` is synchronous,
 * for callers that change memory in the same turn: the piece is in the file, where a kill cannot undo it, or
 * was not written at all; `settle` waits for the disk.
 */
export class LogFile {
  readonly #files: FileSystem;
  readonly #path: string;
  readonly #options: LogOptions;
  #file: FileHandle;
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

  /** Opens a log, created when missing, and cuts off a torn write. @param read reads the file from its beginning */
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

  get size(): number {
    return this.#size;
  }

  /**
   * Appends a piece; once this returns, it is on disk. One at a time.
   *
   * @throws OutputError when a write fails, or the error of `refuseOthers`; from then on always
   */
  async append(bytes: Uint8Array): Promise<void> {
    if (this.#broken) throw this.#broken;
    try {
      await this.#fence();
      await this.#file.appendFile(bytes);
      this.#size += bytes.length;
      await this.#file.datasync();
      // Another process may have written between the check and the write.
      await this.#fence();
    } catch (error) {
      throw this.#break(error);
    }
    this.#settled = this.#size;
  }

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

  async settle(): Promise<void> {
    if (this.#options.durable === false) return;
    const wanted = this.#size;
    while (this.#settled < wanted) {
      // One flush serves all that wait; a later caller waits for the next one.
      this.#settling ??= this.#flush();
      await this.#settling;
    }
  }

  /** Replaces the file atomically: its path always leads to the old or the new one, complete. */
  async replace(write: (file: FileHandle) => Promise<void>): Promise<void> {
    try {
      await writeWhole(this.#files, this.#path, write);
      const file = await this.#files.open(this.#path, 'a+', 0o600);
      await closeFile(this.#file);
      this.#file = file;
      this.#size = (await file.stat()).size;
      this.#settled = this.#size;
    } catch (error) {
      // Which of the two has the name is unknown.
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
      : new OutputError(`cannot write ${this.#options.name}: ${describeSystemError(cause)}`, {
          cause,
        });
    return this.#broken;
  }

  /** Should this fail, too, no piece may follow a torn one. */
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

  /** Each writer checks that the file is as it left it. */
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
 * A log may seed its checksums by position: remains of an older file in unwritten pages may look like a line,
 * but then never like one of this log.
 */

const newline = 0x0a;
const headBytes = 9;

interface LogReading {
  /**
   * What may be lost at the end. `last write`: each write is one line, synced before the next. A power cut
   * may leave any pages of the last one, so nothing after the last complete line counts; a later complete
   * line shows further damage. `last line`: lines are synced in groups. Each may be paid for, so at most the
   * last one is dropped.
   */
  readonly dropped: 'last write' | 'last line';
  /** The checksum's seed by position. @default 0 */
  seedAt?(at: number): number;
  /** Takes the value of each complete line, in order; null for invalid JSON. */
  take(value: unknown, at: number): void;
}

export function encodeLine(json: string, seed = 0): Buffer {
  return Buffer.from(`${checksum(json, seed)} ${json}\n`);
}

/** Reads the complete lines of a log. @returns their end, and whether more is damaged than may be lost */
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

/** With the right checksum it was written so, whatever it is. */
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
