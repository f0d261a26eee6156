import type { VerificationType } from '../contract/enums.js';
import { ConfigurationError } from '../errors/family.js';
import { addedColumns } from '../results/columns.js';
import type { AddedColumn } from '../rows/sink.js';
import { checkFields, fieldsOf, wantsOrigin, type FieldOptions } from './added-fields.js';
import { caseless } from '../rows/column-spelling.js';
import { closestColumn } from './closest-column.js';

/**
 * Which columns are verified, as the caller names them: by name or, where the rows come from a source
 * with a header, by position (`#3`).
 */
export interface ColumnOptions extends FieldOptions {
  /** Columns of email addresses. */
  readonly email?: readonly string[];
  /** Columns of phone numbers. */
  readonly phone?: readonly string[];
  /** Column that holds the target country row by row. */
  readonly countryColumn?: string;
  /**
   * Column of phone numbers whose calling codes (`+44…`, `0044…`) say the target country row by row;
   * `country` is that of the other rows.
   */
  readonly countryFrom?: string;
  /** By verified column: what its added columns begin with. @default its name */
  readonly prefix?: Readonly<Record<string, string>>;
}

/** At least one column is verified. */
export type ColumnChoice =
  { readonly email: readonly string[] } | { readonly phone: readonly string[] };

/** Where the columns stand in a header, and which are added to it. */
export interface ColumnLayout {
  readonly columns: readonly {
    readonly type: VerificationType;
    readonly position: number;
    readonly name: string;
  }[];
  readonly countryPosition: number | undefined;
  readonly countryFromPosition?: number | undefined;
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
 * @throws ConfigurationError `column_not_found` (naming the columns there are), `column_exists`,
 *   `invalid_option`
 */
export function layOutColumns(header: readonly string[], options: ColumnOptions): ColumnLayout {
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
  checkAdded(header, added.flat());
  const positionOf = (column: string | undefined): number | undefined =>
    column === undefined ? undefined : findColumn(header, column);
  return {
    columns,
    countryPosition: positionOf(options.countryColumn),
    countryFromPosition: positionOf(options.countryFrom),
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
 * @throws ConfigurationError `column_not_found` (naming the columns there are), `column_exists`
 */
export function checkColumnNames(names: readonly string[], options: ColumnOptions): void {
  const verified = givenColumns(options).map(({ as }) => as);
  for (const name of [...verified, options.countryColumn, options.countryFrom]) {
    if (name !== undefined && !names.includes(name)) throw columnNotFound(names, name);
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

function findColumn(header: readonly string[], given: string): number {
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
  const near = closestColumn(header, given);
  const guess = near === undefined ? '; its' : `; did you mean ${JSON.stringify(near)}? Its`;
  return new ConfigurationError(
    `the input has no column ${JSON.stringify(given)}${guess} columns are: ${header.join(', ')}`,
    { code: 'column_not_found' },
  );
}

function checkPrefixes(prefixed: readonly string[], verified: readonly string[]): void {
  const other = prefixed.find((name) => !verified.includes(name));
  if (other === undefined) return;
  throw new ConfigurationError(
    `a prefix is given for ${JSON.stringify(other)}, which is no verified column`,
  );
}

function checkAdded(header: readonly string[], added: readonly AddedColumn[]): void {
  const input = new Set(header);
  const others = new Set<string>();
  for (const { name } of added) {
    if (input.has(name)) {
      throw new ConfigurationError(
        `the input already has a column ${JSON.stringify(name)}, which would be added: leave it out of the input (name the columns in the query), or give the verified column another prefix`,
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
