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
