import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allPages, anchorOf, codeSpans, Page, projectRoot, withoutBlocks } from './page.js';

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

describe('ARCHITECTURE.md', () => {
  const { text } = new Page('ARCHITECTURE.md');

  it('names files that are there', () => {
    const sources = readdirSync(`${projectRoot}src`, { encoding: 'utf8', recursive: true });
    const named = codeSpans(withoutBlocks(text)).filter((code) =>
      /^[a-z/-]+\.(?:ts|sql)$/.test(code),
    );
    const lost = named.filter((name) => !sources.some((path) => `/${path}`.endsWith(`/${name}`)));
    expect(named.length).toBeGreaterThan(40);
    expect(lost).toEqual([]);
  });

  it('fits four screens', () => {
    expect(text.split('\n').length).toBeLessThanOrEqual(211);
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
    ['what will this list cost', 'docs/cost.md#see-the-cost-first', '--dry-run'],
    ['try it with a few rows', 'docs/cost.md#try-the-first-100-rows', '--limit 100'],
    ['a budget', 'docs/cost.md#set-a-limit', '--max-credits 500'],
    [
      'the budget is reached',
      'docs/troubleshooting.md#it-says-exit-5',
      'run the same command again',
    ],
    ['what happens at a kill', 'docs/when-it-stops.md#how-do-i-resume', 'a kill'],
    ['how do I resume', 'docs/when-it-stops.md#how-do-i-resume', 'Run the same command again'],
    ['which exit code', 'docs/when-it-stops.md#exit-codes', '`--retry-failed`'],
    ['what does this error mean', 'docs/when-it-stops.md#error-codes', '`payment_required`'],
    ['duplicates', 'docs/your-list.md#drop-duplicates', '--unique'],
    ['who has unsubscribed', 'docs/your-list.md#leave-out-unsubscribed-addresses', '--suppress'],
    ['two sheets of a workbook', 'docs/your-list.md#excel-workbooks', '--sheet Leads,Customers'],
    [
      'several addresses in a cell',
      'docs/your-list.md#several-addresses-in-one-cell',
      '--split-cells',
    ],
    ['only valid rows', 'docs/your-list.md#write-only-the-rows-you-want', '--keep valid'],
    ['countries of phones', 'docs/your-list.md#choose-the-country', '--country-from'],
    ['phones without a country', 'docs/troubleshooting.md#my-phones-have-no-country', '--country'],
    [
      'phones that lost their plus',
      'docs/reference/phone-numbers.md#digits-that-begin-with-a-calling-code',
      'write the `+`',
    ],
    ['accents of Excel', 'docs/troubleshooting.md#my-cells-are-invalid_encoding', 'windows-1252'],
    ['what the columns mean', 'docs/columns.md#output-columns', '`<c>_valid`'],
    ['whom may I mail', 'docs/columns.md#which-addresses-to-mail', 'catch-all'],
    [
      'why is everything unknown',
      'docs/troubleshooting.md#every-email-is-unknown',
      'local service',
    ],
    ['a misspelt domain', 'docs/your-list.md#find-misspelt-domains', '--suggest'],
    ['back into Mailchimp', 'examples/exports/README.md#bring-the-results-back', 'Mailchimp'],
    [
      'Snowflake',
      'docs/your-list.md#load-it-into-snowflake-or-another-warehouse',
      '--for snowflake',
    ],
    ['PostgreSQL', 'docs/databases.md#on-the-command-line', '--into'],
    ['a table in place', 'docs/databases.md#rows-into-a-table', 'It is where the rows come from'],
    ["rights of a database's user", 'docs/databases.md#rights-of-the-user', 'SELECT'],
    ['a bucket', 'docs/reference/formats.md#lists-in-a-bucket', 'AWS_ENDPOINT_URL'],
    ['cron', 'docs/every-night.md#cron', 'crontab'],
    ['a report by mail', 'docs/every-night.md#cron', 'mail -s'],
    ['Airflow', 'docs/every-night.md#airflow', 'airflow_dag.py'],
    ['Docker', 'docs/every-night.md#docker', 'Dockerfile'],
    ['an empty list at night', 'docs/every-night.md#a-list-that-has-lost-its-rows', '--min-rows'],
    ['only new addresses', 'docs/every-night.md#pay-only-for-what-is-new', '--history'],
    ['no progress bar', 'docs/observability.md#progress', '--no-progress'],
    ['figures for a script', 'docs/observability.md#the-summary', '`exit_code`'],
    ['a service of my own', 'README.md#your-service', 'SLUICE_BASE_URL'],
    ['versions of Node', 'README.md#try-it', '20.18.1'],
    ['proxies', 'docs/troubleshooting.md#it-cannot-reach-the-service', 'HTTPS_PROXY'],
    ['delete from the service', 'docs/privacy.md#what-the-service-keeps', '--delete-batches'],
    ['the report', 'docs/observability.md#the-report', '--report'],
    ['try it without paying', 'docs/local-service.md#test-addresses', '`good`'],
    ['what is sent to whom', 'docs/privacy.md#what-is-sent-to-whom', 'No other cell of a row'],
    ['what is left on disk', 'docs/privacy.md#what-is-kept-on-disk', 'state directory'],
    ['uninstall', 'docs/privacy.md#remove-sluice', 'npm rm -g sluice'],
    ['have somebody forgotten', 'docs/privacy.md#have-somebody-forgotten', 'sluice history forget'],
    ['a route of Express', 'docs/in-code.md#in-a-web-server', 'express.json()'],
    ['Jest', 'docs/in-code.md#examples', 'Jest'],
    ['testing', 'docs/in-code.md#a-first-test', 'createService'],
    ['tests without money', 'docs/in-code.md#testing-your-pipeline', 'nothing costs money'],
    ['how much memory', 'docs/performance.md#size-a-run', '26 bytes'],
    ['several machines', 'docs/beyond-one-machine.md#one-run-in-many-processes', '--store'],
  ])('answers in two steps at most: %s', (_, answer, words) => {
    const [path = '', anchor = ''] = answer.split('#');
    const near = ['README.md', ...pathsFrom(readme)];
    expect([...near, ...near.flatMap((one) => pathsFrom(one))]).toContain(path);
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
