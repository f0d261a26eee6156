import { hashWords, KeyHash } from './key-hash.js';

/** The last word of a hash selects its shard. */
export const shardCount = 128;
const initialSlots = 16;
/** Fuller shards probe too long; together with the growth this bounds a shard at 23 bytes an address. */
const maxLoad = 0.88;
const growth = 1.25;
/** Below two million addresses memory does not matter, and doubling copies less. */
const smallSlots = 16_384;
const smallGrowth = 2;

/** Words of a slot: three of the hash, then the address number plus one; zero means free. */
const slotWords = 4;
const numberWord = 3;

/** Returned by `add` for an address whose shard was taken: its number is unknown here. */
export const unnumbered = -1;

/** Stands for a taken shard. */
const noSlots = new Int32Array(0);

/**
 * Numbers each unique (batch group number, key) from 0 in order of appearance. It stores no key, only 96 bits
 * of its hash (and 7 more by its shard): at most 23 bytes an address from two million addresses on, at most
 * 40 below. Shards grow one at a time and, once large, by a quarter, so that no growth holds two copies of
 * the table or copies all of it at once.
 */
export class AddressTable {
  readonly #hash: KeyHash;
  readonly #shards: Int32Array[] = [];
  readonly #counts = new Int32Array(shardCount);
  #size = 0;
  /** Meaningless: a destination for what {@link AddressTable.fetch} reads. */
  readonly #fetched = new Int32Array(1);

  /** @param options.seed 32 random bytes, secret from anyone who makes the input */
  constructor(options: { readonly seed: Uint8Array }) {
    this.#hash = new KeyHash(options.seed);
    // One allocation for all: 128 would take longer than a small run.
    const words = initialSlots * slotWords;
    const block = new Int32Array(shardCount * words);
    for (let at = 0; at < block.length; at += words) {
      this.#shards.push(block.subarray(at, at + words));
    }
  }

  get size(): number {
    return this.#size;
  }

  get byteSize(): number {
    return this.#shards.reduce((sum, shard) => sum + shard.byteLength, 0);
  }

  get lastHash(): HashWords {
    return this.#hash;
  }

  /**
   * Visits every address with hash and number, shard by shard. Within a shard hashes come evenly distributed,
   * so that another table filled with them is not crowded at one end.
   */
  forEach(visit: (hash: HashWords, number: number) => void): void {
    for (const [word3, slots] of this.#shards.entries()) {
      const capacity = slots.length / slotWords;
      const step = evenStep(capacity);
      for (let visited = 0, slot = 0; visited < capacity; visited += 1) {
        const at = slot * slotWords;
        slot = (slot + step) % capacity;
        const entry = slots[at + numberWord] as number;
        if (entry === 0) continue;
        const [word0 = 0, word1 = 0, word2 = 0] = slots.subarray(at, at + numberWord);
        visit({ word0, word1, word2, word3 }, entry - 1);
      }
    }
  }

  /** Reserves room in an empty shard: addresses in the order of their hashes would crowd growing slots. */
  reserve(shard: number, addresses: number): void {
    const capacity = Math.max(initialSlots, Math.ceil(addresses / maxLoad) + 1);
    this.#shards[shard] = new Int32Array(capacity * slotWords);
  }

  /**
   * Takes a shard out of the table: its slots of four words, zero in the last for a free one, else three of
   * the hash and the number plus one.
   */
  takeShard(shard: number): Int32Array {
    const slots = this.#shards[shard] as Int32Array;
    this.#shards[shard] = noSlots;
    return slots;
  }

  /** The number of an address; a new one gets the previous `size`. */
  add(group: number, key: string): number {
    this.#hash.hash(group, key);
    return this.addHashed(this.#hash);
  }

  /** Hashes an address to be added later into a position of an array. */
  hashInto(hashes: Int32Array, place: number, group: number, key: string): void {
    this.#hash.hash(group, key);
    this.#hash.keep(hashes, place);
  }

  /** The same for the key whose UTF-8 is at the beginning of the room. */
  hashRoomInto(hashes: Int32Array, place: number, group: number, keyBytes: number): void {
    this.#hash.hashRoom(group, keyBytes);
    this.#hash.keep(hashes, place);
  }

  /** Reads slots that are looked up next: a large table is in no cache, and independent reads overlap their waits. */
  fetch(hashes: Int32Array, count: number): void {
    let fetched = 0;
    for (let at = 0; at < count * hashWords; at += hashWords) {
      const slots = this.#shards[(hashes[at + 3] as number) & (shardCount - 1)] as Int32Array;
      if (slots === noSlots) continue;
      fetched |= slots[firstSlot(hashes[at] as number, slots.length) + numberWord] as number;
    }
    this.#fetched[0] = fetched;
  }

  addFrom(hashes: Int32Array, place: number): number {
    this.#hash.bringBack(hashes, place);
    return this.addHashed(this.#hash);
  }

  /** A buffer of at least this size for the UTF-8 of a key, for {@link hashRoomInto}. */
  room(keyBytes: number): Uint8Array {
    return this.#hash.room(keyBytes);
  }

  /** Like `add` for an address with a known hash under this table's seed. */
  addHashed(hash: HashWords): number {
    const shardNumber = hash.word3 & (shardCount - 1);
    const slots = this.#shards[shardNumber] as Int32Array;
    if (slots === noSlots) return unnumbered;
    const { word0, word1, word2 } = hash;
    let at = firstSlot(word0, slots.length);
    for (;;) {
      const entry = slots[at + numberWord] as number;
      if (entry === 0) break;
      if (slots[at] === word0 && slots[at + 1] === word1 && slots[at + 2] === word2) {
        return entry - 1;
      }
      at += slotWords;
      if (at === slots.length) at = 0;
    }
    const number = this.#size;
    slots[at] = word0;
    slots[at + 1] = word1;
    slots[at + 2] = word2;
    slots[at + numberWord] = number + 1;
    this.#size = number + 1;
    const count = (this.#counts[shardNumber] as number) + 1;
    this.#counts[shardNumber] = count;
    if (count * slotWords > slots.length * maxLoad) this.#shards[shardNumber] = grown(slots);
    return number;
  }

  find(group: number, key: string): number {
    this.#hash.hash(group, key);
    return this.findHashed(this.#hash);
  }

  findHashed(hash: HashWords): number {
    const slots = this.#shards[hash.word3 & (shardCount - 1)] as Int32Array;
    const { word0, word1, word2 } = hash;
    let at = firstSlot(word0, slots.length);
    for (;;) {
      const entry = slots[at + numberWord] as number;
      if (entry === 0) return -1;
      if (slots[at] === word0 && slots[at + 1] === word1 && slots[at + 2] === word2) {
        return entry - 1;
      }
      at += slotWords;
      if (at === slots.length) at = 0;
    }
  }
}

export interface HashWords {
  readonly word0: number;
  readonly word1: number;
  readonly word2: number;
  readonly word3: number;
}

/**
 * The first slot of a hash. It grows with the hash, so that a shard of any capacity is used evenly, and
 * growing reads and writes the slots in order.
 */
function firstSlot(word0: number, length: number): number {
  const capacity = length / slotWords;
  return Math.floor(((word0 >>> 0) / 0x1_0000_0000) * capacity) * slotWords;
}

/** A step that visits each slot once, and near ones late: by the golden section. */
function evenStep(capacity: number): number {
  let step = Math.max(1, Math.round(capacity * 0.618_034));
  while (greatestDivisor(step, capacity) > 1) step += 1;
  return step;
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}

function grown(slots: Int32Array): Int32Array {
  const before = slots.length / slotWords;
  const capacity = Math.ceil(before * (before < smallSlots ? smallGrowth : growth));
  const larger = new Int32Array(capacity * slotWords);
  for (let from = 0; from < slots.length; from += slotWords) {
    const entry = slots[from + numberWord] as number;
    if (entry === 0) continue;
    const word0 = slots[from] as number;
    let to = firstSlot(word0, larger.length);
    while (larger[to + numberWord] !== 0) {
      to += slotWords;
      if (to === larger.length) to = 0;
    }
    larger[to] = word0;
    larger[to + 1] = slots[from + 1] as number;
    larger[to + 2] = slots[from + 2] as number;
    larger[to + numberWord] = entry;
  }
  return larger;
}
