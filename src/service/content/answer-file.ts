import { closeSync, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { openOwnFileSync, readOwnFileIfThere } from '../../system/own-files.js';
import type { Verdict } from '../engine/engine.js';
import { parseVerdict, type VerdictCount } from '../store/events.js';
import { FileWriter } from './record-file.js';
import { VerdictCoder, codeBytes } from './verdict-coder.js';

const newline = 0x0a;
/** Addresses whose codes are read at once. */
const blockAddresses = 32_768;

/**
 * The answers of a batch while they come in, in any order. Each is written to its place at once, so that
 * a kill loses none and the next process asks only for what is missing. Two files: the distinct
 * verdicts, one a line; and for each address the number of its line, counted from 1, because what was
 * never written reads as 0.
 *
 * They are not flushed to the disk: after a power cut some may have to be asked for again.
 */
export class AnswerFile {
  readonly #codesFd: number;
  readonly #verdictsFd: number;
  readonly #coder: VerdictCoder;
  readonly #code = Buffer.alloc(codeBytes);

  private constructor(codesFd: number, verdictsFd: number, coder: VerdictCoder) {
    this.#codesFd = codesFd;
    this.#verdictsFd = verdictsFd;
    this.#coder = coder;
  }

  /** Opens both files, with what an earlier process has left in them. */
  static async open(paths: {
    readonly answers: string;
    readonly verdicts: string;
  }): Promise<AnswerFile> {
    const { known, wholeBytes } = readVerdicts(await readOwnFileIfThere(paths.verdicts));
    const verdictsFd = openOwnFileSync(paths.verdicts, 'a');
    ftruncateSync(verdictsFd, wholeBytes);
    closeSync(openOwnFileSync(paths.answers, 'a'));
    const codesFd = openOwnFileSync(paths.answers, 'r+');
    return new AnswerFile(codesFd, verdictsFd, new VerdictCoder(known));
  }

  /** Writes the verdict of the address at a place. When this returns, a kill cannot undo it. */
  write(place: number, verdict: Verdict): void {
    const { code, isNew } = this.#coder.encode(verdict);
    // First what the code stands for: a code without a verdict counts for nothing.
    if (isNew) writeSync(this.#verdictsFd, `${JSON.stringify(verdict)}\n`);
    this.#code.writeUInt16LE(code + 1);
    writeSync(this.#codesFd, this.#code, 0, codeBytes, place * codeBytes);
  }

  /** The places that have an answer. */
  *answered(): Generator<number, void> {
    const { length } = this.#coder.verdicts;
    let place = 0;
    for (const block of this.#blocks(Math.floor(fstatSync(this.#codesFd).size / codeBytes))) {
      for (let at = 0; at < block.length; at += codeBytes) {
        const code = block.readUInt16LE(at);
        if (code > 0 && code <= length) yield place;
        place += 1;
      }
    }
  }

  /**
   * Writes the codes of so many addresses, all of which have an answer, as a file of codes counted from 0.
   *
   * @returns the distinct verdicts in the order of their codes, each with its number of addresses
   */
  async finish(
    path: string,
    { addresses, durable }: { readonly addresses: number; readonly durable: boolean },
  ): Promise<readonly VerdictCount[]> {
    const counts = this.#coder.verdicts.map((verdict) => ({ verdict, count: 0 }));
    const writer = await FileWriter.create(path);
    try {
      for (const block of this.#blocks(addresses)) {
        for (let at = 0; at < block.length; at += codeBytes) {
          const code = block.readUInt16LE(at) - 1;
          const counted = counts[code];
          if (counted === undefined) throw new Error('an address has no answer');
          counted.count += 1;
          block.writeUInt16LE(code, at);
        }
        await writer.write(block);
      }
      await writer.finish({ durable });
    } finally {
      await writer.close();
    }
    return counts;
  }

  close(): void {
    closeSync(this.#codesFd);
    closeSync(this.#verdictsFd);
  }

  /** The codes as they stand; what was never written reads as 0. */
  *#blocks(addresses: number): Generator<Buffer, void> {
    for (let place = 0; place < addresses; place += blockAddresses) {
      const block = Buffer.alloc(Math.min(blockAddresses, addresses - place) * codeBytes);
      let got = 0;
      while (got < block.length) {
        const at = place * codeBytes + got;
        const read = readSync(this.#codesFd, block, got, block.length - got, at);
        if (read === 0) break;
        got += read;
      }
      yield block;
    }
  }
}

/** A line torn by a kill was never referred to. */
function readVerdicts(bytes: Buffer): { known: Verdict[]; wholeBytes: number } {
  const wholeBytes = bytes.lastIndexOf(newline) + 1;
  const lines = bytes.toString('utf8', 0, wholeBytes).split('\n').slice(0, -1);
  return { known: lines.map((line) => parseVerdict(JSON.parse(line))), wholeBytes };
}
