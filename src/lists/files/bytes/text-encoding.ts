import { TextDecoder } from 'node:util';
import { ConfigurationError, InputError } from '../../../platform/errors/errors.js';
import { optionName } from '../../../platform/text/sentence.js';
import { bufferOf } from '../../rows/values/print-value.js';
import type { ByteReader } from './byte-reader.js';
import { grouped } from '../../../platform/text/shown-numbers.js';

const otherNames: ReadonlyMap<string, string> = new Map([
  ['utf16le', 'utf-16le'],
  ['utf16be', 'utf-16be'],
  ['utf-16', 'utf-16le'],
  ['utf16', 'utf-16le'],
  ['latin-1', 'latin1'],
  ['iso-8859-1', 'latin1'],
  ['cp1252', 'windows-1252'],
  ['cp932', 'shift_jis'],
  ['cp936', 'gb18030'],
  ['cp949', 'euc-kr'],
  ['cp950', 'big5'],
]);

/** The name of a text file's encoding: `latin1`, or one of the Encoding Standard's. */
export function parseEncoding(given: string): string {
  const lower = given.trim().toLowerCase();
  const name = otherNames.get(lower) ?? lower;
  if (name === 'latin1') return name;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    throw new ConfigurationError(
      `unknown encoding ${JSON.stringify(given)}: choose utf-8, utf-16le, utf-16be, latin1, windows-1252, shift_jis, gb18030, big5, euc-kr, koi8-r or another of the Encoding Standard`,
      { option: 'encoding' },
    );
  }
}

/**
 * The encoding that a leading byte-order mark shows. Text without one counts as UTF-8, or as UTF-16 where one
 * half of its bytes is clearly that of Latin letters.
 */
export function detectEncoding(first: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const isUtf32 = first[2] === 0 && first[3] === 0;
  if (first[0] === 0xff && first[1] === 0xfe && !isUtf32) return 'utf-16le';
  if (first[0] === 0xfe && first[1] === 0xff) return 'utf-16be';
  if (isUtf16(first, 0)) return 'utf-16le';
  return isUtf16(first, 1) ? 'utf-16be' : 'utf-8';
}

/** @param low which of two bytes is that of Latin letters; the other is null in letters and signs */
function isUtf16(first: Uint8Array, low: 0 | 1): boolean {
  const pairs = Math.min(first.length, mostJudged) >> 1;
  let [lowNulls, highNulls, wideSigns, others] = [0, 0, 0, 0];
  for (let at = 0; at < 2 * pairs; at += 2) {
    const [letter = 0, page = 0] = [first[at + low], first[at + 1 - low]];
    if (letter === 0) lowNulls += 1;
    if (page === 0) highNulls += 1;
    if (signs.has(letter) && page === 0) wideSigns += 1;
    else if (signs.has(letter) || signs.has(page)) others += 1;
  }
  const areWide = others === 0 || wideSigns > others;
  return lowNulls === 0 && highNulls > pairs * leastNulls && areWide;
}

/** The line feed, the comma and the at sign. */
const signs: ReadonlySet<number> = new Set([0x0a, 0x2c, 0x40]);
const mostJudged = 512;
/** In other scripts these are delimiters, line ends and addresses. */
const leastNulls = 0.2;

const eachByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
/** By the characters of windows-1252: their bytes. In one piece, Node 20 reads it as latin1. */
const westernBytes: ReadonlyMap<string, number> = new Map(
  Array.from(
    new TextDecoder('windows-1252').decode(eachByte, { stream: true }),
    (character, byte) => [character, byte],
  ),
);
const eastAsian = ['shift_jis', 'gb18030'].map((name) => new TextDecoder(name, { fatal: true }));

/**
 * Whether text that was read as windows-1252 is more likely of another script: letters outside ASCII follow each
 * other, as in no Western language, or two bytes each are a character of East Asia, apart from Latin letters.
 */
export function isOtherScript(texts: readonly string[]): boolean {
  const accented = texts.filter((text) => /[^\0-\x7f]/.test(text));
  const others = accented.filter(
    (text) => /[^\0-\x7f]{4}/.test(text) || eastAsian.some((decoder) => isReadBy(decoder, text)),
  );
  return others.length * 2 > accented.length;
}

function isReadBy(decoder: TextDecoder, text: string): boolean {
  const bytes = Array.from(text, (character) => westernBytes.get(character) ?? -1);
  if (bytes.includes(-1)) return false;
  try {
    const read = decoder.decode(Uint8Array.from(bytes));
    return !/[A-Za-z][^\0-\x7f]|[^\0-\x7f][A-Za-z]/.test(read);
  } catch {
    return false;
  }
}

const mark = '\ufeff';

/**
 * Converts a reader's text to UTF-8. UTF-8 passes unchanged, even if invalid; other invalid text is refused,
 * as its rows could not be told apart. Converted text begins with a byte-order mark: without one, a
 * spreadsheet would read it in the original encoding.
 */
export function createTranscodeReader(
  name: string,
  reader: ByteReader,
  encoding: string,
): ByteReader {
  if (encoding === 'utf-8') return reader;
  const decode = createDecoder(encoding);
  let line = 1;
  let isAtEnd = false;
  let isFirst = true;
  const next = async (): Promise<Uint8Array | undefined> => {
    if (isAtEnd) return undefined;
    const piece = await reader.read();
    isAtEnd = piece === undefined;
    let text;
    try {
      text = decode(piece);
    } catch (cause) {
      throw new InputError(
        `${name}, near line ${grouped(line)}: the text is not valid ${encoding.toUpperCase()}; it is damaged, cut short, or in another encoding (name it with ${optionName('encoding')})`,
        { line, fault: 'encoding', cause },
      );
    }
    if (isFirst && text !== '') {
      isFirst = false;
      if (!text.startsWith(mark)) text = `${mark}${text}`;
    }
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) line += 1;
    return Buffer.from(text, 'utf8');
  };
  return {
    async read() {
      // A piece may hold only part of a character; an empty result is not the end.
      for (;;) {
        const piece = await next();
        if (piece === undefined || piece.length > 0) return piece;
      }
    },
    close: () => reader.close(),
  };
}

/** A leading mark is kept and becomes that of UTF-8. `undefined` stands for the end. */
function createDecoder(encoding: string): (piece: Uint8Array | undefined) => string {
  if (encoding === 'latin1') {
    return (piece) => (piece === undefined ? '' : bufferOf(piece).toString('latin1'));
  }
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (piece) =>
    piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
}
