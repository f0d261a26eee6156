import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { findFiles, hasWildcard, parseGlob } from '../../../src/lists/files/find-files.js';
import { useTemporaryFolder } from './temporary-folder.js';

const at = useTemporaryFolder();

describe('parseGlob', () => {
  it.each([
    ['*.csv', ['a.csv', 'b c.csv'], ['a.tsv', '.a.csv', 'x/a.csv', 'acsv']],
    ['lists/*.{csv,tsv}', ['lists/a.csv', 'lists/b.tsv'], ['lists/a.jsonl', 'a.csv']],
    ['part-??.csv', ['part-01.csv'], ['part-1.csv', 'part-001.csv']],
    ['[a-c]*.csv', ['apple.csv', 'c.csv'], ['d.csv', 'A.csv']],
    ['[!a]*.csv', ['b.csv'], ['a.csv', '.b.csv']],
    ['**/*.csv', ['a.csv', 'x/a.csv', 'x/y/a.csv'], ['.x/a.csv', 'a.tsv']],
    ['x/**/a.csv', ['x/a.csv', 'x/y/z/a.csv'], ['y/a.csv']],
    ['a+(1).{csv,{tsv,txt}}', ['a+(1).csv', 'a+(1).txt'], ['aa1.csv']],
    ['*a*b*c', ['abc', 'xaxbxc', 'aabbcc'], ['abcx', 'acb', '.abc', 'ab/c']],
    [
      '**/x/**/*.csv',
      ['x/a.csv', 'y/x/x/z/a.csv'],
      ['x.csv', 'y/a.csv', 'x/.y/a.csv', '.y/x/a.csv'],
    ],
    ['a/**', ['a/b'], ['a/b/c', 'a', 'a/.b']],
    ['[]x]*[-a]', ['xa', ']-'], ['ya', 'xb']],
    ['[]', ['[]'], ['[', 'a']],
    ['?[^b-d].csv', ['ba.csv', '\u{1f600}x.csv'], ['ab.csv', '.a.csv', 'a/.csv']],
    ['.hidden/*.csv', ['.hidden/a.csv'], ['hidden/a.csv']],
  ])('%s matches as a shell does', (pattern, yes, no) => {
    const glob = parseGlob(pattern);
    expect(yes.filter((path) => !glob.matches(path))).toEqual([]);
    expect(no.filter((path) => glob.matches(path))).toEqual([]);
    for (const path of yes) expect(path.startsWith(glob.base)).toBe(true);
  });

  it('knows its base, and what is no pattern', () => {
    expect(parseGlob('a/b/c*/d.csv').base).toBe('a/b/');
    expect(['a{1}.csv', 'a-b.csv', 'a (1).csv'].filter(hasWildcard)).toEqual([]);
    expect(['*.csv', 'a?', '[ab]', '{a,b}'].filter((path) => !hasWildcard(path))).toEqual([]);
  });

  it('does not try every way in which many stars can match a name', () => {
    const glob = parseGlob(`${'*a'.repeat(60)}b`);
    // Tried in every way, it would never end.
    expect(glob.matches('a'.repeat(2000))).toBe(false);
  });

  it('refuses alternatives by the million', () => {
    expect(() => parseGlob('{a,b,c,d}'.repeat(10))).toThrow(
      expect.objectContaining({ fault: 'too_large' }),
    );
  });
});

describe('findFiles', () => {
  it('gives the lists of a folder by name, and of a pattern what matches', async () => {
    for (const name of ['b.csv', 'a.jsonl', '.c.csv', 'readme.md', 'manifest.json', 'z.csv.gz']) {
      await writeFile(at(name), '');
    }
    // Excel keeps such a file beside a workbook that is open.
    await writeFile(at('~$b.csv'), '');
    await mkdir(at('sub'));
    await writeFile(at('sub/d.csv'), '');
    expect(await findFiles(at(''))).toEqual([at('a.jsonl'), at('b.csv'), at('z.csv.gz')]);
    expect(await findFiles(at('*.csv'))).toEqual([at('b.csv')]);
    expect(await findFiles(at('**/*.csv'))).toEqual([at('b.csv'), at('sub/d.csv')]);
    expect(await findFiles(at('~$*.csv'))).toEqual([at('~$b.csv')]);
    expect(await findFiles(at('s*/*.csv'))).toEqual([at('sub/d.csv')]);
  });

  it('takes a name with wildcards in it for itself where it is there', async () => {
    await writeFile(at('list [1].csv'), '');
    await writeFile(at('list 1.csv'), '');
    expect(await findFiles(at('list [1].csv'))).toEqual([at('list [1].csv')]);
  });

  it('says when nothing is found', async () => {
    await expect(findFiles(at('*.csv'))).rejects.toMatchObject({
      code: 'input_unreadable',
      fault: 'missing',
      file: at('*.csv'),
    });
    await expect(findFiles(at(''))).rejects.toMatchObject({ fault: 'empty' });
  });
});
