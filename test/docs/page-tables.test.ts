import { expect, it } from 'vitest';
import { allPages, tableRows } from './page.js';

/** A cell that is longer is a paragraph that nobody finds. */
const longest = 120;

/** Without what is made from the code, copied from the service, or looked up. */
const looked = /^docs\/(?:reference\/|live-verification)/;

const pages = allPages().filter(
  ({ path }) => path === 'README.md' || (path.startsWith('docs/') && !looked.test(path)),
);

it.each(pages.map((page) => [page.path, page] as const))('%s has no long cells', (_, page) => {
  const cells = tableRows(page.text).flat();
  expect(cells.filter((cell) => cell.length > longest)).toEqual([]);
});

it('the options of the command line have their tables in docs/reference/commands.md alone', () => {
  const withOptions = allPages().filter(({ text }) =>
    tableRows(text).some(([cell = '']) => /^`(?:-[a-z], )?--/i.test(cell)),
  );
  expect(withOptions.map(({ path }) => path)).toEqual(['docs/reference/commands.md']);
});
