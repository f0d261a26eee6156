import { html, type Html, nothing, table, type TableColumn } from '../../platform/html.js';
import { grouped } from '../../platform/text/shown-numbers.js';

/** A part of a whole, in charts and their tables. */
export interface Share {
  readonly label: string;
  readonly count: number;
  /** Names its colour in the page's style. */
  readonly tone: string;
  /** What the label means, for who reads the page alone. */
  readonly meaning?: string | undefined;
}

const width = 1000;

export function percent(count: number, whole: number): string {
  if (whole === 0) return '0 %';
  const value = (100 * count) / whole;
  if (count > 0 && value < 0.1) return '< 0.1 %';
  if (count < whole && value > 99.9) return '> 99.9 %';
  return `${value.toFixed(value % 1 === 0 ? 0 : 1)} %`;
}

/** A stretchable bar of parts; its text is beside it. */
export function stackedBar(shares: readonly Share[], described: string): Html {
  const whole = shares.reduce((sum, { count }) => sum + count, 0);
  let at = 0;
  const parts = shares
    .filter(({ count }) => count > 0)
    .map(({ count, tone }) => {
      const from = at;
      at += (count / whole) * width;
      return html`<rect
        class="${tone}"
        x="${from.toFixed(2)}"
        width="${(at - from).toFixed(2)}"
        height="24"
      />`;
    });
  return html`<svg
    class="bar"
    viewBox="0 0 ${width} 24"
    preserveAspectRatio="none"
    role="img"
    aria-label="${described}"
  >
    ${parts}
  </svg>`;
}

/** A bar for each quality, all in one colour: they are not verdicts. */
export function qualityBars(shares: readonly Share[]): Html {
  const shown = shares.filter(({ count }) => count > 0);
  if (shown.length === 0) return nothing;
  const whole = shown.reduce((sum, { count }) => sum + count, 0);
  const rows = shown.map(({ label, count, tone, meaning }) => {
    const bar = [
      { label, count, tone },
      { label: 'others', count: whole - count, tone: 'rest' },
    ];
    return tableRow(html`${label}${meaningOf(meaning)}`, [
      html`<td class="chart">${stackedBar(bar, `${label} ${percent(count, whole)}`)}</td>`,
      numberCell(count),
      numberCell(percent(count, whole)),
    ]);
  });
  const columns: readonly TableColumn[] = [
    { name: 'Quality' },
    { name: '', kind: 'chart' },
    { name: 'Cells', kind: 'number' },
    { name: 'Share', kind: 'number' },
  ];
  return html`<figure>
    <figcaption>Quality of what was verified</figcaption>
    ${table(columns, rows)}
  </figure>`;
}

const outcomeColumns = [
  { name: 'Outcome' },
  { name: 'Cells', kind: 'number' },
  { name: 'Share', kind: 'number' },
] as const;

/** One bar of the outcomes, with their table; nothing without data. */
export function outcomeChart(shares: readonly Share[]): Html {
  const shown = shares.filter(({ count }) => count > 0);
  if (shown.length === 0) return nothing;
  const whole = shown.reduce((sum, { count }) => sum + count, 0);
  const described = shown.map(({ label, count }) => `${label} ${percent(count, whole)}`).join(', ');
  const title = 'What became of the filled cells';
  const rows = shown.map(({ label, count, tone, meaning }) =>
    tableRow(html`<i class="swatch ${tone}"></i>${label}${meaningOf(meaning)}`, [
      numberCell(count),
      numberCell(percent(count, whole)),
    ]),
  );
  return html`<figure>
    <figcaption>${title}</figcaption>
    ${stackedBar(shown, `${title}: ${described}`)} ${table(outcomeColumns, rows)}
  </figure>`;
}

function meaningOf(meaning: string | undefined): Html {
  return meaning === undefined ? nothing : html` <small class="meaning">${meaning}</small>`;
}

export const mostRows = 20;

/** A row of a table. @param kind `word` where its head is a name, and may break anywhere */
export function tableRow(
  head: string | Html,
  cells: readonly Html[],
  kind: 'word' | 'text' = 'text',
): Html {
  return html`<tr>
    <th scope="row" class="${kind}">${head}</th>
    ${cells}
  </tr>`;
}

/** @param value `null` where it is not known */
export function numberCell(value: number | string | null): Html {
  const text = typeof value === 'number' ? grouped(value) : (value ?? 'not known');
  return html`<td class="number">${text}</td>`;
}

export function cardTable(columns: readonly TableColumn[], rows: readonly Html[]): Html {
  return html`<div class="card-table">${table(columns, rows)}</div>`;
}
