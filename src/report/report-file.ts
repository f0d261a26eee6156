import { rm, stat } from 'node:fs/promises';
import { writeOutputFile } from '../lists/files/outputs/output-file.js';
import { checkOutputPath, isSameFile } from '../lists/files/outputs/output-path.js';
import { messageOf } from '../lists/rows/guarded-ends.js';
import { ConfigurationError, OutputError } from '../platform/errors/errors.js';
import type { FilePermissions } from '../platform/files/file-system.js';
import { optionName } from '../platform/text/sentence.js';
import { describeSystemError } from '../platform/text/system-errors.js';

/** An older file does not belong to a run at work. */
const freshMs = 60_000;

/** A summary or a report: a file that appears complete at the end of a run, however it ends. */
export class ReportFile {
  readonly path: string;
  readonly #what: 'summary' | 'report';
  /** Permissions of the removed one, which its successor keeps. */
  #mode: number | undefined;
  /** It is another file of the run, which a report about that must not replace. */
  #isRefused = false;

  static async open(path: string, what: 'summary' | 'report'): Promise<ReportFile> {
    await checkOutputPath(path);
    return new ReportFile(path, what);
  }

  private constructor(path: string, what: 'summary' | 'report') {
    this.path = path;
    this.#what = what;
  }

  async keepApart(others: readonly string[]): Promise<void> {
    for (const other of others) {
      if (!(await isSameFile(this.path, other))) continue;
      this.#isRefused = true;
      throw new ConfigurationError(
        `${optionName(this.#what)} ${this.path} is another file of the run: give the ${this.#what} a name of its own`,
        { option: this.#what, file: this.path, fault: 'exists' },
      );
    }
  }

  /**
   * Removes an earlier run's file: if this run is killed, it must not seem to have written it.
   *
   * @returns whether there was one
   */
  async remove(): Promise<boolean> {
    const { kind, realPath, existing } = await checkOutputPath(this.path);
    if (kind === 'direct') return false;
    this.#mode = existing?.mode ?? this.#mode;
    await rm(realPath, { force: true }).catch((cause: unknown) => {
      throw new OutputError(`cannot remove ${this.path}: ${describeSystemError(cause)}`, { cause });
    });
    return existing !== undefined;
  }

  /** Whether a run at work may have written it: another process that holds the lock writes this file almost last. */
  async isFresh(withinMs = freshMs): Promise<boolean> {
    const found = await stat(this.path).catch(() => undefined);
    return found !== undefined && Date.now() - found.mtimeMs < withinMs;
  }

  async write(text: string, noMoreOpenThan: FilePermissions | undefined): Promise<void> {
    if (this.#isRefused) return;
    await writeOutputFile(this.path, [Buffer.from(text)], {
      noMoreOpenThan,
      ...(this.#mode !== undefined && { mode: this.#mode }),
    });
  }

  /** The same once the output is complete, which the error says. */
  async writeAfterOutput(text: string, noMoreOpenThan: FilePermissions | undefined): Promise<void> {
    await this.write(text, noMoreOpenThan).catch((cause: unknown) => {
      throw new OutputError(
        `the output is written, but not the ${this.#what}: ${messageOf(cause)}`,
        {
          cause,
        },
      );
    });
  }
}
