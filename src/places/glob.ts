import { ConfigurationError } from '../errors/family.js';

/** A pattern of paths, as shells have it. */
export interface Glob {
  /** What every path that it can match begins with: folders without a wildcard, and `/`. */
  readonly base: string;
  matches(path: string): boolean;
}

/** More alternatives than that are no pattern of a person. */
const mostAlternatives = 1000;

/** Whether a path has wildcards: `*`, `?`, `[…]` or `{…,…}`. */
export function hasWildcard(path: string): boolean {
  return /[*?[]/.test(path) || findBraces(path) !== undefined;
}

/**
 * Takes a pattern apart: `*` and `?` stay within a folder, `**` goes through folders, `{csv,tsv}` is
 * one of them, `[a-c]` one character. Names that begin with a dot are matched only where the pattern
 * has the dot.
 *
 * @throws ConfigurationError `invalid_option`
 */
export function parseGlob(pattern: string): Glob {
  const alternatives = expandBraces(pattern);
  const expressions = alternatives.map((each) => new RegExp(`^${toExpression(each)}$`, 'su'));
  return {
    base: baseOf(pattern),
    matches: (path) => expressions.some((expression) => expression.test(path)),
  };
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
    );
  }
  return done;
}

/** Where the first innermost pair of braces with a comma begins and ends. */
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

const noDot = '(?![.])';

function toExpression(pattern: string): string {
  let expression = '';
  let at = 0;
  while (at < pattern.length) {
    const rest = pattern.slice(at);
    const isStart = at === 0 || pattern[at - 1] === '/';
    const [token = ''] = /^(?:\*\*\/|\*+|\?|\[[!^]?\]?[^\]/]*\]|.)/su.exec(rest) ?? [];
    expression += (isStart && /^[*?[]/.test(token) ? noDot : '') + expressionOf(token, isStart);
    at += token.length;
  }
  return expression;
}

function expressionOf(token: string, isStart: boolean): string {
  if (token === '**/' && isStart) return '(?:[^/.][^/]*/)*';
  if (token === '**/') return '[^/]*/';
  if (token.startsWith('*')) return '[^/]*';
  if (token === '?') return '[^/]';
  if (token.length > 2 && token.startsWith('[')) {
    const [, not, set = ''] = /^\[([!^]?)(.*)\]$/su.exec(token) ?? [];
    return `[${not ? '^/' : ''}${set.replaceAll(/[\\[\]^]/g, String.raw`\$&`)}]`;
  }
  return token.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
