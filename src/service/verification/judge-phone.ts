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
 * Country code 999 is not assigned (ITU-T E.164), so no real number begins with +99900. The following digits
 * choose a verdict, and four to nine more make numbers distinct:
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

export function judgeTestNumber(phone: string): PhoneVerdict | undefined {
  const asked = form.exec(phone)?.[1];
  return asked === undefined ? undefined : verdicts.get(asked);
}

/** Longest examined text: E.164 has 15 digits, and people write separators between them. */
const maxLength = 64;
const plainForm = /^\+\d+$/;

/**
 * Reads a whole text as one phone number, international or national in the given country. Texts with letters
 * are never numbers (`1-800-FLOWERS` and `1-800-CONTACTS` must not meet), nor are numbers with an extension.
 *
 * @returns `undefined` for anything but a number of a possible length
 */
export function readPhone(phone: string, country: CountryCode): PlannedNumber | undefined {
  if (phone.length > maxLength) return undefined;
  const plain = plainForm.test(phone) ? readPlainNumber(phone) : 'unsure';
  const number = plain === 'unsure' ? readWithLibrary(phone, country) : plain;
  if (number?.valid && isClosedRange(number)) return { ...number, valid: false, kind: undefined };
  return number;
}

/** The E.164 form of what {@link readPhone} reads, without looking up the number. */
export function normalPhone(phone: string, country: CountryCode): string | undefined {
  if (phone.length > maxLength) return undefined;
  const isPlain = plainForm.test(phone) ? isPlainNumber(phone) : 'unsure';
  if (isPlain === 'unsure') return readWithLibrary(phone, country)?.e164;
  return isPlain ? phone : undefined;
}

/** The reference: reads everything that {@link readPlainNumber} leaves open. */
export function readWithLibrary(phone: string, country: CountryCode): PlannedNumber | undefined {
  if (/\p{L}/u.test(phone)) return undefined;
  const number = parsePhoneNumberFromString(phone, {
    extract: false,
    // Numbers may be in international form in a country without a plan.
    ...(isSupportedCountry(country) ? { defaultCountry: country } : {}),
  });
  if (number === undefined || number.ext !== undefined || !number.isPossible()) return undefined;
  const kind = number.getType()?.toLowerCase() as PhoneKind | undefined;
  return { e164: number.number, valid: number.isValid(), kind };
}

/**
 * Whether a number that the metadata accepts is in a range that the national plan has closed:
 *
 * - North America: N11 are service codes, never central office codes of geographic numbers (toll-free numbers
 *   do use them);
 * - South Africa: mobile numbers have nine digits; the metadata accepts shorter ones.
 */
function isClosedRange({ e164, kind }: PlannedNumber): boolean {
  if (e164.startsWith('+1')) return kind === 'fixed_line_or_mobile' && e164.startsWith('11', 6);
  return e164.startsWith('+278') && kind === 'mobile' && e164.length !== '+27821234567'.length;
}

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
 * The verdict of the numbering plans on a phone number. `valid` means an open range with this length; only a
 * network lookup could tell whether it is in use, its operator, and whether it was ported: `status` is
 * `unknown`, `is_ported` false, network and operator null.
 */
export function judgePhone(phone: string, country: CountryCode): PhoneVerdict {
  const asked = judgeTestNumber(phone);
  if (asked) return asked;
  const number = readPhone(phone, country);
  return number === undefined ? syntaxError : verdictOnNumber(number);
}

export function verdictOnNumber(number: PlannedNumber): PhoneVerdict {
  if (!number.valid) return wrong;
  let verdict = valid.get(number.kind);
  if (verdict === undefined) {
    verdict = { ...wrong, valid: true, wrong: false, type: number.kind ?? unknown };
    valid.set(number.kind, verdict);
  }
  return verdict;
}
