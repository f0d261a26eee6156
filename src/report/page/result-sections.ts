import type { ColumnSummary } from '../../engine/summary/figures.js';
import { html, nothing, type Html } from '../../platform/html.js';
import { cellsOfShares, formWords, reasonWords } from '../sentences/reason-words.js';
import { grouped, moment } from '../../platform/text/shown-numbers.js';
import {
  cardTable,
  numberCell,
  outcomeChart,
  percent,
  qualityBars,
  type Share,
  tableRow,
} from './charts.js';
import type { Example, ListFigures, ReasonExamples } from './list-figures.js';
import type { VerificationType } from '../../contract/enums.js';
import type { Summary } from '../../engine/summary/summary.js';

/** The results of a verified column: verdicts, quality, and reasons. */
export function columnSection(
  column: ColumnSummary,
  examples: ReasonExamples | undefined,
  places: ListFigures | undefined,
): Html {
  const { name, type } = column;
  const kind = name.trim().toLowerCase() === type ? nothing : html` <small>${type}s</small>`;
  return html`<section>
    <h2><span class="word">${name}</span>${kind}</h2>
    ${outcomeChart(fateShares(column))} ${qualityBars(qualityShares(column))} ${riskyNote(column)}
    ${reasonTable(column, examples, places)}
  </section>`;
}

/** Whether nothing says of a column's valid phones that they are in service. */
export function isValidByForm({ verdicts, valid_by_form: byForm }: ColumnSummary): boolean {
  return verdicts.valid > 0 && byForm === verdicts.valid;
}

/** Their sum is the base of every share of a column, here and on the terminal. */
export function fateShares(column: ColumnSummary): readonly Share[] {
  const { verdicts, buckets, type, valid_by_form: byForm = 0 } = column;
  const isByForm = isValidByForm(column);
  const { verified, no_result: noResult, failed } = buckets;
  return [
    {
      label: isByForm ? 'valid by form' : 'valid',
      count: verdicts.valid,
      tone: 'valid',
      meaning:
        type === 'email'
          ? 'takes mail'
          : byForm > 0
            ? `${isByForm ? '' : `${grouped(byForm)} by form: `}may not be in service`
            : undefined,
    },
    {
      label: 'wrong',
      count: verdicts.wrong,
      tone: 'wrong',
      meaning: type === 'email' ? 'does not exist: never mail it' : 'does not exist',
    },
    {
      label: 'unknown',
      count: verdicts.unknown,
      tone: 'unknown',
      meaning: 'the service cannot say: ask again another day',
    },
    { label: 'no verdict', count: verdicts.none, tone: 'none' },
    {
      label: 'no result',
      count: noResult,
      tone: 'no-result',
      meaning: 'sent, and not answered: often malformed',
    },
    {
      label: 'cannot be sent',
      count: cellsOfShares(column) - verified - noResult - failed,
      tone: 'not-submitted',
      meaning: 'cannot be sent, and costs nothing',
    },
    { label: 'failed', count: failed, tone: 'failed', meaning: 'its batch failed' },
  ];
}

/** In their order, with what they usually mean: the specification does not say it. */
const qualities = new Map([
  ['good', 'usually: the mailbox is there'],
  ['risky', 'usually: may bounce (catch-all, throw-away, full)'],
  ['bad', 'usually: not to be mailed'],
  ['unknown', 'the service cannot say'],
]);

function qualityShares({ quality }: ColumnSummary): readonly Share[] {
  const order = [...qualities.keys()];
  const rank = (label: string): number =>
    qualities.has(label) ? order.indexOf(label) : order.length;
  return Object.entries(quality)
    .toSorted(([one], [other]) => rank(one) - rank(other))
    .map(([label, count]) => ({
      label: label || '(none given)',
      count,
      tone: 'measure',
      meaning: qualities.get(label),
    }));
}

/** A verdict tells whether an address can be reached, a quality whether to write to it: they are independent. */
function riskyNote({ quality, of_valid, verdicts }: ColumnSummary): Html {
  const risky = quality['risky'] ?? 0;
  if (risky === 0 || verdicts.valid === 0) return nothing;
  const valid = of_valid?.risky ?? 0;
  const others = risky - valid;
  return html`<p>
    Of ${grouped(risky)} risky, ${grouped(valid)} ${valid === 1 ? 'is' : 'are'} among the
    ${grouped(verdicts.valid)} valid, and ${grouped(others)} ${others === 1 ? 'is' : 'are'} not
    valid.
  </p>`;
}

const reasonColumns = [
  { name: 'Reason' },
  { name: 'Meaning, and the first of them' },
  { name: 'Cells', kind: 'number' },
] as const;

function reasonTable(
  { reasons, forms }: ColumnSummary,
  examples: ReasonExamples | undefined,
  places: ListFigures | undefined,
): Html {
  const entries = Object.entries(reasons).toSorted(([, one], [, other]) => other - one);
  if (entries.length === 0) return nothing;
  const rows = entries.map(([reason, count]) => {
    const found = exampleList(examples?.of(reason) ?? [], places?.hasSheets === true);
    const meaning = html`${meaningOf(reason)}${formsOf(reason, forms?.[reason] ?? {})}${found}`;
    const cells = [html`<td>${meaning}</td>`, numberCell(count)];
    return tableRow(html`<code>${brokenAtUnderscores(reason)}</code>`, cells, 'word');
  });
  return html`<h3 class="reasons">Why cells have no result</h3>
    ${examples ? rowsNote(places?.hasRowNumbers === true) : nothing}
    ${cardTable(reasonColumns, rows)}`;
}

function rowsNote(hasRowNumbers: boolean): Html {
  return hasRowNumbers
    ? html`<p>Row numbers are those that a spreadsheet shows.</p>`
    : html`<p>Row 1 is the first below the header.</p>`;
}

/** A code that is too long for its column breaks after an underscore. */
function brokenAtUnderscores(code: string): readonly Html[] {
  const parts = code.split('_');
  return parts.map((part, at) => (at < parts.length - 1 ? html`${part}_<wbr />` : html`${part}`));
}

/** Options and variables are copied by readers: they do not break. Text is unchanged: it may have people's names. */
export function withOptions(text: string): readonly Html[] {
  const pieces = text.split(/(--[a-z][a-z-]*(?: good| \w+=[a-z]+)?|SLUICE_[A-Z_]+|`[^`]+`)/);
  return pieces.map((piece, at) => (at % 2 === 0 ? html`${piece}` : html`<code>${piece}</code>`));
}

/** @returns nothing for an unknown code */
function meaningOf(reason: string): Html {
  const known = Object.hasOwn(reasonWords, reason) ? reasonWords[reason] : undefined;
  if (!known) return nothing;
  const { words, meaning } = known;
  const text = withOptions(meaning);
  return words === reason ? html`${text}` : html`<b>${words}</b>: ${text}`;
}

/** Those that are not one plain address. */
function formsOf(reason: string, forms: Readonly<Record<string, number>>): Html {
  const items = Object.entries(formWords).flatMap(([form, words]) => {
    const count = forms[form] ?? 0;
    const isReported = reason === 'several_numbers' && form === 'several';
    return count > 0 && !isReported ? [`${grouped(count)} ${words}`] : [];
  });
  return items.length === 0 ? nothing : html`; of them ${items.join(', ')}`;
}

function exampleList(examples: readonly Example[], hasSheets: boolean): Html {
  if (examples.length === 0) return nothing;
  const place = ({ row, sheet = '' }: Example): string =>
    `${grouped(row)}${hasSheets ? ` of ${sheet}` : ''}`;
  if (examples.every(({ form }) => form === '')) {
    return html`<p class="examples">
      ${examples.length === 1 ? 'row' : 'rows'} ${examples.map(place).join('; ')}
    </p>`;
  }
  return html`<ul class="examples">
    ${examples.map((example) => html`<li>${`row ${place(example)}`}${formOf(example)}</li>`)}
  </ul>`;
}

function formOf({ form }: Example): Html {
  return form === '' ? nothing : html` <code>${brokenInAddress(form)}</code>`;
}

/** An address that is too long for its line breaks beside its at sign and its dots. */
function brokenInAddress(form: string): readonly Html[] {
  return form
    .split(/(?<=@)|(?=\.)/)
    .map((part, at) => html`${at > 0 ? html`<wbr />` : nothing}${part}`);
}

type FinishedRun = NonNullable<NonNullable<Summary['compared']>['previous']>;
type FinishedCounts = NonNullable<FinishedRun['email']>;

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
  return html`<section id="earlier-runs">
    <h2>Compared with earlier runs</h2>
    <p>
      The run before ended at ${moment(new Date(previous.finished_at))}. Shares are of the cells
      that the service has verified.
    </p>
    ${types}
  </section>`;
}

function figuresNow(summary: Summary, type: VerificationType): FinishedCounts | null {
  const counts = summary[type];
  return counts && { ...counts, net_credits: summary.credits[type]?.net ?? null };
}

function comparison(now: FinishedCounts, before: FinishedCounts): readonly Html[] {
  const line = (name: string, of: (figures: FinishedCounts) => number | string | null): Html =>
    tableRow(name, [numberCell(of(now)), numberCell(of(before))]);
  return [
    line('Addresses', ({ addresses }) => addresses),
    line('New, or too old in the history', (each) => each.addresses - each.from_history),
    ...verdicts.map((verdict) =>
      line(verdictNames[verdict], (each) => percent(each.verdicts[verdict], verified(each))),
    ),
    line('Credits, net', (each) => each.net_credits),
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
function runChart(type: VerificationType, runs: readonly FinishedCounts[]): Html {
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

function verified(figures: FinishedCounts): number {
  return Object.values(figures.verdicts).reduce((sum, count) => sum + count, 0);
}
