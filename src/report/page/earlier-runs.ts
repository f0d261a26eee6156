import type { VerificationType } from '../../contract/enums.js';
import type { Summary } from '../../engine/summary/summary.js';
import { html, nothing, type Html } from '../../platform/html.js';
import { grouped, moment } from '../../platform/text/shown-numbers.js';
import { cardTable, percent } from './charts.js';

type PastRun = NonNullable<NonNullable<Summary['compared']>['previous']>;
type PastCounts = NonNullable<PastRun['email']>;

const verdicts = ['valid', 'wrong', 'unknown', 'none'] as const;

const columns = [
  { name: '' },
  { name: 'This run', kind: 'number' },
  { name: 'Before', kind: 'number' },
] as const;

/** Comparison with earlier runs; nothing without a history. */
export function earlierRuns(summary: Summary): Html {
  const { compared } = summary;
  if (!compared?.previous) return nothing;
  const { previous, runs } = compared;
  const types = (['email', 'phone'] as const).map((type) => {
    const [now, before] = [figuresNow(summary, type), previous[type]];
    if (!now || !before) return nothing;
    const all = [...runs.flatMap((run) => run[type] ?? []), now].slice(-mostDrawn);
    return html`<h3>${type === 'email' ? 'Emails' : 'Phones'}</h3>
      ${runChart(type, all)} ${cardTable(columns, comparison(now, before))}`;
  });
  return html`<section>
    <h2>Compared with earlier runs</h2>
    <p>The run before ended at ${moment(new Date(previous.finished_at))}.</p>
    ${types}
  </section>`;
}

function figuresNow(summary: Summary, type: VerificationType): PastCounts | null {
  const counts = summary[type];
  return counts && { ...counts, net_credits: summary.credits[type]?.net ?? null };
}

function comparison(now: PastCounts, before: PastCounts): readonly Html[] {
  const shown = (value: number | null): string => (value === null ? 'not known' : grouped(value));
  const line = (name: string, of: (figures: PastCounts) => string): Html =>
    html`<tr>
      <th scope="row">${name}</th>
      <td class="number">${of(now)}</td>
      <td class="number">${of(before)}</td>
    </tr>`;
  return [
    line('Addresses', ({ addresses }) => grouped(addresses)),
    line('New, or too old in the history', (each) => grouped(each.addresses - each.from_history)),
    ...verdicts.map((verdict) =>
      line(verdictNames[verdict], (each) => percent(each.verdicts[verdict], verified(each))),
    ),
    line('Credits, net', (each) => shown(each.net_credits)),
  ];
}

const verdictNames = {
  valid: 'Valid',
  wrong: 'Wrong',
  unknown: 'Unknown',
  none: 'No verdict',
} as const;

const mostDrawn = 30;
const [width, height, gap] = [1000, 120, 4];

/** A column for each run, the latest on the right, with stacked verdicts. */
function runChart(type: VerificationType, runs: readonly PastCounts[]): Html {
  const step = width / runs.length;
  const bars = runs.flatMap((run, index) => {
    let top = height;
    return verdicts.map((verdict) => {
      const part = verified(run) === 0 ? 0 : (run.verdicts[verdict] / verified(run)) * height;
      top -= part;
      return part === 0
        ? nothing
        : html`<rect
            class="${verdict}"
            x="${(index * step).toFixed(2)}"
            y="${top.toFixed(2)}"
            width="${(step - gap).toFixed(2)}"
            height="${part.toFixed(2)}"
          />`;
    });
  });
  const unknown = runs.map((run) => percent(run.verdicts.unknown, verified(run)));
  const key = verdicts.map(
    (verdict) => html`<span><i class="swatch ${verdict}"></i>${verdictNames[verdict]}</span> `,
  );
  return html`<figure>
    <figcaption>Verdicts of the last ${runs.length} runs, this one on the right</figcaption>
    <svg
      class="runs"
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${type}, unknown in each run: ${unknown.join(', ')}"
    >
      ${bars}
    </svg>
    <p class="key">${key}</p>
  </figure>`;
}

function verified(figures: PastCounts): number {
  return Object.values(figures.verdicts).reduce((sum, count) => sum + count, 0);
}
