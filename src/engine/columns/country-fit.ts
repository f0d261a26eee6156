import { type CountryCode, countryCodes } from '../../contract/countries.js';
import type { CellText } from '../../lists/rows/chunks/row-chunk.js';
import {
  fitsCountry,
  hasCallingCode,
  isAmericanAbroad,
  mayBeOf,
  phoneCountry,
} from '../addresses/phone/phone-country.js';

/** What gives a row its country: its cell, the calling code of its number, or the country of all others. */
export type CountryOrigin = 'country_column' | 'country_from' | 'country';

/** Phone numbers without a calling code that do not look like numbers of their row's country. */
export interface UnfitNumbers {
  readonly cells: number;
  /** How many without one were examined. */
  readonly of: number;
  /** The country given for all rows; absent where rows have countries of their own. */
  readonly read_as?: string;
}

/** Phone numbers without a calling code of which far more are valid in other countries than where they are read. */
export interface MisreadNumbers {
  /** Those that are not valid there. */
  readonly cells: number;
  /** How many different ones were compared: the first 200 at most. */
  readonly of: number;
  /** The country they are read by. */
  readonly read_as: string;
  /** What gives them that country. */
  readonly given_by: CountryOrigin;
  /** The countries where nearly all are valid: first those that other rows or calling codes name, then the likeliest. */
  readonly fitting: readonly FittingCountry[];
}

interface FittingCountry {
  readonly country: string;
  readonly cells: number;
}

/** All of the first numbers are examined, then one of so many: the validity of a number is slow to find. */
const allOfFirst = 1000;
const oneOf = 64;
/** Fewer are a few people abroad. */
const leastCells = 5;
const leastUnfit = 0.1;
/** Where one country is given for all rows, some numbers of a list are merely wrong. */
const leastOfOnly = { cells: 2, share: 0.5 };
/** The form of North America is no mistake: `(212) 652-5864` is of nowhere else. */
const leastAmerican = { cells: 10, share: 0.05 };
/**
 * Shares of numbers that are valid: from which on another country is named, and at most where they are read.
 * Many numbers are valid in several countries, and some of each list in none.
 */
const leastInOther = 0.85;
const mostInOwn = 0.75;
const leastMore = 0.2;
/** Fewer different numbers are valid in some country by chance. */
const leastCompared = 20;
/** The same where none is valid in the country that they are read by. */
const leastWithoutAny = 10;
/** From this share on the numbers that are compared are not of the country that is given for all rows. */
const nearlyAll = 0.8;
/** How many more of them are valid than of other digits. */
const leastByChoice = 0.2;
/** Different numbers, by which countries are compared. */
const mostCompared = 200;
const mostFitting = 10;

interface NamedCountries {
  readonly coded: Map<string, number>;
  readonly ofRows: Map<string, number>;
}

interface NumbersReadBy {
  readonly country: CountryCode;
  readonly origin: CountryOrigin;
  readonly cells: Set<string>;
}

/** Counts numbers that are no valid ones of their row's country. A calling code means the same in all rows. */
export class CountryFitTally {
  readonly #only: CountryCode | undefined;
  #seen = 0;
  #examined = 0;
  #unfit = 0;
  /** Those of them that are written as numbers of North America. */
  #american = 0;
  /** Of the whole column, by what is examined: all cells, and those that are unfit. */
  readonly #about = { cells: 0, unfit: 0 };
  readonly #read = new Map<string, NumbersReadBy>();
  /** By country: the first numbers with its calling code, and those whose row has it. */
  readonly #named: NamedCountries = { coded: new Map(), ofRows: new Map() };
  #misread: { readonly examined: number; readonly found: MisreadNumbers | undefined } | undefined;

  /** @param fallback the country of rows that have none */
  constructor(only: CountryCode | undefined, fallback: CountryCode | undefined) {
    this.#only = only;
    if (fallback) this.#named.ofRows.set(fallback, 1);
  }

  /** Counts a cell. @returns whether it is one to examine */
  isNextExamined(): boolean {
    this.#seen += 1;
    return this.#seen <= allOfFirst || this.#seen % oneOf === 0;
  }

  /** @param originOf asked for the first cells */
  examine(cell: CellText, country: CountryCode, originOf: () => CountryOrigin): void {
    if (typeof cell !== 'string') return;
    const isOfFirst = this.#seen <= allOfFirst;
    const weight = isOfFirst ? 1 : oneOf;
    this.#about.cells += weight;
    if (isOfFirst) countOne(this.#named.ofRows, country);
    if (hasCallingCode(cell)) {
      const home = isOfFirst && phoneCountry(cell);
      if (typeof home === 'string') countOne(this.#named.coded, home);
      return;
    }
    const fits = mayBeOf(country, cell);
    if (fits === undefined) return;
    this.#examined += 1;
    if (!fits) {
      this.#unfit += 1;
      this.#about.unfit += weight;
      if (isAmericanAbroad(cell, country)) this.#american += 1;
    }
    if (isOfFirst) this.#compare(cell, country, originOf());
  }

  #compare(cell: string, country: CountryCode, origin: CountryOrigin): void {
    const key = `${country} ${origin}`;
    const read = this.#read.get(key) ?? { country, origin, cells: new Set() };
    this.#read.set(key, read);
    if (read.cells.size < mostCompared) read.cells.add(cell);
  }

  /** @returns `undefined` where they are few */
  unfit(): UnfitNumbers | undefined {
    const cells = this.#unfit;
    const of = this.#examined;
    const least = this.#only ? leastOfOnly : { cells: leastCells, share: leastUnfit };
    const areMany = (count: number, { cells: fewest, share }: typeof least): boolean =>
      count >= fewest && count >= of * share;
    if (!areMany(cells, least) && !areMany(this.#american, leastAmerican)) return undefined;
    return { cells, of, ...(this.#only && { read_as: this.#only }) };
  }

  /** Numbers that another country explains clearly better than the one they are read by. */
  misread(): MisreadNumbers | undefined {
    if (this.#misread?.examined !== this.#examined) {
      const [found] = [...this.#read.values()]
        .flatMap((read) => misreadNumbers(read, this.#named))
        .toSorted((one, other) => other.of - one.of);
      this.#misread = { examined: this.#examined, found };
    }
    return this.#misread?.found;
  }

  /** Whether most of the column, not only its beginning, has hardly a number of the country that is given for all. */
  get isOfOtherCountry(): boolean {
    const found = this.misread();
    if (found?.given_by !== 'country' || found.cells < found.of * nearlyAll) return false;
    return this.#about.unfit * 2 >= this.#about.cells;
  }
}

function misreadNumbers(
  { country, origin, cells: texts }: NumbersReadBy,
  named: NamedCountries,
): readonly MisreadNumbers[] {
  const numbers = [...texts];
  const of = numbers.length;
  const inOwn = numbers.filter((cell) => mayBeOf(country, cell) === true).length;
  const fewest = inOwn === 0 ? leastWithoutAny : leastCompared;
  if (of < fewest || inOwn > of * mostInOwn) return [];
  const least = Math.max(of * leastInOther, inOwn + of * leastMore);
  const fitting = countriesOf(numbers, least, named);
  if (fitting.length === 0) return [];
  return [{ cells: of - inOwn, of, read_as: country, given_by: origin, fitting }];
}

function countriesOf(
  numbers: readonly string[],
  least: number,
  { coded, ofRows }: NamedCountries,
): readonly FittingCountry[] {
  const namedOf = (country: string): number =>
    (coded.get(country) ?? 0) + (ofRows.get(country) ?? 0);
  const fitting = countryCodes.flatMap((country) => {
    const cells = fittingIn(country, numbers, least);
    if (cells === undefined) return [];
    const others = numbers.filter((number) => fitsCountry(reversed(number), country)).length;
    const isByChoice = cells - others >= numbers.length * leastByChoice;
    // Where nearly any digits are valid, the country of other rows is likely all the same.
    if (!isByChoice && !ofRows.has(country)) return [];
    return [{ country, cells, isByChoice, weight: weightOf(numbers.length, cells, others) }];
  });
  if (!fitting.some(({ isByChoice }) => isByChoice)) return [];
  return fitting
    .toSorted(
      (one, other) => namedOf(other.country) - namedOf(one.country) || other.weight - one.weight,
    )
    .slice(0, mostFitting)
    .map(({ country, cells }) => ({ country, cells }));
}

/** @returns `undefined` where they are fewer: most countries are left after some numbers */
function fittingIn(
  country: CountryCode,
  numbers: readonly string[],
  least: number,
): number | undefined {
  const mostMisses = numbers.length - least;
  let misses = 0;
  for (const number of numbers) {
    if (!fitsCountry(number, country)) misses += 1;
    if (misses > mostMisses) return undefined;
  }
  return numbers.length - misses;
}

/** How rarely a number that is not of a country is valid in it, by chance. */
const missWeight = Math.log(0.05);

/**
 * How well a country explains numbers: where nearly any digits are valid, that these are says little. As
 * other digits serve the same ones from the end to the beginning.
 */
function weightOf(of: number, cells: number, others: number): number {
  const byChance = (others + 1) / (of + 2);
  return (of - cells) * missWeight - cells * Math.log(byChance);
}

export function countOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The digits of a number after its zeros in reverse, with its separators in their places. */
function reversed(number: string): string {
  const start = /^\D*0*/.exec(number)?.[0].length ?? 0;
  const digits = number.slice(start).replaceAll(/\D/g, '');
  let at = digits.length;
  const rest = number.slice(start).replaceAll(/\d/g, () => digits[(at -= 1)] ?? '');
  return number.slice(0, start) + rest;
}
