import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { OutputError, StateError } from '../errors/family.js';
import { isSluiceError } from '../errors/sluice-error.js';
import { closeFile } from './close-file.js';
import { syncDirectory, type FileSystem } from './file-system.js';
import { dirname } from 'node:path';

const formatLine = { journal: 'sluice', version: 1 } as const;

interface Waiting {
  readonly line: string;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * An append-only file of JSON entries, one a line, each behind its checksum. An entry counts when
 * `append` has returned: by then it is on the disk.
 */
export class Journal {
  readonly #file: FileHandle;
  readonly #path: string;
  #waiting: Waiting[] = [];
  #isWriting = false;
  /** After a failed write nobody knows what stands in the file: nothing is ever put behind it. */
  #broken: OutputError | StateError | undefined;
  /** Bytes in the file, as far as this process wrote or read them. */
  #size: number;

  private constructor(file: FileHandle, path: string, size: number) {
    this.#file = file;
    this.#path = path;
    this.#size = size;
  }

  /**
   * Opens a journal, or begins one.
   *
   * @returns the journal and the entries it holds; a torn last line is dropped, it never counted
   * @throws StateError `state_damaged` when a line in the middle is damaged, or another version wrote it
   */
  static async open(
    files: FileSystem,
    path: string,
  ): Promise<{ readonly journal: Journal; readonly entries: readonly unknown[] }> {
    const file = await files.open(path, 'a+', 0o600);
    try {
      const { entries, keptBytes } = parseJournal(await file.readFile(), path);
      await file.truncate(keptBytes);
      const journal = new Journal(file, path, keptBytes);
      if (keptBytes === 0) await journal.append(formatLine);
      else await file.sync();
      await syncDirectory(files, dirname(path));
      return { journal, entries: entries.slice(1) };
    } catch (error) {
      await closeFile(file);
      throw error;
    }
  }

  /**
   * Reads the entries of a journal that may be in use.
   *
   * @throws StateError `state_damaged`
   */
  static async read(files: FileSystem, path: string): Promise<readonly unknown[]> {
    const { entries } = parseJournal(await files.readFile(path), path);
    return entries.slice(1);
  }

  /** @throws OutputError when it could not be written; from then on for every entry */
  async append(entry: unknown): Promise<void> {
    const json = JSON.stringify(entry);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line: `${checksum(json)} ${json}\n`, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async close(): Promise<void> {
    await closeFile(this.#file);
  }

  /** Entries that come while one is being written go to the disk together. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting;
      this.#waiting = [];
      try {
        if (this.#broken) throw this.#broken;
        const lines = together.map((waiting) => waiting.line).join('');
        await this.#file.appendFile(lines);
        await this.#file.datasync();
        await this.#checkAlone(Buffer.byteLength(lines));
        for (const waiting of together) waiting.resolve();
      } catch (error) {
        this.#broken ??= isSluiceError(error, 'state_locked')
          ? error
          : new OutputError(`cannot write the journal ${this.#path}`, { cause: error });
        for (const waiting of together) waiting.reject(this.#broken);
      }
    }
    this.#isWriting = false;
  }

  /**
   * Every step that may cost something is written down first. Where the lock has no effect, two processes
   * may write: whoever wrote last sees that there is more than its own, and takes no step.
   */
  async #checkAlone(added: number): Promise<void> {
    this.#size += added;
    const { size } = await this.#file.stat();
    if (size === this.#size) return;
    throw new StateError(
      `another process writes the journal ${this.#path}, too: the lock on the state directory has no effect here. Let one of them go on alone`,
      { code: 'state_locked' },
    );
  }
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, '0');
}

function parseJournal(
  bytes: Buffer,
  path: string,
): { readonly entries: readonly unknown[]; readonly keptBytes: number } {
  const entries: unknown[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(0x0a, start);
    const line = end === -1 ? undefined : parseLine(bytes.toString('utf8', start, end));
    if (line === undefined) {
      // Only the last write can be torn; it may have held several lines.
      if (hasWholeLineBehind(bytes, end)) {
        throw new StateError(
          `the journal ${path} is damaged at byte ${start}; restore it, or start over with --fresh`,
          { code: 'state_damaged' },
        );
      }
      return { entries, keptBytes: start };
    }
    entries.push(line.entry);
    if (entries.length === 1 && JSON.stringify(line.entry) !== JSON.stringify(formatLine)) {
      throw new StateError(
        `the journal ${path} was not written by this version of Sluice; finish the run with the version that began it, or start over with --fresh`,
        { code: 'state_damaged' },
      );
    }
    start = end + 1;
  }
  return { entries, keptBytes: start };
}

function hasWholeLineBehind(bytes: Buffer, damagedEnd: number): boolean {
  for (let start = damagedEnd + 1; damagedEnd !== -1 && start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    if (end === -1) return false;
    if (parseLine(bytes.toString('utf8', start, end)) !== undefined) return true;
    start = end + 1;
  }
  return false;
}

function parseLine(line: string): { readonly entry: unknown } | undefined {
  const json = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== checksum(json)) return undefined;
  return { entry: JSON.parse(json) as unknown };
}
