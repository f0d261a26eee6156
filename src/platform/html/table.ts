import { html, type Html } from './html.js';

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
