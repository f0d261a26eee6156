import { ConfigurationError } from '../../platform/errors/errors.js';

/**
 * Looks at rows as they come: they wait for their results, and one object for all of them would be changed
 * meanwhile.
 *
 * @param name how messages call the list
 * @returns what takes each row, and throws a ConfigurationError for the object of the row before
 */
export function refuseSameObjects(name: string): (row: unknown) => void {
  let number = 0;
  let latest: unknown;
  return (row) => {
    number += 1;
    if (row === latest && typeof row === 'object' && row !== null) {
      throw new ConfigurationError(
        `row ${number} of ${name} is the same object as the row before it: give each row an object of its own, as rows wait for their results`,
      );
    }
    latest = row;
  };
}
