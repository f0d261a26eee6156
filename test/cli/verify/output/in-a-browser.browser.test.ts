import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { swatches, textContrasts } from '../../../platform/html/look-of-page.js';
import { useBrowser } from '../../../platform/html/use-browser.js';
import { runInProcess } from '../../harness/run-in-process.js';
import {
  exampleFigures,
  exampleReport,
  exampleSummary,
} from '../../../report/page/example-report.js';
import { withFolder } from '../../../service/with-service.js';

const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>';

const browser = useBrowser();

/** Opens a report as a file, as people do; whatever the browser complains of is kept. */
async function opened(
  context: Parameters<Browser['newPage']>[0],
  input = evil,
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const path = join(await withFolder(), 'report.html');
  const reasons = {
    contains_comma: 12,
    scientific_notation: 8,
    export_incomplete: 10,
    empty: 20,
  };
  const { columns, ...rest } = exampleSummary();
  const withReasons = columns.map((column) => ({ ...column, reasons }));
  const summary = { ...rest, columns: withReasons, input, output: 'x'.repeat(300) };
  const figures = exampleFigures(`${evil}${'y'.repeat(200)}`);
  await writeFile(path, exampleReport({ summary, figures }));
  const page = await browser().newPage(context);
  onTestFinished(() => page.close());
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith('file:')) complaints.push(request.url());
  });
  await page.goto(pathToFileURL(path).href);
  return { page, complaints };
}

const widerThanItsBox = `[...document.querySelectorAll('.card-table')]
  .filter((box) => box.scrollWidth > box.clientWidth)
  .map((box) => box.textContent)`;

const brokenWords = `(() => {
  const linesOf = (text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    return new Set([...range.getClientRects()].map(({ top }) => top)).size;
  };
  return [...document.querySelectorAll('th.word code')].flatMap(({ childNodes }) =>
    [...childNodes].filter((text) => linesOf(text) > 1).map((text) => text.textContent));
})()`;

describe('the report in a browser', () => {
  it('runs and loads nothing, and shows what it was given as text', async () => {
    const { page, complaints } = await opened({});
    expect(await page.locator('h1').textContent()).toBe(`Verification of ${evil}`);
    expect(await page.locator('img, script').count()).toBe(0);
    expect(await page.locator('svg[role=img][aria-label]').count()).toBeGreaterThan(5);
    expect(complaints).toEqual([]);
  });

  it('fits a window of any width', async () => {
    const name = 'mailchimp_subscribed_segment_export_of_all_audiences_2026_11_23.csv';
    const { page } = await opened({}, name);
    const fits = async (width: number): Promise<void> => {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    };
    const widths = [1280, 390, 320];
    for (const width of widths) await fits(width);
    await page.locator('summary').click();
    expect(await page.locator('.timeline').isVisible()).toBe(true);
    for (const width of widths) {
      await fits(width);
      // Nothing of a table is out of sight, and no word of a code is broken.
      expect(await page.evaluate(widerThanItsBox)).toEqual([]);
      expect(await page.evaluate(brokenWords)).toEqual([]);
    }
  });

  it('shows the result on the first screen of a phone and of a desktop, and the batches when asked', async () => {
    const { page } = await opened({}, 'contacts.csv');
    const headline = page.locator('.headline');
    expect(await headline.textContent()).toMatch(/85 %.*61.2 %/s);
    for (const viewport of [
      { width: 390, height: 844 },
      { width: 1280, height: 900 },
    ]) {
      await page.setViewportSize(viewport);
      const { y = 0, height = Infinity } = (await headline.boundingBox()) ?? {};
      expect(y + height).toBeLessThan(viewport.height);
    }
    expect(await page.locator('.timeline').isVisible()).toBe(false);
  });

  it.each([
    ['light', 'rgb(245, 247, 249)'],
    ['dark', 'rgb(20, 25, 30)'],
  ] as const)(
    'can be read, and has one colour a meaning: %s, and light on paper',
    async (scheme, background) => {
      const { page } = await opened({ colorScheme: scheme });
      const backgroundNow = async () =>
        page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(await backgroundNow()).toBe(background);
      await page.locator('summary').click();
      const texts = await textContrasts(page);
      expect(texts.length).toBeGreaterThan(100);
      expect(texts.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
      const patches = await swatches(page);
      // What is empty, or waits, is as faint as it is meant to be.
      const shown = patches.filter(({ tone }) => tone !== 'empty' && tone !== 'waiting');
      expect(shown.length).toBeGreaterThan(20);
      expect(shown.filter(({ ratio, what }) => ratio < 3 || what === '')).toEqual([]);
      const tonesOf = new Map<string, Set<string>>();
      for (const { colour, tone } of shown) {
        tonesOf.set(colour, (tonesOf.get(colour) ?? new Set()).add(tone));
      }
      expect([...tonesOf.values()].filter((tones) => tones.size > 1)).toEqual([]);
      const verdicts = shown.filter(({ tone }) => ['valid', 'wrong', 'unknown'].includes(tone));
      for (const { tone, what } of verdicts) expect(what).toBe(tone);
      await page.emulateMedia({ media: 'print' });
      expect(await backgroundNow()).toBe('rgb(255, 255, 255)');
    },
  );
});

describe('sluice verify --report', () => {
  const line = 'verify list.csv --local --quiet --email email --country US -o out.csv'.split(' ');
  const list = 'id,email\n1,good@sluice.test\n2,\n3,ada@example.com\n';

  it('writes the page when the output stands', async () => {
    const cwd = await withFolder();
    await writeFile(join(cwd, 'list.csv'), list);
    const args = [...line, '--report', 'report.html'];
    expect(await runInProcess(args, { cwd })).toMatchObject({ code: 0, stderr: '' });
    const page = await readFile(join(cwd, 'report.html'), 'utf8');
    expect(page).toContain('<th scope="row" class="word">sluice.test</th>');
    expect(page).toContain('<th scope="row" class="word">example.com</th>');
    expect(page).toContain('Batches over time');
    expect(page).not.toContain('good@');
    expect(page).toContain('33.3 %');
    expect(page).toContain('50 %');
    expect(page).toMatch(/row\s+3\s*</);
    expect((await readdir(cwd)).toSorted()).toEqual(['list.csv', 'out.csv', 'report.html']);
  });

  it('writes one of a run that streams, too', async () => {
    const cwd = await withFolder();
    await writeFile(join(cwd, 'list.csv'), list);
    const args = [...line.slice(0, -2), '--report', 'report.html'];
    expect(await runInProcess(args, { cwd })).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, 'report.html'), 'utf8')).toContain('sluice.test');
  });

  it.each(['list.csv', 'out.csv', './out.csv', '-', 'missing/report.html'])(
    'refuses to be %s before anything is read',
    async (path) => {
      const cwd = await withFolder();
      await writeFile(join(cwd, 'list.csv'), list);
      const { code, stderr } = await runInProcess([...line, '--report', path], { cwd });
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/report/) as string,
      });
      expect(await readdir(cwd)).toEqual(['list.csv']);
    },
  );
});
