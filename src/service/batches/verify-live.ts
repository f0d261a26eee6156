import { closeSync, fstatSync, readSync, writeSync } from 'node:fs';
import { openPrivateFileSync } from '../../platform/files/private-files.js';
import { createSlices } from './shortest-job-first.js';
import type { BatchFiles } from '../storage/batch.js';
import type { VerdictCount } from '../storage/events.js';
import { readLines } from '../storage/line-block.js';
import { FileWriter } from '../storage/record-file.js';
import { codeBytes, putOffCode, timesPutOff, VerdictFile } from '../storage/verdict-file.js';
import type { LiveVerification, Verdict } from '../verification/engine.js';

/** Addresses whose codes are read at once. */
const blockAddresses = 32_768;

/**
 * The answers of a batch as they arrive, in any order. Each is written to its position at once, so that a
 * kill loses none and the next process queries only missing ones. Two files: the distinct verdicts, one a
 * line; and for each address the number of its line from 1, as unwritten bytes read as 0.
 *
 * They are not synced: after a power cut some may be queried again.
 */
class AnswerFile {
  readonly #codesFd: number;
  readonly #verdicts: VerdictFile;
  readonly #code = Buffer.alloc(codeBytes);

  private constructor(codesFd: number, verdicts: VerdictFile) {
    this.#codesFd = codesFd;
    this.#verdicts = verdicts;
  }

  /** Opens both files, with the content from an earlier process. */
  static async open(paths: {
    readonly answers: string;
    readonly verdicts: string;
  }): Promise<AnswerFile> {
    const advice = 'remove it and the answers beside it, which are then asked for again';
    const verdicts = await VerdictFile.open(paths.verdicts, advice);
    closeSync(openPrivateFileSync(paths.answers, 'a'));
    return new AnswerFile(openPrivateFileSync(paths.answers, 'r+'), verdicts);
  }

  /** Writes the verdict at a position. Once this returns, a kill cannot undo it. */
  write(place: number, verdict: Verdict): void {
    // The verdict first: a code without one does not count.
    this.#write(place, this.#verdicts.encode(verdict) + 1);
  }

  /** Records how often the address at a position was deferred. */
  putOff(place: number, times: number): void {
    this.#write(place, putOffCode(times));
  }

  *known(): Generator<{ readonly place: number; readonly putOff: number }, void> {
    const { length } = this.#verdicts.verdicts;
    let place = 0;
    for (const block of this.#blocks(Math.floor(fstatSync(this.#codesFd).size / codeBytes))) {
      for (let at = 0; at < block.length; at += codeBytes) {
        const code = block.readUInt16LE(at);
        const putOff = timesPutOff(code);
        if (putOff > 0 || (code > 0 && code <= length)) yield { place, putOff };
        place += 1;
      }
    }
  }

  /**
   * Writes the codes of all addresses, each with an answer, as a file of codes from 0.
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

  #write(place: number, code: number): void {
    this.#code.writeUInt16LE(code);
    writeSync(this.#codesFd, this.#code, 0, codeBytes, place * codeBytes);
  }

  /** The codes as they are; unwritten ones read as 0. */
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

interface LiveOptions {
  readonly files: BatchFiles;
  readonly addresses: number;
  readonly live: LiveVerification;
  readonly known: AsyncIterable<readonly [place: number, verdict: Verdict]>;
  readonly durable: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (addresses: number) => void;
}

/**
 * Verifies the addresses of a batch by external servers. The list stays on disk and is read repeatedly: each
 * reading offers addresses that were not accepted yet, so that many addresses of one slow exchanger neither
 * fill the memory nor block others. Answers of an earlier process are reused, and deferred addresses wait.
 *
 * @returns the distinct verdicts in the order of their codes, each with its number of addresses
 */
export async function verifyLive(options: LiveOptions): Promise<readonly VerdictCount[]> {
  const { files, addresses, durable, live } = options;
  const answers = await AnswerFile.open(files);
  try {
    for await (const [place, verdict] of options.known) answers.write(place, verdict);
    await new LiveList(options, answers).askAll();
    return await answers.finish(files.codes, { addresses, durable });
  } finally {
    live.end();
    answers.close();
  }
}

class LiveList {
  readonly #options: LiveOptions;
  readonly #answers: AnswerFile;
  /** A bit for each address: whether it was accepted or has its answer. */
  readonly #taken: Uint8Array;
  #takenCount = 0;
  #answered = 0;
  /** How often an earlier process has deferred addresses without an answer, by position. */
  readonly #putOff = new Map<number, number>();

  constructor(options: LiveOptions, answers: AnswerFile) {
    this.#options = options;
    this.#answers = answers;
    this.#taken = new Uint8Array(Math.ceil(options.addresses / 8));
    for (const { place, putOff } of answers.known()) {
      if (putOff > 0) this.#putOff.set(place, putOff);
      else {
        this.#take(place);
        this.#answered += 1;
      }
    }
  }

  async askAll(): Promise<void> {
    const { addresses, live, onProgress } = this.#options;
    onProgress(this.#answered);
    while (this.#answered < addresses) {
      if (this.#takenCount < addresses) await this.#offerList();
      // Half of what is in work, so that a long list is not read for every single answer.
      const enough =
        this.#takenCount === addresses
          ? addresses
          : this.#answered + Math.floor((this.#takenCount - this.#answered) / 2);
      do {
        if (this.#answered < addresses) await live.moved();
        onProgress(this.#answered);
      } while (this.#answered < enough);
    }
  }

  async #offerList(): Promise<void> {
    const { files, live, signal } = this.#options;
    const slices = createSlices(signal);
    let place = -1;
    for await (const lines of readLines(files.addresses)) {
      signal.throwIfAborted();
      for (const line of lines) {
        place += 1;
        if (this.#isTaken(place)) continue;
        while (live.isFull) await live.moved();
        this.#offer(place, line);
        if (slices.isOver()) await slices.pause();
      }
    }
  }

  #offer(place: number, address: string): void {
    const isTaken = this.#options.live.offer(
      address,
      (verdict) => {
        this.#answers.write(place, verdict);
        this.#answered += 1;
      },
      {
        times: this.#putOff.get(place) ?? 0,
        report: (times) => this.#answers.putOff(place, times),
      },
    );
    if (!isTaken) return;
    this.#take(place);
    this.#putOff.delete(place);
  }

  #isTaken(place: number): boolean {
    return ((this.#taken[place >> 3] ?? 0) & (1 << (place & 7))) !== 0;
  }

  #take(place: number): void {
    const byte = place >> 3;
    this.#taken[byte] = (this.#taken[byte] ?? 0) | (1 << (place & 7));
    this.#takenCount += 1;
  }
}
