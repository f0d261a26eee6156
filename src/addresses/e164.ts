import type { CountryCode } from '../contract/countries.js';
import { unsure } from './numbering-plan.js';
import { phoneLibrary } from './phone-library.js';
import { plainE164 } from './plain-e164.js';

/**
 * The E.164 form of a possible number, or `undefined` when the digits are none. Without a `+` they are
 * read as the country's; for a country that libphonenumber-js does not know (`GS`, `UM`) they are none.
 *
 * An E.164 form stands for itself: read again, it gives the same.
 *
 * @param digits ASCII digits, with or without a `+` in front
 */
export function e164(digits: string, country: CountryCode): string | undefined {
  const plain = plainE164(digits, country);
  if (plain !== unsure) return plain;
  const number = libraryE164(digits, country);
  if (number === undefined) return undefined;
  const again = plainE164(number, country);
  // Digits that lose a prefix at each reading (+49 0 030…) have no form that an export would match.
  return (again === unsure ? libraryE164(number, country) : again) === number ? number : undefined;
}

/** What libphonenumber-js makes of digits, whatever it makes of its own answer. */
export function libraryE164(digits: string, country: CountryCode): string | undefined {
  const { isSupportedCountry, parsePhoneNumberFromString } = phoneLibrary();
  const number = parsePhoneNumberFromString(digits, {
    ...(isSupportedCountry(country) ? { defaultCountry: country } : {}),
    extract: false,
  });
  return number?.isPossible() ? number.number : undefined;
}
