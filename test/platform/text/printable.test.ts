import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printableLine, shellQuote, maskedCell } from '../../../src/platform/text/printable.js';

/** What a shell makes of words, each of them between zero bytes. */
function wordsOf(shell: string, words: readonly string[]): readonly string[] {
  const line = `printf '%s\\0' ${words.map(shellQuote).join(' ')}`;
  const { stdout } = spawnSync(shell, ['-c', line], { encoding: 'utf8' });
  return stdout.split('\0').slice(0, -1);
}

const odd = [
  'plain.csv',
  'two words',
  "it's",
  '$HOME `id` "x" \\n !! * ? [a] {b,c} ~ #3 ; & | < > ( )',
  '',
  'line\nbreak',
  "tab\tand 'quote' and 100 %d \\ \u001b[31m",
  '\u202eümlaut 漢字 🎈',
  '-n',
  '~',
  '#3',
];

describe('shellQuote', () => {
  it.each(['sh', 'bash'])('gives %s each word as it is, in printable characters', (shell) => {
    expect(wordsOf(shell, odd)).toEqual(odd);
    for (const word of odd) expect(printableLine(shellQuote(word))).toBe(shellQuote(word));
  });

  it('gives any word, one that ends a line by the form that bash knows', () => {
    const word = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
        expect(wordsOf('bash', words)).toEqual(words);
      }),
      { numRuns: 30 },
    );
    expect(wordsOf('bash', ['ends\n', "it's\\\n\n"])).toEqual(['ends\n', "it's\\\n\n"]);
  });

  it('leaves alone what needs no quotes', () => {
    expect(['list.csv', '--email', 'a/b-c_d.e:f=g,h+i@j%k'].map(shellQuote)).toEqual([
      'list.csv',
      '--email',
      'a/b-c_d.e:f=g,h+i@j%k',
    ]);
  });
});

describe('a masked cell', () => {
  it.each([
    ['ulrike.sauer@sauer-soehne,example', '••••••.•••••@sauer-soehne,•••••••'],
    ['a@x.example, Ann Smith', '•@x.example, ••• •••••'],
    ['"Ann Smith" <ann@x.example>', '"••• •••••" <•••@x.example>'],
    [' Ann O’Hara ', '••• •’••••'],
    ['ann@@x..example', '•••@@x..example'],
    ['山田@例え.example', '••@例え.example'],
    ['e\u0301@x.example', '••@x.example'],
  ])('keeps the domain of %s, and its form', (cell, form) => {
    expect(maskedCell(cell, true)).toBe(form);
  });

  it.each([
    ['+49 30 23125777', '+49 3• ••••••••'],
    ['(212) 555-0143', '(212) •••-••••'],
    ['4.91702E+11', '4.91••••+••'],
    ['1-800-FLOWERS', '1-80•-•••••••'],
    ['Ann Smith', '••• •••••'],
    ['call 4917', '•••• ••••'],
  ])('keeps the first three digits of %s, and its form', (cell, form) => {
    expect(maskedCell(cell, false)).toBe(form);
  });

  it('is no longer than a line', () => {
    expect(maskedCell('a'.repeat(1000), true)).toBe(`${'•'.repeat(47)}…`);
  });
});
