import { checkSync } from 'recheck';
import { describe, expect, it, vi } from 'vitest';
import { findExpressions } from './source-expressions.js';

// Of its backends, the one that is the same everywhere.
vi.stubEnv('RECHECK_SYNC_BACKEND', 'pure');

/** Without a repetition that has no end, there are so many steps at most for each character. */
function isLinearByForm(source: string): boolean {
  const bare = source.replaceAll(/\\./gsu, '').replaceAll(/\[[^\]]*\]/g, '');
  return !/[*+]|\{\d+,\}/.test(bare);
}

/** What is wrong with an expression, and a text that shows it; `undefined` when it is proved linear. */
function weakness(source: string, flags: string): string | undefined {
  if (isLinearByForm(source)) return undefined;
  // By steps and not by time: the judgement is the same on any machine.
  const judged = checkSync(source, flags, { timeout: null });
  if (judged.status === 'unknown') return `not judged: ${judged.error.kind}`;
  if (judged.checker !== 'automaton') return 'too large to be proved: take it apart';
  if (judged.status === 'safe') return undefined;
  return `${judged.complexity.summary}, by ${judged.attack.pattern}`;
}

describe('every regular expression of src/', () => {
  it('takes no more steps than its text has characters, times a constant', async () => {
    const { literals } = await findExpressions();
    const weak = literals.flatMap(({ at, source, flags }) => {
      const why = weakness(source, flags);
      return why === undefined ? [] : [`${at} /${source}/${flags}: ${why}`];
    });
    expect(literals.length).toBeGreaterThan(100);
    expect(weak).toEqual([]);
  }, 600_000);

  it.each([
    ['0+$', ''],
    [String.raw`"[^"]*"|\\.|_.|\*.|\[[^\]]*\]`, 'g'],
    [String.raw`_(?:valid|is_\w+)$`, ''],
    [String.raw`a{2,}$`, ''],
    ['^(?:a|a)*$', ''],
  ])('would be refused if it were quadratic or worse: /%s/%s', (source, flags) => {
    expect(weakness(source, flags)).toMatch(/polynomial|exponential/);
  });
});
