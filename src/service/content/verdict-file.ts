import { closeSync, ftruncateSync, writeSync } from 'node:fs';
import { StateError } from '../../platform/errors/errors.js';
import { openOwnFileSync, readOwnFileIfThere } from '../../platform/files/own-files.js';
import type { Verdict } from '../verification/engine.js';
import { parseVerdict } from '../store/events.js';
import { VerdictCoder } from './verdict-coder.js';

const newline = 0x0a;

/** The distinct verdicts that a file of codes refers to, one a line, in the order of their codes. */
export class VerdictFile {
  readonly #fd: number;
  readonly #coder: VerdictCoder;

  private constructor(fd: number, coder: VerdictCoder) {
    this.#fd = fd;
    this.#coder = coder;
  }

  /**
   * Opens it, with what an earlier process has left in it. A line torn by a kill was never referred to.
   *
   * @param advice what to do about a file that holds something else
   * @throws StateError `state_damaged`: without a line, the codes of the others mean something else
   */
  static async open(path: string, advice: string): Promise<VerdictFile> {
    const bytes = await readOwnFileIfThere(path);
    const wholeBytes = bytes.lastIndexOf(newline) + 1;
    const lines = bytes.toString('utf8', 0, wholeBytes).split('\n').slice(0, -1);
    const known = lines.map((line, index) => {
      try {
        return parseVerdict(JSON.parse(line));
      } catch (cause) {
        const message = `${path}, line ${index + 1} is no verdict: ${advice}`;
        throw new StateError(message, { code: 'state_damaged', cause });
      }
    });
    const fd = openOwnFileSync(path, 'a');
    ftruncateSync(fd, wholeBytes);
    return new VerdictFile(fd, new VerdictCoder(known));
  }

  get verdicts(): readonly Verdict[] {
    return this.#coder.verdicts;
  }

  /** The code of a verdict; when this returns, a kill cannot undo what it stands for. */
  encode(verdict: Verdict): number {
    const { code, isNew } = this.#coder.encode(verdict);
    if (isNew) writeSync(this.#fd, `${JSON.stringify(verdict)}\n`);
    return code;
  }

  close(): void {
    closeSync(this.#fd);
  }
}
