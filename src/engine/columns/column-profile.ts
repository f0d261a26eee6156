import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import type { CellText } from '../../lists/rows/chunks/row-chunk.js';
import { maskedCell } from '../../platform/text/printable.js';
import { familyOf, planOf } from '../addresses/phone/numbering-plan.js';
import { hasCallingCode } from '../addresses/phone/phone-country.js';
import { CountryFitTally, countOne } from './country-fit.js';

export interface ColumnProfile {
  filled: number;
  /** Those that do not look like their type. */
  malformed: number;
  /** Those of these that look like the other type. */
  others: number;
  /** Those that are lists of values. */
  lists: number;
  /** Where these hold objects: the member of one that has an address, or else any. */
  member: string | undefined;
  /** Those whose bytes are no text in the encoding of the list. */
  noText: number;
  /** Phone numbers that may begin with a calling code without its `+`, ambiguously. */
  ambiguous: number;
  /** Those of them that may be mobile numbers. */
  ambiguousMobiles: number;
  /** By the calling codes' countries, of the first of them. */
  readonly ambiguousCountries: Map<string, number>;
  /** The first of them, masked. */
  readonly examples: string[];
  /** Row numbers of the first of them. */
  readonly rows: number[];
  /** Of phone numbers, where all rows share a country. */
  readonly callingCodes: CallingCodeTally | undefined;
  /** Of phone numbers. */
  readonly countryFit: CountryFitTally | undefined;
}

const mostExamples = 3;
const mostRows = 5;

/**
 * @param only the country of all rows, if they share one
 * @param fallback that of rows without one
 */
export function createProfile(
  type: VerificationType,
  only: CountryCode | undefined,
  fallback: CountryCode | undefined,
): ColumnProfile {
  return {
    filled: 0,
    malformed: 0,
    others: 0,
    lists: 0,
    member: undefined,
    noText: 0,
    ambiguous: 0,
    ambiguousMobiles: 0,
    ambiguousCountries: new Map(),
    examples: [],
    rows: [],
    callingCodes: type === 'phone' && only ? new CallingCodeTally(only) : undefined,
    countryFit: type === 'phone' ? new CountryFitTally(only, fallback) : undefined,
  };
}

export function addCell(profile: ColumnProfile, isAlike: boolean, isOther = false): void {
  profile.filled += 1;
  if (!isAlike) profile.malformed += 1;
  if (isOther) profile.others += 1;
}

/** Counts a phone number that may have lost its `+`. @param row its row number */
export function addMissingPlusSign(
  profile: ColumnProfile,
  kind: 'fixed' | 'mobile',
  { cell, row }: { readonly cell: CellText; readonly row: number },
): void {
  if (typeof cell !== 'string') return;
  profile.ambiguous += 1;
  if (profile.rows.length < mostRows) profile.rows.push(row);
  if (kind === 'mobile') profile.ambiguousMobiles += 1;
  if (profile.ambiguous <= mostOfCountries) {
    const country = countryOfDigits(cell.replaceAll(/\D/g, ''));
    if (country !== undefined) countOne(profile.ambiguousCountries, country);
  }
  if (profile.examples.length >= mostExamples) return;
  const example = maskedCell(cell, false);
  if (!profile.examples.includes(example)) profile.examples.push(example);
}

/** Enough numbers to see their country. */
const mostOfCountries = 1000;
const nearlyAll = 0.95;

/** The country whose calling code nearly all numbers without `+` begin with. */
export function ambiguousCountryOf({
  filled,
  ambiguous,
  ambiguousCountries,
}: ColumnProfile): string | undefined {
  const [first] = [...ambiguousCountries].toSorted(([, one], [, other]) => other - one);
  if (!first || ambiguous < filled * nearlyAll) return undefined;
  return first[1] >= Math.min(ambiguous, mostOfCountries) * nearlyAll ? first[0] : undefined;
}

function countryOfDigits(digits: string): string | undefined {
  const family = familyOf(digits);
  const { exact, main } = family?.countriesOf(digits.slice(family.callingCode.length)) ?? {};
  return exact ?? main;
}

/** Numbers of a phone column whose calling code is not that of the one country given for all rows. */
export interface ForeignNumbers {
  readonly cells: number;
  /** How many numbers have a calling code. */
  readonly of: number;
  /** Numbers without one, read as numbers of `read_as`. */
  readonly national: number;
  /** The country given for all rows. */
  readonly read_as: string;
  /** Their countries, the commonest first. */
  readonly countries: readonly { readonly country: string; readonly cells: number }[];
}

/** Fewer are a few people abroad. */
const leastCells = 5;
/** Shares of the numbers with a calling code, and of all: lists of national numbers write a + for those abroad. */
const leastOfCodes = 0.1;
const leastOfAll = 0.05;
const mostCountries = 10;

/** Counts calling codes in a column where one country is given for all rows. */
class CallingCodeTally {
  readonly country: CountryCode;
  readonly #code: string;
  #withCode = 0;
  #national = 0;
  #foreign = 0;
  readonly #countries = new Map<string, number>();

  constructor(country: CountryCode) {
    this.country = country;
    this.#code = `+${planOf(country)?.family.callingCode ?? ''}`;
  }

  /** @param line the cell's line: with a `+` for a sure number */
  add(cell: CellText, line: string): void {
    if (line.startsWith('+') && typeof cell === 'string')
      this.addNumber(line, hasCallingCode(cell));
  }

  addNumber(number: string, hasCode: boolean): void {
    if (number.startsWith(this.#code)) this.addDomestic(hasCode);
    else this.#addForeign(number.slice(1));
  }

  addDomestic(hasCode: boolean): void {
    if (hasCode) this.#withCode += 1;
    else this.#national += 1;
  }

  #addForeign(digits: string): void {
    const country = countryOfDigits(digits);
    if (country === undefined) return;
    this.#foreign += 1;
    countOne(this.#countries, country);
  }

  /** @returns `undefined` where they are too few to contradict the given country */
  foreign(): ForeignNumbers | undefined {
    const cells = this.#foreign;
    const of = cells + this.#withCode;
    const all = of + this.#national;
    if (cells < leastCells || cells <= of * leastOfCodes || cells <= all * leastOfAll) {
      return undefined;
    }
    return {
      cells,
      of,
      national: this.#national,
      read_as: this.country,
      countries: Array.from(this.#countries, ([country, count]) => ({ country, cells: count }))
        .toSorted((one, other) => other.cells - one.cells)
        .slice(0, mostCountries),
    };
  }
}
