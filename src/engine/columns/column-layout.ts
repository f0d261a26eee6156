import type { VerificationType } from '../../contract/enums.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { addedColumns, type AddedField } from '../results/result-columns.js';
import type { AddedColumn } from '../../lists/rows/sink.js';
import {
  checkFields,
  fieldsOf,
  wantsOrigin,
  type FieldOptions,
  closestColumn,
} from './added-fields.js';
import { caseless } from '../../lists/rows/column-names.js';
import { optionName } from '../../platform/text/option-name.js';

/**
 * Which columns are verified, as the caller names them: by name or, where the rows come from a source
 * with a header, by position (`#3`).
 *
 * @template Email the columns that may hold email addresses
 * @template Phone the columns that may hold phone numbers
 * @template Text the columns that may hold any text
 * @template Prefix what more is known of `prefix`
 * @template Chosen the added columns that are chosen
 */
export interface ColumnOptions<
  Email = string,
  Phone = string,
  Text = string,
  Prefix = unknown,
  Chosen = AddedField,
> extends FieldOptions<Chosen> {
  /** Columns of email addresses. @default none: there is at least one of emails or phones */
  readonly email?: readonly Email[] | undefined;
  /** Columns of phone numbers. @default none: there is at least one of emails or phones */
  readonly phone?: readonly Phone[] | undefined;
  /**
   * Column that holds the target country row by row; where a cell is empty, `countryFrom` and then `country`
   * say it.
   * @default none: every row has the same
   */
  readonly countryColumn?: Text | undefined;
  /**
   * Column of phone numbers whose calling codes (`+44…`, `0044…`) say the target country row by row, or with
   * `countryColumn` of the rows whose own cell is empty; `country` is that of the other rows.
   * @default none: every row has the same
   */
  readonly countryFrom?: Text | undefined;
  /** By verified column: what its added columns begin with. @default its name */
  readonly prefix?: (Readonly<Record<string, string>> & Prefix) | undefined;
}

/** At least one column is verified. The compiler names the last of these where none is. */
export type ColumnChoice = PhoneColumns | EmailColumns;

interface PhoneColumns {
  /** Columns of phone numbers. */
  readonly phone: {};
}

interface EmailColumns {
  /** Columns of email addresses. */
  readonly email: {};
}

/** Where the columns stand in a header, and which are added to it. */
export interface ColumnLayout {
  readonly columns: readonly {
    readonly type: VerificationType;
    readonly position: number;
    readonly name: string;
  }[];
  readonly countryPosition: number | undefined;
  /** Its name. */
  readonly countryName?: string | undefined;
  readonly countryFromPosition?: number | undefined;
  /** Its name. */
  readonly countryFromName?: string | undefined;
  /** The added columns, for each verified column. */
  readonly added: readonly (readonly AddedColumn[])[];
  /** The usual ones, where others are chosen. */
  readonly whole?: ColumnLayout['added'];
  /** Whether some of them say where a result is from. */
  readonly withOrigin: boolean;
}

/**
 * Finds the columns in a header.
 *
 * @param input how a message calls what has the header
 *
 * @throws ConfigurationError `column_not_found` (naming the columns there are), `column_exists`,
 *   `invalid_option`
 */
export function layOutColumns(
  header: readonly string[],
  options: ColumnOptions,
  input = 'the input',
): ColumnLayout {
  const given = givenColumns(options);
  if (given.length === 0) {
    throw new ConfigurationError('name at least one column of email addresses or phone numbers');
  }
  countVerified(options);
  const columns = given.map(({ type, as }) => {
    const position = findColumn(header, as);
    return { type, position, name: header[position] ?? as };
  });
  const prefixes = new Map(Object.entries(options.prefix ?? {}));
  checkPrefixes([...prefixes.keys()], [...given.map(({ as }) => as), ...columns.map(nameOf)]);
  const prefixOf = (name: string, index: number): string =>
    prefixes.get(given[index]?.as ?? name) ?? prefixes.get(name) ?? name;
  const added = columns.map(({ type, name }, index) =>
    addedColumns(type, prefixOf(name, index), fieldsOf(type, options)),
  );
  checkAdded({ header, input }, added, (column) => {
    const { type = 'email' as const, name = '' } = columns[column] ?? {};
    const prefix = freePrefix(header, prefixOf(name, column), (tried) =>
      addedColumns(type, tried, fieldsOf(type, options)),
    );
    return { [given[column]?.as ?? name]: prefix };
  });
  const positionOf = (column: string | undefined): number | undefined =>
    column === undefined ? undefined : findColumn(header, column);
  const countryPosition = positionOf(options.countryColumn);
  const countryFromPosition = positionOf(options.countryFrom);
  return {
    columns,
    countryPosition,
    countryName: countryPosition === undefined ? undefined : header[countryPosition],
    countryFromPosition,
    countryFromName: countryFromPosition === undefined ? undefined : header[countryFromPosition],
    added,
    ...(options.columns && {
      whole: columns.map(({ type, name }, index) => addedColumns(type, prefixOf(name, index))),
    }),
    withOrigin: wantsOrigin(options),
  };
}

/**
 * Checks the columns of rows that are objects: they have names and no positions.
 *
 * @param rows how many rows they are of
 *
 * @throws ConfigurationError `column_not_found` (naming the columns there are), `column_exists`
 */
export function checkColumnNames(
  names: readonly string[],
  options: ColumnOptions,
  rows: number,
): void {
  for (const name of namedColumns(options)) {
    if (names.includes(name)) continue;
    const missing =
      rows === 1
        ? `the first row has ${noColumn(names, name)}`
        : `the first ${rows} rows have ${noColumn(names, name, 'their')}`;
    throw new ConfigurationError(`${missing}. Where a row has no value, set it to null`, {
      code: 'column_not_found',
    });
  }
  layOutColumns(names, options);
}

/**
 * How many columns are verified.
 *
 * @throws ConfigurationError `invalid_option` when what is chosen to be added is not theirs
 */
export function countVerified(options: ColumnOptions): number {
  const given = givenColumns(options);
  if (given.length > 0) checkFields(new Set(given.map(({ type }) => type)), options);
  return given.length;
}

/** Every column that options name. */
export function namedColumns(options: ColumnOptions): readonly string[] {
  const { email = [], phone = [], countryColumn, countryFrom } = options;
  const names = [...email, ...phone, countryColumn, countryFrom];
  return [...new Set(names.filter((name) => name !== undefined))];
}

function givenColumns(
  options: ColumnOptions,
): readonly { readonly type: VerificationType; readonly as: string }[] {
  return [
    ...(options.email ?? []).map((as) => ({ type: 'email' as const, as })),
    ...(options.phone ?? []).map((as) => ({ type: 'phone' as const, as })),
  ];
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

/**
 * The position of a column that is named by its name or by position.
 *
 * @throws ConfigurationError `column_not_found`
 */
export function findColumn(header: readonly string[], given: string): number {
  const first = header.indexOf(given);
  if (first !== -1) {
    if (header.indexOf(given, first + 1) === -1) return first;
    throw new ConfigurationError(
      `the input has more than one column named ${JSON.stringify(given)}; name it by position, such as #${first + 1}`,
      { code: 'column_not_found' },
    );
  }
  const position = /^#([1-9]\d{0,5})$/.exec(given);
  const index = Number(position?.[1]) - 1;
  if (position && index < header.length) return index;
  return findWithoutCase(header, given);
}

/** What people call a column is seldom written as the header has it. */
function findWithoutCase(header: readonly string[], given: string): number {
  const wanted = caseless(given);
  const found = header.flatMap((name, index) => (caseless(name) === wanted ? [index] : []));
  const [only] = found;
  if (only === undefined) throw columnNotFound(header, given);
  if (found.length === 1) return only;
  const names = found.map((index) => JSON.stringify(header[index])).join(' and ');
  throw new ConfigurationError(
    `the input has no column ${JSON.stringify(given)}, but ${names}: name one of them as it is written`,
    { code: 'column_not_found' },
  );
}

function columnNotFound(header: readonly string[], given: string): ConfigurationError {
  const damaged = header.findIndex((name) => isDamaged(name, given));
  if (damaged !== -1) {
    return new ConfigurationError(
      `the input has no column ${JSON.stringify(given)}, but ${JSON.stringify(header[damaged])}, which is no UTF-8 text: name the encoding of the file with ${optionName('encoding')}, such as windows-1252, or the column by its position, #${damaged + 1}`,
      { code: 'column_not_found' },
    );
  }
  const delimiter = unusedDelimiter(header);
  if (delimiter !== undefined) {
    const shown = delimiter === '\t' ? 'tab' : `"${delimiter}"`;
    return new ConfigurationError(
      `the input has no column ${JSON.stringify(given)}, but one column alone, with ${shown} in its name: leave ${optionName('delimiter')} out, or give it as ${shown}`,
      { code: 'column_not_found' },
    );
  }
  return new ConfigurationError(`the input has ${noColumn(header, given)}`, {
    code: 'column_not_found',
  });
}

function noColumn(
  header: readonly string[],
  given: string,
  whose: 'its' | 'their' = 'its',
): string {
  const near = closestColumn(header, given);
  const guess =
    near === undefined
      ? `; ${whose}`
      : `; did you mean ${JSON.stringify(near)}? ${whose === 'its' ? 'Its' : 'Their'}`;
  return `no column ${JSON.stringify(given)}${guess} columns are: ${header.join(', ')}`;
}

/** What parts the names of a header that was read as one column. */
function unusedDelimiter(header: readonly string[]): string | undefined {
  const [only = ''] = header;
  if (header.length !== 1) return undefined;
  const [most] = [';', ',', '\t', '|']
    .map((delimiter) => ({ delimiter, count: only.split(delimiter).length - 1 }))
    .toSorted((one, other) => other.count - one.count);
  return most && most.count > 0 ? most.delimiter : undefined;
}

/** Whether a name was read in another encoding than it was written in: what is no text there is `\uFFFD`. */
function isDamaged(name: string, given: string): boolean {
  const [read, wanted] = [name, given].map((each) => Array.from(caseless(each))) as [
    string[],
    string[],
  ];
  return (
    name.includes('\uFFFD') &&
    read.length === wanted.length &&
    read.every((character, at) => character === '\uFFFD' || character === wanted[at])
  );
}

function checkPrefixes(prefixed: readonly string[], verified: readonly string[]): void {
  const other = prefixed.find((name) => !verified.includes(name));
  if (other === undefined) return;
  throw new ConfigurationError(
    `a prefix is given for ${JSON.stringify(other)}, which is no verified column`,
  );
}

/** Another prefix with which no added column has the name of one that is there: `email_2` for `email`. */
export function freePrefix(
  header: readonly string[],
  prefix: string,
  added: (prefix: string) => readonly AddedColumn[],
): string {
  const names = new Set(header);
  for (let number = 2; ; number += 1) {
    const tried = `${prefix}_${number}`;
    if (!added(tried).some(({ name }) => names.has(name))) return tried;
  }
}

/** @param otherPrefix how the option gives a verified column a prefix that is free */
function checkAdded(
  { header, input }: { readonly header: readonly string[]; readonly input: string },
  added: readonly (readonly AddedColumn[])[],
  otherPrefix: (column: number) => Readonly<Record<string, string>>,
): void {
  const own = new Set(header);
  const others = new Set<string>();
  for (const [column, columns] of added.entries()) {
    for (const { name } of columns) {
      if (own.has(name)) {
        throw new ConfigurationError(
          `${input} already has a column ${JSON.stringify(name)}, which would be added: give the new columns another name with ${optionName('prefix', otherPrefix(column))}, or leave that column out of the input`,
          { code: 'column_exists' },
        );
      }
      if (others.has(name)) {
        throw new ConfigurationError(
          `two verified columns would both add a column ${JSON.stringify(name)}; name each once, and give one of them another prefix`,
          { code: 'column_exists' },
        );
      }
      others.add(name);
    }
  }
}
