import { closeSync, fdatasync, ftruncateSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { StateError } from '../../errors/family.js';
import { openOwnFileSync, readOwnFileIfThere } from '../../system/own-files.js';

/*
 * One line an event: eight hexadecimal digits of CRC-32, a blank, JSON. The log is the only truth; what
 * is in memory is folded from it, and files that it does not name are rubbish.
 */

const checksumDigits = 8;
const newline = 0x0a;
const sync = promisify(fdatasync);

export interface EventLog {
  /**
   * Writes an event behind the last one. When this returns, a kill of the process cannot undo it.
   *
   * @throws the error of the file system; nothing is appended behind a torn event
   */
  append(event: object): void;
  /** Resolves when everything appended so far would survive a power cut too. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens an append-only log, making it when it is missing. An event torn by a kill in mid-write is
 * dropped.
 *
 * @param options.durable whether `settle` reaches the disk itself
 * @throws StateError `state_damaged` when events follow one that does not match its checksum
 */
export async function openEventLog(
  path: string,
  options: { readonly durable: boolean },
): Promise<{ readonly events: readonly unknown[]; readonly log: EventLog }> {
  const { events, wholeBytes } = readEvents(await readOwnFileIfThere(path), path);
  const fd = openOwnFileSync(path, 'a');
  ftruncateSync(fd, wholeBytes);
  return { events, log: new FileEventLog(fd, wholeBytes, options.durable) };
}

class FileEventLog implements EventLog {
  readonly #fd: number;
  readonly #durable: boolean;
  #size: number;
  #settled: number;
  #settling: Promise<void> | undefined;
  #broken: Error | undefined;

  constructor(fd: number, size: number, durable: boolean) {
    this.#fd = fd;
    this.#size = size;
    this.#settled = size;
    this.#durable = durable;
  }

  append(event: object): void {
    if (this.#broken !== undefined) throw this.#broken;
    const json = JSON.stringify(event);
    const line = Buffer.from(`${checksum(Buffer.from(json))} ${json}\n`);
    try {
      let written = 0;
      while (written < line.length) written += writeSync(this.#fd, line, written);
      this.#size += line.length;
    } catch (error) {
      this.#dropTorn(error);
      throw error;
    }
  }

  /** Should even this fail, no event may follow: it would stand behind a torn one. */
  #dropTorn(cause: unknown): void {
    try {
      ftruncateSync(this.#fd, this.#size);
    } catch {
      this.#broken = new Error('the log cannot be written any more', { cause });
    }
  }

  async settle(): Promise<void> {
    if (!this.#durable) return;
    const wanted = this.#size;
    while (this.#settled < wanted) {
      // One flush serves all who wait for it; who came later than its beginning waits for the next.
      this.#settling ??= this.#flush();
      await this.#settling;
    }
  }

  async #flush(): Promise<void> {
    const reached = this.#size;
    try {
      await sync(this.#fd);
      this.#settled = reached;
    } catch (error) {
      // After a failed flush nobody knows what is on disk.
      this.#broken = new Error('the log may not have reached the disk', { cause: error });
      throw error;
    } finally {
      this.#settling = undefined;
    }
  }

  async close(): Promise<void> {
    try {
      await this.settle();
    } finally {
      closeSync(this.#fd);
    }
  }
}

function readEvents(bytes: Buffer, path: string): { events: unknown[]; wholeBytes: number } {
  const events: unknown[] = [];
  let begin = 0;
  while (begin < bytes.length) {
    const end = bytes.indexOf(newline, begin);
    const line = end === -1 ? undefined : bytes.subarray(begin, end);
    const json = line?.subarray(checksumDigits + 1);
    if (!line || !json || line.toString('latin1', 0, checksumDigits + 1) !== `${checksum(json)} `) {
      if (end === -1 || end === bytes.length - 1) break;
      throw damagedLog(path, `is damaged at byte ${begin}`);
    }
    try {
      events.push(JSON.parse(json.toString('utf8')));
    } catch (cause) {
      throw damagedLog(
        path,
        `holds no event at byte ${begin}, though its checksum is right`,
        cause,
      );
    }
    begin = end + 1;
  }
  return { events, wholeBytes: begin };
}

/** Nothing of it is dropped in silence: what the log does not tell, nobody knows. */
export function damagedLog(path: string, trouble: string, cause?: unknown): StateError {
  return new StateError(
    `the log ${path} ${trouble}: put back a copy of the whole folder, or begin with an empty one`,
    { code: 'state_damaged', cause },
  );
}

function checksum(bytes: Buffer): string {
  return crc32(bytes).toString(16).padStart(checksumDigits, '0');
}
