import { randomBytes } from 'node:crypto';
import { AddressTable } from '../../../platform/hashing/address-table.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { optionName } from '../../../platform/text/option-name.js';

/**
 * Notices a key that stands in two rows while it costs nothing: a table has one row for each. It holds
 * no key, only a hash of 96 bits, some 25 bytes for each row.
 */
export class SeenKeys {
  readonly #columns: readonly string[];
  readonly #table = new AddressTable({ seed: randomBytes(32) });

  /** @param columns names of the key's columns */
  constructor(columns: readonly string[]) {
    this.#columns = columns;
  }

  /**
   * Takes the key of the next row.
   *
   * @throws ConfigurationError when a row before has it
   */
  add(cells: readonly string[]): void {
    // Of each cell its length too: "a" and "bc" are no other key than "ab" and "c" without it.
    const key = cells.length === 1 ? (cells[0] ?? '') : cells.map(lengthAndText).join('');
    const row = this.#table.size;
    const first = this.#table.add(0, key);
    if (first === row) return;
    // Up to here each row had a key of its own, so that the numbers of keys are those of rows.
    throw new ConfigurationError(
      `data rows ${first + 1} and ${row + 1} of the input have the same key in ${this.#columns.map((name) => JSON.stringify(name)).join(', ')}, and a table has one row for each key: take one of them out, or give a further column with ${optionName('key')}`,
    );
  }
}

function lengthAndText(text: string): string {
  return `${text.length} ${text}`;
}
