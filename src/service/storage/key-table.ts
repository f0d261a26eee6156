import { createHash } from 'node:crypto';
import { KeyHash } from '../../platform/hashing/key-hash.js';

/** Bytes of a key: 96 bits, so that two addresses never collide by chance. */
export const keyBytes = 12;

/** Hashes addresses to keys that reveal nothing without the salt. */
export interface KeyMaker {
  /** Writes the key of a text into `into` at `offset`, {@link keyBytes} long. */
  write(text: string, into: Uint8Array, offset: number): void;
  /** The same for ASCII text in lower case, from its bytes. */
  writeLowerCase(
    bytes: Uint8Array,
    begin: number,
    end: number,
    into: Uint8Array,
    offset: number,
  ): void;
}

/** @param salt secret of the store; keys of two types never collide */
export function createKeyMaker(salt: string, type: string): KeyMaker {
  const hash = new KeyHash(createHash('sha256').update(`${salt}\n${type}`).digest());
  const put = (into: Uint8Array, offset: number) => {
    putWord(into, offset, hash.word0);
    putWord(into, offset + 4, hash.word1);
    putWord(into, offset + 8, hash.word2);
  };
  return {
    write(text, into, offset) {
      hash.hash(0, text);
      put(into, offset);
    },
    writeLowerCase(bytes, begin, end, into, offset) {
      const room = hash.room(end - begin);
      for (let at = begin; at < end; at += 1) room[at - begin] = lowerCase[bytes[at] ?? 0] ?? 0;
      hash.hashRoom(0, end - begin);
      put(into, offset);
    },
  };
}

/** Each byte as itself, with ASCII letters in lower case. */
const lowerCase = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

function putWord(into: Uint8Array, at: number, word: number): void {
  into[at] = word;
  into[at + 1] = word >>> 8;
  into[at + 2] = word >>> 16;
  into[at + 3] = word >>> 24;
}

const firstCapacity = 1024;
/** Share of taken slots at which the table doubles. */
const mostFull = 0.7;
/** Words of a slot: the key's, and its number plus one; 0 marks a free slot. */
const wordBits = 2;
const words = 2 ** wordBits;
const valueWord = 3;
/** Keys whose slots are fetched together. */
const keysAtOnce = 64;

/** Merges a known number with another for the same key, which is at `offset`. */
type Merge = (known: number, given: number, offset: number) => number;

/**
 * A map from 96-bit keys to numbers up to 2^31 - 3, in one typed array: 16 bytes a slot, within one cache
 * line, and no object for each address. Open addressing; keys come from a strong hash, so any bits will do.
 */
export class KeyTable {
  #capacity = firstCapacity;
  #places = new Int32Array(firstCapacity * words);
  #size = 0;
  /** Meaningless: a destination for what {@link KeyTable.fetch} reads. */
  readonly #fetched = new Int32Array(1);

  get size(): number {
    return this.#size;
  }

  get(bytes: Uint8Array, offset: number): number | undefined {
    const place = this.#find(word(bytes, offset), word(bytes, offset + 4), word(bytes, offset + 8));
    const value = this.#places[place + valueWord] ?? 0;
    return value === 0 ? undefined : value - 1;
  }

  /** Adds a key, or merges its number with `value`. @returns whether it is new */
  add(bytes: Uint8Array, offset: number, value = 0, merge: Merge = highest): boolean {
    if (this.#size >= this.#capacity * mostFull) this.#grow(this.#capacity * 2);
    const a = word(bytes, offset);
    const b = word(bytes, offset + 4);
    const c = word(bytes, offset + 8);
    const place = this.#find(a, b, c);
    const places = this.#places;
    const known = places[place + valueWord] ?? 0;
    if (known !== 0) {
      places[place + valueWord] = merge(known - 1, value, offset) + 1;
      return false;
    }
    places[place + valueWord] = value + 1;
    places[place] = a;
    places[place + 1] = b;
    places[place + 2] = c;
    this.#size += 1;
    return true;
  }

  set(bytes: Uint8Array, offset: number, value: number): void {
    this.add(bytes, offset);
    const place = this.#find(word(bytes, offset), word(bytes, offset + 4), word(bytes, offset + 8));
    this.#places[place + valueWord] = value + 1;
  }

  addAll(bytes: Uint8Array, value: number, merge: Merge = highest): void {
    this.reserve(Math.floor(bytes.length / keyBytes));
    for (let at = 0, index = 0; at + keyBytes <= bytes.length; at += keyBytes, index += 1) {
      if (index % keysAtOnce === 0) this.#fetchSome(bytes, at);
      this.add(bytes, at, value, merge);
    }
  }

  /** Looks up all consecutive keys in `bytes`. @param into gets for each its number plus one, or 0 */
  getAll(bytes: Uint8Array, into: Uint32Array): void {
    for (let at = 0, index = 0; at + keyBytes <= bytes.length; at += keyBytes, index += 1) {
      if (index % keysAtOnce === 0) this.#fetchSome(bytes, at);
      const place = this.#find(word(bytes, at), word(bytes, at + 4), word(bytes, at + 8));
      into[index] = this.#places[place + valueWord] ?? 0;
    }
  }

  reserve(keys: number): void {
    let capacity = this.#capacity;
    while (this.#size + keys > capacity * mostFull) capacity *= 2;
    if (capacity > this.#capacity) this.#grow(capacity);
  }

  #fetchSome(bytes: Uint8Array, begin: number): void {
    const end = begin + keysAtOnce * keyBytes;
    this.fetch(bytes, begin, Math.min(end, bytes.length - keyBytes + 1));
  }

  /**
   * Reads the slots of the keys from `begin` to `end`, which are looked up next: a large table is in no
   * cache, and independent reads overlap their waits.
   */
  fetch(bytes: Uint8Array, begin: number, end: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let fetched = 0;
    for (let at = begin; at < end; at += keyBytes) {
      fetched |= places[(word(bytes, at) << wordBits) & mask] ?? 0;
    }
    this.#fetched[0] = fetched;
  }

  #find(a: number, b: number, c: number): number {
    const places = this.#places;
    const mask = places.length - 1;
    let place = (a << wordBits) & mask;
    while (places[place + valueWord] !== 0) {
      if (places[place] === a && places[place + 1] === b && places[place + 2] === c) return place;
      place = (place + words) & mask;
    }
    return place;
  }

  #grow(capacity: number): void {
    const old = this.#places;
    const places = new Int32Array(capacity * words);
    const mask = places.length - 1;
    for (let from = 0; from < old.length; from += words) {
      const value = old[from + valueWord] ?? 0;
      if (value === 0) continue;
      const a = old[from] ?? 0;
      // All keys differ: each takes the first free slot.
      let place = (a << wordBits) & mask;
      while (places[place + valueWord] !== 0) place = (place + words) & mask;
      places[place] = a;
      places[place + 1] = old[from + 1] ?? 0;
      places[place + 2] = old[from + 2] ?? 0;
      places[place + valueWord] = value;
    }
    this.#places = places;
    this.#capacity = capacity;
  }
}

function highest(known: number, given: number): number {
  return Math.max(known, given);
}

function word(bytes: Uint8Array, offset: number): number {
  return (
    (bytes[offset] ?? 0) |
    ((bytes[offset + 1] ?? 0) << 8) |
    ((bytes[offset + 2] ?? 0) << 16) |
    ((bytes[offset + 3] ?? 0) << 24)
  );
}
