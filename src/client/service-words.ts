import { parseJson } from '../platform/json-text.js';
import { hideCells, type SentLines } from './hide-cells.js';
import { hideContacts } from './hide-contacts.js';

const mostCharacters = 500;
/** So much is looked at: nothing behind it comes near the words that are kept. */
const mostRead = 16 * mostCharacters;

/** Control characters, text direction, unassigned and private ones: nothing a terminal should be sent. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]+/gu;

/** What is not seen could stand within an address, so that it is not known for one. */
const invisible = /\p{Cf}+/gu;

/** Text from outside, fit to be printed in one line: without control characters, and not too long. */
export function printable(text: string): string {
  const line = text
    .slice(0, mostCharacters * 4)
    .replace(unprintable, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return Array.from(line).slice(0, mostCharacters).join('');
}

/** Text from a service, fit to be printed and to be kept in a log: without addresses and numbers too. */
export function sayable(text: string): string {
  // Taken out before the text is cut: half an address is too much of it.
  return printable(hideContacts(text.replace(invisible, '').replace(unprintable, ' ')));
}

/**
 * The service's own words in the body of an error answer: its `message` (spec 7), a `detail`
 * or `error` as other services have it, or the text itself.
 *
 * @param sent the lines that the request was about: they are taken out of the words
 */
export async function readServiceWords(
  bytes: Uint8Array,
  redact: (text: string) => string,
  sent: SentLines | undefined,
): Promise<string | undefined> {
  const text = new TextDecoder().decode(bytes);
  const raw = redact(wordsOf(parseJson(text)) ?? text).slice(0, mostRead);
  const words = sayable((sent === undefined ? raw : await hideCells(raw, sent)) ?? '');
  return /^[\s{}[\]]*$/.test(words) ? undefined : words;
}

function wordsOf(body: unknown): string | undefined {
  if (typeof body === 'string') return body;
  if (typeof body !== 'object' || body === null) return undefined;
  for (const name of ['message', 'detail', 'error']) {
    const value: unknown = Reflect.get(body, name);
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return value.map(issueWords).filter(Boolean).join('; ');
    if (typeof value === 'object' && value !== null) return wordsOf(value);
  }
  return undefined;
}

/** One issue of a validation error: where and what, but not the refused value, which may be a cell. */
function issueWords(issue: unknown): string {
  if (typeof issue === 'string') return issue;
  if (typeof issue !== 'object' || issue === null) return '';
  const where: unknown = Reflect.get(issue, 'loc');
  const what: unknown = Reflect.get(issue, 'msg') ?? Reflect.get(issue, 'message');
  const path = Array.isArray(where) ? where.filter(isPathPart).join('.') : '';
  return [path, typeof what === 'string' ? what : ''].filter((part) => part !== '').join(': ');
}

function isPathPart(part: unknown): part is string | number {
  return typeof part === 'string' || typeof part === 'number';
}
