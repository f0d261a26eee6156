import { optionName } from '../../platform/text/option-name.js';
import { shellQuote } from '../../platform/text/printable.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import { rowList } from './row-list.js';

const mostCountries = 3;

/**
 * Numbers of other countries in a column that is read for one, and what to do about them.
 *
 * @param then what to do after it. @default nothing
 */
export function foreignNumbersSentence(
  name: string,
  {
    cells,
    of,
    national,
    read_as: country,
    countries,
  }: {
    readonly cells: number;
    readonly of: number;
    readonly national: number;
    readonly read_as: string;
    readonly countries: readonly { readonly country: string; readonly cells: number }[];
  },
  then = '',
): string {
  const named = countries
    .slice(0, mostCountries)
    .map((each) => `${each.country} ${grouped(each.cells)}`);
  const more = countries.length > named.length ? ', …' : '';
  const first = `${grouped(cells)} of ${counted(of, 'number')} with a calling code are of other countries (${named.join(', ')}${more}): add ${optionName('countryFrom')} ${shellQuote(name)}, or a column of countries (${optionName('countryColumn')})${then}`;
  if (national === 0) return first;
  const are =
    national === 1 ? 'number without one is read as a' : 'numbers without one are read as';
  const others = `${national === 1 ? 'the' : `the ${grouped(national)}`} ${are} ${country} ${national === 1 ? 'number' : 'numbers'}`;
  return `${first}; ${others}, and without ${optionName('country')} not sent`;
}

/** What to do about cells that a spreadsheet has written as `4.91702E+11`. */
export function lostDigitsSentence(cells: number, name: string): string {
  const are = `${counted(cells, 'cell')} ${cells === 1 ? 'is' : 'are'}`;
  return `${name}: ${are} in scientific notation, and the last digits are lost: format the column as text or as a number without decimals, export the list again, and run again`;
}

/** Digits that are read by the country of their row, and may be a number of another, with their rows. */
export function missingPlusSentence({
  cells,
  of,
  rows,
  examples = [],
}: {
  readonly cells: number;
  /** @default not said */
  readonly of?: number;
  /** The first of them; none in the figures of an older version. */
  readonly rows: readonly number[];
  /** Masked. */
  readonly examples?: readonly string[];
}): string {
  const numbers =
    of === undefined ? counted(cells, 'number') : `${grouped(cells)} of ${counted(of, 'number')}`;
  const where = [
    ...(rows.length > 0 ? [rowList(rows, cells)] : []),
    ...(examples.length > 0 ? [examples.join(', ')] : []),
  ].join(': ');
  const places = where === '' ? '' : ` (${where})`;
  return `${numbers} may have lost the + of ${cells === 1 ? 'its' : 'their'} calling code${places}, and ${cells === 1 ? 'is' : 'are'} not read as international: write the +, or add a column of countries (${optionName('countryColumn')})`;
}
