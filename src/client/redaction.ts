import { isObject } from '../platform/check-options.js';
import { isDeeperThan, parseJson } from '../platform/json.js';

/** Without `import`: for that, Node 22 and newer load all of fetch, which takes as long as Node's own start. */
export const { STATUS_CODES } = process.getBuiltinModule('node:http');

const mostCharacters = 500;
/** Characters that are examined: later ones cannot reach the kept words. */
const mostRead = 16 * mostCharacters;

/** Control, format, surrogate, private and unassigned characters: never sent to a terminal. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]+/gu;

/** An invisible character inside an address would hide it from the search. */
const invisible = /\p{Cf}+/gu;

/** Makes foreign text fit for one printed line: no control characters, and not too long. */
export function printable(text: string): string {
  const line = text
    .slice(0, mostCharacters * 4)
    .replace(unprintable, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return Array.from(line).slice(0, mostCharacters).join('');
}

/** Makes a service's text fit for printing and logs: also without addresses and numbers. */
export function sanitized(text: string): string {
  // Before the text is cut: half an address is too much of one.
  return printable(hideContacts(text.replace(invisible, '').replace(unprintable, ' ')));
}

/** Whether a service has said nothing, or only repeats the name of the status. */
export function isBare(status: number, serviceMessage: string | undefined): boolean {
  return serviceMessage === undefined || serviceMessage === (STATUS_CODES[status] ?? '');
}

export interface ServiceAnswer {
  /** The service's own words: its `message` (spec 7), another service's `detail` or `error`, or the text itself. */
  readonly words: string | undefined;
  readonly body: unknown;
}

/** Reads the body of an error answer. @param sent the lines that the request was about: they are redacted */
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

/** Member names need no search among a million lines. */
const plainName = /^[a-z_]{1,40}$/i;

/** Deeper answers are text. */
const mostDepth = 16;
/** Further texts of a body are left out. */
const mostTexts = 100;

/** All texts of a value, numbers and member names included: each may be a cell. */
function textsOf(value: unknown, found: Set<string> = new Set()): string[] {
  if (found.size < mostTexts) {
    if (Array.isArray(value)) for (const each of value) textsOf(each, found);
    else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        found.add(name);
        textsOf(each, found);
      }
    } else if (typeof value === 'string' || typeof value === 'number') found.add(String(value));
  }
  return [...found];
}

/** The value with each text replaced by its clean form. */
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
  if (!isObject(body)) return undefined;
  const members = ['message', 'detail', 'error'].map((name): unknown => Reflect.get(body, name));
  const message = members.find(
    (value) => typeof value === 'string' || Array.isArray(value) || isObject(value),
  );
  const issues: unknown = Reflect.get(body, 'errors');
  const words = [
    Array.isArray(message) ? issuesWords(message) : wordsOf(message),
    Array.isArray(issues) ? issuesWords(issues) : undefined,
  ].filter((each) => each !== undefined);
  return words.length === 0 ? undefined : words.filter(Boolean).join(': ');
}

function issuesWords(issues: readonly unknown[]): string {
  return issues.map(issueWords).filter(Boolean).join('; ');
}

/** One issue of a validation error: path or field and message, not the refused value, which may be a cell. */
function issueWords(issue: unknown): string {
  if (typeof issue === 'string') return issue;
  if (!isObject(issue)) return '';
  const where: unknown = Reflect.get(issue, 'loc') ?? [Reflect.get(issue, 'field')];
  const what: unknown = Reflect.get(issue, 'msg') ?? Reflect.get(issue, 'message');
  const path = Array.isArray(where) ? where.filter(isPathPart).join('.') : '';
  return [path, typeof what === 'string' ? what : ''].filter((part) => part !== '').join(': ');
}

function isPathPart(part: unknown): part is string | number {
  return typeof part === 'string' || typeof part === 'number';
}

/** The lines that a request is about, as sent. */
export interface SentLines {
  open(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Shorter cells occur in ordinary words, and identify nobody. */
const shortest = 4;
const longestCell = 64 * 1024;
/** Batches are smaller; of a larger file, later lines are redacted by their form alone. */
const mostBytes = 16 * 1024 * 1024;

/**
 * Finds the sent lines in a service's words: a line that does not look like an address is somebody's, too.
 *
 * @returns a function that redacts them; `undefined` where the lines cannot be read
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
    // A longer line is not a cell, and is not assembled.
    lines[0] = rest.length > longestCell ? '' : rest + (lines[0] ?? '');
    rest = lines.pop() ?? '';
    yield* lines;
    bytes += piece.length;
    if (bytes > mostBytes) return;
  }
  yield rest + decoder.decode();
}

const ats = ['@', '\uff20', '\ufe6b', '%40', '&#64;', '&#x40;', '&commat;', '\\u0040'];
const atStarts = new Set(ats.map((at) => at.charAt(0)));
/** What follows the `@` of a package, as in `exceljs@4.4.0`: no domain ends in a number. */
const packageVersion = /^\d{1,4}(?:\.\d{1,4}){1,2}$/;
const ends = /[\s,;<>()[\]{}"`|]/;
/** Numbers that are surely not phone numbers: identifiers and dates. */
const spared = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\d{4}-\d{2}-\d{2})/i;

const fewestDigits = 7;
/** Most signs between two digits of a number, as in `) - `. */
const mostSigns = 3;
const sign = /[\s().+/\-\u2010-\u2015]/;

/** Redacts what looks like an email address or a phone number: a service may repeat cells, and logs keep its words. */
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
    const domain = text.slice(at + mark.length, to);
    if (to - from === mark.length || packageVersion.test(domain)) continue;
    hidden += `${text.slice(done, from)}<address>`;
    done = to;
    at = to - 1;
  }
  return hidden + text.slice(done);
}

/** Where the local part of an `@` begins; a quoted one may hold anything. */
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
