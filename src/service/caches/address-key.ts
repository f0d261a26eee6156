import { hash } from 'node:crypto';

/** Bytes of a key: 96 bits, so that two addresses of a store never meet by chance. */
export const keyBytes = 12;

/** Turns addresses into keys that say nothing about them without the salt. */
export interface KeyMaker {
  /** Writes the key of a text into `into` at `offset`, {@link keyBytes} long. */
  write(text: string, into: Uint8Array, offset: number): void;
}

/** @param salt secret of the store, and the verification type: keys of two types never meet */
export function createKeyMaker(salt: string, type: string): KeyMaker {
  const prefix = `${salt}\n${type}\n`;
  return {
    write(text, into, offset) {
      // As a string of bytes: the fastest of the ways to get a short digest out of node:crypto.
      const digest = hash('sha256', prefix + text, 'binary');
      for (let at = 0; at < keyBytes; at += 1) into[offset + at] = digest.charCodeAt(at);
    },
  };
}
