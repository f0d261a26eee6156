import { addressesIn, isListText } from '../addresses/cell-form.js';
import { findCountryInColumn, guessCountry } from '../addresses/country/parse-country.js';
import { trimCell } from '../addresses/address.js';
import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import type { CellText } from '../../lists/rows/chunks/row-chunk.js';
import { printableLine } from '../../platform/text/printable.js';
import { addedColumns } from './added-fields.js';
import { freePrefix } from './column-layout.js';
import {
  areSurelyCountries,
  countryOfPhone,
  isEmail,
  isPhone,
  isSurelyPhone,
  mayBeEmail,
  meansCountry,
} from './cell-patterns.js';
import { readColumnName } from './column-words.js';

interface SampledColumn {
  /** Its name in an option: the title, or its position (`#3`) where the title is not unique. */
  readonly name: string;
  readonly title: string;
  /** At most three different cells of its type. */
  readonly examples: readonly string[];
}

interface ContactColumn extends SampledColumn {
  readonly type: VerificationType;
  /**
   * Cells that can be split, among the filled ones: with several addresses, with text around one (`bare`), or a
   * list of one; three of them.
   */
  readonly several: {
    readonly cells: number;
    readonly bare: number;
    readonly lists: number;
    readonly of: number;
    readonly examples: readonly string[];
  };
  /** A prefix for its added columns, where the usual names are taken. */
  readonly prefix?: string;
}

/** A column of phone numbers, some with a calling code. */
interface CodedColumn extends SampledColumn {
  readonly known: number;
  readonly of: number;
}

export interface FoundColumns {
  /** Every column of email addresses and phone numbers, in the header's order, emails first. */
  readonly contacts: readonly ContactColumn[];
  /**
   * Columns that look like addresses or countries and are not taken: of fax machines, of the list's own staff,
   * with lists in their cells that cannot be split, and where only a few cells are emails, numbers or countries.
   */
  readonly leftOut: readonly (SampledColumn & {
    readonly why: WhyLeftOut;
    /** Cells of a column of countries that are not understood, and the code of the country that each likely means. */
    readonly meant?: readonly MeantCountry[];
  })[];
  /** The column with a country for each row, and whether some of its cells are empty. */
  readonly country: (SampledColumn & { readonly hasEmpty: boolean }) | undefined;
  /** The country of most rows, and its evidence. */
  readonly mostly: FoundCountry | undefined;
  /** The column with the most phone numbers that give a country to rows without one. */
  readonly callingCodes: CodedColumn | undefined;
  readonly all: readonly SampledColumn[];
}

type WhyLeftOut = 'fax' | 'own_people' | 'lists' | 'few_emails' | 'few_phones' | 'few_countries';

interface MeantCountry {
  readonly cell: string;
  readonly code: string;
}

interface FoundCountry {
  readonly country: CountryCode;
  readonly from: 'country_column' | 'calling_codes';
  /** The sampled rows, or phone numbers. */
  readonly of: number;
  /** How many of them have a country, by a cell or a calling code. */
  readonly known: number;
  /** How many of these have this one. */
  readonly same: number;
}

/** Shares of a column's filled cells. */
const enough = {
  named: 0.5,
  unnamed: 0.8,
  alone: 0.6,
  unnamedPhone: 0.9,
  majority: 2 / 3,
  few: 0.1,
};
const fewest = 3;
const mostExamples = 3;
/** Each is compared with the names of all countries. */
const mostGuesses = 20;

/** Detects a list's columns by their names and first cells; pure. @param lists the first values of cells that are lists and cannot be split */
export function judgeColumns(
  header: readonly string[],
  rows: readonly (readonly CellText[])[],
  lists: readonly (readonly CellText[])[] = [],
): FoundColumns {
  const columns = header.map((title, at) => new Column(header, at, rows));
  const listed = header.map((_, at) => new Column(header, at, lists));
  const isOfLists = (column: Column, at: number): boolean =>
    (listed[at]?.filled.length ?? 0) > column.filled.length &&
    (column.isOfAddresses || listed[at]?.isOfAddresses === true);
  const taken = columns.filter((column, at) => column.isOfAddresses && !isOfLists(column, at));
  const phones = taken.filter(({ role }) => role === 'phone');
  const country = columns
    .filter((column) => column.isCountry)
    .toSorted((one, other) => other.filled.length - one.filled.length)[0];
  const byColumn = majority(country?.filled.map((cell) => findCountryInColumn(cell)) ?? []);
  // The calling code matters only for rows without their own country.
  const withoutCountry = country ? rows.filter((row) => !country.isIn(row)) : rows;
  const numbers = phones.flatMap(({ filled }) => filled);
  const byCode = majority(numbers.map(countryOfPhone));
  return {
    contacts: withFreePrefixes(
      [
        ...taken.filter(({ role }) => role === 'email').map((column) => column.asContact('email')),
        ...phones.map((column) => column.asContact('phone')),
      ],
      header,
    ),
    leftOut: columns.flatMap((column, at) => {
      if (isOfLists(column, at))
        return [{ ...(listed[at] ?? column).sampled(), why: 'lists' as const }];
      const { whyLeftOut: why } = column;
      if (why !== undefined) {
        const { meantCountries: meant } = column;
        const isMeant = why === 'few_countries' && meant.length > 0;
        return [{ ...column.sampled(), why, ...(isMeant && { meant }) }];
      }
      return [];
    }),
    country: country && {
      ...country.sampled(),
      hasEmpty: country.filled.length < rows.length,
    },
    mostly: byColumn
      ? { ...byColumn, from: 'country_column', of: rows.length }
      : byCode && { ...byCode, from: 'calling_codes', of: numbers.length },
    callingCodes: columns
      .flatMap(({ role }, at) => (role === 'phone' ? [new Column(header, at, withoutCountry)] : []))
      .map((column) => column.asCoded())
      .filter(({ known }) => known > 0)
      .toSorted((one, other) => other.known - one.known)[0],
    all: columns.map((column) => column.sampled()),
  };
}

type Role = VerificationType | 'fax' | 'own_people' | undefined;

class Column {
  readonly #at: number;
  readonly #title: string;
  readonly #option: string;
  readonly #isRight: (cell: string) => boolean;
  /** Trimmed cells that are not empty. */
  readonly filled: readonly string[];
  readonly role: Role;
  readonly isCountry: boolean;

  constructor(header: readonly string[], at: number, rows: readonly (readonly CellText[])[]) {
    this.#at = at;
    this.#title = header[at] ?? '';
    this.#option = optionName(header, at);
    this.filled = rows.map((row) => this.#cellOf(row)).filter((cell) => cell !== '');
    this.role = this.#roleOf(header.length === 1);
    this.isCountry = this.role === undefined && this.#holdsCountries();
    this.#isRight =
      this.role === 'email' ? mayBeEmail : this.role === 'phone' ? isPhone : () => true;
  }

  get isOfAddresses(): boolean {
    return this.role === 'email' || this.role === 'phone';
  }

  /** `undefined` for a column that is taken, or looks like nothing. */
  get whyLeftOut(): WhyLeftOut | undefined {
    const { role } = this;
    if (role === 'fax' || role === 'own_people') return role;
    if (role !== undefined || this.isCountry) return undefined;
    const least = Math.max(fewest, this.filled.length * enough.few);
    if (this.filled.filter(isEmail).length >= least) return 'few_emails';
    const { meaning } = readColumnName(this.#title);
    if (meaning === 'phone' && this.filled.filter(isPhone).length >= least) return 'few_phones';
    const cells = [...new Set(this.filled)].slice(0, mostGuesses);
    return meaning === 'country' && cells.some(meansCountry) ? 'few_countries' : undefined;
  }

  /** Of the first cells that are no country, such as `Germny`. */
  get meantCountries(): readonly MeantCountry[] {
    return [...new Set(this.filled)]
      .filter((cell) => findCountryInColumn(cell) === undefined)
      .slice(0, mostGuesses)
      .flatMap((cell) => {
        const code = guessCountry(cell)?.code ?? undefined;
        return code === undefined ? [] : [{ cell, code }];
      })
      .slice(0, mostExamples);
  }

  #cellOf(row: readonly CellText[]): string {
    const cell = row[this.#at];
    return typeof cell === 'string' ? trimCell(cell) : '';
  }

  isIn(row: readonly CellText[]): boolean {
    return this.#cellOf(row) !== '';
  }

  #roleOf(isAlone: boolean): Role {
    const { meaning, isOfStaff, isOtherNumber } = readColumnName(this.#title);
    const emails = this.#share(meaning === 'email' ? mayBeEmail : isEmail);
    const least = meaning === 'email' ? enough.named : isAlone ? enough.alone : enough.unnamed;
    if (emails >= least) {
      return isOfStaff ? 'own_people' : 'email';
    }
    const phones = this.#share(isPhone);
    if (meaning === 'fax') return phones >= enough.named ? 'fax' : undefined;
    if (meaning === 'phone' && phones >= enough.named) return isOfStaff ? 'own_people' : 'phone';
    if (meaning !== undefined || isOtherNumber) return undefined;
    // The only column of a list is judged by its cells.
    const isPhones = isAlone ? phones : this.#share(isSurelyPhone);
    return isPhones >= enough.unnamedPhone ? 'phone' : undefined;
  }

  #holdsCountries(): boolean {
    const { meaning, mayBeCountry, isOtherCode } = readColumnName(this.#title);
    if (meaning === 'country') {
      return this.#share((cell) => findCountryInColumn(cell) !== undefined) >= enough.named;
    }
    return meaning === undefined && !isOtherCode && areSurelyCountries(this.filled, mayBeCountry);
  }

  asCoded(): CodedColumn {
    const known = this.filled.filter((cell) => countryOfPhone(cell) !== undefined).length;
    return { ...this.sampled(), known, of: this.filled.length };
  }

  #share(test: (cell: string) => boolean): number {
    return this.filled.length === 0 ? 0 : this.filled.filter(test).length / this.filled.length;
  }

  sampled(): SampledColumn {
    const right = new Set(this.filled.filter(this.#isRight));
    return {
      name: this.#option,
      title: this.#title,
      examples: [...right].slice(0, mostExamples),
    };
  }

  asContact(type: VerificationType): ContactColumn {
    const several = this.filled.filter((cell) => addressesIn(type, cell) !== undefined);
    const ones = several.filter((cell) => addressesIn(type, cell)?.length === 1);
    const lists = ones.filter(isListText).length;
    return {
      ...this.sampled(),
      type,
      several: {
        cells: several.length - ones.length,
        bare: ones.length - lists,
        lists,
        of: this.filled.length,
        examples: [...new Set(several)].slice(0, mostExamples),
      },
    };
  }
}

/** Gives a prefix to columns whose added columns would have the names of others, added ones included. */
function withFreePrefixes(
  contacts: readonly ContactColumn[],
  header: readonly string[],
): readonly ContactColumn[] {
  const names = new Set(header);
  return contacts.map((contact) => {
    const added = (prefix: string) => addedColumns(contact.type, prefix);
    const { title } = contact;
    const isFree = !added(title).some(({ name }) => names.has(name));
    const prefix = isFree ? title : freePrefix(names, title, added);
    for (const { name } of added(prefix)) names.add(name);
    return isFree ? contact : { ...contact, prefix };
  });
}

/** The name if it is unique, can be typed, and is not a position; else the position. */
function optionName(header: readonly string[], at: number): string {
  const name = header[at] ?? '';
  const isClear =
    name.trim() !== '' &&
    printableLine(name) === name &&
    !/^#\d+$/.test(name) &&
    header.indexOf(name) === header.lastIndexOf(name);
  return isClear ? name : `#${at + 1}`;
}

/** The country of most numbers with one. */
function majority(
  countries: readonly (CountryCode | undefined)[],
): Pick<FoundCountry, 'country' | 'known' | 'same'> | undefined {
  const counts = new Map<CountryCode, number>();
  for (const country of countries) {
    if (country !== undefined) counts.set(country, (counts.get(country) ?? 0) + 1);
  }
  const known = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const [first] = [...counts].toSorted(([, one], [, other]) => other - one);
  if (!first || first[1] < known * enough.majority) return undefined;
  return { country: first[0], known, same: first[1] };
}
