import { StateError } from '../../../platform/errors/errors.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { LogFile } from '../../../platform/files/log-file.js';
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
  readonly #log: LogFile;
  readonly #id: string;
  #waiting: Waiting[] = [];
  #isWriting = false;

  private constructor(log: LogFile, id: string) {
    this.#log = log;
    this.#id = id;
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
    let content = parseJournal(Buffer.alloc(0), path);
    const options = { name: `the journal ${path}`, refuseOthers: () => writtenByAnother(path) };
    const log = await LogFile.open(files, path, options, async (file) => {
      const bytes = await file.readFile();
      content = parseJournal(bytes, path);
      return { keptBytes: content.keptBytes, readBytes: bytes.length };
    });
    const { entries, id = newJournalId() } = content;
    try {
      if (content.id === undefined) await log.append(encodeHead(id));
    } catch (error) {
      await log.close();
      throw error;
    }
    return { journal: new Journal(log, id), entries };
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
    await this.#log.close();
  }

  /** Entries that come while some are being written go to the disk together, as one group. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting;
      this.#waiting = [];
      try {
        const entries = together.map(({ json }) => json);
        await this.#log.append(encodeGroup(this.#id, this.#log.size, entries));
        for (const waiting of together) waiting.resolve();
      } catch (error) {
        for (const waiting of together) waiting.reject(error);
      }
    }
    this.#isWriting = false;
  }
}

function writtenByAnother(path: string): StateError {
  return new StateError(
    `another process has written the journal ${path}: two runs work in one state directory, and the locks of its file system do not keep them apart. This run stops here. Run it again when the other has ended, with \`stateDir\` on a local disk or with one machine at a time`,
    { code: 'state_locked' },
  );
}
