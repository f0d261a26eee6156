import type { HashWords } from '../../platform/hashing/address-table.js';
import type { HistoryOrigin } from './history-entries.js';
import { entryWords, maxFrameEntries, type Frame } from './history-frames.js';

/** Collects entries into frames, each of which names its own outcomes and origins. */
export class FrameBuilder {
  #words = new Uint32Array(1024 * entryWords);
  #length = 0;
  readonly #outcomes = new Map<string, number>();
  readonly #origins = new Map<string, number>();
  readonly #times: number[] = [];
  /** Entries of one batch come one behind the other. */
  #latest: { readonly origin: HistoryOrigin; readonly number: number } | undefined;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get isFull(): boolean {
    return this.#length === maxFrameEntries * entryWords;
  }

  add({ word0, word1, word2, word3 }: HashWords, outcomeKey: string, origin: HistoryOrigin): void {
    if (this.#length === this.#words.length) {
      const larger = new Uint32Array(this.#words.length * 2);
      larger.set(this.#words);
      this.#words = larger;
    }
    const [words, at] = [this.#words, this.#length];
    words[at] = word0;
    words[at + 1] = word1;
    words[at + 2] = word2;
    // Of the last word a table knows the seven bits that name its shard.
    words[at + 3] = word3 & 127;
    words[at + 4] = numberOf(this.#outcomes, outcomeKey);
    words[at + 5] = this.#originNumber(origin);
    this.#length += entryWords;
  }

  /** The frame of what was collected; what comes next goes into another. */
  take(): Frame {
    const meta = {
      outcomes: [...this.#outcomes.keys()],
      origins: [...this.#origins.keys()].map((batchUuid, index) => [batchUuid, this.#times[index]]),
    };
    const entries = this.#words.slice(0, this.#length);
    this.#length = 0;
    this.#outcomes.clear();
    this.#origins.clear();
    this.#times.length = 0;
    this.#latest = undefined;
    return { meta, entries };
  }

  #originNumber(origin: HistoryOrigin): number {
    if (this.#latest?.origin === origin) return this.#latest.number;
    const number = numberOf(this.#origins, origin.batchUuid);
    this.#times[number] ??= origin.atMs;
    this.#latest = { origin, number };
    return number;
  }
}

function numberOf(numbers: Map<string, number>, key: string): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}
