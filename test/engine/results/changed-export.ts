import fc from 'fast-check';
import { isSluiceError } from '../../../src/platform/errors/is-sluice-error.js';
import { expectedRecords } from './any-export.js';
import { cutEvery, readChunks, type Reading } from './export-reading.js';

// Short records, most of them alike, so that changes fall where the ways through part.
const members = ['a', 'b', 'c', 'd', 'e', 'f', '\u00fc', 'g'].map((name, index) => {
  const flags = { valid: index % 4 === 0, wrong: false, unknown: true };
  const record = index === 3 ? { ...flags, n: [-1.5, { n: null }] } : { email: name, ...flags };
  return `"${name}":${JSON.stringify(record)}`;
});
export const base = Buffer.from(`{${members.join(',')},"s":{"t":"\\u00e9"}}`);
/** Places from the end of one record to the beginning of the next. */
const borders = members.flatMap((member) => {
  const start = base.indexOf(member);
  return Array.from({ length: 8 }, (_, index) => start - 3 + index).filter((place) => place >= 0);
});

export type Edit = readonly [
  place: number,
  kind: string,
  byte: number,
  from: number,
  length: number,
];

export const anyEdit: fc.Arbitrary<Edit> = fc.tuple(
  fc.oneof(fc.nat(base.length - 1), fc.constantFrom(...borders)),
  fc.constantFrom('replace', 'insert', 'remove', 'copy'),
  fc.oneof(fc.constantFrom(...Buffer.from('"\\{}[],:; 0-9.eEtrufalsn\n\u0000')), fc.nat(255)),
  fc.nat(base.length - 1),
  fc.nat(60),
);

/** The export with these edits in it. */
export function change(edits: readonly Edit[], original: Buffer = base): Buffer {
  let bytes = original;
  for (const [place, kind, byte, from, length] of edits) {
    const copied = kind === 'copy' ? original.subarray(from, from + length) : Buffer.of(byte);
    const inserted = kind === 'remove' ? Buffer.alloc(0) : copied;
    const removed = { replace: 1, insert: 0, remove: 1 + (length % 9) }[kind] ?? inserted.length;
    bytes = Buffer.concat([bytes.subarray(0, place), inserted, bytes.subarray(place + removed)]);
  }
  return bytes;
}

/** What the reader makes of the bytes in chunks of this length: its message where it refuses them. */
export async function read(bytes: Buffer, chunkLength: number): Promise<Reading | string> {
  try {
    return await readChunks(cutEvery(bytes, chunkLength));
  } catch (error) {
    if (isSluiceError(error, 'broken_contract')) return error.message;
    throw error;
  }
}

/** The last record under each key by `JSON.parse`, or that it is no object. */
export function reference(bytes: Buffer): Map<string, unknown> | 'refused' {
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString());
  } catch {
    return 'refused';
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return 'refused';
  return new Map(expectedRecords('email', Object.entries(parsed)));
}

/** A reading in the reference's words. Where sections and records share a key, who is last is open. */
export function retold(
  reading: Reading | string,
  reported: Map<string, unknown> | 'refused',
): Map<string, unknown> | 'refused' {
  // JSON.parse never sees bytes that are no UTF-8: they are repaired before.
  if (typeof reading === 'string') return reading.includes('UTF-8') ? reported : 'refused';
  const last = new Map<string, unknown>(reading.found);
  const isOpen = reading.others > 0 && reported !== 'refused' && reported.size < last.size;
  return isOpen ? reported : last;
}
