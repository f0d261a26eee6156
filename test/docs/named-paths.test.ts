import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot, withoutBlocks } from './page.js';

const pages = ['ARCHITECTURE.md', 'CONTRIBUTING.md'];
const textOf = (page: string): string => readFileSync(join(projectRoot, page), 'utf8');

/** A path in backticks: with a folder, or a source file. */
const isPath = (text: string): boolean =>
  /^[\w.*-]+(?:\/[\w.*-]+)+\/?$/.test(text) || /^[\w-]+\.(?:ts|mjs|sql|wat)$/.test(text);
/** A pattern, a package, or what is made. */
const isOther = (text: string): boolean => /[*]|^sluice\/|^(?:dist|coverage|\.cache)\//.test(text);

/** The paths that a page names and that are nowhere: a bare file is beside the one named before it. */
function lostPaths(page: string): readonly string[] {
  return withoutBlocks(textOf(page))
    .split('\n')
    .flatMap((line) => {
      let folder = '';
      return [...line.matchAll(/`([^`]+)`/g)].flatMap(([, text = '']) => {
        if (!isPath(text) || isOther(text)) return [];
        const places = [text, join('src', text), join(folder, text)];
        const found = places.find((path) => existsSync(join(projectRoot, path)));
        if (found === undefined) return [`${text}: ${line.slice(0, 60)}`];
        folder = statSync(join(projectRoot, found)).isDirectory() ? found : dirname(found);
        return [];
      });
    });
}

/** The folders of the tree in ARCHITECTURE.md that are nowhere. */
function lostFolders(): readonly string[] {
  const [, tree = ''] = /^src\/\n([\s\S]*?)^```/m.exec(textOf('ARCHITECTURE.md')) ?? [];
  let above = '';
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', names = '', words = ''] = /^( +)((?:[\w-]+\/ ?)+)(.*)$/.exec(line) ?? [];
    const folders = names.split(' ').filter((name) => name !== '');
    const [first = ''] = folders;
    const parent = join('src', indent.length > 2 ? above : '');
    if (indent.length === 2) above = first;
    const named = [...words.matchAll(/([\w-]+)\//g)].map(([, name = '']) => name);
    const isFolder = (path: string): boolean => existsSync(join(projectRoot, path));
    return [
      ...folders.map((name) => join(parent, name)).filter((path) => !isFolder(path)),
      ...named.filter(
        (name) => !isFolder(join(parent, first, name)) && !isFolder(join('src', name)),
      ),
    ];
  });
}

describe.each(pages)('the paths that %s names', (page) => {
  it('are in the tree', () => {
    expect(lostPaths(page)).toEqual([]);
  });
});

describe('the tree in ARCHITECTURE.md', () => {
  it('has folders that there are', () => {
    expect(lostFolders()).toEqual([]);
  });
});
