import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { debianProgram } from '../../servers/debian-program.js';

/** The Chromium of the tests of a file: Debian's, unless CHROMIUM names another. */
export function useBrowser(): () => Browser {
  let browser: Browser;
  beforeAll(async () => {
    const executablePath = debianProgram(process.env['CHROMIUM'] ?? 'chromium', 'chromium');
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  afterAll(async () => browser.close());
  return () => browser;
}
