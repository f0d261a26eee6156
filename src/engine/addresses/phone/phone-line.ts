import type { CountryCode } from '../../../contract/countries.js';
import { invalidText, type CellText } from '../../../lists/rows/chunks/row-chunk.js';
import type { AddressLine } from '../address-line.js';
import { barePhone, isScientific } from './phone-cell.js';
import { phoneDigits } from './phone-digits.js';
import { sureNumber } from './phone-readings.js';
import { refuseLine } from '../refuse-line.js';
import { trimCell } from '../trim-cell.js';

const maxPhoneCharacters = 64;
/** Longer cells are not searched for a number: libphonenumber takes none that is longer either. */
const maxNumberUnits = 250;
/** NFC makes one code point, of one or two units, out of at most four of two units each. */
const maxUnitsBeforeNfc = maxPhoneCharacters * 8;

/**
 * The line and the lookup key of a phone cell. One that surely means a number is sent in its E.164 form;
 * any other is sent as it is written, and is compared by its digits when it is made of digits and
 * separators, else by its text: `1-800-FLOWERS` and `1-800-CONTACTS` never meet.
 *
 * Keys of the three kinds never meet either: they begin with `+`, `d` and `t`.
 *
 * @param country whose number it is when no calling code stands in front
 */
export function phoneLine(cell: CellText, country: CountryCode): AddressLine {
  if (cell === undefined) return { reason: 'empty' };
  if (cell === invalidText) return { reason: 'invalid_encoding' };
  const trimmed = trimCell(cell);
  if (trimmed.length > maxUnitsBeforeNfc) return { reason: 'too_long' };
  const bare = trimmed.length > maxNumberUnits ? trimmed : barePhone(trimmed);
  const digits = bare.length > maxNumberUnits ? undefined : phoneDigits(bare);
  const number = digits && sureNumber(digits, country);
  if (number !== undefined) return { line: number, key: number };

  const line = bare.normalize('NFC');
  if (digits === undefined && isScientific(line)) return { reason: 'scientific_notation' };
  const reason = refuseLine(line, maxPhoneCharacters);
  if (reason !== undefined) return { reason };
  return { line, key: digits === undefined ? `t${line}` : `d${digits.digits}` };
}
