import type { VerificationType } from '../../contract/enums.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import {
  addedColumns,
  type AddedField,
  checkFields,
  fieldsOf,
  wantsOrigin,
  type FieldOptions,
} from './added-fields.js';
import type { AddedColumn } from '../../lists/rows/sink.js';
import { findColumn, noColumn } from './column-lookup.js';
import { optionName } from '../../platform/text/sentence.js';

/**
 * The columns to verify, by name or, where the source has a header, by position (`#3`).
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
   * Column with the target country of each row; an empty cell falls back to `countryFrom`, then to `country`.
   * @default none: every row has the same
   */
  readonly countryColumn?: Text | undefined;
  /**
   * Column of phone numbers whose calling codes (`+44…`, `0044…`) give the target country of each row, or
   * with `countryColumn` of rows with an empty cell; `country` is that of the other rows.
   * @default none: every row has the same
   */
  readonly countryFrom?: Text | undefined;
  /** By verified column: the prefix of its added columns. @default its name */
  readonly prefix?: (Readonly<Record<string, string>> & Prefix) | undefined;
}

/** At least one column is verified; without one the compiler reports the last alternative. */
export type ColumnChoice = ColumnsOfNumbers | EmailColumns;

interface ColumnsOfNumbers {
  /** Columns of phone numbers. */
  readonly phone: {};
}

interface EmailColumns {
  /** Columns of email addresses. */
  readonly email: {};
}

export interface ColumnLayout {
  readonly columns: readonly {
    readonly type: VerificationType;
    readonly position: number;
    /** Its name; where several columns have it, its position (`#3`). */
    readonly name: string;
    /** What the column is called in options: its name, or its position. */
    readonly as: string;
  }[];
  readonly countryPosition: number | undefined;
  readonly countryName?: string | undefined;
  readonly countryFromPosition?: number | undefined;
  readonly countryFromName?: string | undefined;
  readonly added: readonly (readonly AddedColumn[])[];
  /** The default added columns, where others are chosen. */
  readonly whole?: ColumnLayout['added'];
  readonly withOrigin: boolean;
}

export function layOutColumns(
  header: readonly string[],
  options: ColumnOptions,
  input = 'the input',
): ColumnLayout {
  const given = givenColumns(options);
  if (given.length === 0) {
    throw new ConfigurationError('name at least one column of email addresses or phone numbers', {
      option: 'email',
      fault: 'missing',
    });
  }
  countVerified(options);
  const columns = given.map(({ type, as }) => {
    const position = findColumn(header, as);
    return { type, position, name: header[position] ?? as, as };
  });
  const prefixes = new Map(Object.entries(options.prefix ?? {}));
  checkPrefixes(
    [...prefixes.keys()],
    [...given.map(({ as }) => as), ...columns.map(({ name }) => name)],
  );
  const prefixOf = (name: string, index: number): string =>
    prefixes.get(given[index]?.as ?? name) ?? prefixes.get(name) ?? name;
  const added = columns.map(({ type, name }, index) =>
    addedColumns(type, prefixOf(name, index), fieldsOf(type, options)),
  );
  checkAdded({ header, input }, added, (column, names) => {
    const { type = 'email' as const, name = '' } = columns[column] ?? {};
    const prefix = freePrefix(names, prefixOf(name, column), (tried) =>
      addedColumns(type, tried, fieldsOf(type, options)),
    );
    return { [given[column]?.as ?? name]: prefix };
  });
  const positionOf = (column: string | undefined): number | undefined =>
    column === undefined ? undefined : findColumn(header, column);
  const countryPosition = positionOf(options.countryColumn);
  const countryFromPosition = positionOf(options.countryFrom);
  const isShared = (name: string): boolean => header.indexOf(name) !== header.lastIndexOf(name);
  return {
    columns: columns.map((column) =>
      isShared(column.name) ? { ...column, name: column.as } : column,
    ),
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

/** Checks the columns of row objects: names, no positions. @param rows number of rows examined */
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
      column: name,
    });
  }
  layOutColumns(names, options);
}

export function countVerified(options: ColumnOptions): number {
  const given = givenColumns(options);
  if (given.length > 0) checkFields(new Set(given.map(({ type }) => type)), options);
  return given.length;
}

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

function checkPrefixes(prefixed: readonly string[], verified: readonly string[]): void {
  const other = prefixed.find((name) => !verified.includes(name));
  if (other === undefined) return;
  throw new ConfigurationError(
    `a prefix is given for ${JSON.stringify(other)}, which is not a verified column`,
    { option: 'prefix', column: other },
  );
}

/** A prefix whose added columns do not exist yet: `email_2` for `email`. */
export function freePrefix(
  names: ReadonlySet<string>,
  prefix: string,
  added: (prefix: string) => readonly AddedColumn[],
): string {
  for (let number = 2; ; number += 1) {
    const tried = `${prefix}_${number}`;
    if (!added(tried).some(({ name }) => names.has(name))) return tried;
  }
}

function checkAdded(
  { header, input }: { readonly header: readonly string[]; readonly input: string },
  added: readonly (readonly AddedColumn[])[],
  otherPrefix: (column: number, names: ReadonlySet<string>) => Readonly<Record<string, string>>,
): void {
  const inHeader = new Set(header);
  const others = new Set<string>();
  for (const [column, columns] of added.entries()) {
    const option = (): string =>
      optionName('prefix', otherPrefix(column, new Set([...inHeader, ...others])));
    for (const { name } of columns) {
      if (inHeader.has(name)) {
        throw new ConfigurationError(
          `${input} already has a column ${JSON.stringify(name)}, which would be added: give the new columns another name with ${option()}, or leave that column out of the input`,
          { code: 'column_exists', option: 'prefix', column: name },
        );
      }
      if (others.has(name)) {
        throw new ConfigurationError(
          `two verified columns would both add a column ${JSON.stringify(name)}; name each once, and give one of them another prefix with ${option()}`,
          { code: 'column_exists', option: 'prefix', column: name, fault: 'repeated' },
        );
      }
      others.add(name);
    }
  }
}
