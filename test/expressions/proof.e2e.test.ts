import { readFile, writeFile } from 'node:fs/promises';
import { check } from 'recheck';
import { describe, expect, it } from 'vitest';
import { findExpressions } from './source-expressions.js';

/** Without a repetition that has no end, there are so many steps at most for each character. */
function isLinearByForm(source: string): boolean {
  const bare = source.replaceAll(/\\./gsu, '').replaceAll(/\[[^\]]*\]/g, '');
  return !/[*+]|\{\d+,\}/.test(bare);
}

/** What is wrong with an expression, and a text that shows it; `undefined` when it is proved linear. */
async function weakness(source: string, flags: string): Promise<string | undefined> {
  // By steps and not by time: the judgement is the same on any machine, and for each of its backends.
  const judged = await check(source, flags, { timeout: null });
  if (judged.status === 'unknown') return `not judged: ${judged.error.kind}`;
  if (judged.checker !== 'automaton') return 'too large to be proved: take it apart';
  if (judged.status === 'safe') return undefined;
  return `${judged.complexity.summary}, by ${judged.attack.pattern}`;
}

/**
 * Expressions that were proved: a proof is the same each time, and takes long. What it lacks is proved here;
 * with PROVE=all this test writes it.
 */
const provedFile = new URL('proved.txt', import.meta.url);
const isRenewed = process.env['PROVE'] === 'all';
const provesAll = isRenewed || process.env['SLUICE_DRAW'] === '1';

describe('every regular expression of src/', () => {
  it('takes no more steps than its text has characters, times a constant', async () => {
    const { literals } = await findExpressions();
    const found = new Map(
      literals
        .filter(({ source }) => !isLinearByForm(source))
        .map((literal) => [`/${literal.source}/${literal.flags}`, literal]),
    );
    const proved = new Set((await readFile(provedFile, 'utf8')).split('\n'));
    const weak = [];
    // One after the other: asked for many before its first answer, the package starts a process for each.
    for (const [text, { at, source, flags }] of found) {
      const why = proved.has(text) && !provesAll ? undefined : await weakness(source, flags);
      if (why !== undefined) weak.push(`${at} ${text}: ${why}`);
    }
    expect(literals.length).toBeGreaterThan(100);
    expect(weak).toEqual([]);
    const list = [...found.keys()].toSorted().join('\n');
    if (isRenewed) await writeFile(provedFile, `${list}\n`);
  }, 600_000);

  it.each([
    ['0+$', ''],
    [String.raw`"[^"]*"|\\.|_.|\*.|\[[^\]]*\]`, 'g'],
    [String.raw`_(?:valid|is_\w+)$`, ''],
    [String.raw`a{2,}$`, ''],
    ['^(?:a|a)*$', ''],
  ])('would be refused if it were quadratic or worse: /%s/%s', async (source, flags) => {
    expect(await weakness(source, flags)).toMatch(/polynomial|exponential/);
  });
});
