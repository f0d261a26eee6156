const seedBytes = 32;
const groupBytes = 4;
const blockBytes = 16;
const roundsPerBlock = 8;
const initialKeyBytes = 256;
const lastAscii = 0x7f;

export const hashWords = 4;

const encoder = new TextEncoder();

/**
 * A keyed 128-bit hash of (batch group number, key): the MAC Chaskey over the group's four bytes and the
 * key's UTF-8. Without the seed nobody can craft colliding keys, and by chance two of 10 million keys share
 * 96 bits with a probability of about 10^-15.
 *
 * The words of the last hash are fields, to avoid allocations.
 */
export class KeyHash {
  /** Words of the last hash, as signed 32-bit integers. */
  word0 = 0;
  word1 = 0;
  word2 = 0;
  word3 = 0;

  /** The initial state; the second half of the seed is a secret shift of the first block. */
  readonly #start: Block;
  readonly #fullBlockKey: Block;
  readonly #paddedBlockKey: Block;
  /** The message: the batch group, the key, and padding of the last block. */
  #message = new DataView(new ArrayBuffer(0));
  #keyBytes = new Uint8Array(0);

  constructor(seed: Uint8Array) {
    if (seed.length !== seedBytes) throw new RangeError(`a seed has ${seedBytes} bytes`);
    const view = new DataView(seed.buffer, seed.byteOffset, seed.byteLength);
    const key = readBlock(view, 0);
    const shift = readBlock(view, blockBytes);
    this.#start = [key[0] ^ shift[0], key[1] ^ shift[1], key[2] ^ shift[2], key[3] ^ shift[3]];
    this.#fullBlockKey = timesTwo(key);
    this.#paddedBlockKey = timesTwo(this.#fullBlockKey);
    this.#makeRoom(initialKeyBytes);
  }

  /** Hashes one key into the fields. @param group an unsigned 32-bit number @param key without lone surrogates */
  hash(group: number, key: string): void {
    const room = this.room(key.length * 3);
    // Most keys are short ASCII: for them the call of a general encoder takes longest.
    for (let at = 0; at < key.length; at += 1) {
      const unit = key.charCodeAt(at);
      if (unit > lastAscii) {
        this.hashRoom(group, encoder.encodeInto(key, room).written);
        return;
      }
      room[at] = unit;
    }
    this.hashRoom(group, key.length);
  }

  /** A buffer of at least this size for the UTF-8 of a key, for {@link KeyHash.hashRoom}. */
  room(keyBytes: number): Uint8Array {
    if (keyBytes > this.#keyBytes.length) this.#makeRoom(keyBytes);
    return this.#keyBytes;
  }

  /** Hashes the key at the beginning of the room into the fields. @param group an unsigned 32-bit number */
  hashRoom(group: number, keyBytes: number): void {
    const message = this.#message;
    const size = groupBytes + keyBytes;
    message.setInt32(0, group, true);
    message.setInt32(size, 1, true);
    message.setInt32(size + 4, 0, true);
    message.setInt32(size + 8, 0, true);
    message.setInt32(size + 12, 0, true);

    const lastBlock = (size - 1) & ~(blockBytes - 1);
    const lastKey = size % blockBytes === 0 ? this.#fullBlockKey : this.#paddedBlockKey;
    let [v0, v1, v2, v3] = this.#start;
    for (let at = 0; at <= lastBlock; at += blockBytes) {
      v0 ^= message.getInt32(at, true);
      v1 ^= message.getInt32(at + 4, true);
      v2 ^= message.getInt32(at + 8, true);
      v3 ^= message.getInt32(at + 12, true);
      if (at === lastBlock) {
        v0 ^= lastKey[0];
        v1 ^= lastKey[1];
        v2 ^= lastKey[2];
        v3 ^= lastKey[3];
      }
      for (let round = 0; round < roundsPerBlock; round += 1) {
        v0 = (v0 + v1) | 0;
        v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
        v0 = (v0 << 16) | (v0 >>> 16);
        v2 = (v2 + v3) | 0;
        v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
        v0 = (v0 + v3) | 0;
        v3 = ((v3 << 13) | (v3 >>> 19)) ^ v0;
        v2 = (v2 + v1) | 0;
        v1 = ((v1 << 7) | (v1 >>> 25)) ^ v2;
        v2 = (v2 << 16) | (v2 >>> 16);
      }
    }
    this.word0 = v0 ^ lastKey[0];
    this.word1 = v1 ^ lastKey[1];
    this.word2 = v2 ^ lastKey[2];
    this.word3 = v3 ^ lastKey[3];
  }

  /** Writes the words of the last hash to a position of an array, four words each. */
  keep(into: Int32Array, place: number): void {
    const at = place * hashWords;
    into[at] = this.word0;
    into[at + 1] = this.word1;
    into[at + 2] = this.word2;
    into[at + 3] = this.word3;
  }

  bringBack(from: Int32Array, place: number): void {
    const at = place * hashWords;
    this.word0 = from[at] as number;
    this.word1 = from[at + 1] as number;
    this.word2 = from[at + 2] as number;
    this.word3 = from[at + 3] as number;
  }

  #makeRoom(keyBytes: number): void {
    const buffer = new ArrayBuffer(groupBytes + keyBytes + blockBytes);
    this.#message = new DataView(buffer);
    this.#keyBytes = new Uint8Array(buffer, groupBytes, keyBytes);
  }
}

type Block = readonly [number, number, number, number];

function readBlock(view: DataView, at: number): Block {
  const read = (offset: number) => view.getInt32(at + offset, true);
  return [read(0), read(4), read(8), read(12)];
}

/** Multiplies by x in GF(2^128), which is how Chaskey derives the keys of its last block. */
function timesTwo([k0, k1, k2, k3]: Block): Block {
  return [
    (k0 << 1) ^ (k3 < 0 ? 0x87 : 0),
    (k1 << 1) | (k0 >>> 31),
    (k2 << 1) | (k1 >>> 31),
    (k3 << 1) | (k2 >>> 31),
  ];
}
