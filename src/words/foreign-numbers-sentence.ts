import { shellQuote } from './shell-quote.js';
import { counted, grouped } from './shown-numbers.js';

const mostCountries = 3;

/** Numbers of other countries in a column that is read for one, and what to do about them. */
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
): string {
  const named = countries
    .slice(0, mostCountries)
    .map((each) => `${each.country} ${grouped(each.cells)}`);
  const more = countries.length > named.length ? ', …' : '';
  const others =
    national === 0
      ? ''
      : national === 1
        ? `; the national one is read as a ${country} number`
        : `; the ${grouped(national)} national ones are all read as ${country} numbers`;
  const without = national === 0 ? '' : '; without `country`, national numbers are not sent';
  return `${grouped(cells)} of ${counted(of, 'number')} with a calling code are of other countries (${named.join(', ')}${more})${others}: name a column of countries (\`countryColumn\`), or read the country from the calling code (\`countryFrom\` ${shellQuote(name)}${without})`;
}
