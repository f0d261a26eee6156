import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';

/** Why a cell cannot be a line of a batch; part of the public interface (`<column>_reason`). */
export const notSubmittedReasons = [
  /** The trimmed cell is empty. */
  'empty',
  'contains_comma',
  'control_character',
  'too_long',
  'country_missing',
  'country_unsupported',
  /** Invalid in the input's encoding, or half of a surrogate pair. */
  'invalid_encoding',
  /** It begins and ends with `"`: a batch file has no quote around a cell. */
  'quoted',
  /** A phone number that a spreadsheet has written as `4.91702E+11`: its last digits are lost. */
  'scientific_notation',
  /** More than one phone number: the service would take their digits for one. */
  'several_numbers',
  /** An invisible character inside an email: a soft hyphen, a zero-width space, a mark of direction. */
  'invisible_character',
  /** The domain of an email cannot have a mail server: no dot, an IP address, a label over 63 bytes. */
  'domain_invalid',
  /** The address or its domain is on a `--suppress` list. */
  'suppressed',
  /** A date in a phone column: its digits could be read as a number. */
  'date',
] as const;

export type NotSubmittedReason = (typeof notSubmittedReasons)[number];

/** The result of a cell: a batch line with its lookup key, or the reason why not. */
export type AddressLine =
  | {
      readonly line: string;
      /** Equal for two cells of a batch group exactly when they hold the same address. */
      readonly key: string;
    }
  | { readonly reason: NotSubmittedReason };

/** Trims Unicode white space, byte-order marks and {@link isInvisible invisible characters}. */
export function trimCell(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isTrimmed(text.charCodeAt(start))) start += 1;
  while (start < end && isTrimmed(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** What `String.prototype.trim` removes, and NEL, which is white space in Unicode but not in JavaScript. */
export function isTrimmed(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0x1680) return code === 0x85 || code === 0xa0 || code === 0xad;
  return (
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff ||
    isInvisible(code)
  );
}

/**
 * Characters pasted along unseen: soft hyphen, zero-width space, word joiner, marks of direction. Not the
 * joiners of letters, which some languages need, nor the right-to-left override (U+202E), whose meaning is
 * uncertain.
 */
function isInvisible(code: number): boolean {
  return (
    code === 0xad ||
    code === 0x180e ||
    code === 0x200b ||
    code === 0x200e ||
    code === 0x200f ||
    (code >= 0x202a && code <= 0x202d) ||
    (code >= 0x2060 && code <= 0x2064) ||
    (code >= 0x2066 && code <= 0x2069)
  );
}

const comma = 0x2c;
const quote = '"';

/**
 * Why a trimmed text in NFC cannot be a batch line; `undefined` when it can.
 *
 * Of several reasons the first of this list is given: `empty`, `too_long`, `invalid_encoding` (a lone
 * surrogate), `control_character`, `contains_comma`, `quoted`.
 *
 * @param maxCharacters counted in code points
 */
export function refuseLine(line: string, maxCharacters: number): NotSubmittedReason | undefined {
  if (line === '') return 'empty';
  // A code point has at most two units: long cells are refused without a scan.
  if (line.length > 2 * maxCharacters) return 'too_long';
  let characters = line.length;
  let hasLoneSurrogate = false;
  let hasControl = false;
  let hasComma = false;
  for (let i = 0; i < line.length; i += 1) {
    const code = line.charCodeAt(i);
    if (code === comma) hasComma = true;
    else if (isControl(code)) hasControl = true;
    else if (code >= 0xd800 && code <= 0xdfff) {
      const isPair = code <= 0xdbff && isLowSurrogate(line.charCodeAt(i + 1));
      if (isPair) {
        characters -= 1;
        i += 1;
      } else hasLoneSurrogate = true;
    }
  }
  if (characters > maxCharacters) return 'too_long';
  if (hasLoneSurrogate) return 'invalid_encoding';
  if (hasControl) return 'control_character';
  if (hasComma) return 'contains_comma';
  return line.startsWith(quote) && line.endsWith(quote) ? 'quoted' : undefined;
}

/** C0, DEL and C1 (NEL among them), and other characters that end a line or begin a file. */
function isControl(code: number): boolean {
  return (
    code <= 0x1f ||
    (code >= 0x7f && code <= 0x9f) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0xfeff
  );
}

/** False for the `NaN` after a text's end. */
function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

export interface BatchGroup {
  readonly type: VerificationType;
  readonly country: CountryCode;
}

/** A group's number in the hashes of its addresses, the same in every version: a history finds its addresses by it. */
export function groupNumber({ type, country }: BatchGroup): number {
  const letters = (country.charCodeAt(0) << 8) | country.charCodeAt(1);
  return type === 'email' ? letters : letters | 0x1_0000;
}
