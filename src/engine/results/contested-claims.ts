/**
 * Decides which records the contested addresses of a batch get: those that records with different
 * results claim, or that share a claim. It wants all records of the export once more.
 *
 * An exact key decides: the record under the line as it was submitted, unless another under the same key
 * contradicts it. Without one, records in another form count only when they agree and none of them may
 * mean another address as well.
 */
export class ContestedClaims {
  readonly #contested: ReadonlySet<number>;
  readonly #lines: ReadonlyMap<number, string>;
  /** Undefined where two records under the exact key contradict each other. */
  readonly #exact = new Map<number, number | undefined>();
  readonly #other = new Map<number, number>();
  readonly #undecided = new Set<number>();

  /** @param lines the lines submitted for the contested addresses, by address number */
  constructor(contested: ReadonlySet<number>, lines: ReadonlyMap<number, string>) {
    this.#contested = contested;
    this.#lines = lines;
  }

  /** Takes one record; `candidates` are the addresses that its key may stand for. */
  add(key: string, candidates: readonly number[], outcome: number): void {
    const exact = candidates.find((number) => this.#lines.get(number) === key);
    if (exact !== undefined) {
      const before = this.#exact.has(exact) ? this.#exact.get(exact) : outcome;
      this.#exact.set(exact, before === outcome ? outcome : undefined);
      return;
    }
    for (const number of candidates) {
      if (!this.#contested.has(number)) continue;
      const other = this.#other.get(number) ?? outcome;
      this.#other.set(number, other);
      if (other !== outcome || candidates.length > 1) this.#undecided.add(number);
    }
  }

  /** The outcome of a contested address; undefined where it would be a guess. */
  outcomeOf(number: number): number | undefined {
    if (this.#exact.has(number)) return this.#exact.get(number);
    return this.#undecided.has(number) ? undefined : this.#other.get(number);
  }
}
