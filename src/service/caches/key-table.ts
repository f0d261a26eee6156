import { keyBytes } from './address-key.js';

const firstCapacity = 1024;
/** Share of the places that may be taken before the table doubles. */
const mostFull = 0.7;
const words = 3;

/**
 * A set of 96-bit keys, each with a small number, in typed arrays: 14 bytes a place, no object an
 * address. Open addressing; keys are cut from a strong hash, so that any of their bits will do.
 */
export class KeyTable {
  #capacity = firstCapacity;
  #keys = new Uint32Array(firstCapacity * words);
  /** The number plus one; 0 marks a free place. */
  #values = new Uint16Array(firstCapacity);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of a key that stands in `bytes` at `offset`, or `undefined`. */
  get(bytes: Uint8Array, offset: number): number | undefined {
    const place = this.#place(
      word(bytes, offset),
      word(bytes, offset + 4),
      word(bytes, offset + 8),
    );
    const value = this.#values[place] ?? 0;
    return value === 0 ? undefined : value - 1;
  }

  /**
   * Puts a key in, or raises its number to `value`, which is at most 65534.
   *
   * @returns whether it is new
   */
  add(bytes: Uint8Array, offset: number, value = 0): boolean {
    if (this.#size >= this.#capacity * mostFull) this.#grow();
    return this.#put(word(bytes, offset), word(bytes, offset + 4), word(bytes, offset + 8), value);
  }

  /** Puts a key in, or gives it another number, which is at most 65534. */
  set(bytes: Uint8Array, offset: number, value: number): void {
    this.add(bytes, offset);
    const place = this.#place(
      word(bytes, offset),
      word(bytes, offset + 4),
      word(bytes, offset + 8),
    );
    this.#values[place] = value + 1;
  }

  /** Puts in all keys that stand one behind another in `bytes`. */
  addAll(bytes: Uint8Array, value: number): void {
    for (let at = 0; at + keyBytes <= bytes.length; at += keyBytes) this.add(bytes, at, value);
  }

  #put(a: number, b: number, c: number, value: number): boolean {
    const place = this.#place(a, b, c);
    const known = this.#values[place] ?? 0;
    this.#values[place] = Math.max(known, value + 1);
    if (known !== 0) return false;
    this.#keys[place * words] = a;
    this.#keys[place * words + 1] = b;
    this.#keys[place * words + 2] = c;
    this.#size += 1;
    return true;
  }

  /** Where a key stands, or the free place where it would. */
  #place(a: number, b: number, c: number): number {
    const mask = this.#capacity - 1;
    const keys = this.#keys;
    let place = a & mask;
    while (this.#values[place] !== 0) {
      const at = place * words;
      if (keys[at] === a && keys[at + 1] === b && keys[at + 2] === c) return place;
      place = (place + 1) & mask;
    }
    return place;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    const capacity = this.#capacity;
    this.#capacity = capacity * 2;
    this.#keys = new Uint32Array(this.#capacity * words);
    this.#values = new Uint16Array(this.#capacity);
    this.#size = 0;
    for (let place = 0; place < capacity; place += 1) {
      const value = values[place] ?? 0;
      if (value === 0) continue;
      const at = place * words;
      this.#put(keys[at] ?? 0, keys[at + 1] ?? 0, keys[at + 2] ?? 0, value - 1);
    }
  }
}

function word(bytes: Uint8Array, offset: number): number {
  return (
    ((bytes[offset] ?? 0) |
      ((bytes[offset + 1] ?? 0) << 8) |
      ((bytes[offset + 2] ?? 0) << 16) |
      ((bytes[offset + 3] ?? 0) << 24)) >>>
    0
  );
}
