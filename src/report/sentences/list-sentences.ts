import type { ForeignNumbers } from '../../engine/columns/column-profile.js';
import type { MisreadNumbers, UnfitNumbers } from '../../engine/columns/country-fit.js';
import type {
  CountryProblems,
  Counts,
  UnknownCountry,
  OddShare,
} from '../../engine/summary/figures.js';
import type { Summary } from '../../engine/summary/summary.js';
import { namesDatabase } from '../../lists/location.js';
import { optionName } from '../../platform/text/sentence.js';
import { shellQuote, shownCell } from '../../platform/text/printable.js';
import { counted, grouped, timeTaken } from '../../platform/text/shown-numbers.js';

/**
 * Rows with an unknown country and their cells: `23 rows: country "Germny" is not understood (Germany? write
 * DE)`. For cells that may be personal data, the row numbers.
 */
export function unknownCountrySentence(problems: CountryProblems, most = 10): string {
  const { column, no_text: noText, looks_like_countries: isAlike, values } = problems;
  const count = problems.not_understood - noText;
  if (noText > 0) {
    const others =
      count === 0
        ? ''
        : `; ${unknownCountrySentence({ ...problems, not_understood: count, no_text: 0 }, most)}`;
    return `${counted(noText, 'row')}: the country is ${noTextWords()}${others}`;
  }
  const rows = counted(count, 'row');
  if (column === null) return `${rows}: the service does not take the country of the number`;
  const shown = values.slice(0, most).filter(({ value }) => !isMasked(value));
  const [only] = shown;
  if (isAlike && only?.rows === count) {
    return `${rows}: country ${shownCell(only.value)} is not understood${suggestionFor(only, ' (', ')')}`;
  }
  const left = count - shown.reduce((sum, value) => sum + value.rows, 0);
  const others = placesOf(values, left);
  const listed = [
    ...shown.map(
      (value) => `${shownCell(value.value)} (${placeOf(value)}${suggestionFor(value, '; ', '')})`,
    ),
    ...(left > 0 && shown.length > 0 ? [`${counted(left, 'other')} (${others})`] : []),
  ];
  const what = isAlike
    ? `${shown.length > 0 ? 'countries that are' : 'country'} not understood`
    : `the column ${JSON.stringify(column)} does not look like countries`;
  const places = left > 0 && shown.length === 0 ? ` (${others})` : '';
  return `${rows}: ${what}${places}${listed.length > 0 ? `: ${listed.join(', ')}` : ''}`;
}

/** @param emails those of rows whose country is not understood */
export function emailCountrySentence(emails: number): string {
  return emails === 0
    ? ''
    : `; one country for all emails (${optionName('emailCountry')}) verifies ${emails === 1 ? 'its email' : 'their emails'} all the same`;
}

/** @param reasons of cells of emails that are not sent */
export function emailsWithoutCountry(reasons: Counts = {}): number {
  return reasons['country_unsupported'] ?? 0;
}

function noTextWords(): string {
  return `not UTF-8 text: name the encoding of the file with ${optionName('encoding')}, such as windows-1252 or shift_jis`;
}

const mostRows = 5;

function isMasked(value: string): boolean {
  return value.includes('•');
}

/** `row 17`, or `23 rows` */
function placeOf({ rows, first_row: row }: UnknownCountry): string {
  return rows === 1 ? `row ${grouped(row)}` : counted(rows, 'row');
}

/** Rows of cells that are not shown: `row 17`, `12 rows: 3, 9, 17, …` */
function placesOf(values: CountryProblems['values'], count: number): string {
  const numbers = values
    .flatMap(({ value, first_row: row }) => (isMasked(value) ? [row] : []))
    .toSorted((one, other) => one - other)
    .slice(0, mostRows);
  return numbers.length === 0 ? counted(count, 'row') : rowList(numbers, count);
}

function suggestionFor({ guess, code }: UnknownCountry, before: string, after: string): string {
  if (guess === null) return '';
  const words = code === null ? "not one of the service's countries" : `${guess}? write ${code}`;
  return `${before}${words}${after}`;
}

/** `19 rows have no country and are not sent: add …` @param sent such as `were not sent` */
export function missingCountrySentence(
  { missing, calling_codes: codes }: Pick<CountryProblems, 'missing' | 'calling_codes'>,
  isSent: boolean,
): string {
  const isOne = missing === 1;
  const be = isSent ? (isOne ? 'was' : 'were') : isOne ? 'is' : 'are';
  const rows = `${noCountrySentence(missing)} and ${be} not sent`;
  if (!codes) return `${rows}: add ${optionName('country')} for ${isOne ? 'it' : 'them'}`;
  const all = codes.rows === missing;
  const numbers = all
    ? isOne
      ? 'its number has'
      : 'their numbers have'
    : `the numbers of ${grouped(codes.rows)} have`;
  const others = all ? '' : `, and ${optionName('country')} for the others`;
  return `${rows}; ${numbers} a calling code: add ${optionName('countryFrom')} ${shellQuote(codes.column)}${others}`;
}

export function noCountrySentence(rows: number): string {
  return `${counted(rows, 'row')} ${rows === 1 ? 'has' : 'have'} no country`;
}

const mostCountries = 3;

export function foreignNumbersSentence(name: string, foreign: ForeignNumbers): string {
  const { national, read_as: country } = foreign;
  const first = `${foreignCodes(foreign)}: add ${optionName('countryFrom')} ${shellQuote(name)}, or a column of countries (${optionName('countryColumn')})`;
  if (national === 0) return first;
  const others =
    national === 1
      ? `1 number without one is read as a ${country} number`
      : `${grouped(national)} numbers without one are read as ${country} numbers`;
  return `${first}; ${others}, and without ${optionName('country')} not sent`;
}

/** `30 of 40 numbers with a calling code are of other countries (AT 30)` */
function foreignCodes({ cells, of, countries }: ForeignNumbers): string {
  const named = countries
    .slice(0, mostCountries)
    .map((each) => `${each.country} ${grouped(each.cells)}`);
  const more = countries.length > named.length ? ', …' : '';
  const coded =
    cells === of ? `all ${grouped(of)} numbers` : `${grouped(cells)} of ${counted(of, 'number')}`;
  return `${coded} with a calling code are of other countries (${named.join(', ')}${more})`;
}

/** `of 60 different numbers without a calling code 59 are valid in DE, and 25 in AT, by --country AT: …` */
export function misreadNumbersSentence(
  { cells, of, read_as: country, given_by: by, fitting }: MisreadNumbers,
  { column, foreign }: { readonly column: string; readonly foreign?: ForeignNumbers | undefined },
): string {
  const named = fitting
    .slice(0, mostCountries)
    .map((each, at) => `${grouped(each.cells)}${at === 0 ? ' are valid' : ''} in ${each.country}`);
  const [only = '', ...more] = fitting.map((each) => each.country);
  const others = fitting.length > named.length ? ', …' : '';
  const own = of === cells ? 'none' : grouped(of - cells);
  const without = foreign
    ? `${foreignCodes(foreign)}; of ${grouped(of)} different ones without`
    : `of ${grouped(of)} different numbers without a calling code`;
  const numbers = `${without} ${named.join(', ')}${others}, and ${own} in ${country}`;
  const byCode = foreign
    ? `with ${optionName('countryFrom')} ${shellQuote(column)} for the numbers that have a code, `
    : '';
  const orPlus = 'or write the numbers with +';
  switch (by) {
    case 'country':
      return `${numbers}, by ${optionName('country', country)}: give ${more.length > 0 ? `the country of the list (${optionName('country')})` : `${optionName('country', only)} if the list is of ${only}`}, ${byCode}${orPlus}`;
    case 'country_column':
      return `${numbers}, by the country of their row: correct the column of countries (${optionName('countryColumn')}), ${orPlus}`;
    case 'country_from':
      return `${numbers}, by another number of their row (${optionName('countryFrom')}): add a column of countries (${optionName('countryColumn')}), ${orPlus}`;
  }
}

export function unfitNumbersSentence({ cells, of, read_as: country }: UnfitNumbers): string {
  if (country !== undefined) {
    return `${grouped(cells)} of ${counted(of, 'number')} without a calling code ${cells === 1 ? 'does not look like a number' : 'do not look like numbers'} of ${country}, and would be read as such: give the country of the list (${optionName('country')}) or of each row (${optionName('countryColumn')}), or write the numbers with +`;
  }
  const are = cells === 1 ? 'is not a number' : 'are not numbers';
  return `${grouped(cells)} of ${counted(of, 'number')} without a calling code ${are} of the country of the row: correct the column of countries (${optionName('countryColumn')}), or write the numbers with +`;
}

export function missingDigitsSentence(cells: number, name: string): string {
  const are = `${counted(cells, 'cell')} ${cells === 1 ? 'is' : 'are'}`;
  return `${name}: ${are} in scientific notation, and the last digits are lost: format the column as text or as a number without decimals, and export the list again`;
}

/** Digits read by their row's country that may be a number of another, with their rows. */
export function missingPlusSentence({
  cells,
  of,
  rows,
  examples = [],
  country,
  needsPlus,
}: {
  readonly cells: number;
  /** @default not said */
  readonly of?: number;
  /** The first of them. */
  readonly rows: readonly number[];
  /** Masked. */
  readonly examples?: readonly string[];
  /** The calling code's country. */
  readonly country?: string | undefined;
  /** Whether no country could make them clear. @default not known */
  readonly needsPlus?: boolean;
}): string {
  const numbers =
    of === undefined ? counted(cells, 'number') : `${grouped(cells)} of ${counted(of, 'number')}`;
  const where = [
    ...(rows.length > 0 ? [rowList(rows, cells)] : []),
    ...(examples.length > 0 ? [examples.join(', ')] : []),
  ].join(': ');
  const places = where === '' ? '' : ` (${where})`;
  const orColumn = `, or add a column of countries (${optionName('countryColumn')})${needsPlus === undefined ? ' if the list has none' : ''}`;
  const ifAll =
    country === undefined
      ? ''
      : `if all are of ${country}, name that country with ${optionName('country', country)}; else `;
  return `${numbers} may have lost the + of ${cells === 1 ? 'its' : 'their'} calling code, or a 0 in front of ${cells === 1 ? 'its' : 'their'} area code${places}; sent as typed, ${cells === 1 ? 'it' : 'they'} may get the result of another number: ${ifAll}write the + or the 0${needsPlus === true ? '' : orColumn}`;
}

/** The first rows by number: `row 17`, `rows 3, 9, 17, …` */
function rowList(first: readonly number[], count: number): string {
  const more = count > first.length ? ', …' : '';
  return `${count === 1 ? 'row' : 'rows'} ${first.map(grouped).join(', ')}${more}`;
}

/** Only text has an encoding to name; in other inputs lists, objects and bytes are no text. */
export function hasEncoding(input: string): boolean {
  return !namesDatabase(input) && !/\.(?:jsonl|ndjson|parquet)\b/i.test(input);
}

/** What to do about cells whose bytes are invalid in the list's encoding. */
export function noTextSentence(cells: number, input: string): string {
  const are = `${counted(cells, 'cell')} ${cells === 1 ? 'is' : 'are'}`;
  if (!hasEncoding(input)) {
    const inUtf8 = /\.(?:jsonl|ndjson)\b/i.test(input)
      ? '; if it is text, write the file in UTF-8'
      : '';
    return `${are} not text: put one address into each, no object or list${inUtf8}`;
  }
  return `${are} ${noTextWords()}, which many programs on Windows write`;
}

const shareWords = {
  valid: 'results are valid',
  wrong: 'results are wrong',
  unknown: 'results are unknown',
  new: 'addresses were paid for',
} as const;

export function oddSentence({ type, share, now, usual, allowed }: OddShare): string {
  const [from, to] = [Math.max(0, usual - allowed), Math.min(1, usual + allowed)];
  const isShown = (digits: number): boolean =>
    ![from, to].some((bound) => percent(bound, digits) === percent(now, digits));
  // A share just outside of the range is not written as one inside.
  const digits = [1, 2, 3].find(isShown) ?? 4;
  return `${type}: ${percent(now, digits)} of the ${shareWords[share]}, usually ${percent(usual, digits)} (${percent(from, digits)} to ${percent(to, digits)})`;
}

export function percent(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)} %`;
}

/** How long a run took; of one that was resumed `seconds` is the time of the last call. */
export function timeOfRun({ seconds, batches }: Pick<Summary, 'seconds' | 'batches'>): string {
  let [begin, end] = [Infinity, -Infinity];
  for (const { times } of batches) {
    for (const time of Object.values(times)) {
      const at = Date.parse(String(time));
      if (Number.isNaN(at)) continue;
      [begin, end] = [Math.min(begin, at), Math.max(end, at)];
    }
  }
  const took = timeTaken(seconds);
  return end - begin > 1000 * seconds ? `${took} (the last call alone)` : took;
}

interface WrittenRows {
  readonly rows: number;
  readonly outputs: readonly { readonly name: string; readonly rows: number }[];
  /** By `keep` and `unique` together. */
  readonly rows_left_out: number;
  /** By `unique`. */
  readonly rows_repeated?: number | undefined;
  readonly left_out_by?: readonly string[] | undefined;
  readonly skipped_updates?: { readonly changed: number; readonly gone: number } | undefined;
}

/** The options by which rows were kept: `--keep`, `--keep-quality`, or both. */
export function keepOptions(leftOutBy: readonly string[] = []): string {
  const all = ['keep', 'keepQuality'];
  const given = all.filter((name) => leftOutBy.includes(name));
  return (given.length > 0 ? given : all).map((name) => optionName(name)).join(' or ');
}

/** `wrote 219 rows to clean.csv, 121 to rejects.csv; left out: 101 by --keep, …` */
export function rowsSentence(
  { rows, outputs, skipped_updates: alone, ...why }: WrittenRows,
  took?: string,
): string {
  const parts = outputs.map(
    ({ name, rows: count }, index) =>
      `${index === 0 ? counted(count, 'row') : grouped(count)} to ${name}`,
  );
  const written = outputs.reduce((sum, output) => sum + output.rows, 0);
  const left = rows - written - (alone ? alone.changed + alone.gone : 0);
  const others = left > 0 ? [`left out ${grouped(left)}`] : [];
  const { rows_left_out: leftOut, rows_repeated: repeated = 0, left_out_by: by } = why;
  const reasons = [
    ...(leftOut > repeated ? [`${grouped(leftOut - repeated)} by ${keepOptions(by)}`] : []),
    ...(repeated > 0
      ? [`${grouped(repeated)} by ${optionName('unique')}, as a row above has the same address`]
      : []),
  ];
  const because = reasons.length === 0 ? '' : `; left out: ${reasons.join(', ')}`;
  const time = took === undefined ? '' : ` in ${took}`;
  return `wrote ${[...parts, ...others].join(', ')}${time}${because}`;
}
