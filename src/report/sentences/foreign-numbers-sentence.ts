import { shellQuote } from '../../platform/text/shell-quote.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import { optionName } from '../../platform/text/option-name.js';

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
