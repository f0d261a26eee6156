import { ConfigurationError } from '../../platform/errors/errors.js';
import { caseless } from '../../lists/rows/sources/combine-headers.js';
import { editDistance, namesNear } from '../../platform/text/closest-name.js';
import { optionName } from '../../platform/text/sentence.js';

/** @param list names the list in errors */
export function findColumn(header: readonly string[], given: string, list = 'the input'): number {
  const first = header.indexOf(given);
  if (first !== -1) {
    if (header.indexOf(given, first + 1) === -1) return first;
    const positions = header.flatMap((name, at) => (name === given ? [`#${at + 1}`] : []));
    throw new ConfigurationError(
      `${list} has more than one column named ${JSON.stringify(given)}; name it by position: ${positions.join(' or ')}`,
      { code: 'column_not_found', column: given, fault: 'repeated' },
    );
  }
  const position = /^#([1-9]\d{0,5})$/.exec(given);
  const index = Number(position?.[1]) - 1;
  if (position && index < header.length) return index;
  return findWithoutCase(header, given, list);
}

/** Names are seldom typed exactly as the header has them. */
function findWithoutCase(header: readonly string[], given: string, list: string): number {
  const wanted = caseless(given);
  const found = header.flatMap((name, index) => (caseless(name) === wanted ? [index] : []));
  const [only] = found;
  if (only === undefined) throw columnNotFound(header, given, list);
  if (found.length === 1) return only;
  const names = found.map((index) => JSON.stringify(header[index])).join(' and ');
  throw new ConfigurationError(
    `${list} has no column ${JSON.stringify(given)}, but ${names}: name one of them as it is written`,
    { code: 'column_not_found', column: given },
  );
}

function columnNotFound(
  header: readonly string[],
  given: string,
  list: string,
): ConfigurationError {
  const damaged = header.findIndex((name) => isDamaged(name, given));
  if (damaged !== -1) {
    return new ConfigurationError(
      `${list} has no column ${JSON.stringify(given)}, but ${JSON.stringify(header[damaged])}, which is not UTF-8 text: name the encoding of the file with ${optionName('encoding')}, such as windows-1252 or shift_jis, or the column by its position, #${damaged + 1}`,
      { code: 'column_not_found', option: 'encoding', column: given, fault: 'encoding' },
    );
  }
  if (header.length > 0 && header.every((name) => name.trim() === '')) {
    return new ConfigurationError(
      `${list} has no column ${JSON.stringify(given)}, as its first row is blank: say with ${optionName('skipRows')} how many rows are above the header, or check what makes the list`,
      { code: 'column_not_found', option: 'skipRows', column: given, fault: 'blank_header' },
    );
  }
  const delimiter = unusedDelimiter(header);
  if (delimiter !== undefined) {
    const shown = delimiter === '\t' ? 'tab' : `"${delimiter}"`;
    return new ConfigurationError(
      `${list} has no column ${JSON.stringify(given)}, but one column alone, with ${shown} in its name: give ${optionName('delimiter')} as ${shown}, or, if every line is in quotes as a whole, remove these quotes`,
      { code: 'column_not_found', option: 'delimiter', column: given },
    );
  }
  return new ConfigurationError(`${list} has ${noColumn(header, given)}`, {
    code: 'column_not_found',
    column: given,
  });
}

export function noColumn(
  header: readonly string[],
  given: string,
  whose: 'its' | 'their' = 'its',
): string {
  const near = closestColumn(header, given);
  const guess =
    near === undefined
      ? `; ${whose}`
      : `; did you mean ${JSON.stringify(near)}? ${whose === 'its' ? 'Its' : 'Their'}`;
  return `no column ${JSON.stringify(given)}${guess} columns are: ${namesNear(given, header)}`;
}

/** The separator in the names of a header that was read as one column. */
function unusedDelimiter(header: readonly string[]): string | undefined {
  const [only = ''] = header;
  if (header.length !== 1) return undefined;
  const [most] = [';', ',', '\t', '|']
    .map((delimiter) => ({ delimiter, count: only.split(delimiter).length - 1 }))
    .toSorted((one, other) => other.count - one.count);
  return most && most.count > 0 ? most.delimiter : undefined;
}

/** Whether a name was decoded with the wrong encoding: invalid bytes became `\uFFFD`. */
function isDamaged(name: string, given: string): boolean {
  const [read, wanted] = [name, given].map((each) => Array.from(caseless(each))) as [
    string[],
    string[],
  ];
  return (
    name.includes('\uFFFD') &&
    read.length === wanted.length &&
    read.every((character, at) => character === '\uFFFD' || character === wanted[at])
  );
}

const furthest = 2;

/** The column probably meant; `undefined` when none is close. */
export function closestColumn(header: readonly string[], given: string): string | undefined {
  const wanted = letters(given);
  if (wanted === '') return undefined;
  // A part of a name means that name, however close another is.
  const whole = wanted.length > 2 ? header.filter((name) => letters(name).includes(wanted)) : [];
  const [first] = [...whole.filter((name) => !isAbout(name)), ...whole];
  if (first !== undefined) return first;
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

/** Whether a column says something about addresses (`E-mail 1 - Label`), beside one that holds them. */
function isAbout(name: string): boolean {
  return /\b(?:label|type|typ|status)\b/iu.test(name);
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
