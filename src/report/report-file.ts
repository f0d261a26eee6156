import { rm, stat } from 'node:fs/promises';
import { ConfigurationError, OutputError } from '../platform/errors/errors.js';
import { writeOutputFile } from '../lists/files/outputs/output-file.js';
import { checkOutputPath, isSameFile } from '../lists/files/outputs/output-path.js';
import { describeSystemError } from '../platform/files/disk-errors.js';
import type { FilePermissions } from '../platform/files/file-system.js';
import { optionName } from '../platform/text/option-name.js';

/** Older than this, a file is not of a run that is at work now. */
const freshMs = 60_000;

/** A summary or a report: a file that appears whole at the end of a run, however that ends. */
export class ReportFile {
  readonly path: string;
  readonly #what: 'summary' | 'report';
  /** Permissions of the one that was removed, which the next one keeps. */
  #mode: number | undefined;

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
      throw new ConfigurationError(
        `${optionName(this.#what)} ${this.path} is another file of the run: give the ${this.#what} a name of its own`,
      );
    }
  }

  /** Removes that of an earlier run: killed, this one must not seem to have written it. */
  async remove(): Promise<void> {
    const { kind, realPath, existing } = await checkOutputPath(this.path);
    if (kind === 'direct') return;
    this.#mode = existing?.mode;
    await rm(realPath, { force: true }).catch((cause: unknown) => {
      throw new OutputError(`cannot remove ${this.path}: ${describeSystemError(cause)}`, { cause });
    });
  }

  /**
   * Whether a run that is at work now may have written it: where another holds the lock, its last act but
   * one is this file.
   */
  async isFresh(withinMs = freshMs): Promise<boolean> {
    const found = await stat(this.path).catch(() => undefined);
    return found !== undefined && Date.now() - found.mtimeMs < withinMs;
  }

  async write(text: string, noMoreOpenThan: FilePermissions | undefined): Promise<void> {
    await writeOutputFile(this.path, [Buffer.from(text)], {
      noMoreOpenThan,
      ...(this.#mode !== undefined && { mode: this.#mode }),
    });
  }

  /** The same where the output is there already, which the error says. */
  async writeAfterOutput(text: string, noMoreOpenThan: FilePermissions | undefined): Promise<void> {
    await this.write(text, noMoreOpenThan).catch((cause: unknown) => {
      throw new OutputError(`the output is written, but not the ${this.#what} ${this.path}`, {
        cause,
      });
    });
  }
}
