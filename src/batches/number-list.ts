const segmentBits = 16;
const segmentLength = 1 << segmentBits;
const segmentMask = segmentLength - 1;

/** A list of unsigned 32-bit numbers that grows without copying what it holds: four bytes each. */
export class NumberList {
  readonly #segments: Uint32Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if ((this.#length & segmentMask) === 0) this.#segments.push(new Uint32Array(segmentLength));
    const index = this.#length;
    this.#length += 1;
    this.set(index, value);
  }

  /** @throws RangeError outside the list */
  at(index: number): number {
    const value = this.#segments[index >>> segmentBits]?.[index & segmentMask];
    if (value === undefined || index >= this.#length) {
      throw new RangeError(`no number at ${index} of ${this.#length}`);
    }
    return value;
  }

  /** @throws RangeError outside the list */
  set(index: number, value: number): void {
    const segment = this.#segments[index >>> segmentBits];
    if (segment === undefined || index >= this.#length) {
      throw new RangeError(`no number at ${index} of ${this.#length}`);
    }
    segment[index & segmentMask] = value;
  }

  /** Sets a number that has this value before; says whether it had. */
  replace(index: number, before: number, after: number): boolean {
    const segment = this.#segments[index >>> segmentBits];
    const at = index & segmentMask;
    if (segment === undefined || segment[at] !== before || index >= this.#length) return false;
    segment[at] = after;
    return true;
  }
}
