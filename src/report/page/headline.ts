import type { ColumnSummary, Summary } from '../../engine/summary/summary.js';
import { html, nothing, type Html } from '../../platform/html/html.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import { percent, stackedBar, type Share } from './charts.js';
import { emptyShare, fateShares } from './column-section.js';

/**
 * What a reader wants to know first: how many of the rows can be reached, and how many addresses are valid.
 * What is not known counts as neither: where the local service has not known most cells, no share is large.
 */
export function headline(summary: Summary): Html {
  const { rows, columns, service } = summary;
  if (columns.length === 0 || rows === 0) return nothing;
  const isOpen = (column: ColumnSummary): boolean =>
    service === 'local' &&
    2 * column.verdicts.unknown > allCells(column) - emptyShare(column).count;
  return html`<section class="headline" aria-label="Result">
    ${columns.some(isOpen) ? nothing : rowFigure(summary)}
    ${columns.map((column) => columnFigure(column, isOpen(column)))}
  </section>`;
}

function rowFigure({ rows, reachable_rows, columns }: Summary): Html {
  const share = percent(reachable_rows, rows);
  const unknown = columns.reduce((sum, { verdicts }) => sum + verdicts.unknown, 0);
  const [what, reached] = [whatOf(columns), `${grouped(reachable_rows)} of ${grouped(rows)}`];
  return unknown === 0
    ? figure(share, 'of the rows can be reached', `${reached} have a valid ${what}`)
    : figure(
        share,
        'of the rows are known to be reachable',
        `${reached} have a valid ${what}; ${counted(unknown, 'cell')} not known`,
      );
}

function whatOf(columns: readonly ColumnSummary[]): string {
  const names = { email: 'email', phone: 'phone' } as const;
  return [...new Set(columns.map(({ type }) => names[type]))].join(' or ');
}

function columnFigure(column: ColumnSummary, isOpen: boolean): Html {
  const { name, verdicts } = column;
  const cells = allCells(column);
  const shares = [...fateShares(column), emptyShare(column)];
  const told = shares
    .filter(({ count }) => count > 0)
    .map(({ label, count }) => `${label} ${percent(count, cells)}`);
  const [valid, unknown] = [percent(verdicts.valid, cells), percent(verdicts.unknown, cells)];
  const share = unknown === '0 %' ? '' : `, ${unknown} not known`;
  return figure(
    isOpen ? unknown : valid,
    isOpen
      ? html`unknown in <b>${name}</b>: the local service could not tell`
      : html`${share === '' ? 'valid' : 'known to be valid'} in <b>${name}</b>${share}`,
    `of ${counted(cells, 'cell')}, the empty ones among them`,
    html`${stackedBar(shares, `${name}: ${told.join(', ')}`)}
      <p class="key">${shares.map(keyOf)}</p>`,
  );
}

function keyOf({ label, count, tone }: Share): Html {
  if (count === 0) return nothing;
  return html`<span><i class="swatch ${tone}"></i>${grouped(count)} ${label}</span> `;
}

function figure(result: string, label: string | Html, detail: string, bar: Html = nothing): Html {
  return html`<div class="figure">
    <strong>${result}</strong> <span>${label}</span> <small>${detail}</small> ${bar}
  </div>`;
}

/** What every share of a column is of, here and in its table, and on the terminal. */
function allCells({ buckets }: Pick<ColumnSummary, 'buckets'>): number {
  return Object.values(buckets).reduce((sum, count) => sum + count, 0);
}
