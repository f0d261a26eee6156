import fc from 'fast-check';
import { printableLine, shellQuote, shownCell } from '../../../src/platform/text/printable.js';

/** Names of columns, files, sheets and tables that a text must not take for its own. */
export const hostileNames = fc.oneof(
  fc.constantFrom(
    '`email`',
    '--email',
    '"quoted"',
    "it's",
    'a\nb',
    'a\u001b[2Jb',
    '\u202egnp.csv',
    'שלום עולם',
    'لا \u200fتجارة',
    'a\u200bb',
    'a\u0000b',
    '$(rm)',
    '`retryFailed`',
    'x'.repeat(400),
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
);

/** A name as it stands, or as one of the three forms writes it: quoted in JSON, as a cell that is short, for a shell. */
export function formsOf(name: string): readonly string[] {
  const asCell = shownCell(name);
  const whole = [name, JSON.stringify(name), shellQuote(name)].map(printableLine);
  return asCell.endsWith('…"') ? whole : [...whole, asCell];
}
