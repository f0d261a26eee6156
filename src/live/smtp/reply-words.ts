import type { Reply } from './reply-reader.js';

/** Words of refusals, as servers write them; a star stands for any end of a word. */
export type Words = readonly string[];

/** One word, and another one not far after it. */
export interface Near {
  readonly first: Words;
  readonly after: Words;
}

/** Words between the two of a {@link Near}: "the account that you tried to reach does not exist". */
const mostBetween = 7;
/** Texts are long where a server explains itself; what follows says no more. */
const mostCharacters = 1000;

/**
 * The text of a reply in plain words: in lower case, without accents, addresses, signs and codes, so that
 * the same words are found however they are written and broken into lines.
 */
export function plainWords({ lines }: Reply): string {
  const text = lines
    .map((line) => line.replace(/^[245]\.\d{1,3}\.\d{1,3}\s/, ''))
    .join(' ')
    .slice(0, mostCharacters)
    .replaceAll(/<[^<>]*>/g, ' ');
  return plain(
    text
      .split(/\s+/)
      .filter((word) => !word.includes('@'))
      .join(' '),
  );
}

/**
 * What two replies must have in common to be the same refusal: their words without those that hold a
 * digit (numbers of queues, hosts, the time), and without the name that was asked for.
 */
export function refusalText(reply: Reply, local: string): string {
  const words = plainWords(reply);
  const name = plain(local);
  const kept = name === '  ' ? words : words.replaceAll(name, ' ');
  return [reply.code, ...kept.split(' ').filter((word) => word !== '' && !/\d/.test(word))].join(
    ' ',
  );
}

/** Whether a text, as {@link plainWords} gives it, has one of these. */
export function hasWords(text: string, words: Words): boolean {
  return words.some((each) => text.includes(patternOf(each)));
}

/** Whether a text has one word, and one of the others not far after it. */
export function hasNear(text: string, { first, after }: Near): boolean {
  return first.some((each) => {
    const pattern = patternOf(each);
    for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1)) {
      const rest = text.slice(at + pattern.length - 1);
      if (hasWords(firstWords(rest, mostBetween + 3), after)) return true;
    }
    return false;
  });
}

/** The first words of a text that begins with a blank, with blanks around them. */
function firstWords(text: string, count: number): string {
  let end = 0;
  for (let word = 0; word < count; word += 1) {
    const next = text.indexOf(' ', end + 1);
    if (next === -1) return text;
    end = next;
  }
  return text.slice(0, end + 1);
}

const patterns = new Map<string, string>();

function patternOf(words: string): string {
  let pattern = patterns.get(words);
  if (pattern === undefined) {
    pattern = words.endsWith('*') ? plain(words).slice(0, -1) : plain(words);
    patterns.set(words, pattern);
  }
  return pattern;
}

/** Words with a blank before, between and after them. */
function plain(text: string): string {
  const words = text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\p{L}\p{N}]/gu, ' ')
    .split(' ')
    .filter((word) => word !== '');
  return ` ${words.join(' ')} `;
}
