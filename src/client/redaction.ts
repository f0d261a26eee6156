import { isDeeperThan, parseJson } from '../platform/json.js';

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
export function sanitized(text: string): string {
  // Taken out before the text is cut: half an address is too much of it.
  return printable(hideContacts(text.replace(invisible, '').replace(unprintable, ' ')));
}

/** What an error answer holds, fit to be kept. */
export interface ServiceAnswer {
  /** The service's own words: its `message` (spec 7), a `detail` or `error` as other services have it, or the text itself. */
  readonly words: string | undefined;
  /** The value of its JSON, or its text. */
  readonly body: unknown;
}

/**
 * Reads the body of an error answer.
 *
 * @param sent the lines that the request was about: they are taken out of what is kept
 */
export async function readServiceAnswer(
  bytes: Uint8Array,
  redact: (text: string) => string,
  sent: SentLines | undefined,
): Promise<ServiceAnswer> {
  const text = new TextDecoder().decode(bytes);
  const value = isDeeperThan(bytes, mostDepth) ? undefined : parseJson(text);
  const raw = redact(wordsOf(value) ?? text).slice(0, mostRead);
  const texts = textsOf(value ?? text).map((each) => redact(each).slice(0, mostRead));
  const suspect = texts.filter((each) => !plainName.test(each));
  const hide = sent === undefined ? undefined : await cellsIn([raw, ...suspect], sent);
  // Lines that cannot be read may be anywhere in it.
  if (sent !== undefined && hide === undefined) return { words: undefined, body: undefined };
  const clean = (each: string): string => sanitized(hide?.(each) ?? each);
  const words = clean(raw);
  const cleaned = new Map(
    textsOf(value ?? text).map((each, at) => [each, clean(texts[at] ?? '')] as const),
  );
  return {
    words: /^[\s{}[\]]*$/.test(words) ? undefined : words,
    body: text.trim() === '' ? undefined : rebuilt(value ?? text, cleaned),
  };
}

/** What members are called: to look for that among a million lines takes long, and finds nothing. */
const plainName = /^[a-z_]{1,40}$/i;

/** Deeper answers are text. */
const mostDepth = 16;
/** Further texts of a body are left out. */
const mostTexts = 100;

/** All texts of a value, numbers and the names of members among them: any may be a cell. */
function textsOf(value: unknown, found: Set<string> = new Set()): string[] {
  if (found.size < mostTexts) {
    if (Array.isArray(value)) for (const each of value) textsOf(each, found);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) {
        found.add(name);
        textsOf(each, found);
      }
    } else if (typeof value === 'string' || typeof value === 'number') found.add(String(value));
  }
  return [...found];
}

/** The value with the clean form of each of its texts. */
function rebuilt(value: unknown, cleaned: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return cleaned.get(value) ?? '';
  if (typeof value === 'number') {
    const text = cleaned.get(String(value));
    return text === String(value) ? value : (text ?? null);
  }
  if (Array.isArray(value)) return value.map((each: unknown) => rebuilt(each, cleaned));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([name, each]: [string, unknown]) => {
    const known = cleaned.get(name);
    return known === undefined ? [] : [[known, rebuilt(each, cleaned)] as const];
  });
  return Object.fromEntries(members);
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

/** The lines that a request is about, as they were sent. */
export interface SentLines {
  open(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** A shorter cell is in too many words, and identifies nobody. */
const shortest = 4;
const longestCell = 64 * 1024;
/** Batches are smaller; of a larger file, lines further on are only hidden for what they look like. */
const mostBytes = 16 * 1024 * 1024;

/**
 * Finds the lines that were sent in what the service says: also a line that looks like no address is
 * somebody's.
 *
 * @returns what takes them out of a text; `undefined` when the lines cannot be read
 */
async function cellsIn(
  texts: readonly string[],
  sent: SentLines,
): Promise<((text: string) => string) | undefined> {
  const beginnings = new Set<string>();
  for (const text of texts) {
    for (let at = 0; at + shortest <= text.length; at += 1) {
      beginnings.add(text.slice(at, at + shortest));
    }
  }
  if (beginnings.size === 0) return (text) => text;
  const found = new Set<string>();
  try {
    for await (const line of linesOf(sent)) {
      const cell = line.trim();
      if (!beginnings.has(cell.slice(0, shortest))) continue;
      if (texts.some((text) => text.includes(cell))) found.add(cell);
    }
  } catch {
    return undefined;
  }
  // The longest first: one cell may be a part of another.
  const cells = [...found].toSorted((a, b) => b.length - a.length);
  return (text) => cells.reduce((hidden, cell) => hidden.replaceAll(cell, '<cell>'), text);
}

async function* linesOf(sent: SentLines): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  for await (const piece of sent.open()) {
    const lines = decoder.decode(piece, { stream: true }).split('\n');
    // What is so long is no cell: it is not put together.
    lines[0] = rest.length > longestCell ? '' : rest + (lines[0] ?? '');
    rest = lines.pop() ?? '';
    yield* lines;
    bytes += piece.length;
    if (bytes > mostBytes) return;
  }
  yield rest + decoder.decode();
}

/** How `@` may be written in a text that a service sends. */
const ats = ['@', '\uff20', '\ufe6b', '%40', '&#64;', '&#x40;', '&commat;', '\\u0040'];
const atStarts = new Set(ats.map((at) => at.charAt(0)));
/** What ends an address; other characters may be a part of it. */
const ends = /[\s,;<>()[\]{}"`|]/;
/** Numbers that are surely no phone numbers, of a fixed length: identifiers and dates. */
const spared = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\d{4}-\d{2}-\d{2})/i;

const fewestDigits = 7;
/** Between two digits of a number there are no more signs than that, as in `) - `. */
const mostSigns = 3;
const sign = /[\s().+/\-\u2010-\u2015]/;

/**
 * Takes what looks like an email address or a phone number out of a text. A service may repeat the cells
 * that it was sent, and what it says ends in logs.
 */
function hideContacts(text: string): string {
  return hideAddresses(text)
    .split(spared)
    .map((part, at) => (at % 2 === 1 ? part : hideNumbers(part)))
    .join('');
}

function hideAddresses(text: string): string {
  let hidden = '';
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (!atStarts.has(text.charAt(at))) continue;
    const mark = ats.find((each) => text.startsWith(each, at));
    if (mark === undefined) continue;
    const from = startOfLocal(text, at, done);
    let to = at + mark.length;
    // A literal for a domain is in brackets.
    if (text.charAt(to) === '[') to += 1;
    while (to < text.length && !ends.test(text.charAt(to))) to += 1;
    if (to - from === mark.length) continue;
    hidden += `${text.slice(done, from)}<address>`;
    done = to;
    at = to - 1;
  }
  return hidden + text.slice(done);
}

/** Where the part in front of an `@` begins: with quotes around it, it may hold anything. */
function startOfLocal(text: string, at: number, least: number): number {
  if (text.charAt(at - 1) === '"' && at - 2 >= least) {
    const quote = text.lastIndexOf('"', at - 2);
    if (quote >= least) return quote;
  }
  let from = at;
  while (from > least && !ends.test(text.charAt(from - 1))) from -= 1;
  return from;
}

function hideNumbers(text: string): string {
  let hidden = '';
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (!isDigit(text.charAt(at))) continue;
    let digits = 1;
    let last = at;
    for (let next = at + 1; next < text.length && next - last <= mostSigns + 1; next += 1) {
      const character = text.charAt(next);
      if (isDigit(character)) {
        digits += 1;
        last = next;
      } else if (!sign.test(character)) break;
    }
    if (digits >= fewestDigits) {
      const from = text.charAt(at - 1) === '+' && at - 1 >= done ? at - 1 : at;
      hidden += `${text.slice(done, from)}<number>`;
      done = last + 1;
    }
    at = last;
  }
  return hidden + text.slice(done);
}

function isDigit(character: string): boolean {
  return /\p{Nd}/u.test(character);
}
