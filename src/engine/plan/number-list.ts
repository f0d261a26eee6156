const segmentBits = 16;
const segmentLength = 1 << segmentBits;
const segmentMask = segmentLength - 1;
/** A short list has one segment, which doubles from so few numbers on. */
const firstLength = 256;
/** A search looks at so many numbers one by one, before it is worth a call. */
const near = 16;

/**
 * A list of unsigned 32-bit numbers, four bytes each. From its first whole segment on it grows without copying
 * what it holds.
 */
export class NumberList {
  readonly #segments: Uint32Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    const index = this.#length;
    if (index >= segmentLength) {
      if ((index & segmentMask) === 0) this.#segments.push(new Uint32Array(segmentLength));
    } else if (index >= (this.#segments[0]?.length ?? 0)) {
      this.#segments[0] = grown(this.#segments[0]);
    }
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

  /** The first index from `from` on that holds a number, or -1. */
  indexOf(value: number, from: number): number {
    const segment = this.#segments[from >>> segmentBits];
    const nearEnd = Math.min(from + near, (from | segmentMask) + 1, this.#length);
    for (let at = from; at < nearEnd; at += 1) if (segment?.[at & segmentMask] === value) return at;
    for (let at = from; at < this.#length; at = ((at >>> segmentBits) + 1) << segmentBits) {
      const found = this.#segments[at >>> segmentBits]?.indexOf(value, at & segmentMask) ?? -1;
      if (found === -1) continue;
      const index = (at & ~segmentMask) + found;
      return index < this.#length ? index : -1;
    }
    return -1;
  }

  /** The first indexes that hold a number, so many at most. */
  indexesOf(value: number, most: number): Uint32Array {
    const indexes = new Uint32Array(most);
    let found = 0;
    for (let at = this.indexOf(value, 0); at !== -1 && found < most;) {
      const segment = this.#segments[at >>> segmentBits] as Uint32Array;
      const end = Math.min(this.#length, (at | segmentMask) + 1);
      for (; at < end && found < most; at += 1) {
        if (segment[at & segmentMask] !== value) continue;
        indexes[found] = at;
        found += 1;
      }
      at = this.indexOf(value, end);
    }
    return indexes.subarray(0, found);
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

function grown(segment: Uint32Array | undefined): Uint32Array {
  if (!segment) return new Uint32Array(firstLength);
  const larger = new Uint32Array(segment.length * 2);
  larger.set(segment);
  return larger;
}
