import type { VerificationType } from '../contract/enums.js';
import { ConfigurationError } from '../errors/family.js';
import { addedColumns } from '../results/columns.js';

/** Which columns are verified, as the caller names them. */
export interface ColumnOptions {
  /** Columns of email addresses, by name or by position (`#3`). */
  readonly email?: readonly string[];
  /** Columns of phone numbers, by name or by position. */
  readonly phone?: readonly string[];
  /** Column that holds the target country row by row, by name or by position. */
  readonly countryColumn?: string;
  /** What the added columns of a column begin with. @default its name */
  readonly prefix?: Readonly<Record<string, string>>;
}

/** Where the columns stand in a header, and which are added to it. */
export interface ColumnLayout {
  readonly columns: readonly {
    readonly type: VerificationType;
    readonly position: number;
    readonly name: string;
  }[];
  readonly countryPosition: number | undefined;
  /** Names of the added columns, for each verified column. */
  readonly added: readonly (readonly string[])[];
}

/**
 * Finds the columns in a header.
 *
 * @throws ConfigurationError `column_not_found` (naming the columns there are), `column_exists`
 */
export function layOutColumns(header: readonly string[], options: ColumnOptions): ColumnLayout {
  const columns = [
    ...(options.email ?? []).map((name) => verifiedColumn(header, 'email', name)),
    ...(options.phone ?? []).map((name) => verifiedColumn(header, 'phone', name)),
  ];
  if (columns.length === 0) {
    throw new ConfigurationError('name at least one column of email addresses or phone numbers');
  }
  const prefixes = new Map(Object.entries(options.prefix ?? {}));
  const added = columns.map(({ type, name }) => addedColumns(type, prefixes.get(name) ?? name));
  checkAdded(header, added.flat());
  return {
    columns,
    countryPosition:
      options.countryColumn === undefined ? undefined : findColumn(header, options.countryColumn),
    added,
  };
}

function verifiedColumn(
  header: readonly string[],
  type: VerificationType,
  given: string,
): ColumnLayout['columns'][number] {
  const position = findColumn(header, given);
  return { type, position, name: header[position] ?? given };
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
  throw new ConfigurationError(
    `the input has no column ${JSON.stringify(given)}; its columns are: ${header.join(', ')}`,
    { code: 'column_not_found' },
  );
}

function checkAdded(header: readonly string[], added: readonly string[]): void {
  const taken = new Set(header);
  for (const name of added) {
    if (taken.has(name)) {
      throw new ConfigurationError(
        `the input already has a column ${JSON.stringify(name)}, which would be added; give the verified column another prefix, or rename the input's column`,
        { code: 'column_exists' },
      );
    }
    taken.add(name);
  }
}
