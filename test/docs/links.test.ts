import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allPages, Page, projectRoot, withoutBlocks } from './page.js';

const pages = allPages();

function linksOf(page: Page): readonly string[] {
  const links = [...withoutBlocks(page.text).matchAll(/\]\(([^)\s]+)\)/g)];
  return links.map(([, target]) => target ?? '').filter((target) => !/^[a-z]+:/.test(target));
}

/** Where a relative link leads, from the project's root, and the anchor in it. */
function targetOf(page: Page, link: string): { readonly path: string; readonly anchor: string } {
  const [file = '', anchor = ''] = link.split('#');
  const path = file === '' ? page.path : normalize(join(dirname(page.path), file));
  return { path, anchor };
}

describe.each(pages.map((page) => [page.path, page] as const))('the links of %s', (_, page) => {
  it('lead somewhere inside the project', () => {
    const lost = linksOf(page).filter((link) => {
      const { path, anchor } = targetOf(page, link);
      if (path.startsWith('..') || !existsSync(`${projectRoot}${path}`)) return true;
      return anchor !== '' && !new Page(path).anchors().has(anchor);
    });
    expect(lost).toEqual([]);
  });
});

describe('README.md', () => {
  it('leads to every page in docs/, and to the pages beside it', () => {
    const readme = new Page('README.md');
    const linked = new Set(linksOf(readme).map((link) => targetOf(readme, link).path));
    const missing = pages.map(({ path }) => path).filter((path) => !linked.has(path));
    expect(missing).toEqual(['README.md']);
  });

  it('names the two commands, each on one line of a block of its own', () => {
    const commands = new Page('README.md').blocks('sh').map(({ text }) => text);
    expect(commands).toContain(
      'npm ci --omit=dev && npx --no-install sluice verify examples/contacts.csv --email email --phone mobile --country-column country --country US -o verified.csv\n',
    );
    expect(commands).toContain('npm ci && npm test\n');
  });
});
