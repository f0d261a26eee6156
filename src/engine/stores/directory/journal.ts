import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { OutputError, StateError } from '../../../platform/errors/errors.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { LogFile, encodeLine, readLines } from '../../../platform/files/log-file.js';
import { optionName } from '../../../platform/text/sentence.js';

/*
 * A journal consists of lines (platform/files/log-file.ts). The first is the head; each further one is a
 * group: the entries of one write, as an array. A group is one line with one checksum, so it counts as a
 * whole or not at all, whatever part of its write survives a power cut.
 *
 * The checksum also covers the journal's id and the group's position.
 */

const form = { journal: 'sluice', version: 2 } as const;

interface JournalContent {
  readonly entries: readonly unknown[];
  /** Later bytes are the rest of the last write, which never counted. */
  readonly keptBytes: number;
  /** The journal's id; `undefined` without a head. */
  readonly id: string | undefined;
}

export function newJournalId(): string {
  return randomBytes(8).toString('hex');
}

export function encodeHead(id: string): Buffer {
  return encodeLine(JSON.stringify({ ...form, id }), 0);
}

/** @param at the group's position in the file */
export function encodeGroup(id: string, at: number, entries: readonly string[]): Buffer {
  return encodeLine(`[${entries.join(',')}]`, seedOf(id, at));
}

/** Reads the bytes of a journal. @param path the journal's, for messages */
export function parseJournal(bytes: Buffer, path: string): JournalContent {
  const entries: unknown[] = [];
  let id: string | undefined;
  const { keptBytes, isDamaged } = readLines(bytes, {
    dropped: 'last write',
    seedAt: (at) => (id === undefined ? 0 : seedOf(id, at)),
    take(value, at) {
      if (at === 0) id = parseHead(value, path);
      else if (Array.isArray(value)) for (const entry of value as unknown[]) entries.push(entry);
      else throw damaged(path, `at byte ${at}`);
    },
  });
  if (isDamaged || isHeadDamaged(bytes, keptBytes, id)) throw damaged(path, `at byte ${keptBytes}`);
  return { entries, keptBytes, id };
}

/** @param the damage and its position: `at byte 812` */
export function damaged(path: string, what: string, cause?: unknown): StateError {
  return new StateError(
    `the journal ${path} is damaged ${what}. Put back an older copy of its state directory, if you have one: the run then asks the service what it has, and pays for nothing twice. Without a copy, start over with ${optionName('fresh')}: that pays again for what was sent`,
    { code: 'state_damaged', cause, option: 'stateDir', file: path, fault: 'damaged' },
  );
}

function parseHead(value: unknown, path: string): string {
  const { journal, version, id } = Object(value) as Readonly<Record<string, unknown>>;
  if (journal === form.journal && version === form.version && typeof id === 'string') return id;
  throw new StateError(
    `the journal ${path} was not written by this version of Sluice; finish the run with the version that began it, or start over with ${optionName('fresh')}, which pays again`,
    { code: 'state_damaged', option: 'stateDir', file: path, fault: 'unsupported' },
  );
}

/** Without a head, a journal's groups look like the rest of a write. */
function isHeadDamaged(bytes: Buffer, at: number, id: string | undefined): boolean {
  if (id !== undefined || at === bytes.length) return false;
  // The head is written alone, and nothing else before it is safe.
  if (at === 0 && bytes.length > encodeHead(newJournalId()).length) return true;
  return /\n[0-9a-f]{8} \[/.test(bytes.toString('latin1', at));
}

function seedOf(id: string, at: number): number {
  return crc32(`${id} ${at} `);
}

interface Waiting {
  readonly json: string;
  resolve(): void;
  reject(error: unknown): void;
}

/** An append-only file of JSON entries with checksums. An entry counts once `append` has returned: it is on disk. */
export class Journal {
  readonly #log: LogFile;
  readonly #id: string;
  #waiting: Waiting[] = [];
  #isWriting = false;

  private constructor(log: LogFile, id: string) {
    this.#log = log;
    this.#id = id;
  }

  /** Opens a journal, or begins one. @returns the journal and its entries; the rest of a torn last write is dropped */
  static async open(
    files: FileSystem,
    path: string,
  ): Promise<{ readonly journal: Journal; readonly entries: readonly unknown[] }> {
    let content = parseJournal(Buffer.alloc(0), path);
    const options = {
      name: `the journal ${path}`,
      refuseOthers: (isGone: boolean) => (isGone ? removed(path) : writtenByAnother(path)),
    };
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

  /** Reads a journal that may be in use. */
  static async read(files: FileSystem, path: string): Promise<readonly unknown[]> {
    return parseJournal(await files.readFile(path), path).entries;
  }

  /**
   * @throws StateError `state_locked` when another process has written the file; OutputError when it
   *   is gone or could not be written; from then on for every entry
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

  /** Entries that arrive during a write go to disk together, as one group. */
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

/** Its batches are still on the service, but a resumed run cannot know them. */
function removed(path: string): OutputError {
  return new OutputError(
    `the journal ${path} is gone: it was removed with its folder, or by another process that ended the run. This run stops here, and launches nothing more. What it has launched is paid and stays on the service, but no run can use it without the state directory: put that back if you can`,
    { file: path, fault: 'missing' },
  );
}

function writtenByAnother(path: string): StateError {
  return new StateError(
    `another process has written the journal ${path}: two runs work in one state directory, and the locks of its file system do not keep them apart. This run stops here. Run it again when the other has ended, with ${optionName('stateDir')} on a local disk or with one machine at a time`,
    { code: 'state_locked', option: 'stateDir', file: path },
  );
}
