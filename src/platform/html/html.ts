/** A piece of a page that may are as it is. */
export interface Html {
  readonly html: string;
}

type Filling = string | number | Html | readonly Html[];

/** Makes a piece of a page: every text that is filled in is escaped, pieces stand as they are. */
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

/**
 * What means something in a page is written as its entity. What no page may hold becomes a blank, and
 * so does what turns the order of letters round: a name must not dress up as another.
 */
function escaped(text: string): string {
  return text
    .replaceAll(/[&<>"']/g, (character) => entities.get(character) ?? '')
    .replaceAll(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

export interface TableColumn {
  readonly name: string;
  /** Class of its head. */
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
