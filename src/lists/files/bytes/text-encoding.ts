import { ConfigurationError } from '../../../platform/errors/errors.js';

/** How the characters of a text file are written. */
export type TextEncoding = (typeof textEncodings)[number];

export const textEncodings = ['utf-8', 'utf-16le', 'utf-16be', 'latin1', 'windows-1252'] as const;

const otherNames = new Map<string, TextEncoding>([
  ['utf8', 'utf-8'],
  ['utf16le', 'utf-16le'],
  ['utf16be', 'utf-16be'],
  ['utf-16', 'utf-16le'],
  ['utf16', 'utf-16le'],
  ['latin-1', 'latin1'],
  ['iso-8859-1', 'latin1'],
  ['cp1252', 'windows-1252'],
]);

/**
 * The encoding of that name, in any case.
 *
 * @throws ConfigurationError `invalid_option`
 */
export function parseEncoding(name: string): TextEncoding {
  const lower = name.toLowerCase();
  const encoding = otherNames.get(lower) ?? textEncodings.find((known) => known === lower);
  if (encoding !== undefined) return encoding;
  throw new ConfigurationError(
    `there is no encoding ${JSON.stringify(name)} here: choose ${textEncodings.join(', ')}`,
  );
}

/**
 * The encoding that a byte-order mark in front shows. Text without one is taken for UTF-8, or for UTF-16
 * where plainly one half of its bytes is that of Latin letters.
 */
export function recogniseEncoding(first: Uint8Array): TextEncoding {
  const isUtf32 = first[2] === 0 && first[3] === 0;
  if (first[0] === 0xff && first[1] === 0xfe && !isUtf32) return 'utf-16le';
  if (first[0] === 0xfe && first[1] === 0xff) return 'utf-16be';
  const pairs = Math.min(first.length, mostJudged) >> 1;
  let [inFirst, inSecond] = [0, 0];
  for (let at = 0; at < 2 * pairs; at += 2) {
    if (first[at] === 0) inFirst += 1;
    if (first[at + 1] === 0) inSecond += 1;
  }
  if (inFirst === 0 && inSecond > pairs * leastNulls) return 'utf-16le';
  if (inSecond === 0 && inFirst > pairs * leastNulls) return 'utf-16be';
  return 'utf-8';
}

const mostJudged = 512;
/** In text of other scripts it is the delimiters, line ends and addresses. */
const leastNulls = 0.2;
