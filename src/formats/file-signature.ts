/** A kind of file that is no plain text. */
interface Signature {
  readonly bytes: readonly number[];
  /** What such a file is called. */
  readonly is: string;
  /** The format it is read as, if it is. */
  readonly format?: 'xlsx' | 'parquet';
}

const signatures: readonly Signature[] = [
  { bytes: [0xff, 0xfe], is: 'UTF-16 text (little-endian)' },
  { bytes: [0xfe, 0xff], is: 'UTF-16 text (big-endian)' },
  { bytes: [0x1f, 0x8b], is: 'gzip-compressed' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], is: 'zstd-compressed' },
  {
    bytes: [0x50, 0x4b, 0x03, 0x04],
    is: 'a zip archive, as .xlsx spreadsheets are',
    format: 'xlsx',
  },
  {
    bytes: [0xd0, 0xcf, 0x11, 0xe0],
    is: 'an old binary Office document (.xls), or one with a password; save it as .xlsx without one',
  },
  // The byte behind the name starts the first page: a column may well be called PAR1.
  { bytes: [0x50, 0x41, 0x52, 0x31, 0x15], is: 'a Parquet file', format: 'parquet' },
  {
    bytes: [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66, 0x6f, 0x72, 0x6d, 0x61, 0x74],
    is: 'an SQLite file',
  },
];

/** The UTF-8 byte-order mark. */
export const utf8Mark: readonly number[] = [0xef, 0xbb, 0xbf];

/** How many of the first bytes are a mark. */
export function markBytesOf(first: Uint8Array): number {
  return utf8Mark.every((byte, at) => first[at] === byte) ? utf8Mark.length : 0;
}

/**
 * Names what a file is by its first bytes when it is no text in UTF-8 or one of its kin. `undecided`
 * asks for more of them: those given could become a signature or a byte-order mark.
 */
export function recogniseSignature(
  first: Uint8Array,
): Omit<Signature, 'bytes'> | 'text' | 'undecided' {
  let undecided = begins(first, utf8Mark) === 'undecided';
  for (const signature of signatures) {
    const answer = begins(first, signature.bytes);
    if (answer === 'yes') return signature;
    undecided ||= answer === 'undecided';
  }
  return undecided ? 'undecided' : 'text';
}

function begins(first: Uint8Array, wanted: readonly number[]): 'yes' | 'no' | 'undecided' {
  const common = Math.min(first.length, wanted.length);
  for (let at = 0; at < common; at += 1) if (first[at] !== wanted[at]) return 'no';
  return first.length < wanted.length ? 'undecided' : 'yes';
}
