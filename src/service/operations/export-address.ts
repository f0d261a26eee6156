import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import { normalPhone } from '../verification/read-phone.js';
import type { Variants } from '../variants.js';

/**
 * How an export writes an address: by default "the email addresses or phone numbers that were verified"
 * (spec 2.9) stand as they were submitted; which form they have is not said there.
 */
export function exportAddress(
  form: Variants['exportKeys'],
  type: VerificationType,
  country: CountryCode,
): (address: string) => string {
  switch (form) {
    case 'as_submitted':
      return (address) => address;
    case 'lower':
      return (address) => address.toLowerCase();
    case 'upper':
      return (address) => address.toUpperCase();
    case 'e164':
    case 'national':
      if (type === 'email') return (address) => address;
      return (address) => {
        const number = normalPhone(address, country);
        if (number === undefined || form === 'e164') return number ?? address;
        return parsePhoneNumberFromString(number)?.formatNational() ?? address;
      };
  }
}
