/** Fits a number; gives what its groups hold, or `undefined` when it does not fit. */
export type NumberPattern = (number: string) => readonly string[] | undefined;

/** Something that stands for one character of a number, or for any number of them. */
interface Piece {
  readonly accepts: (character: string) => boolean;
  readonly isMany: boolean;
}

interface Form {
  readonly pieces: readonly Piece[];
  /** Between which pieces each group begins and ends. */
  readonly groups: readonly (readonly [number, number])[];
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
}

const any = (): boolean => true;
const digit = (character: string): boolean => character >= '0' && character <= '9';

/** A number is no longer; more pieces than that fit none. */
const mostPieces = 64;
const special = new Set('\\^$.[]|()*+?{}');

/**
 * Reads the few forms of an expression that registries use: literals, `.`, `\d` and `[0-9]`, each once
 * or, as `{n}`, n times; one of them at most repeated without an end (`*`, `+`); groups that are neither
 * nested nor repeated; `^` and `$` at the ends. With one repetition there is one way to fit, so that no
 * number and no expression takes long.
 *
 * @returns `undefined` for any other form
 */
export function parseNumberPattern(pattern: string): NumberPattern | undefined {
  const form = parseForm(pattern);
  return form && ((number) => fit(form, number));
}

function parseForm(pattern: string): Form | undefined {
  const isAtStart = pattern.startsWith('^');
  const isAtEnd = pattern.endsWith('$') && !pattern.endsWith('\\$');
  const pieces: Piece[] = [];
  const groups: [number, number][] = [];
  let groupFrom: number | undefined;
  let at = isAtStart ? 1 : 0;
  const end = pattern.length - (isAtEnd ? 1 : 0);
  while (at < end) {
    const character = pattern.charAt(at);
    if (character === '(' || character === ')') {
      if ((character === '(') !== (groupFrom === undefined)) return undefined;
      if (groupFrom !== undefined) groups.push([groupFrom, pieces.length]);
      groupFrom = groupFrom === undefined ? pieces.length : undefined;
      at += 1;
      continue;
    }
    const one = readOne(pattern, at);
    if (one === undefined) return undefined;
    const repeated = readRepetition(pattern, at + one.length, one.accepts);
    if (repeated === undefined) return undefined;
    pieces.push(...repeated.pieces);
    at += one.length + repeated.length;
  }
  const isReadable =
    groupFrom === undefined &&
    pieces.length <= mostPieces &&
    pieces.filter(({ isMany }) => isMany).length <= 1;
  return isReadable ? { pieces, groups, isAtStart, isAtEnd } : undefined;
}

/** What stands for one character, and how long it is written. */
function readOne(
  pattern: string,
  at: number,
): { readonly accepts: Piece['accepts']; readonly length: number } | undefined {
  const character = pattern.charAt(at);
  if (character === '.') return { accepts: any, length: 1 };
  if (pattern.startsWith('[0-9]', at)) return { accepts: digit, length: '[0-9]'.length };
  if (pattern.startsWith('\\d', at)) return { accepts: digit, length: 2 };
  const isEscaped = character === '\\';
  const literal = isEscaped ? pattern.charAt(at + 1) : character;
  if (literal === '' || special.has(literal) !== isEscaped) return undefined;
  return { accepts: (other) => other === literal, length: isEscaped ? 2 : 1 };
}

function readRepetition(
  pattern: string,
  at: number,
  accepts: Piece['accepts'],
): { readonly pieces: readonly Piece[]; readonly length: number } | undefined {
  const once: Piece = { accepts, isMany: false };
  const many: Piece = { accepts, isMany: true };
  const mark = pattern.charAt(at);
  if (mark === '*') return { pieces: [many], length: 1 };
  if (mark === '+') return { pieces: [once, many], length: 1 };
  if (mark !== '{') return { pieces: [once], length: 0 };
  const [, count] = /^\{([1-9]\d?)\}/.exec(pattern.slice(at, at + 4)) ?? [];
  if (count === undefined) return undefined;
  const pieces = Array.from({ length: Number(count) }, () => once);
  return { pieces, length: count.length + 2 };
}

/** The leftmost fit, and there the longest, as expressions have it. */
function fit({ pieces, groups, isAtStart, isAtEnd }: Form, number: string) {
  const manyAt = pieces.findIndex(({ isMany }) => isMany);
  const least = pieces.length - (manyAt === -1 ? 0 : 1);
  const lastStart = isAtStart ? 0 : number.length - least;
  for (let start = 0; start <= lastStart; start += 1) {
    const room = number.length - start - least;
    if (room < 0 || (isAtEnd && manyAt === -1 && room > 0)) continue;
    const most = manyAt === -1 ? 0 : room;
    for (let taken = most; taken >= (isAtEnd ? most : 0); taken -= 1) {
      // Where each piece begins: the repeated one, if there is one, takes what is left.
      const placeOf = (piece: number) =>
        start + piece + (manyAt !== -1 && piece > manyAt ? taken - 1 : 0);
      const fits = pieces.every(({ accepts }, piece) =>
        Array.from(number.slice(placeOf(piece), placeOf(piece + 1))).every(accepts),
      );
      if (fits) return groups.map(([from, to]) => number.slice(placeOf(from), placeOf(to)));
    }
  }
  return undefined;
}
