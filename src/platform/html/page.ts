import { html, type Html } from './html.js';
import type { PageLook } from './page-look.js';

export interface PageParts {
  readonly title: string;
  /** Of the head, behind the encoding. */
  readonly meta: Html;
  readonly look: PageLook;
  readonly body: Html;
}

/** A whole page, which needs nothing but itself. */
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
