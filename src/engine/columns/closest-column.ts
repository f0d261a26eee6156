import { caseless } from '../../lists/rows/column-spelling.js';
import { editDistance } from '../../platform/text/edit-distance.js';

/** Columns whose names differ in more characters are not meant. */
const furthest = 2;

/** The column that was probably meant; `undefined` when none is near. */
export function closestColumn(header: readonly string[], given: string): string | undefined {
  const wanted = letters(given);
  if (wanted === '') return undefined;
  // Whoever types a part of a name means that name, however near another is.
  const whole = wanted.length > 2 && header.find((name) => letters(name).includes(wanted));
  if (typeof whole === 'string') return whole;
  const near = header
    .map((name) => ({ name, distance: editDistance(letters(name), wanted) }))
    .filter(({ name, distance }) => distance <= Math.min(furthest, letters(name).length - 1))
    .toSorted((a, b) => a.distance - b.distance);
  return (
    near[0]?.name ??
    header.find((name) => isPartOf(letters(name), wanted)) ??
    header.find((name) => wordsOf(name).some((word) => isNearWord(word, wanted)))
  );
}

function wordsOf(name: string): readonly string[] {
  return caseless(name).match(/[\p{L}\p{N}]{4,64}/gu) ?? [];
}

/** `contry` is meant for `Country/Region`. */
function isNearWord(word: string, wanted: string): boolean {
  return editDistance(word, wanted) <= Math.min(furthest, Math.floor(word.length / 3));
}

function letters(name: string): string {
  return caseless(name)
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .slice(0, 64);
}

/** `email` is in `E-mail address`, and the other way round. */
function isPartOf(name: string, wanted: string): boolean {
  const [short, long] = name.length < wanted.length ? [name, wanted] : [wanted, name];
  return short.length > 2 && long.includes(short);
}
