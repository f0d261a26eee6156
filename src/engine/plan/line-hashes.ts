import { hashWords, KeyHash } from '../../platform/hashing/key-hash.js';
import { type AddressLine, groupNumber } from '../addresses/address.js';
import { emailLine, plainKeyBytes, writePlainKey } from '../addresses/email.js';
import { phoneLine } from '../addresses/phone/phone-line.js';
import type { Batch } from '../batches/batch.js';
import { wholeRecords } from './batch-cutter.js';

const lineFeed = 0x0a;

export function addressOf({ group }: Batch, line: string): AddressLine {
  return group.type === 'email' ? emailLine(line) : phoneLine(line, group.country);
}

/**
 * The hashes of a batch's addresses, in the order of its lines: blocks of {@link hashWords} words for each.
 * Most lines are plain emails, which are hashed without a string.
 */
export async function* lineHashes(batch: Batch, seed: Uint8Array): AsyncGenerator<Int32Array> {
  const isEmail = batch.group.type === 'email';
  const group = groupNumber(batch.group);
  const hash = new KeyHash(seed);
  let words = new Int32Array(0);
  for await (const lines of wholeRecords(batch.open(), 1, wholeLinesAt)) {
    // A line has a character and its end.
    const most = (lines.length >> 1) * hashWords;
    if (words.length < most) words = new Int32Array(most);
    let place = 0;
    let start = 0;
    for (let end = 0; start < lines.length; start = end + 1) {
      end = lines.indexOf(lineFeed, start);
      // A long line before may have made another room.
      if (isEmail && writePlainKey(lines, start, end, hash.room(plainKeyBytes))) {
        hash.hashRoom(group, end - start);
      } else {
        const line = lines.toString('utf8', start, end);
        const address = addressOf(batch, line);
        hash.hash(group, 'key' in address ? address.key : line);
      }
      hash.keep(words, place);
      place += 1;
    }
    yield words.slice(0, place * hashWords);
  }
}

function wholeLinesAt(bytes: Buffer, at: number): number {
  const end = bytes.lastIndexOf(lineFeed);
  return end < at ? Infinity : end + 1 - at;
}
