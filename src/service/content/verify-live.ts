import type { LiveVerification, Verdict } from '../verification/engine.js';
import { createSlices } from '../jobs/slices.js';
import type { BatchFiles } from '../store/batch-files.js';
import type { VerdictCount } from '../store/events.js';
import { AnswerFile } from './answer-file.js';
import { readLines } from './read-lines.js';

export interface LiveOptions {
  readonly files: BatchFiles;
  /** How many there are. */
  readonly addresses: number;
  readonly live: LiveVerification;
  /** Places whose answers are known already. */
  readonly known: AsyncIterable<readonly [place: number, verdict: Verdict]>;
  readonly durable: boolean;
  readonly signal: AbortSignal;
  /** Told how many addresses have their verdict. */
  readonly onProgress: (addresses: number) => void;
}

/**
 * Verifies the addresses of a batch by others who answer when they can. The list stays on disk and is
 * read again and again: each reading offers what was not taken on, so that many addresses of one slow
 * exchanger neither fill the memory nor keep those of others waiting. What an earlier process got an
 * answer for is not asked again.
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
  /** A bit for each address: whether it was taken on or has its answer. */
  readonly #taken: Uint8Array;
  #takenCount = 0;
  #answered = 0;

  constructor(options: LiveOptions, answers: AnswerFile) {
    this.#options = options;
    this.#answers = answers;
    this.#taken = new Uint8Array(Math.ceil(options.addresses / 8));
    for (const place of answers.answered()) {
      this.#take(place);
      this.#answered += 1;
    }
  }

  async askAll(): Promise<void> {
    const { addresses, live, onProgress } = this.#options;
    onProgress(this.#answered);
    while (this.#answered < addresses) {
      if (this.#takenCount < addresses) await this.#offerList();
      // Half of what is under way, so that a long list is not read for every single answer.
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
    const isTaken = this.#options.live.offer(address, (verdict) => {
      this.#answers.write(place, verdict);
      this.#answered += 1;
    });
    if (isTaken) this.#take(place);
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
