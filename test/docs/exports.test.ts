import { beforeAll, describe, expect, it } from 'vitest';
import { readEntries } from '../../scripts/project.mjs';
import { codeSpans, Page, tableRows } from './page.js';
import { createProgram, exportsOf } from './source-types.js';

const library = new Page('docs/library.md');

const entries = await readEntries();

/** What is called on something that is exported, or on what one's own code is given. */
const membersInProse = ['open', 'close', 'run'];

/** The names in the tables that list what an entry point exports, in the page's order. */
function listedBy(entry: string): readonly string[] {
  const tables = library.text.split(/\n\n/).filter((part) => {
    const [head = ''] = part.split('\n', 1);
    return head.startsWith(`| \`${entry}\` exports`);
  });
  return tables.flatMap((table) => tableRows(table).flatMap(([cell = '']) => codeSpans(cell)));
}

let exported: ReadonlyMap<string, readonly string[]>;

beforeAll(() => {
  const imports = entries.map(({ module }) => `import './${module.replace(/ts$/, 'js')}';\n`);
  const program = createProgram(new Map([['faces.ts', imports.join('')]]));
  exported = new Map(entries.map(({ entry, module }) => [entry, exportsOf(program, module)]));
}, 120_000);

describe('docs/library.md', () => {
  it('knows more than one entry point of the package', () => {
    expect(entries.length).toBeGreaterThan(5);
  });

  it.each(entries)('lists every export of $entry once, and none that is not there', ({ entry }) => {
    expect(listedBy(entry).toSorted()).toEqual(exported.get(entry)?.toSorted());
  });

  it('lists no export of an entry point that the package does not have', () => {
    const heads = [...library.text.matchAll(/^\| `([^`]+)` exports/gm)].map(([, entry]) => entry);
    const known = entries.map(({ entry }) => entry);
    expect(heads.filter((entry) => !known.includes(entry ?? ''))).toEqual([]);
  });

  it('calls nothing by a name that no entry point exports', () => {
    const names = new Set([...exported.values()].flat());
    const members = tableRows(library.section('### Operations')).flatMap(([cell = '']) =>
      codeSpans(cell).map((call) => call.replace(/\(.*/s, '')),
    );
    const called = [...library.text.matchAll(/`(?:new )?([a-zA-Z]+)\([^`]*\)`/g)];
    const known = new Set([...names, ...members, ...membersInProse]);
    const unknown = called.map(([, name = '']) => name).filter((name) => !known.has(name));
    expect([...new Set(unknown)]).toEqual([]);
  });
});
