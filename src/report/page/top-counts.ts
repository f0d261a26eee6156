/** How often each word was seen, and in which of a few ways. */
export interface TopCount {
  readonly word: string;
  readonly total: number;
  /** By way. */
  readonly ways: readonly number[];
}

export interface Top {
  readonly counts: readonly TopCount[];
  /** How many different words there were, as far as that was counted. */
  readonly words: number;
  /** Whether rare words were forgotten on the way: counts may then be too low by so much. */
  readonly missing: number;
}

/**
 * Counts words in bounded memory: when there are too many, the rarer half is forgotten. A word that was
 * forgotten `n` times over was seen at most `missing` times before.
 */
export class TopCounts {
  readonly #ways: number;
  readonly #mostWords: number;
  readonly #counts = new Map<string, number[]>();
  #missing = 0;
  #forgotten = 0;

  constructor({
    ways,
    mostWords = 20_000,
  }: {
    readonly ways: number;
    readonly mostWords?: number;
  }) {
    this.#ways = ways;
    this.#mostWords = mostWords;
  }

  add(word: string, way: number): void {
    let counts = this.#counts.get(word);
    if (!counts) {
      if (this.#counts.size >= this.#mostWords) this.#forget();
      counts = Array.from({ length: this.#ways }, () => 0);
      this.#counts.set(word, counts);
    }
    counts[way] = (counts[way] ?? 0) + 1;
  }

  /** The words that were seen most often. */
  top(most: number): Top {
    const counts = [...this.#counts]
      .map(([word, ways]) => ({ word, total: sum(ways), ways }))
      .toSorted((one, other) => other.total - one.total || (one.word < other.word ? -1 : 1))
      .slice(0, most);
    return { counts, words: this.#counts.size + this.#forgotten, missing: this.#missing };
  }

  #forget(): void {
    const totals = [...this.#counts.values()].map(sum).toSorted((one, other) => one - other);
    const middle = totals[Math.floor(totals.length / 2)] ?? 0;
    for (const [word, ways] of this.#counts) {
      if (sum(ways) > middle) continue;
      this.#counts.delete(word);
      this.#forgotten += 1;
    }
    this.#missing += middle;
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
