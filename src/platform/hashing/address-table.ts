import { hashWords, KeyHash } from './key-hash.js';

/** The last word of a hash chooses its shard. */
export const shardCount = 128;
const initialSlots = 16;
/** Fuller shards probe too long; together with the growth this bounds a shard at 23 bytes an address. */
const maxLoad = 0.88;
const growth = 1.25;
/** Below two million addresses memory is no matter, and doubling copies less. */
const smallSlots = 16_384;
const smallGrowth = 2;

/** Words of a slot: three of the hash, then the address number plus one, so that zero means free. */
const slotWords = 4;
const numberWord = 3;

/** What `add` says of an address whose shard was taken: nobody here knows its number. */
export const unnumbered = -1;

/** Stands where a shard was taken. */
const noSlots = new Int32Array(0);

/**
 * Gives each unique (batch group number, key) a number: 0, 1, 2, … in the order of their first coming. It
 * holds no key, only 96 bits of its hash (and 7 more by the shard it is in): at most 23 bytes an
 * address from two million addresses on, at most 40 below. Shards grow one at a time and, once they are
 * large, by a quarter, so no growth holds two copies of the table or copies all of it at once.
 */
export class AddressTable {
  readonly #hash: KeyHash;
  readonly #shards: Int32Array[] = [];
  readonly #counts = new Int32Array(shardCount);
  #size = 0;
  /** Of no meaning: what {@link AddressTable.fetch} reads has to go somewhere. */
  readonly #fetched = new Int32Array(1);

  /** @param options.seed 32 random bytes, secret from anyone who makes the input */
  constructor(options: { readonly seed: Uint8Array }) {
    this.#hash = new KeyHash(options.seed);
    // One allocation for all: a small run is over sooner than 128 would be collected.
    const words = initialSlots * slotWords;
    const block = new Int32Array(shardCount * words);
    for (let at = 0; at < block.length; at += words) {
      this.#shards.push(block.subarray(at, at + words));
    }
  }

  /** Number of unique addresses. */
  get size(): number {
    return this.#size;
  }

  /** Bytes of memory that the slots take. */
  get byteSize(): number {
    return this.#shards.reduce((sum, shard) => sum + shard.byteLength, 0);
  }

  /** The hash of the address that was hashed last, or whose hash was used last. */
  get lastHash(): HashWords {
    return this.#hash;
  }

  /**
   * Hands over every address, as its hash and its number, shard by shard. In a shard their hashes come evenly
   * from everywhere: another table that grows with them is then never crowded at one end.
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

  /**
   * Makes room for so many addresses in a shard that has none: they may come in the order of their hashes,
   * which would crowd into the beginning of slots that grow with them.
   */
  reserve(shard: number, addresses: number): void {
    const capacity = Math.max(initialSlots, Math.ceil(addresses / maxLoad) + 1);
    this.#shards[shard] = new Int32Array(capacity * slotWords);
  }

  /**
   * Takes a shard out of the table: its slots, four words each, of which a free one has zero for the last
   * and any other three of the hash and the number plus one.
   */
  takeShard(shard: number): Int32Array {
    const slots = this.#shards[shard] as Int32Array;
    this.#shards[shard] = noSlots;
    return slots;
  }

  /** The number of an address; one that is new gets, and so returns, what `size` was before. */
  add(group: number, key: string): number {
    this.#hash.hash(group, key);
    return this.addHashed(this.#hash);
  }

  /** Hashes an address that is to be added later: its words go to a place among those of others. */
  hashInto(hashes: Int32Array, place: number, group: number, key: string): void {
    this.#hash.hash(group, key);
    this.#hash.keep(hashes, place);
  }

  /** The same for the key whose UTF-8 is at the beginning of the room. */
  hashRoomInto(hashes: Int32Array, place: number, group: number, keyBytes: number): void {
    this.#hash.hashRoom(group, keyBytes);
    this.#hash.keep(hashes, place);
  }

  /**
   * Reads the slots of the first so many hashes, which are asked for next: a large table is in no cache of
   * the processor, which waits for many slots at once when nothing depends on any of them.
   */
  fetch(hashes: Int32Array, count: number): void {
    let fetched = 0;
    for (let at = 0; at < count * hashWords; at += hashWords) {
      const slots = this.#shards[(hashes[at + 3] as number) & (shardCount - 1)] as Int32Array;
      if (slots === noSlots) continue;
      fetched |= slots[firstSlot(hashes[at] as number, slots.length) + numberWord] as number;
    }
    this.#fetched[0] = fetched;
  }

  /** The same as `add` for the address whose hash is at a place. */
  addFrom(hashes: Int32Array, place: number): number {
    this.#hash.bringBack(hashes, place);
    return this.addHashed(this.#hash);
  }

  /** Room for at least so many bytes, where the UTF-8 of a key stands for {@link addFromRoom}. */
  room(keyBytes: number): Uint8Array {
    return this.#hash.room(keyBytes);
  }

  /** The same as `add` for the key whose UTF-8 is at the beginning of the room. */
  addFromRoom(group: number, keyBytes: number): number {
    this.#hash.hashRoom(group, keyBytes);
    return this.addHashed(this.#hash);
  }

  /** The same for an address whose hash under this table's seed is known. */
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

  /** The number of an address, or -1 when it was never added. */
  find(group: number, key: string): number {
    this.#hash.hash(group, key);
    return this.findHashed(this.#hash);
  }

  /** The same for an address whose hash under this table's seed is known. */
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

/** What a table knows of an address: words 0 to 2 of its hash, and the shard from the last. */
export interface HashWords {
  readonly word0: number;
  readonly word1: number;
  readonly word2: number;
  readonly word3: number;
}

/**
 * Where the search for a hash begins. It grows with the hash, so that a shard of any capacity is used
 * evenly, and a growth reads the old slots and writes the new ones from one end to the other.
 */
function firstSlot(word0: number, length: number): number {
  const capacity = length / slotWords;
  return Math.floor(((word0 >>> 0) / 0x1_0000_0000) * capacity) * slotWords;
}

/** A step that comes to each of so many slots once, and to near ones late: by the golden section. */
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
