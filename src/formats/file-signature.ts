/** First bytes of files that are no plain text, and what such a file is called. */
const signatures: readonly (readonly [bytes: readonly number[], what: string])[] = [
  [[0xff, 0xfe], 'UTF-16 text (little-endian)'],
  [[0xfe, 0xff], 'UTF-16 text (big-endian)'],
  [[0x1f, 0x8b], 'gzip-compressed'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'zstd-compressed'],
  [[0x50, 0x4b, 0x03, 0x04], 'a zip archive, as .xlsx spreadsheets are'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an old binary Office document (.xls)'],
  // The byte behind the name starts the first page: a column may well be called PAR1.
  [[0x50, 0x41, 0x52, 0x31, 0x15], 'a Parquet file'],
  [
    [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66, 0x6f, 0x72, 0x6d, 0x61, 0x74],
    'an SQLite file',
  ],
];

/** The UTF-8 byte-order mark. */
export const utf8Mark: readonly number[] = [0xef, 0xbb, 0xbf];

/**
 * Names what a file is by its first bytes when it is no text in UTF-8 or one of its kin. `undecided`
 * asks for more of them: those given could become a signature or a byte-order mark.
 */
export function recogniseSignature(first: Uint8Array): { is: string } | 'text' | 'undecided' {
  let undecided = begins(first, utf8Mark) === 'undecided';
  for (const [bytes, is] of signatures) {
    const answer = begins(first, bytes);
    if (answer === 'yes') return { is };
    undecided ||= answer === 'undecided';
  }
  return undecided ? 'undecided' : 'text';
}

function begins(first: Uint8Array, wanted: readonly number[]): 'yes' | 'no' | 'undecided' {
  const common = Math.min(first.length, wanted.length);
  for (let at = 0; at < common; at += 1) if (first[at] !== wanted[at]) return 'no';
  return first.length < wanted.length ? 'undecided' : 'yes';
}
