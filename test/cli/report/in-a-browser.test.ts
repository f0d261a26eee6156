import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { reportPage } from '../../../src/papers/report/report-page.js';
import { runInProcess } from '../run-in-process.js';
import { exampleFigures, exampleSummary } from '../../papers/report/example-report.js';

/** Debian's package, unless another is named. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Why these tests are left out, where they are. */
const reason = existsSync(executablePath)
  ? ''
  : ` (left out: there is no Chromium at ${executablePath}; CHROMIUM names another)`;

const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>';

let browser: Browser;

async function folderFor(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-report-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a report as a file, as people do; whatever the browser complains of is kept. */
async function opened(
  context: Parameters<Browser['newPage']>[0],
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const path = join(await folderFor(), 'report.html');
  const summary = { ...exampleSummary(), input: evil, output: 'x'.repeat(300) };
  const figures = exampleFigures(`${evil}${'y'.repeat(200)}`);
  await writeFile(path, reportPage({ summary, figures, madeAt: new Date(0) }));
  const page = await browser.newPage(context);
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

describe.skipIf(reason !== '')(`the report in a browser${reason}`, () => {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  afterAll(async () => browser.close());

  it('runs and loads nothing, and shows what it was given as text', async () => {
    const { page, complaints } = await opened({});
    expect(await page.locator('h1').textContent()).toBe(`Verification of ${evil}`);
    expect(await page.locator('img, script').count()).toBe(0);
    expect(await page.locator('svg[role=img][aria-label]').count()).toBeGreaterThan(5);
    expect(complaints).toEqual([]);
  });

  it.each([1280, 390, 320])('fits a window %i pixels wide', async (width) => {
    const { page } = await opened({ viewport: { width, height: 800 } });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  });

  it('is light, dark, and light on paper', async () => {
    const backgroundOf = async (page: Page): Promise<unknown> =>
      page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await opened({ colorScheme: 'light' });
    expect(await backgroundOf(light.page)).toBe('rgb(245, 247, 249)');
    const dark = await opened({ colorScheme: 'dark' });
    expect(await backgroundOf(dark.page)).toBe('rgb(20, 25, 30)');
    await dark.page.emulateMedia({ media: 'print' });
    expect(await backgroundOf(dark.page)).toBe('rgb(255, 255, 255)');
  });
});

describe('sluice verify --report', () => {
  const line = 'verify list.csv --local --quiet --email email --country US -o out.csv'.split(' ');
  const list = 'id,email\n1,good@sluice.test\n2,\n3,ada@example.com\n';

  it('writes the page when the output stands', async () => {
    const cwd = await folderFor();
    await writeFile(join(cwd, 'list.csv'), list);
    const args = [...line, '--report', 'report.html'];
    expect(await runInProcess(args, { cwd })).toMatchObject({ code: 0, stderr: '' });
    const page = await readFile(join(cwd, 'report.html'), 'utf8');
    expect(page).toContain('<th scope="row" class="word">sluice.test</th>');
    expect(page).toContain('<th scope="row" class="word">example.com</th>');
    expect(page).toContain('Batches over time');
    expect(page).not.toContain('good@');
    expect((await readdir(cwd)).toSorted()).toEqual(['list.csv', 'out.csv', 'report.html']);
  });

  it('writes one of a run that streams, too', async () => {
    const cwd = await folderFor();
    await writeFile(join(cwd, 'list.csv'), list);
    const args = [...line.slice(0, -2), '--report', 'report.html'];
    expect(await runInProcess(args, { cwd })).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, 'report.html'), 'utf8')).toContain('sluice.test');
  });

  it.each(['list.csv', 'out.csv', './out.csv', '-', 'missing/report.html'])(
    'refuses to be %s before anything is read',
    async (path) => {
      const cwd = await folderFor();
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
