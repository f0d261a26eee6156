import { StateError } from '../../platform/errors/errors.js';
import { systemFiles } from '../../platform/files/file-system.js';
import { LogFile, encodeLine, readLines } from '../../platform/files/log-file.js';

/**
 * What happened at the service, one event a line (platform/files/log-file.ts). The log is the only truth;
 * what is in memory is folded from it, and files that it does not name are rubbish.
 *
 * Its lines are no groups, unlike a run's journal: the state changes in the turn in which an event is
 * written, so an event cannot wait for others. Where it cannot be written, nothing has changed, and the
 * service continues.
 */
export class EventLog {
  readonly #log: LogFile;

  private constructor(log: LogFile) {
    this.#log = log;
  }

  /**
   * Opens a log, making it when it is missing. An event torn by a kill in mid-write is dropped.
   *
   * @param options.durable whether `settle` reaches the disk itself
   */
  static async open(
    path: string,
    { durable }: { readonly durable: boolean },
  ): Promise<{ readonly events: readonly unknown[]; readonly log: EventLog }> {
    const events: unknown[] = [];
    const options = { name: `the log ${path}`, durable };
    const log = await LogFile.open(systemFiles, path, options, async (file) => {
      const bytes = await file.readFile();
      const { keptBytes, isDamaged } = readLines(bytes, {
        dropped: 'last line',
        take: (event) => events.push(event),
      });
      if (isDamaged) throw damagedLog(path, `is damaged at byte ${keptBytes}`);
      return { keptBytes, readBytes: bytes.length };
    });
    return { events, log: new EventLog(log) };
  }

  /**
   * Writes an event after the last one. When this returns, a kill of the process cannot undo it.
   *
   * @throws the error of the file system; nothing is appended after a torn event
   */
  append(event: object): void {
    this.#log.appendNow(encodeLine(JSON.stringify(event)));
  }

  /** Resolves when everything appended so far would survive a power cut too. */
  async settle(): Promise<void> {
    await this.#log.settle();
  }

  async close(): Promise<void> {
    try {
      await this.settle();
    } finally {
      await this.#log.close();
    }
  }
}

/** Nothing of it is dropped in silence: what the log does not tell, nobody knows. */
export function damagedLog(path: string, trouble: string, cause?: unknown): StateError {
  return new StateError(
    `the log ${path} ${trouble}: put back a copy of the whole folder, or begin with an empty one`,
    { code: 'state_damaged', cause },
  );
}
