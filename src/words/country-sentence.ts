import { grouped } from './shown-numbers.js';
import { shownCell } from './shown-cell.js';

/** Rows that cannot be sent for want of a country. */
interface CountryTrouble {
  readonly column: string | null;
  readonly missing: number;
  readonly not_understood: number;
  readonly no_text: number;
  readonly looks_like_countries: boolean;
  readonly values: readonly {
    readonly value: string;
    readonly rows: number;
    readonly first_row?: number | undefined;
    readonly guess: string | null;
    readonly code: string | null;
  }[];
}

/**
 * Rows whose country is not understood, with the cells, as `23 rows: country "Germny" is unknown to the
 * service (Germany? write DE)`.
 */
export function unknownCountrySentence(
  {
    column,
    not_understood: count,
    no_text: noText,
    looks_like_countries: isAlike,
    values,
  }: CountryTrouble,
  most = 10,
): string {
  const rows = rowsOf(count);
  if (column === null) return `${rows}: the service does not take the country of the number`;
  if (noText === count) return `${rows}: the country is ${noTextWords}`;
  const shown = values.slice(0, most);
  const [only] = shown;
  if (isAlike && only?.rows === count) {
    const meant = only.guess === null ? '' : ` (${guessOf(only)})`;
    return `${rows}: country ${shownCell(only.value)}${placeOf(only, ' in ')} is unknown to the service${meant}`;
  }
  const left = count - noText - shown.reduce((sum, value) => sum + value.rows, 0);
  const listed = [
    ...shown.map((value) => {
      const meant = value.guess === null ? '' : `, ${guessOf(value)}`;
      return `${shownCell(value.value)} (${rowsOf(value.rows)}${meant}${placeOf(value, ', ')})`;
    }),
    ...(left > 0 ? [`others (${rowsOf(left)})`] : []),
    ...(noText > 0 ? [`${noTextWords} (${rowsOf(noText)})`] : []),
  ].join(', ');
  return isAlike
    ? `${rows}: countries unknown to the service: ${listed}`
    : `${rows}: the column ${shownCell(column)} does not look like countries: ${listed}`;
}

const noTextWords =
  'no UTF-8 text: name the encoding of the file with `encoding`, such as windows-1252';

/** Who cannot read a value needs its row. */
function placeOf(
  { value, rows, first_row: row }: CountryTrouble['values'][number],
  before: string,
): string {
  if (row === undefined || !value.includes('•')) return '';
  return `${before}${rows === 1 ? '' : 'the first in '}row ${grouped(row)}`;
}

function guessOf({ guess, code }: CountryTrouble['values'][number]): string {
  return `${guess ?? ''}? write ${code ?? ''}`;
}

/** `19 rows have no country` */
export function missingCountrySentence({ missing }: Pick<CountryTrouble, 'missing'>): string {
  return `${rowsOf(missing)} ${missing === 1 ? 'has' : 'have'} no country`;
}

function rowsOf(count: number): string {
  return `${grouped(count)} ${count === 1 ? 'row' : 'rows'}`;
}
