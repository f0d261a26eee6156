import { closeSync, ftruncateSync, writeSync } from 'node:fs';
import { StateError } from '../../platform/errors/errors.js';
import {
  openPrivateFileSync,
  readPrivateFileIfExists,
} from '../../platform/files/private-files.js';
import { parseVerdict, type VerdictCount } from './events.js';
import type { Verdict } from '../verification/engine.js';

export const codeBytes = 2;
const codeCount = 2 ** (codeBytes * 8);
/** Most deferrals of an address: while answers arrive, the highest codes count them, and 0 means none. */
const mostPutOff = 255;
const mostVerdicts = codeCount - 1 - mostPutOff;

/** The code of a deferred address without an answer. */
export function putOffCode(times: number): number {
  return codeCount - Math.min(times, mostPutOff);
}

/** @returns 0 for any other code */
export function timesPutOff(code: number): number {
  return code > mostVerdicts ? codeCount - code : 0;
}

const mostObjects = 1024;

/** Gives each distinct verdict a code from 0: distinct verdicts are few, addresses are many. */
class VerdictCoder {
  readonly verdicts: Verdict[] = [];
  readonly #byObject = new Map<Verdict, number>();
  readonly #byText = new Map<string, number>();

  /** @param known verdicts with codes, in order */
  constructor(known: readonly Verdict[] = []) {
    for (const verdict of known) {
      this.#byText.set(JSON.stringify(verdict), this.verdicts.length);
      this.verdicts.push(verdict);
    }
  }

  encode(verdict: Verdict): { readonly code: number; readonly isNew: boolean } {
    const known = this.#byObject.get(verdict);
    if (known !== undefined) return { code: known, isNew: false };
    const text = JSON.stringify(verdict);
    let code = this.#byText.get(text);
    const isNew = code === undefined;
    if (code === undefined) {
      code = this.verdicts.length;
      if (code === mostVerdicts) throw new Error('more distinct verdicts than there are codes');
      this.verdicts.push(verdict);
      this.#byText.set(text, code);
    }
    // An engine may make an object for each address: not all are kept.
    if (this.#byObject.size >= mostObjects) this.#byObject.clear();
    this.#byObject.set(verdict, code);
    return { code, isNew };
  }
}

/** Writes verdicts' codes, and counts the addresses of each. */
export class VerdictTally {
  readonly #coder = new VerdictCoder();
  readonly #counts: number[] = [];

  /** Counts an address, and writes its verdict's code, {@link codeBytes} long. */
  write(verdict: Verdict, into: Uint8Array, offset: number): void {
    const { code } = this.#coder.encode(verdict);
    this.#counts[code] = (this.#counts[code] ?? 0) + 1;
    into[offset] = code;
    into[offset + 1] = code >>> 8;
  }

  /** The distinct verdicts in the order of their codes, with their counts. */
  get counts(): readonly VerdictCount[] {
    return this.#coder.verdicts.map((verdict, code) => ({
      verdict,
      count: this.#counts[code] ?? 0,
    }));
  }
}

const newline = 0x0a;

/** The distinct verdicts of a codes file, one a line, in the order of their codes. */
export class VerdictFile {
  readonly #fd: number;
  readonly #coder: VerdictCoder;

  private constructor(fd: number, coder: VerdictCoder) {
    this.#fd = fd;
    this.#coder = coder;
  }

  /**
   * Opens it with an earlier process's content. A line torn by a kill was never referred to.
   *
   * @param advice what to do about a file with other content
   * @throws StateError `state_damaged`: a missing line would change the meaning of codes
   */
  static async open(path: string, advice: string): Promise<VerdictFile> {
    const bytes = await readPrivateFileIfExists(path);
    const wholeBytes = bytes.lastIndexOf(newline) + 1;
    const lines = bytes.toString('utf8', 0, wholeBytes).split('\n').slice(0, -1);
    const known = lines.map((line, index) => {
      try {
        return parseVerdict(JSON.parse(line));
      } catch (cause) {
        const message = `${path}, line ${index + 1} is not a verdict: ${advice}`;
        throw new StateError(message, { code: 'state_damaged', cause });
      }
    });
    const fd = openPrivateFileSync(path, 'a');
    ftruncateSync(fd, wholeBytes);
    return new VerdictFile(fd, new VerdictCoder(known));
  }

  get verdicts(): readonly Verdict[] {
    return this.#coder.verdicts;
  }

  /** The code of a verdict; once this returns, a kill cannot undo its meaning. */
  encode(verdict: Verdict): number {
    const { code, isNew } = this.#coder.encode(verdict);
    if (isNew) writeSync(this.#fd, `${JSON.stringify(verdict)}\n`);
    return code;
  }

  close(): void {
    closeSync(this.#fd);
  }
}
