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
