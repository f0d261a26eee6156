import { describe, expect, it } from 'vitest';
import { publicNames, readableText, wordViolations } from '../../scripts/rules/plain-words.mjs';

async function found(text: string): Promise<readonly string[]> {
  const violations = await wordViolations({ page: text });
  return violations.map((line) => /'(.*)'/.exec(line)?.[1] ?? line);
}

describe('the words that are refused', () => {
  it.each([
    ['The run tells how far it is.', 'tells'],
    ['It is written anew.', 'anew'],
    ['Mend what the message names.', 'Mend'],
    ['The new columns are behind the old ones.', 'behind'],
    ['The delimiter is found by looking.', 'by looking'],
    ['The file stands in the folder.', 'stands'],
    ['What is new is sent.', 'What is new is'],
    ['All but for the last.', 'but for'],
    ['The batch goes to and fro.', 'to and fro'],
    ['The run is gone on with.', 'gone on with'],
  ])('%s', async (text, word) => {
    expect(await found(text)).toEqual([word]);
  });

  it.each([
    'What is sent to whom?',
    'Sluice works behind a proxy.',
    'CSV stands for values with commas between them.',
    'The argument `--tells` is no word of ours.',
    '```sh\necho it stands\n```',
    'uploads that are left behind',
  ])('are not in: %s', async (text) => {
    expect(await found(text)).toEqual([]);
  });

  it('are named with their line, and with what to say instead', async () => {
    const violations = await wordViolations({ 'docs/page.md': '# Page\n\nIt is made anew.\n' });
    expect(violations).toHaveLength(1);
    expect(violations[0]).toMatch(/^docs\/page\.md:3: anew: say: again/);
  });
});

describe('what people read of a module', () => {
  const source = [
    "import { tells } from './stands/anew.js';",
    '/** Docstring of a name in public. */',
    'export interface Shown {',
    '  /**',
    '   * Docstring of its member, which is gone',
    '   * on with.',
    '   */',
    '  readonly member: string;',
    '}',
    '// A comment.',
    '/** Docstring of another. */',
    'export function hidden(count: number) {',
    "  return count > 1 ? `it has ${count} of ${'a word'} left` : 'word';",
    '}',
  ].join('\n');
  const lines = readableText('shown.ts', source, new Set(['Shown'])).split('\n');

  it('is the docstrings of what the package exports, in their lines', () => {
    expect(lines[1]).toContain('Docstring of a name in public.');
    expect(lines[3]).toContain('Docstring of its member, which is gone on with.');
    expect(lines[10]).toBe('');
  });

  it('is the sentences in its strings, and no name, comment or word alone', () => {
    expect(lines[12]).toContain('it has');
    expect(lines[12]).toContain('a word');
    expect(lines[12]).toContain('left');
    expect(lines[12]).not.toMatch(/\bword\b.*\bword\b/);
    expect(lines[0]).toBe('');
    expect(lines[9]).toBe('');
  });
});

it('what the package exports is found through its entry points', async () => {
  const modules: Readonly<Record<string, string>> = {
    'src/index.ts': "export { one } from './a.js';\nexport type { Two as Other } from './b.js';",
    'src/a.ts': 'export const one = 1;\nexport const three = 3;',
    'src/b.ts': 'export interface Two {}',
    'src/all/index.ts': "export * from './c.js';",
    'src/all/c.ts': 'export class Four {}',
  };
  const names = await publicNames(
    ['src/index.ts', 'src/all/index.ts'],
    async (path) => modules[path] ?? '',
  );
  expect(names.get('src/a.ts')).toEqual(new Set(['one']));
  expect(names.get('src/b.ts')).toEqual(new Set(['Two']));
  expect(names.get('src/all/c.ts')).toEqual(new Set(['Four']));
});
