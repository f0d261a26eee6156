import type { CountryCode } from '../../../contract/countries.js';
import { familyOf, type NumberingPlan, planOf } from './numbering-plan.js';
import { type PhoneDigits, findDigits, digitsOfNumber, digitsOf } from './phone-digits.js';

/** Fewest digits of two numbers separated by spaces alone. */
export const fewestSideBySide = 12;
export const leastSideBySide = fewestSideBySide / 2;
/** A plus sign and the fifteen digits that E.164 allows. */
const longestNumber = 16;

/**
 * Whether a cell is valid numbers side by side (`0641 1234 0171 5678`), and one number only by the length that
 * the country's plan allows.
 *
 * @param joined the number that all its digits would be
 */
export function areSideBySide(
  text: string,
  joined: string | undefined,
  country: CountryCode,
): boolean {
  const isTooLong = joined !== undefined && joined.length > longestNumber;
  const isOne = joined !== undefined && isOneNumber(joined);
  const least = isOne ? digitsOfNumber : leastSideBySide;
  return Array.from(text.matchAll(/\s+/g)).some(({ index }) => {
    const first = digitsOf(text.slice(0, index)) ?? '';
    const rest = text.slice(index);
    const next = digitsOf(rest) ?? '';
    if (first.length < least || next.length < least) return false;
    if (isOne && !next.startsWith('0')) return false;
    const abroad = /^(?:\+|00)(.*)/.exec(first)?.[1];
    const plan = abroad === undefined ? undefined : familyOf(abroad)?.main;
    return (
      isValidCell(text.slice(0, index), country) &&
      ((isTooLong && next.startsWith('0')) ||
        isValidCell(rest, country, plan) ||
        (next.length >= fewestSideBySide && areSideBySide(rest, undefined, country)))
    );
  });
}

export function isOneNumber(number: string): boolean {
  return number.length <= longestNumber && isValid(number);
}

/** @param plan another one by which digits without a calling code may be read */
function isValidCell(text: string, country: CountryCode, plan?: NumberingPlan): boolean {
  const digits = findDigits(text);
  if (digits === undefined) return false;
  const others = plan ? national(digits.digits, plan).likely : none;
  return [...possibleNumbers(digits, country), ...others].some(isValid);
}

/** What most countries dial in front of a calling code, and many people write in all of them. */
const plainPrefix = '00';

/** North America's international prefix: it occurs in numbers copied from there. */
const americanPrefix = '011';

const none: readonly string[] = [];

/** The numbers, in E.164, that the digits of a cell may stand for. */
interface Readings {
  readonly likely: readonly string[];
  /** These count only where they are valid numbers. */
  readonly ifValid: readonly string[];
}

/**
 * The number in E.164 that the digits of a cell surely mean; `undefined` where they may mean two, or
 * none. Of several readings the one is meant that is a valid number; where none is valid, the only one
 * that is possible.
 *
 * An E.164 form means itself: read again, it gives the same.
 *
 * @param country whose number it is when no calling code is in front; for one that
 *   libphonenumber-js does not know (`GS`, `UM`) only international forms are numbers
 */
export function sureNumber(digits: PhoneDigits, country: CountryCode): string | undefined {
  const { likely, ifValid } = readingsOf(digits, country);
  const only = likely[0];
  // Nearly all cells have one reading: whether it is valid need not be asked.
  if (likely.length < 2 && ifValid.length === 0) return only;
  const [first, second] = distinct([...likely, ...ifValid]).filter(isValid);
  if (first !== undefined) return second === undefined ? first : undefined;
  return distinct(likely).length === 1 ? only : undefined;
}

export function possibleNumbers(digits: PhoneDigits, country: CountryCode): readonly string[] {
  const { likely, ifValid } = readingsOf(digits, country);
  return distinct([...likely, ...ifValid.filter(isValid)]);
}

/** Ambiguous digits: they are sent as written, and a service may read them as this number. */
export function doubtfulForms(number: string, country: CountryCode): readonly string[] {
  const digits = number.slice(1);
  const callingCode = planOf(country)?.family.callingCode;
  const forms = [plainPrefix + digits];
  if (callingCode !== undefined && digits.startsWith(callingCode)) {
    const nationalDigits = digits.slice(callingCode.length);
    forms.push(digits, nationalDigits, `0${nationalDigits}`);
  }
  return forms.filter((form) => {
    const numbers = possibleNumbers({ digits: form }, country);
    return (
      numbers.length > 1 &&
      numbers.includes(number) &&
      sureNumber({ digits: form }, country) === undefined
    );
  });
}

function readingsOf({ digits, zeroAt }: PhoneDigits, country: CountryCode): Readings {
  const plan = planOf(country);
  if (zeroAt !== undefined) {
    const code = callingCodeOf(digits.slice(0, zeroAt), plan);
    if (code !== undefined) {
      // +49 (0) 30: a zero dialled only within the country. In Italy it belongs to the number.
      const rest = digits.slice(zeroAt + 1);
      return { likely: international(code + rest), ifValid: international(`${code}0${rest}`) };
    }
  }
  if (digits.startsWith('+')) return { likely: international(digits.slice(1)), ifValid: none };
  const prefix = plan?.internationalPrefixOf(digits);
  const isPlain = digits.startsWith(plainPrefix);
  const home = plan ? national(digits, plan) : { likely: [], ifValid: none };
  if (prefix === undefined && !isPlain) {
    if (!digits.startsWith(americanPrefix)) return home;
    const abroad = international(digits.slice(americanPrefix.length)).filter(isValid);
    return { likely: home.likely, ifValid: [...home.ifValid, ...abroad] };
  }
  const abroad = prefix === undefined ? [] : international(digits.slice(prefix.length));
  const atHome = [...home.likely, ...home.ifValid];
  if (!isPlain || prefix === plainPrefix) return { likely: abroad, ifValid: atHome };
  // Where 0011 or 001 is dialled, 00 and the first digits of a calling code may look like it.
  const plain = international(digits.slice(plainPrefix.length));
  return { likely: [], ifValid: [...plain, ...abroad, ...atHome] };
}

/** The calling code in a text, without the prefix dialled before it. */
function callingCodeOf(head: string, plan: NumberingPlan | undefined): string | undefined {
  const prefix = ['+', plainPrefix].find((each) => head.startsWith(each));
  const code = head.slice((prefix ?? plan?.internationalPrefixOf(head) ?? '').length);
  const isSure = code !== head || code === plan?.family.callingCode;
  return isSure && familyOf(code)?.callingCode === code ? code : undefined;
}

function international(digits: string): readonly string[] {
  const family = familyOf(digits);
  if (!family) return none;
  const { main, callingCode } = family;
  const nationalDigits = digits.slice(callingCode.length);
  const number = family.possible(main.withoutPrefix(nationalDigits), main, nationalDigits);
  return number === undefined ? none : [number];
}

/** Reads digits as a country's own: with or without its national prefix, or with its calling code. */
function national(digits: string, plan: NumberingPlan): Readings {
  const { family } = plan;
  const nationalDigits = plan.withoutPrefix(digits);
  const number = family.possible(nationalDigits, plan, digits);
  const likely = number === undefined ? [] : [number];
  if (digits.startsWith(family.callingCode)) {
    const [withCode] = international(digits);
    if (withCode !== undefined && withCode !== number) likely.push(withCode);
  }
  if (nationalDigits !== digits || !digits.startsWith('0')) return { likely, ifValid: none };
  // A zero that the plan does not take for a prefix, although numbers are written with one (Gabon).
  const shorter = digits.slice(1);
  const other = plan.matches(shorter) ? family.possible(shorter, plan) : undefined;
  return { likely, ifValid: other === undefined ? [] : [other] };
}

function isValid(e164: string): boolean {
  const digits = e164.slice(1);
  const family = familyOf(digits);
  return family?.isValid(digits.slice(family.callingCode.length)) === true;
}

function distinct(numbers: readonly string[]): readonly string[] {
  return numbers.length < 2 ? numbers : [...new Set(numbers)];
}
