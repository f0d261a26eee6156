import { isUtf8 } from 'node:buffer';

/** A kind of file that is no plain text. */
interface Signature {
  readonly bytes: readonly number[];
  /** What such a file is called. */
  readonly is: string;
  /** The format it is read as, if it is. */
  readonly format?: 'xlsx' | 'parquet';
  /** What to do with such a file. @default to say that it is one */
  readonly advice?: string;
}

const unpack = 'unpack it first';
const exportIt = 'export the list as CSV, Excel or Parquet';

const signatures: readonly Signature[] = [
  {
    bytes: [0xff, 0xfe, 0, 0],
    is: 'UTF-32 text',
    advice: 'save it as UTF-8 or UTF-16',
  },
  {
    bytes: [0, 0, 0xfe, 0xff],
    is: 'UTF-32 text',
    advice: 'save it as UTF-8 or UTF-16',
  },
  { bytes: [0xff, 0xfe], is: 'UTF-16 text (little-endian)' },
  { bytes: [0xfe, 0xff], is: 'UTF-16 text (big-endian)' },
  { bytes: [0x1f, 0x8b], is: 'gzip-compressed', advice: unpack },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], is: 'zstd-compressed', advice: unpack },
  ...Array.from({ length: 9 }, (_, level) => ({
    bytes: [...ascii(`BZh${level + 1}`), 0x31, 0x41, 0x59, 0x26],
    is: 'bzip2-compressed',
    advice: unpack,
  })),
  {
    bytes: [0x50, 0x4b, 0x03, 0x04],
    is: 'a zip archive, as .xlsx spreadsheets are',
    format: 'xlsx',
  },
  {
    bytes: [0xd0, 0xcf, 0x11, 0xe0],
    is: 'an old binary Office document (.xls), or one with a password',
    advice: 'save it as .xlsx without one',
  },
  // The byte after the name starts the first page: a column may well be called PAR1.
  { bytes: [0x50, 0x41, 0x52, 0x31, 0x15], is: 'a Parquet file', format: 'parquet' },
  {
    bytes: ascii('PARE'),
    is: 'an encrypted Parquet file',
    advice: 'write it without encryption first',
  },
  {
    bytes: [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66, 0x6f, 0x72, 0x6d, 0x61, 0x74],
    is: 'an SQLite file',
    advice: 'name it as sqlite:PATH, with a query',
  },
  { bytes: ascii('%PDF-'), is: 'a PDF document', advice: exportIt },
  { bytes: ascii('{\\rtf'), is: 'a document in rich text (.rtf)', advice: exportIt },
  { bytes: [0x89, ...ascii('PNG')], is: 'a picture (PNG)', advice: exportIt },
  { bytes: [0xff, 0xd8, 0xff], is: 'a picture (JPEG)', advice: exportIt },
  { bytes: ascii('GIF8'), is: 'a picture (GIF)', advice: exportIt },
  { bytes: ascii('<!DOCTYPE html'), is: 'a web page (HTML)', advice: exportIt },
  { bytes: ascii('<html'), is: 'a web page (HTML)', advice: exportIt },
  { bytes: [0xfd, ...ascii('7zXZ')], is: 'xz-compressed', advice: unpack },
  { bytes: [...ascii('7z'), 0xbc, 0xaf], is: 'a 7z archive', advice: unpack },
  { bytes: [...ascii('Rar!'), 0x1a], is: 'a RAR archive', advice: unpack },
  { bytes: [0x7f, ...ascii('ELF')], is: 'a program', advice: exportIt },
];

function ascii(text: string): readonly number[] {
  return [...Buffer.from(text, 'latin1')];
}

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
export function detectSignature(
  first: Uint8Array,
): Omit<Signature, 'bytes'> | 'text' | 'undecided' {
  let undecided = begins(first, utf8Mark) === 'undecided';
  for (const signature of signatures) {
    const answer = begins(first, signature.bytes);
    // UTF-32 begins as UTF-16 does.
    if (answer === 'yes') return undecided ? 'undecided' : signature;
    undecided ||= answer === 'undecided';
  }
  return undecided ? 'undecided' : 'text';
}

/** What a file is by its first bytes, and what to do with it; `undefined` for text and what is not known. */
export function describeFile(first: Uint8Array): string | undefined {
  if (first.length === 0) return 'empty; check what makes the list';
  const found = detectSignature(first);
  if (typeof found !== 'object') return undefined;
  return found.advice === undefined ? found.is : `${found.is}; ${found.advice}`;
}

function begins(first: Uint8Array, wanted: readonly number[]): 'yes' | 'no' | 'undecided' {
  const common = Math.min(first.length, wanted.length);
  for (let at = 0; at < common; at += 1) if (first[at] !== wanted[at]) return 'no';
  return first.length < wanted.length ? 'undecided' : 'yes';
}

const mostJudged = 512;
/** Line ends, tabs and form feeds: the only control characters of text. */
const textControls: ReadonlySet<number> = new Set([9, 10, 12, 13]);

/** Whether bytes are surely no text in UTF-8: broken, and full of control characters, or mostly nulls. */
export function isBinary(bytes: Uint8Array): boolean {
  const judged = bytes.subarray(0, mostJudged);
  const share = (test: (byte: number) => boolean): number =>
    judged.reduce((sum, byte) => sum + (test(byte) ? 1 : 0), 0) / Math.max(judged.length, 1);
  if (share((byte) => byte === 0) > mostNulls) return true;
  return !isUtf8(judged) && share((byte) => byte < 32 && !textControls.has(byte)) > mostControls;
}

/** Whether bytes are of the seven-bit text of East Asia (ISO-2022-JP, -KR, -CN), which says so where it leaves ASCII. */
export function isShiftedText(bytes: Buffer): boolean {
  const [, ...shifted] = bytes.toString('latin1').split('\u001b');
  return (
    shifted.some((text) => /^\$(?:[@AB]|[()*+][A-M])/.test(text)) &&
    bytes.every((byte) => byte < 0x80)
  );
}

/** UTF-16 of Latin letters has one half. */
const mostNulls = 0.25;
/** Of random bytes it is 0.11. */
const mostControls = 0.04;
