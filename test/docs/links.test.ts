import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allPages, anchorOf, Page, projectRoot, withoutBlocks } from './page.js';

const pages = allPages();

function linksOf(page: Page): readonly string[] {
  const links = [...withoutBlocks(page.text).matchAll(/\]\(([^)\s]+)\)/g)];
  return links.map(([, target]) => target ?? '').filter((target) => !/^[a-z]+:/.test(target));
}

/** The pages that a page leads to. */
function pathsFrom(from: Page | string): readonly string[] {
  const page = typeof from === 'string' ? new Page(from) : from;
  const paths = linksOf(page).map((link) => targetOf(page, link).path);
  return paths.filter((path) => path.endsWith('.md'));
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
  const readme = new Page('README.md');

  it('leads to every page in two steps at most', () => {
    const near = pathsFrom(readme);
    const linked = new Set([...near, ...near.flatMap((path) => pathsFrom(path))]);
    const missing = pages.map(({ path }) => path).filter((path) => !linked.has(path));
    expect(missing).toEqual([]);
  });

  it('fits two screens', () => {
    expect(readme.text.split('\n').length).toBeLessThanOrEqual(110);
  });

  // A heading that answers, and words of the answer: of a heading alone nobody knows that it does.
  it.each([
    ['what does it cost', 'docs/cost.md#what-it-costs', 'one credit for each address'],
    ['how do I resume', 'docs/when-it-stops.md#how-do-i-resume', 'Run the same command again'],
    ['what is sent to whom', 'docs/privacy.md#what-is-sent-to-whom', 'No other cell of a row'],
    ['Airflow', 'docs/every-night.md#airflow', 'airflow_dag.py'],
    [
      'why is everything unknown',
      'docs/troubleshooting.md#every-email-is-unknown',
      'local service',
    ],
    ['testing', 'docs/in-code.md#a-first-test', 'createService'],
    [
      'Snowflake',
      'docs/your-list.md#load-it-into-snowflake-or-another-warehouse',
      '--for snowflake',
    ],
    ['phones without a country', 'docs/troubleshooting.md#my-phones-have-no-country', '--country'],
    ['proxies', 'docs/troubleshooting.md#it-cannot-reach-the-service', 'HTTPS_PROXY'],
    ['Docker', 'docs/every-night.md#docker', 'Dockerfile'],
    ['only valid rows', 'docs/your-list.md#write-only-the-rows-you-want', '--keep valid'],
    ['what does this error mean', 'docs/when-it-stops.md#error-codes', '`payment_required`'],
  ])('answers in two steps at most: %s', (_, answer, words) => {
    const [path = '', anchor = ''] = answer.split('#');
    const near = pathsFrom(readme);
    const steps = near.includes(path)
      ? 1
      : near.some((one) => pathsFrom(one).includes(path))
        ? 2
        : 3;
    expect(steps).toBeLessThanOrEqual(2);
    const page = new Page(path);
    const heading = page.headings().find((one) => anchorOf(one) === anchor);
    expect(heading).toBeDefined();
    expect(page.section(heading ?? '')).toContain(words);
  });

  it('names the two commands, each on one line of a block of its own', () => {
    const commands = new Page('README.md').blocks('sh').map(({ text }) => text);
    expect(commands).toContain(
      'npm ci --omit=dev && npx --no-install sluice verify examples/contacts.csv --email email --phone mobile --country-column country --country US -o verified.csv\n',
    );
    expect(commands).toContain('npm ci && npm test\n');
  });
});
