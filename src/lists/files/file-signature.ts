import { isUtf8 } from 'node:buffer';

interface Signature {
  readonly is: string;
  /** What to do with such a file. @default to report it */
  readonly advice?: string;
  readonly format?: 'xlsx' | 'parquet';
}

const utf32 = { is: 'UTF-32 text', advice: 'save it as UTF-8 or UTF-16' };

function packed(is: string): Signature {
  return { is, advice: 'unpack it first' };
}

function other(is: string): Signature {
  return { is, advice: 'export the list as CSV, Excel or Parquet' };
}

/** By their first bytes, one character for each. */
const signatures = new Map<string, Signature>([
  ['\xff\xfe\0\0', utf32],
  ['\0\0\xfe\xff', utf32],
  ['\xff\xfe', { is: 'UTF-16 text (little-endian)' }],
  ['\xfe\xff', { is: 'UTF-16 text (big-endian)' }],
  ['\x1f\x8b', packed('gzip-compressed')],
  ['\x28\xb5\x2f\xfd', packed('zstd-compressed')],
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(
    (level) => [`BZh${level}1AY&`, packed('bzip2-compressed')] as const,
  ),
  ['PK\x03\x04', { is: 'a zip archive, as .xlsx spreadsheets are', format: 'xlsx' }],
  [
    '\xd0\xcf\x11\xe0',
    {
      is: 'an old binary Office document (.xls), or one with a password',
      advice: 'save it as .xlsx without one',
    },
  ],
  // The byte after the name starts the first page: a column may be named PAR1.
  ['PAR1\x15', { is: 'a Parquet file', format: 'parquet' }],
  ['PARE', { is: 'an encrypted Parquet file', advice: 'write it without encryption first' }],
  [
    'SQLite format',
    { is: 'an SQLite file', advice: 'name it as sqlite:PATH, which lists its tables' },
  ],
  ['%PDF-', other('a PDF document')],
  ['{\\rtf', other('a document in rich text (.rtf)')],
  ['\x89PNG', other('a picture (PNG)')],
  ['\xff\xd8\xff', other('a picture (JPEG)')],
  ['GIF8', other('a picture (GIF)')],
  ['<!DOCTYPE html', other('a web page (HTML)')],
  ['<html', other('a web page (HTML)')],
  ['<table', other('a web page (HTML)')],
  ['<?xml', { is: 'XML, such as an XML spreadsheet 2003', advice: 'save it as .xlsx or CSV' }],
  ['BEGIN:VCARD', other('a vCard file')],
  ['\xfd7zXZ', packed('xz-compressed')],
  ['7z\xbc\xaf', packed('a 7z archive')],
  ['Rar!\x1a', packed('a RAR archive')],
  ['\x7fELF', other('a program')],
]);

/** Behind a checksum of its first block, which may be any bytes, and before a small number. */
const duckdb = /^[^]{8}DUCK[^]\0{3}/;

export const utf8Mark: readonly number[] = [0xef, 0xbb, 0xbf];

export function markBytesOf(first: Uint8Array): number {
  return utf8Mark.every((byte, at) => first[at] === byte) ? utf8Mark.length : 0;
}

/** What to do with a file of that name. @returns `undefined` where it is to be reported */
export function adviceOn({ advice }: Signature, name: string): string | undefined {
  // A URL or standard input is not the path of a database.
  const isFile = name.includes('.') && !name.includes('://');
  return isFile ? advice?.replace('PATH', () => name) : advice;
}

/** Identifies a file that is not text by its first bytes. `undecided`: more could become a signature or mark. */
export function detectSignature(first: Uint8Array): Signature | 'text' | 'undecided' {
  const mark = markBytesOf(first);
  const text = Buffer.from(first.subarray(mark, mark + mostCharacters)).toString('latin1');
  if (duckdb.test(text)) {
    return { is: 'a DuckDB file', advice: 'name it as duckdb:PATH, which lists its tables' };
  }
  let undecided = begins(text, '\xef\xbb\xbf') === 'undecided';
  for (const [start, signature] of signatures) {
    const answer = begins(text, start);
    // UTF-32 begins like UTF-16.
    if (answer === 'yes') return undecided ? 'undecided' : signature;
    undecided ||= answer === 'undecided';
  }
  return undecided ? 'undecided' : 'text';
}

/** The kind of a file by its first bytes, and what to do with it; `undefined` for text and unknown content. */
export function describeFile(first: Uint8Array, name: string): string | undefined {
  if (first.length === 0) return 'empty; check what makes the list';
  const found = detectSignature(first);
  if (typeof found !== 'object') return undefined;
  const advice = adviceOn(found, name);
  return advice === undefined ? found.is : `${found.is}; ${advice}`;
}

/** No signature is longer. */
const mostCharacters = 16;

function begins(text: string, start: string): 'yes' | 'no' | 'undecided' {
  if (text.startsWith(start)) return 'yes';
  return start.startsWith(text) ? 'undecided' : 'no';
}

const mostJudged = 512;
/** Line ends, tabs and form feeds: the only control characters of text. */
const textControls: ReadonlySet<number> = new Set([9, 10, 12, 13]);

/** Whether bytes are surely not UTF-8 text: invalid and full of control characters, or mostly nulls. */
export function isBinary(bytes: Uint8Array): boolean {
  const judged = bytes.subarray(0, mostJudged);
  const share = (test: (byte: number) => boolean): number =>
    judged.reduce((sum, byte) => sum + (test(byte) ? 1 : 0), 0) / Math.max(judged.length, 1);
  if (share((byte) => byte === 0) > mostNulls) return true;
  return !isUtf8(judged) && share((byte) => byte < 32 && !textControls.has(byte)) > mostControls;
}

/** Whether bytes are seven-bit text of East Asia (ISO-2022-JP, -KR, -CN), which marks where it leaves ASCII. */
export function isShiftedText(bytes: Buffer): boolean {
  const [, ...shifted] = bytes.toString('latin1').split('\u001b');
  return (
    shifted.some((text) => /^\$(?:[@AB]|[()*+][A-M])/.test(text)) &&
    bytes.every((byte) => byte < 0x80)
  );
}

/** UTF-16 of Latin letters has one half. */
const mostNulls = 0.25;
/** Random bytes have 0.11. */
const mostControls = 0.04;
