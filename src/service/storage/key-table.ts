import { createHash } from 'node:crypto';
import { KeyHash } from '../../platform/hashing/key-hash.js';

/** Bytes of a key: 96 bits, so that two addresses of a store never meet by chance. */
export const keyBytes = 12;

/** Turns addresses into keys that say nothing about them without the salt. */
export interface KeyMaker {
  /** Writes the key of a text into `into` at `offset`, {@link keyBytes} long. */
  write(text: string, into: Uint8Array, offset: number): void;
  /** Writes what `write` writes of ASCII text in lower case, from the bytes of that text. */
  writeLowerCase(
    bytes: Uint8Array,
    begin: number,
    end: number,
    into: Uint8Array,
    offset: number,
  ): void;
}

/** @param salt secret of the store, and the verification type: keys of two types never meet */
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

/** Each byte as itself, but for the upper-case letters of ASCII. */
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
/** Share of the places that may be taken before the table doubles. */
const mostFull = 0.7;
/** Of a place: the key's, and its number plus one; 0 marks a free place. */
const wordBits = 2;
const words = 2 ** wordBits;
const valueWord = 3;
/** Keys whose places are fetched together. */
const keysAtOnce = 64;

/** What becomes of a number that is known when another comes for its key, which is at `offset`. */
type Merge = (known: number, given: number, offset: number) => number;

/**
 * A set of 96-bit keys, each with a number up to 2^31 - 3, in one typed array: 16 bytes a place, which are in one
 * line of the processor's cache, and no object an address. Open addressing; keys are cut from a strong
 * hash, so that any of their bits will do.
 */
export class KeyTable {
  #capacity = firstCapacity;
  #places = new Int32Array(firstCapacity * words);
  #size = 0;
  /** Of no meaning: what {@link KeyTable.fetch} reads has to go somewhere. */
  readonly #fetched = new Int32Array(1);

  get size(): number {
    return this.#size;
  }

  /** The number of a key that is in `bytes` at `offset`, or `undefined`. */
  get(bytes: Uint8Array, offset: number): number | undefined {
    const place = this.#find(word(bytes, offset), word(bytes, offset + 4), word(bytes, offset + 8));
    const value = this.#places[place + valueWord] ?? 0;
    return value === 0 ? undefined : value - 1;
  }

  /**
   * Puts a key in, or merges its number with `value`.
   *
   * @returns whether it is new
   */
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

  /** Puts a key in, or gives it another number. */
  set(bytes: Uint8Array, offset: number, value: number): void {
    this.add(bytes, offset);
    const place = this.#find(word(bytes, offset), word(bytes, offset + 4), word(bytes, offset + 8));
    this.#places[place + valueWord] = value + 1;
  }

  /** Puts in all keys that are one after another in `bytes`. */
  addAll(bytes: Uint8Array, value: number, merge: Merge = highest): void {
    this.reserve(Math.floor(bytes.length / keyBytes));
    for (let at = 0, index = 0; at + keyBytes <= bytes.length; at += keyBytes, index += 1) {
      if (index % keysAtOnce === 0) this.#fetchSome(bytes, at);
      this.add(bytes, at, value, merge);
    }
  }

  /**
   * Looks up all keys that are one after another in `bytes`.
   *
   * @param into gets for each its number plus one, or 0
   */
  getAll(bytes: Uint8Array, into: Uint32Array): void {
    for (let at = 0, index = 0; at + keyBytes <= bytes.length; at += keyBytes, index += 1) {
      if (index % keysAtOnce === 0) this.#fetchSome(bytes, at);
      const place = this.#find(word(bytes, at), word(bytes, at + 4), word(bytes, at + 8));
      into[index] = this.#places[place + valueWord] ?? 0;
    }
  }

  /** Makes room for so many keys more at once, instead of growing on the way. */
  reserve(keys: number): void {
    let capacity = this.#capacity;
    while (this.#size + keys > capacity * mostFull) capacity *= 2;
    if (capacity > this.#capacity) this.#grow(capacity);
  }

  /** Fetches the next of many keys. */
  #fetchSome(bytes: Uint8Array, begin: number): void {
    const end = begin + keysAtOnce * keyBytes;
    this.fetch(bytes, begin, Math.min(end, bytes.length - keyBytes + 1));
  }

  /**
   * Reads the places of the keys from `begin` to `end`, which are asked for next: a large table is in no
   * cache of the processor, which waits for many places at once when nothing depends on any of them.
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

  /** Where in the array a key is, or the free place where it would. */
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
      // All keys differ: the first free place is theirs.
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
