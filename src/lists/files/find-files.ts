import { readdir, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { InputError, ConfigurationError } from '../../platform/errors/errors.js';
import { refuseReading } from '../../platform/files/disk-errors.js';
import { formatOfPath } from './file-format.js';

/** The files of a path, sorted: itself, a folder's with a known ending, or those that a pattern matches. */
export async function findFiles(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found) return found.isDirectory() ? filesOfFolder(path) : [path];
  // A missing file is reported when it is opened.
  if (!hasWildcard(path)) return [path];
  const pattern = sep === '/' ? path : path.replaceAll(sep, '/');
  const glob = parseGlob(pattern);
  const files = await filesBelow(glob.base, depthOf(pattern, glob));
  const matching = files.filter((file) => glob.matches(file)).toSorted(byName);
  if (matching.length > 0) return matching;
  throw new InputError(`cannot read ${path}: no file matches it`, {
    code: 'input_unreadable',
    file: path,
    fault: 'missing',
  });
}

async function filesOfFolder(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(refuseReading(folder));
  const names = entries
    .filter((entry) => !entry.isDirectory() && isListName(entry.name))
    .map(({ name }) => name)
    .toSorted(byName);
  if (names.length > 0) return names.map((name) => join(folder, name));
  throw new InputError(
    `cannot read ${folder}: it is a folder without a file that ends in .csv, .tsv, .jsonl, .txt, .xlsx or .parquet`,
    { code: 'input_unreadable', file: folder, fault: 'empty' },
  );
}

/** Whether a name is a list's: not hidden, and with a known ending. */
export function isListName(name: string): boolean {
  return !isHidden(name) && formatOfPath(name).format !== undefined;
}

/** By code units, in any locale: the order decides the output's. */
export function byName(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** How many folders below its base a pattern searches. */
function depthOf(pattern: string, { base }: Glob): number {
  const rest = pattern.slice(base.length);
  return rest.includes('**') ? Infinity : rest.split('/').length - 1;
}

async function filesBelow(base: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(base === '' ? '.' : base, { withFileTypes: true }).catch(
    refuseReading(base),
  );
  const below = await Promise.all(
    entries.map(async (entry) => {
      const path = base + entry.name;
      if (!entry.isDirectory()) return [path];
      return depth > 0 ? filesBelow(`${path}/`, depth - 1) : [];
    }),
  );
  return below.flat();
}

/** Whether a name begins with a dot, or is that of Excel's lock file beside an open workbook. */
function isHidden(name: string): boolean {
  return name.startsWith('.') || name.startsWith('~$');
}

interface Glob {
  /** The common beginning of every matching path: folders without a wildcard, and `/`. */
  readonly base: string;
  matches(path: string): boolean;
}

/** More alternatives are not a person's pattern. */
const mostAlternatives = 1000;

export function hasWildcard(path: string): boolean {
  return /[*?[]/.test(path) || findBraces(path) !== undefined;
}

/**
 * Parses a pattern: `*` and `?` stay within a folder, `**` crosses folders, `{csv,tsv}` is an alternative,
 * `[a-c]` one character. Hidden names are matched only where the pattern has their first character.
 */
export function parseGlob(pattern: string): Glob {
  const alternatives = expandBraces(pattern).map((each) => each.split('/').map(segmentOf));
  return {
    base: baseOf(pattern),
    matches(path) {
      const names = path.split('/');
      return alternatives.some((segments) =>
        matchesAll(names, segments, {
          isMany: (segment) => segment === 'folders',
          // A folder that `**` crosses is not hidden and has a name; the last part is a file.
          mayPass: (name, at) => name !== '' && !isHidden(name) && at < names.length - 1,
          isOne: (name, segment) => segment !== 'folders' && matchesSegment(name, segment),
        }),
      );
    },
  };
}

/**
 * Whether the items match a pattern whose wildcards stand for any number of items. Only the latest wildcard
 * is retried: earlier ones are settled by their first match.
 */
function matchesAll<Item, Part>(
  items: readonly Item[],
  pattern: readonly Part[],
  rule: {
    readonly isMany: (part: Part) => boolean;
    readonly mayPass: (item: Item, at: number) => boolean;
    readonly isOne: (item: Item, part: Part) => boolean;
  },
): boolean {
  let [at, part] = [0, 0];
  let last: { readonly part: number; at: number } | undefined;
  while (at < items.length) {
    const item = items[at] as Item;
    const next = pattern[part];
    if (next !== undefined && rule.isMany(next)) {
      last = { part, at };
      part += 1;
    } else if (next !== undefined && rule.isOne(item, next)) {
      at += 1;
      part += 1;
    } else if (last && rule.mayPass(items[last.at] as Item, last.at)) {
      last.at += 1;
      at = last.at;
      part = last.part + 1;
    } else return false;
  }
  return pattern.slice(part).every((rest) => rule.isMany(rest));
}

/** A pattern's part between slashes: any folders, or its characters. */
type Segment = 'folders' | readonly Token[];
interface Token {
  readonly isMany?: boolean;
  /** Whether it is a wildcard, which does not match the first character of a hidden name. */
  readonly isWild: boolean;
  readonly is: (character: string) => boolean;
}

function baseOf(pattern: string): string {
  const wildcard = pattern.search(/[*?[{]/);
  const before = wildcard === -1 ? pattern : pattern.slice(0, wildcard);
  return before.slice(0, before.lastIndexOf('/') + 1);
}

function expandBraces(pattern: string): readonly string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const found = findBraces(next);
    if (!found) done.push(next);
    else {
      const { start, end } = found;
      for (const choice of next.slice(start + 1, end).split(',')) {
        open.push(next.slice(0, start) + choice + next.slice(end + 1));
      }
    }
    if (done.length + open.length <= mostAlternatives) continue;
    throw new ConfigurationError(
      `the pattern ${pattern} has more than ${mostAlternatives} alternatives`,
      { file: pattern, fault: 'too_large' },
    );
  }
  return done;
}

/** Bounds of the first innermost pair of braces with a comma. */
function findBraces(pattern: string): { readonly start: number; readonly end: number } | undefined {
  let start = -1;
  let hasComma = false;
  for (let at = 0; at < pattern.length; at += 1) {
    if (pattern[at] === '{') [start, hasComma] = [at, false];
    else if (pattern[at] === ',') hasComma = true;
    else if (pattern[at] === '}') {
      if (start !== -1 && hasComma) return { start, end: at };
      start = -1;
    }
  }
  return undefined;
}

function segmentOf(text: string, at: number, all: readonly string[]): Segment {
  return text === '**' && at < all.length - 1 ? 'folders' : tokensOf(Array.from(text));
}

function tokensOf(characters: readonly string[]): readonly Token[] {
  const tokens: Token[] = [];
  const lastEnd = characters.lastIndexOf(']');
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    const end = character === '[' && at < lastEnd ? endOfSet(characters, at) : -1;
    if (end !== -1) {
      tokens.push(setOf(characters.slice(at + 1, end)));
      at = end;
    } else if (character === '*' || character === '?') {
      tokens.push({ isMany: character === '*', isWild: true, is: () => true });
    } else tokens.push({ isWild: false, is: (other) => other === character });
  }
  return tokens;
}

/** A bracket that comes first in a set belongs to it; -1 for an unclosed or empty one. */
function endOfSet(characters: readonly string[], start: number): number {
  const isNegated = characters[start + 1] === '!' || characters[start + 1] === '^';
  return characters.indexOf(']', start + (isNegated ? 3 : 2));
}

/** `[a-c]`, or with a leading `!` or `^` any character not in it. */
function setOf(characters: readonly string[]): Token {
  const isNegated = characters[0] === '!' || characters[0] === '^';
  const members = isNegated ? characters.slice(1) : characters;
  const ranges: (readonly [from: string, to: string])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] as string;
    const to = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  const code = (character: string): number => character.codePointAt(0) as number;
  const isIn = (one: string): boolean =>
    ranges.some(([from, to]) => code(from) <= code(one) && code(one) <= code(to));
  return { isWild: true, is: (one) => isIn(one) !== isNegated };
}

function matchesSegment(name: string, tokens: readonly Token[]): boolean {
  if (isHidden(name) && tokens[0]?.isWild === true) return false;
  return matchesAll(Array.from(name), tokens, {
    isMany: (token) => token.isMany === true,
    mayPass: () => true,
    isOne: (character, token) => token.is(character),
  });
}
