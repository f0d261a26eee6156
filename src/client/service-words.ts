const mostCharacters = 500;

/** Control characters, text direction, unassigned and private ones: nothing a terminal should be sent. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]+/gu;

/** Text from outside, fit to be printed in one line: without control characters, and not too long. */
export function printable(text: string): string {
  const line = text
    .slice(0, mostCharacters * 4)
    .replace(unprintable, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return Array.from(line).slice(0, mostCharacters).join('');
}

/**
 * The service's own words in the body of an error answer: its `message` (spec 7), a `detail`
 * or `error` as other services have it, or the text itself.
 */
export function parseServiceWords(
  bytes: Uint8Array,
  redact: (text: string) => string = (text) => text,
): string | undefined {
  const text = new TextDecoder().decode(bytes);
  // Taken out before the text is cut: half a key is too much of it.
  const words = printable(redact(wordsOf(parseJson(text)) ?? text));
  return /^[\s{}[\]]*$/.test(words) ? undefined : words;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
