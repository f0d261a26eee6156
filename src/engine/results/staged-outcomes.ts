const firstCapacity = 1024;
/** Marks a withdrawn outcome; ids stay below it. */
const none = 0xffff_ffff;

/** Outcomes by address number until their export is known to be complete, in 8 to 32 bytes each. */
export class StagedOutcomes {
  #numbers = new Uint32Array(firstCapacity);
  #outcomes = new Uint32Array(firstCapacity);
  /** Open addressing, at most half full: the entry's position plus one, 0 where free. */
  #slots = new Uint32Array(0);
  /** Entries in the slots: none while each number is greater than the previous ones. */
  #linked = 0;
  #greatest = -1;
  #size = 0;
  #hasGaps = false;

  /** Stages an outcome unless the address has one. @returns the address's earlier outcome, or -1 */
  stage(number: number, outcome: number): number {
    const place = number > this.#greatest ? this.#size : this.#place(number);
    if (place === this.#size) {
      this.#append(number, outcome);
      return -1;
    }
    const before = this.#outcomes[place] ?? none;
    if (before !== none) return before;
    this.#outcomes[place] = outcome;
    return -1;
  }

  replace(number: number, outcome: number | undefined): void {
    const place = this.#place(number);
    this.#hasGaps ||= outcome === undefined;
    if (place < this.#size) this.#outcomes[place] = outcome ?? none;
    else if (outcome !== undefined) this.#append(number, outcome);
  }

  get size(): number {
    return this.#size;
  }

  outcomeOf(number: number): number | undefined {
    const place = number > this.#greatest ? this.#size : this.#place(number);
    const outcome = place < this.#size ? this.#outcomes[place] : none;
    return outcome === none ? undefined : outcome;
  }

  /** The staged outcomes and, at the same positions, their addresses' numbers. */
  toArrays(): { readonly numbers: Uint32Array; readonly outcomes: Uint32Array } {
    const numbers = this.#numbers.slice(0, this.#size);
    const outcomes = this.#outcomes.slice(0, this.#size);
    if (!this.#hasGaps) return { numbers, outcomes };
    const isStaged = (_: number, place: number) => this.#outcomes[place] !== none;
    return { numbers: numbers.filter(isStaged), outcomes: outcomes.filter(isStaged) };
  }

  /** Position of an address's entry; the size without one. */
  #place(number: number): number {
    this.#linkAll();
    const mask = this.#slots.length - 1;
    for (let slot = hash(number) & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] ?? 0;
      if (entry === 0) return this.#size;
      if (this.#numbers[entry - 1] === number) return entry - 1;
    }
  }

  #append(number: number, outcome: number): void {
    if (this.#size === this.#numbers.length) {
      this.#numbers = doubled(this.#numbers);
      this.#outcomes = doubled(this.#outcomes);
    }
    this.#numbers[this.#size] = number;
    this.#outcomes[this.#size] = outcome;
    this.#size += 1;
    this.#greatest = Math.max(this.#greatest, number);
  }

  #linkAll(): void {
    if (this.#slots.length < this.#numbers.length * 2) {
      this.#slots = new Uint32Array(this.#numbers.length * 2);
      this.#linked = 0;
    }
    const mask = this.#slots.length - 1;
    for (; this.#linked < this.#size; this.#linked += 1) {
      let slot = hash(this.#numbers[this.#linked] ?? 0) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = this.#linked + 1;
    }
  }
}

/** Spreads the nearly consecutive numbers of a batch. */
function hash(number: number): number {
  const mixed = Math.imul(number, 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}
