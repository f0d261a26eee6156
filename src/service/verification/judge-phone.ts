import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { CountryCode } from '../../contract/countries.js';
import type { PhoneVerdict } from './engine.js';
import {
  isPlainNumber,
  type PhoneKind,
  type PlannedNumber,
  readPlainNumber,
} from './phone-plan.js';

/*
 * Country code 999 is not assigned (ITU-T E.164), so that no real number begins with +99900. What
 * follows asks for a verdict, and four to nine more digits make numbers distinct:
 *
 *   +999001…  valid, mobile, active        +999005…  valid, mobile, inactive
 *   +999002…  wrong                        +999006…  valid, fixed line, active
 *   +999003…  unknown                      +999007…  valid, VoIP, active
 *   +999004…  valid, mobile, ported        +999008…  valid, toll-free, active
 */

const network = { current_network_mcc: '999', current_network_mnc: '99', operator: 'Sluice Test' };
const noNetwork = { current_network_mcc: null, current_network_mnc: null, operator: null };

const active: PhoneVerdict = {
  valid: true,
  wrong: false,
  unknown: false,
  type: 'mobile',
  status: 'active',
  is_syntax_error: false,
  is_ported: false,
  ...network,
};

const verdicts: ReadonlyMap<string, PhoneVerdict> = new Map<string, PhoneVerdict>([
  ['1', active],
  ['2', { ...active, ...noNetwork, valid: false, wrong: true, type: 'unknown', status: 'invalid' }],
  ['3', { ...active, ...noNetwork, valid: false, unknown: true, status: 'unknown' }],
  ['4', { ...active, is_ported: true, operator: 'Sluice Test Two' }],
  ['5', { ...active, status: 'inactive' }],
  ['6', { ...active, type: 'fixed_line' }],
  ['7', { ...active, type: 'voip' }],
  ['8', { ...active, type: 'toll_free' }],
]);

const form = /^\+99900([1-8])\d{4,9}$/;

/** The verdict that a test number asks for; `undefined` when it is none. */
export function judgeTestNumber(phone: string): PhoneVerdict | undefined {
  const asked = form.exec(phone)?.[1];
  return asked === undefined ? undefined : verdicts.get(asked);
}

/** Longest text that is looked at: E.164 has 15 digits, and people write separators between them. */
const maxLength = 64;
const plainForm = /^\+\d+$/;

/**
 * Reads a whole text as one phone number: international, or national of the given country. Texts with
 * letters are never numbers (`1-800-FLOWERS` and `1-800-CONTACTS` must not meet), nor is a number
 * with an extension.
 *
 * @returns `undefined` when it is no number of a possible length.
 */
export function readPhone(phone: string, country: CountryCode): PlannedNumber | undefined {
  if (phone.length > maxLength) return undefined;
  const plain = plainForm.test(phone) ? readPlainNumber(phone) : 'unsure';
  const number = plain === 'unsure' ? readWithLibrary(phone, country) : plain;
  if (number?.valid && isClosedRange(number)) return { ...number, valid: false, kind: undefined };
  return number;
}

/** The E.164 form of what {@link readPhone} reads: what is known of the number is not looked up. */
export function normalPhone(phone: string, country: CountryCode): string | undefined {
  if (phone.length > maxLength) return undefined;
  const isPlain = plainForm.test(phone) ? isPlainNumber(phone) : 'unsure';
  if (isPlain === 'unsure') return readWithLibrary(phone, country)?.e164;
  return isPlain ? phone : undefined;
}

/** The reference: everything that {@link readPlainNumber} leaves open or does not read. */
export function readWithLibrary(phone: string, country: CountryCode): PlannedNumber | undefined {
  if (/\p{L}/u.test(phone)) return undefined;
  const number = parsePhoneNumberFromString(phone, {
    extract: false,
    // A country without a plan of its own can still have numbers in international form.
    ...(isSupportedCountry(country) ? { defaultCountry: country } : {}),
  });
  if (number === undefined || number.ext !== undefined || !number.isPossible()) return undefined;
  const kind = number.getType()?.toLowerCase() as PhoneKind | undefined;
  return { e164: number.number, valid: number.isValid(), kind };
}

/**
 * Whether a number that the metadata takes for valid lies where the national plan has nothing open:
 *
 * - North America: N11 are service codes, never central office codes of geographic numbers (toll-free
 *   numbers do use them);
 * - South Africa: mobile numbers have nine digits; the metadata takes shorter ones.
 */
function isClosedRange({ e164, kind }: PlannedNumber): boolean {
  if (e164.startsWith('+1')) return kind === 'fixed_line_or_mobile' && e164.startsWith('11', 6);
  return e164.startsWith('+278') && kind === 'mobile' && e164.length !== '+27821234567'.length;
}

/** Word for a type or a live status that is not known. */
const unknown = 'unknown';

const wrong: PhoneVerdict = {
  valid: false,
  wrong: true,
  unknown: false,
  type: unknown,
  status: unknown,
  is_syntax_error: false,
  is_ported: false,
  current_network_mcc: null,
  current_network_mnc: null,
  operator: null,
};

const syntaxError: PhoneVerdict = { ...wrong, is_syntax_error: true };

const valid = new Map<PhoneKind | undefined, PhoneVerdict>();

/**
 * Says what the numbering plans know of a phone number. `valid` means that the plan has its range open
 * and knows its length; whether somebody answers, who carries it and whether it was ported only a
 * network lookup could know: `status` is `unknown`, `is_ported` false, network and operator null.
 */
export function judgePhone(phone: string, country: CountryCode): PhoneVerdict {
  const asked = judgeTestNumber(phone);
  if (asked) return asked;
  const number = readPhone(phone, country);
  return number === undefined ? syntaxError : verdictOnNumber(number);
}

/** The verdict on a number that a plan could hold. */
export function verdictOnNumber(number: PlannedNumber): PhoneVerdict {
  if (!number.valid) return wrong;
  let verdict = valid.get(number.kind);
  if (verdict === undefined) {
    verdict = { ...wrong, valid: true, wrong: false, type: number.kind ?? unknown };
    valid.set(number.kind, verdict);
  }
  return verdict;
}
