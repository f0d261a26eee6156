import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { html } from '../../../src/platform/html/html.js';
import { createPageLook, page } from '../../../src/platform/html/page.js';

describe('the look of a page', () => {
  it('allows the style that stands in the page, and nothing else', () => {
    const look = createPageLook('h1 { font-size: 2rem; }');
    const made = page({ title: '<b>', meta: html``, look, body: html`<h1>a</h1>` });
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(made) ?? [];
    expect(style).toMatch(/light-dark\([^]*h1 \{ font-size: 2rem; \}$/);
    const hash = createHash('sha256').update(style).digest('base64');
    expect(look.policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`,
    );
    expect(made).toContain('<title>&lt;b&gt;</title>');
  });
});
