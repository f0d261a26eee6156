import type { CountryCode } from '../contract/countries.js';
import { invalidText, type CellText } from '../rows/row-chunk.js';
import type { AddressLine } from './address-line.js';
import { e164 } from './e164.js';
import { phoneDigits } from './phone-digits.js';
import { refuseLine } from './refuse-line.js';
import { trimCell } from './trim-cell.js';

const maxPhoneCharacters = 64;
/** Longer cells are not searched for a number: libphonenumber takes none that is longer either. */
const maxNumberUnits = 250;
/** NFC makes one code point, of one or two units, out of at most four of two units each. */
const maxUnitsBeforeNfc = maxPhoneCharacters * 8;

/**
 * The line and the lookup key of a phone cell. A cell made of digits and separators that is a possible
 * number is sent in its E.164 form; any other is sent as it stands, and is compared by its digits when
 * it is made of them, else by its text: `1-800-FLOWERS` and `1-800-CONTACTS` never meet.
 *
 * Keys of the three kinds never meet either: they begin with `+`, `d` and `t`.
 *
 * @param country whose number it is when no calling code stands in front
 */
export function phoneLine(cell: CellText, country: CountryCode): AddressLine {
  if (cell === undefined) return { reason: 'empty' };
  if (cell === invalidText) return { reason: 'invalid_encoding' };
  const trimmed = trimCell(cell);
  const digits = trimmed.length > maxNumberUnits ? undefined : phoneDigits(trimmed);
  const number = digits === undefined ? undefined : e164(digits, country);
  if (number !== undefined) return { line: number, key: number };

  if (trimmed.length > maxUnitsBeforeNfc) return { reason: 'too_long' };
  const line = trimmed.normalize('NFC');
  const reason = refuseLine(line, maxPhoneCharacters);
  if (reason !== undefined) return { reason };
  return { line, key: digits === undefined ? `t${line}` : `d${digits}` };
}
