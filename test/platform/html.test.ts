import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html, createPageLook, page } from '../../src/platform/html.js';
import { unicodeText } from './text/unicode-text.js';
import { createHash } from 'node:crypto';

describe('a piece of a page', () => {
  it('escapes what is filled in, and nothing twice', () => {
    const inner = html`<b>${`&<>"'`}</b>`;
    expect(html`${inner}${[inner]}${1}`.html).toBe(
      '<b>&amp;&lt;&gt;&quot;&#39;</b><b>&amp;&lt;&gt;&quot;&#39;</b>1',
    );
  });

  it.each([
    ['NUL', '\0', '\\u0000'],
    ['escape', '\u001b', '\\u001b'],
    ['a line end', '\n', '\\u000a'],
    ['a control character of the second row', '\u0085', '\\u0085'],
    ['an override of the direction', '\u202e', '\\u202e'],
    ['an isolate', '\u2067', '\\u2067'],
    ['a blank without a width', '\u200b', '\\u200b'],
    ['half a pair', '\ud83d', '\\ud83d'],
  ])('shows %s', (_name, character, shown) => {
    expect(html`a${character}b`.html).toBe(`a${shown}b`);
  });

  it('leaves other letters as they are', () => {
    expect(html`${'Zoë 😀 שלום 名'}`.html).toBe('Zoë 😀 שלום 名');
  });

  it('holds no character that means something, whatever is filled in', () => {
    fc.assert(
      fc.property(unicodeText(), (text) => {
        expect(html`${text}`.html).not.toMatch(/[<>"'\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});

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
