import { closeSync, fstatSync, readSync, writeSync } from 'node:fs';
import { openOwnFileSync } from '../../platform/files/own-files.js';
import type { Verdict } from '../verification/engine.js';
import type { VerdictCount } from '../store/events.js';
import { FileWriter } from './record-file.js';
import { codeBytes } from './verdict-coder.js';
import { VerdictFile } from './verdict-file.js';

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
  readonly #verdicts: VerdictFile;
  readonly #code = Buffer.alloc(codeBytes);

  private constructor(codesFd: number, verdicts: VerdictFile) {
    this.#codesFd = codesFd;
    this.#verdicts = verdicts;
  }

  /** Opens both files, with what an earlier process has left in them. */
  static async open(paths: {
    readonly answers: string;
    readonly verdicts: string;
  }): Promise<AnswerFile> {
    const advice = 'remove it and the answers beside it, which are then asked for again';
    const verdicts = await VerdictFile.open(paths.verdicts, advice);
    closeSync(openOwnFileSync(paths.answers, 'a'));
    return new AnswerFile(openOwnFileSync(paths.answers, 'r+'), verdicts);
  }

  /** Writes the verdict of the address at a place. When this returns, a kill cannot undo it. */
  write(place: number, verdict: Verdict): void {
    // First what the code stands for: a code without a verdict counts for nothing.
    this.#code.writeUInt16LE(this.#verdicts.encode(verdict) + 1);
    writeSync(this.#codesFd, this.#code, 0, codeBytes, place * codeBytes);
  }

  /** The places that have an answer. */
  *answered(): Generator<number, void> {
    const { length } = this.#verdicts.verdicts;
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
    const counts = this.#verdicts.verdicts.map((verdict) => ({ verdict, count: 0 }));
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
    this.#verdicts.close();
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
