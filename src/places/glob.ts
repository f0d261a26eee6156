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
  return /[*?[]|\{[^{}]*,[^{}]*\}/.test(path);
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
    // The innermost pair of braces that has a comma.
    const found = /\{([^{}]*,[^{}]*)\}/.exec(next);
    if (!found) done.push(next);
    else {
      const [whole, inner = ''] = found;
      const [before, after] = [next.slice(0, found.index), next.slice(found.index + whole.length)];
      for (const choice of inner.split(',')) open.push(before + choice + after);
    }
    if (done.length + open.length <= mostAlternatives) continue;
    throw new ConfigurationError(
      `the pattern ${pattern} has more than ${mostAlternatives} alternatives`,
    );
  }
  return done;
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
