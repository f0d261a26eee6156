import { createHash } from 'node:crypto';
import { printableLine } from './text/printable.js';

/** A piece of a page, escaped already. */
export interface Html {
  readonly html: string;
}

type Filling = string | number | Html | readonly Html[];

export function html(pieces: TemplateStringsArray, ...fillings: readonly Filling[]): Html {
  let made = pieces[0] ?? '';
  for (const [index, filling] of fillings.entries()) {
    made += written(filling) + (pieces[index + 1] ?? '');
  }
  return { html: made };
}

export const nothing: Html = { html: '' };

function written(filling: Filling): string {
  if (typeof filling === 'number') return String(filling);
  if (typeof filling === 'string') return escaped(filling);
  if ('html' in filling) return filling.html;
  return filling.map((piece) => piece.html).join('');
}

const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** Escapes special characters, and shows invisible ones as a terminal does: a name must not look like another. */
function escaped(text: string): string {
  return printableLine(text).replaceAll(/[&<>"']/g, (character) => entities.get(character) ?? '');
}

export interface TableColumn {
  readonly name: string;
  readonly kind?: 'number' | 'chart';
}

/** @param rows a `tr` each, with a cell for each of the columns */
export function table(columns: readonly TableColumn[], rows: readonly Html[]): Html {
  return html`<table>
    <thead>
      <tr>
        ${columns.map(({ name, kind }) =>
          kind === undefined
            ? html`<th scope="col">${name}</th>`
            : html`<th scope="col" class="${kind}">${name}</th>`,
        )}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

/** A page's style, and its policy, which allows no loading. */
export interface PageLook {
  /** As one piece: the hash covers every blank. */
  readonly style: Html;
  readonly policy: string;
}

/**
 * Common to all pages: colours by day and by night, those of verdicts, and basic elements. A verdict's colour
 * means only that verdict, with a word beside it.
 */
const shared = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1a2129, #e6eaee);
  --soft: light-dark(#57626e, #9aa6b2);
  --line: light-dark(#d8dee4, #333c46);
  --back: light-dark(#f5f7f9, #14191e);
  --card: light-dark(#ffffff, #1c2329);
  --valid: light-dark(#00795c, #35c498);
  --wrong: light-dark(#c1351d, #ff8a70);
  --unknown: light-dark(#b26a00, #f0b23e);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem;
  background: var(--back); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
}
h1 { margin: 0; overflow-wrap: anywhere; }
p { margin: 0.2rem 0; color: var(--soft); }
small { color: var(--soft); }
summary { cursor: pointer; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
`;

/** @param rules the page's own, after the common ones */
export function createPageLook(rules: string): PageLook {
  const style = shared + rules;
  const hash = createHash('sha256').update(style).digest('base64');
  return {
    style: { html: `<style>${style}</style>` },
    policy: [
      "default-src 'none'",
      `style-src 'sha256-${hash}'`,
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; '),
  };
}

interface PageParts {
  readonly title: string;
  readonly meta: Html;
  readonly look: PageLook;
  readonly body: Html;
}

export function page({ title, meta, look, body }: PageParts): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${meta}
        <title>${title}</title>
        ${look.style}
      </head>
      <body>
        ${body}
      </body>
    </html> `.html;
}
