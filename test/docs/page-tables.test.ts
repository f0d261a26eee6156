import { expect, it } from 'vitest';
import { allPages, tableRows } from './page.js';

/** A cell that is longer is a paragraph that nobody finds. */
const longest = 120;

/** Made from the code, copied from the service, or tables of names for whoever looks one up. */
const reference = [
  'commands',
  'kinds',
  'library',
  'live-verification',
  'names',
  'service-interface',
];

const pages = allPages().filter(
  ({ path }) =>
    path === 'README.md' ||
    (path.startsWith('docs/') && !reference.some((name) => path === `docs/${name}.md`)),
);

it.each(pages.map((page) => [page.path, page] as const))('%s has no long cells', (_, page) => {
  const cells = tableRows(page.text).flat();
  expect(cells.filter((cell) => cell.length > longest)).toEqual([]);
});

it('the options of the command line have their tables in docs/commands.md alone', () => {
  const withOptions = allPages().filter(({ text }) =>
    tableRows(text).some(([cell = '']) => /^`(?:-[a-z], )?--/i.test(cell)),
  );
  expect(withOptions.map(({ path }) => path)).toEqual(['docs/commands.md']);
});
