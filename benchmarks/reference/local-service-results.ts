import { isCountryCode } from '../../src/contract/countries.js';
import { recordFields } from '../../src/contract/records.js';
import { addedColumns } from '../../src/engine/columns/added-fields.js';
import { judgeEmail } from '../../src/service/verification/judge-email.js';
import { judgePhone } from '../../src/service/verification/judge-phone.js';
import type { ExpectedColumn } from './expected-output.js';

/** The column `email` with the local service's verdicts: every address of the lists is well formed. */
export const localEmailColumn: ExpectedColumn = {
  column: 'email',
  added: addedColumns('email', 'email').map(({ name }) => name),
  cellsOf: (address) => verified('email', { ...judgeEmail(address) }),
};

/** The same for the column `mobile`. */
export const localPhoneColumn: ExpectedColumn = {
  column: 'mobile',
  added: addedColumns('phone', 'mobile').map(({ name }) => name),
  cellsOf(address, country) {
    if (!isCountryCode(country)) throw new Error(`there is no country ${country}`);
    return verified('phone', { ...judgePhone(address, country) });
  },
};

function verified(
  type: 'email' | 'phone',
  verdict: Readonly<Record<string, unknown>>,
): readonly string[] {
  const cells = recordFields[type].map((field) => verdict[field] ?? '');
  return ['verified', '', ...cells.map(String)];
}
