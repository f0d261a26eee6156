import type { ColumnSummary, Summary } from '../../runs/summary.js';
import { html, nothing, type Html } from '../../pages/html.js';
import { grouped } from '../../words/shown-numbers.js';
import { percent, stackedBar, type Share } from './charts.js';
import { fateShares } from './column-section.js';

/** What a reader wants to know first: how many of the rows can be reached, and how many addresses are valid. */
export function headline({ rows, reachable_rows, columns }: Summary): Html {
  if (columns.length === 0 || rows === 0) return nothing;
  const reach = figure(
    percent(reachable_rows, rows),
    'of the rows can be reached',
    `${grouped(reachable_rows)} of ${grouped(rows)} have a valid ${whatOf(columns)}`,
  );
  return html`<section class="headline" aria-label="Result">
    ${reach} ${columns.map(columnFigure)}
  </section>`;
}

function whatOf(columns: readonly ColumnSummary[]): string {
  const names = { email: 'email', phone: 'phone' } as const;
  return [...new Set(columns.map(({ type }) => names[type]))].join(' or ');
}

function columnFigure(column: ColumnSummary): Html {
  const { name, verdicts } = column;
  const filled = filledCells(column);
  const shares = fateShares(column);
  const told = shares
    .filter(({ count }) => count > 0)
    .map(({ label, count }) => `${label} ${percent(count, filled)}`);
  return figure(
    percent(verdicts.valid, filled),
    html`valid in <b>${name}</b>`,
    `of ${grouped(filled)} filled cells`,
    html`${stackedBar(shares, `${name}: ${told.join(', ')}`)}
      <p class="key">${shares.map(keyOf)}</p>`,
  );
}

function keyOf({ label, count, tone }: Share): Html {
  if (count === 0) return nothing;
  return html`<span><i class="swatch ${tone}"></i>${grouped(count)} ${label}</span> `;
}

function figure(share: string, label: string | Html, detail: string, bar: Html = nothing): Html {
  return html`<div class="figure">
    <strong>${share}</strong> <span>${label}</span> <small>${detail}</small> ${bar}
  </div>`;
}

/** Cells that hold something: an empty one can be neither valid nor wrong. */
function filledCells({ buckets, reasons }: Pick<ColumnSummary, 'buckets' | 'reasons'>): number {
  const all = Object.values(buckets).reduce((sum, count) => sum + count, 0);
  return all - (reasons['empty'] ?? 0);
}
