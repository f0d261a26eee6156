import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OutputError, StateError } from '../errors/family.js';
import { isSluiceError, type SluiceError } from '../errors/sluice-error.js';
import { closeFile } from '../system/close-file.js';
import { syncDirectory, type FileSystem } from '../system/file-system.js';
import { encodeGroup, encodeHead, newJournalId, parseJournal } from './journal-lines.js';

interface Waiting {
  readonly json: string;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * An append-only file of JSON entries with checksums. An entry counts when `append` has returned: by
 * then it is on the disk.
 */
export class Journal {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #id: string;
  /** Bytes that are in the file, as far as this process knows. */
  #size: number;
  #waiting: Waiting[] = [];
  #isWriting = false;
  /** After a failed write nobody knows what is in the file: nothing is ever appended to it. */
  #broken: SluiceError | undefined;

  private constructor(file: FileHandle, path: string, content: { id: string; size: number }) {
    this.#file = file;
    this.#path = path;
    this.#id = content.id;
    this.#size = content.size;
  }

  /**
   * Opens a journal, or begins one.
   *
   * @returns the journal and the entries it holds; the rest of a torn last write is dropped, it never
   *   counted
   * @throws StateError `state_damaged` when more than that is damaged, or another version wrote it;
   *   `state_locked` when another process is writing it
   */
  static async open(
    files: FileSystem,
    path: string,
  ): Promise<{ readonly journal: Journal; readonly entries: readonly unknown[] }> {
    const file = await files.open(path, 'a+', 0o600);
    try {
      const bytes = await file.readFile();
      const { entries, keptBytes, id } = parseJournal(bytes, path);
      const journal = new Journal(file, path, { id: id ?? newJournalId(), size: bytes.length });
      await journal.#fence();
      await file.truncate(keptBytes);
      journal.#size = keptBytes;
      if (id === undefined) await journal.#write(encodeHead(journal.#id));
      else await file.sync();
      await syncDirectory(files, dirname(path));
      return { journal, entries };
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
    return parseJournal(await files.readFile(path), path).entries;
  }

  /**
   * @throws StateError `state_locked` when another process has written the file; OutputError when it
   *   could not be written; from then on for every entry
   */
  async append(entry: unknown): Promise<void> {
    const json = JSON.stringify(entry);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ json, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async close(): Promise<void> {
    await closeFile(this.#file);
  }

  /** Entries that come while some are being written go to the disk together, as one group. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting;
      this.#waiting = [];
      try {
        if (this.#broken) throw this.#broken;
        const entries = together.map(({ json }) => json);
        await this.#write(encodeGroup(this.#id, this.#size, entries));
        for (const waiting of together) waiting.resolve();
      } catch (error) {
        this.#broken ??= isSluiceError(error)
          ? error
          : new OutputError(`cannot write the journal ${this.#path}`, { cause: error });
        for (const waiting of together) waiting.reject(this.#broken);
      }
    }
    this.#isWriting = false;
  }

  async #write(bytes: Buffer): Promise<void> {
    await this.#fence();
    await this.#file.appendFile(bytes);
    this.#size += bytes.length;
    await this.#file.datasync();
    // Another process may have written between the look and the write.
    await this.#fence();
  }

  /**
   * The lock keeps other processes away, but not on every file system: in a folder that machines share it
   * may have no effect. So each writer looks whether the file is as it left it.
   */
  async #fence(): Promise<void> {
    const { size, nlink } = await this.#file.stat();
    if (size === this.#size && nlink !== 0) return;
    throw new StateError(
      `another process has written the journal ${this.#path}: two runs work in one state directory, and the locks of its file system do not keep them apart. This run stops here. Run it again when the other has ended, with --state on a local disk or with one machine at a time`,
      { code: 'state_locked' },
    );
  }
}
