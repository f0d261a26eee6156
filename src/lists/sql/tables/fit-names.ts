import { ConfigurationError } from '../../../platform/errors/errors.js';
import { optionName } from '../../../platform/text/option-name.js';
import type { ExistingTable } from './table-plan.js';
import type { Statements } from '../dialect.js';

/** A column's name, with an ending that must stay. */
interface WantedName {
  readonly name: string;
  readonly ending?: string;
}

/**
 * Shortens names beyond the database's limit, always the same way: before their ending, with a number where
 * two would be equal. A name that fits is never changed.
 */
export function fitNames(
  wanted: readonly WantedName[],
  longest: Statements['longestName'],
): readonly string[] {
  if (!longest) return wanted.map(({ name }) => name);
  const { most, unit } = longest;
  const sizeOf = (text: string): number =>
    unit === 'bytes' ? Buffer.byteLength(text) : Array.from(text).length;
  const taken = new Set(wanted.flatMap(({ name }) => (sizeOf(name) <= most ? [name] : [])));
  return wanted.map(({ name, ending = '' }) => {
    if (sizeOf(name) <= most) return name;
    for (let number = 1; ; number += 1) {
      const end = `${number === 1 ? '' : `_${number}`}${ending}`;
      let start = Array.from(name.slice(0, name.length - ending.length));
      while (sizeOf(start.join('')) + sizeOf(end) > most) start = start.slice(0, -1);
      const short = `${start.join('')}${end}`;
      if (taken.has(short)) continue;
      taken.add(short);
      return short;
    }
  });
}

/** The name of a column as the table spells it. */
export function spelling(column: string, table: ExistingTable | undefined): string {
  const own = table?.columns.find(({ name }) => name.toLowerCase() === column.toLowerCase());
  return own?.name ?? column;
}

/** Refuses names that differ only in case. */
export function refuseSameNames(names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other !== undefined) {
      throw new ConfigurationError(
        `the database takes the columns ${JSON.stringify(other)} and ${JSON.stringify(name)} for the same: leave one of them out of the input, or rename it there; another prefix of result columns is ${optionName('prefix')}`,
        { code: 'column_exists' },
      );
    }
    seen.set(name.toLowerCase(), name);
  }
}
