import type { Browser, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { textContrasts } from '../../platform/html/look-of-page.js';
import { useBrowser } from '../../platform/html/use-browser.js';
import { withService } from '../with-service.js';

const browser = useBrowser();

const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>';

/** Opens the page of a service that has something to show; whatever the browser complains of is kept. */
async function opened(
  context: Parameters<Browser['newPage']>[0],
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const { service, wire } = await withService({ verifyDelayMs: 1_000_000 });
  const uuid = await wire.upload(['good@sluice.test', 'bad@sluice.test'], { name: evil });
  await wire.prepare(uuid);
  await wire.launch(uuid);
  await wire.upload(['good@sluice.test'], { name: `a name of ${'x'.repeat(200)}` });
  const page = await browser().newPage(context);
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', async (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await page.goto(service.baseUrl);
  return { page, complaints };
}

describe('the status page in a browser', () => {
  it.each([
    ['a desktop', { viewport: { width: 1280, height: 900 } }],
    ['a phone', { viewport: { width: 390, height: 844 } }],
    ['a browser without JavaScript', { javaScriptEnabled: false }],
  ])('is whole, and runs nothing that it shows: %s', async (_name, context) => {
    const { page, complaints } = await opened(context);
    expect(await page.title()).toBe('Sluice: local service');
    const rows = page.locator('table').first().locator('tbody tr');
    expect(await rows.count()).toBe(2);
    const launched = await rows.nth(1).textContent();
    expect(launched).toContain(evil);
    expect(launched).toContain('verification_ongoing');
    expect(await rows.nth(1).locator('progress').isVisible()).toBe(true);
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('fits a window of any width', async () => {
    const { page } = await opened({});
    for (const width of [1280, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
    await page.close();
  });

  it('is two screens of a phone at most, and all of it when asked', async () => {
    const { service, wire } = await withService();
    const batches = 30;
    for (let id = 0; id < batches; id += 1) {
      await wire.verify(['good@sluice.test'], { name: `sluice-0011223344556677-${id}-1` });
    }
    const viewport = { width: 390, height: 844 };
    const page = await browser().newPage({ viewport });
    const shownBatches = async () => page.locator('.batches tbody tr:visible').count();
    await page.goto(service.baseUrl);
    expect(await shownBatches()).toBe(4);
    expect(await page.evaluate('document.body.scrollHeight')).toBeLessThan(2 * viewport.height);
    await page.getByText(`Show all ${batches}`).click();
    expect(await shownBatches()).toBe(batches);
    // It comes again by itself.
    await page.waitForEvent('framenavigated');
    expect(await shownBatches()).toBe(batches);
    await page.getByText('Show the newest only').first().click();
    expect(await shownBatches()).toBe(4);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(await shownBatches()).toBe(batches);
    expect(await page.locator('.more:visible').count()).toBe(0);
    await page.close();
  });

  it.each([
    ['light', 'rgb(245, 247, 249)'],
    ['dark', 'rgb(20, 25, 30)'],
  ] as const)('has its style, and can be read: %s', async (colorScheme, background) => {
    const { page } = await opened({ colorScheme });
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(background);
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      const texts = await textContrasts(page);
      expect(texts.length).toBeGreaterThan(20);
      expect(texts.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
    }
    await page.close();
  });
});
