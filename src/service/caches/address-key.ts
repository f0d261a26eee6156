import { createHash } from 'node:crypto';

/** Bytes of a key: 96 bits, so that two addresses of a store never meet by chance. */
export const keyBytes = 12;

/** Turns addresses into keys that say nothing about them without the salt. */
export interface KeyMaker {
  /** Writes the key of a text into `into` at `offset`, {@link keyBytes} long. */
  write(text: string, into: Uint8Array, offset: number): void;
}

const encoder = new TextEncoder();
const blockBytes = 16;
const rounds = 8;
const firstTextBytes = 512;

/**
 * Keys are cut from the MAC Chaskey with 8 rounds, whose key the salt decides: some ten times as fast as
 * a digest of node:crypto, and without the salt nobody can make two addresses meet.
 *
 * @param salt secret of the store, and the verification type: keys of two types never meet
 */
export function createKeyMaker(salt: string, type: string): KeyMaker {
  const secret = createHash('sha256').update(`${salt}\n${type}`).digest();
  const [k0, k1, k2, k3] = words(secret);
  const [f0, f1, f2, f3] = timesTwo([k0, k1, k2, k3]);
  const padded = timesTwo([f0, f1, f2, f3]);
  let room = createRoom(firstTextBytes);

  return {
    write(text, into, offset) {
      if (text.length * 3 > room.bytes.length) room = createRoom(text.length * 3);
      const { bytes, view } = room;
      const size = encoder.encodeInto(text, bytes).written;
      const isFull = size > 0 && size % blockBytes === 0;
      const lastBlock = isFull ? size - blockBytes : size - (size % blockBytes);
      if (!isFull) {
        view.setInt32(size, 1, true);
        for (let at = size + 4; at < lastBlock + blockBytes; at += 1) view.setUint8(at, 0);
      }
      const [l0, l1, l2, l3] = isFull ? [f0, f1, f2, f3] : padded;
      let [v0, v1, v2, v3] = [k0, k1, k2, k3];
      for (let at = 0; at <= lastBlock; at += blockBytes) {
        v0 ^= view.getInt32(at, true);
        v1 ^= view.getInt32(at + 4, true);
        v2 ^= view.getInt32(at + 8, true);
        v3 ^= view.getInt32(at + 12, true);
        if (at === lastBlock) {
          v0 ^= l0;
          v1 ^= l1;
          v2 ^= l2;
          v3 ^= l3;
        }
        for (let round = 0; round < rounds; round += 1) {
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
      putWord(into, offset, v0 ^ l0);
      putWord(into, offset + 4, v1 ^ l1);
      putWord(into, offset + 8, v2 ^ l2);
    },
  };
}

/** Four signed 32-bit words. */
type Block = readonly [number, number, number, number];

/** Room for a text and the padding of its last block. */
function createRoom(textBytes: number): { readonly bytes: Uint8Array; readonly view: DataView } {
  const buffer = new ArrayBuffer(textBytes + blockBytes + 4);
  return { bytes: new Uint8Array(buffer, 0, textBytes), view: new DataView(buffer) };
}

function words(secret: Buffer): Block {
  const read = (at: number): number => secret.readInt32LE(at);
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

function putWord(into: Uint8Array, at: number, word: number): void {
  into[at] = word;
  into[at + 1] = word >>> 8;
  into[at + 2] = word >>> 16;
  into[at + 3] = word >>> 24;
}
