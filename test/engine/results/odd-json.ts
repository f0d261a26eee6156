/** A JSON value whose objects are lists of members, so that order and repeats can be told. */
export type OddJson =
  | string
  | number
  | boolean
  | null
  | OddJson[]
  | { members: [string, OddJson][] };

/** A small generator of pseudo-random numbers from 0 to 1, so that a seed gives the same text again. */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Writes a value as legal JSON in an odd hand: white space and escapes wherever they are allowed.
 *
 * @param oddness share of the places that get some; at 0 it writes what `JSON.stringify` does
 */
export function writeOddJson(value: OddJson, random: () => number, oddness: number): string {
  const space = (): string => (random() < oddness ? pick([' ', '\n  ', '\t', '\r\n'], random) : '');
  const text = (plain: string): string => writeText(plain, random, oddness);
  const write = (part: OddJson): string => {
    if (typeof part === 'string') return text(part);
    if (part === null || typeof part !== 'object') return JSON.stringify(part);
    const items = Array.isArray(part)
      ? part.map((item) => `${space()}${write(item)}${space()}`)
      : part.members.map(
          ([key, item]) => `${space()}${text(key)}${space()}:${space()}${write(item)}${space()}`,
        );
    const inside = items.length === 0 ? space() : items.join(',');
    return Array.isArray(part) ? `[${inside}]` : `{${inside}}`;
  };
  return `${space()}${write(value)}${space()}`;
}

function writeText(plain: string, random: () => number, oddness: number): string {
  let written = '';
  for (let at = 0; at < plain.length; at += 1) {
    const unit = plain.charAt(at);
    if (random() < oddness / 4) {
      const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
      written += `\\u${random() < 0.5 ? hex : hex.toUpperCase()}`;
    } else if (unit === '/' && random() < oddness) {
      written += '\\/';
    } else if (isSurrogate(unit)) {
      // Half a pair cannot stand in UTF-8: the pair stays whole, or both are escaped.
      const pair = plain.slice(at, at + 2);
      if (/^[\ud800-\udbff][\udc00-\udfff]$/.test(pair)) {
        written += pair;
        at += 1;
      } else {
        written += `\\u${unit.charCodeAt(0).toString(16)}`;
      }
    } else {
      written += JSON.stringify(unit).slice(1, -1);
    }
  }
  return `"${written}"`;
}

function isSurrogate(unit: string): boolean {
  return unit >= '\ud800' && unit <= '\udfff';
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}
