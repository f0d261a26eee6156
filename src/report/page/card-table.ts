import { html, type Html, table, type TableColumn } from '../../platform/html/html.js';

/** Rows that a table of the report has at most. */
export const mostRows = 20;

/** A table with a frame around it. */
export function cardTable(columns: readonly TableColumn[], rows: readonly Html[]): Html {
  return html`<div class="card-table">${table(columns, rows)}</div>`;
}
