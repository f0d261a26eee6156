import { ConfigurationError } from '../errors/family.js';

/** The columns that tell a row, as they were given. */
export function keyColumns(key: string | readonly string[] | undefined): readonly string[] {
  if (key === undefined) return [];
  return typeof key === 'string' ? [key] : key;
}

/**
 * Positions of the key's columns among the rows' own.
 *
 * @throws ConfigurationError `column_not_found`
 */
export function findKeyColumns(
  header: readonly string[],
  key: readonly string[],
): readonly number[] {
  return key.map((name) => {
    const position = header.indexOf(name);
    if (position !== -1) return position;
    throw new ConfigurationError(
      `the rows have no column ${JSON.stringify(name)} to be their key; they have ${header.join(', ')}`,
      { code: 'column_not_found' },
    );
  });
}
