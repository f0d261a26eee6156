import type { HashWords } from '../../addresses/address-table.js';
import type { HistoryOrigin } from './history-entries.js';
import { entryWords, maxFrameEntries, type Frame } from './history-frames.js';

/** Collects entries into frames, each of which names its own outcomes and origins. */
export class FrameBuilder {
  #words = new Uint32Array(1024 * entryWords);
  #length = 0;
  readonly #outcomes = new Map<string, number>();
  readonly #origins = new Map<string, { readonly number: number; readonly atMs: number }>();

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
    const { batchUuid, atMs } = origin;
    const outcome = numberOf(this.#outcomes, outcomeKey, this.#outcomes.size);
    const known = numberOf(this.#origins, batchUuid, { number: this.#origins.size, atMs });
    // Of the last word a table knows the seven bits that name its shard.
    const words = [word0, word1, word2, word3 & 127, outcome, known.number];
    this.#words.set(words, this.#length);
    this.#length += entryWords;
  }

  /** The frame of what was collected; what comes next goes into another. */
  take(): Frame {
    const meta = {
      outcomes: [...this.#outcomes.keys()],
      origins: [...this.#origins].map(([batchUuid, { atMs }]) => [batchUuid, atMs]),
    };
    const entries = this.#words.slice(0, this.#length);
    this.#length = 0;
    this.#outcomes.clear();
    this.#origins.clear();
    return { meta, entries };
  }
}

function numberOf<Value>(numbers: Map<string, Value>, key: string, next: Value): Value {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, next);
  return next;
}
