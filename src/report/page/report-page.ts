import { describeStatus } from '../run-end.js';
import type { RunStatus } from '../../engine/stores/run-status.js';
import type { ColumnSummary } from '../../engine/summary/figures.js';
import type { RunEnd, StoppedSummary, Summary } from '../../engine/summary/summary.js';
import { html, type Html, nothing, page } from '../../platform/html.js';
import { counted, grouped, moment, startText } from '../../platform/text/shown-numbers.js';
import { optionName } from '../../platform/text/sentence.js';
import { version } from '../../platform/version.js';
import { oddSentence, rowsSentence, timeOfRun } from '../sentences/list-sentences.js';
import { cellsOfShares, countedApart } from '../sentences/reason-words.js';
import { creditTable, differingBatches, failedBatches, timeline } from './batch-sections.js';
import { percent, type Share, stackedBar } from './charts.js';
import {
  columnSection,
  fateShares,
  earlierRuns,
  isValidByForm,
  withOptions,
} from './result-sections.js';
import { type ListFigures, topTables } from './list-figures.js';
import { reportLook } from './report-style.js';

export interface Report {
  readonly summary: Summary;
  /** Figures from the rows; `undefined` when another process wrote them. */
  readonly figures: ListFigures | undefined;
  readonly end: RunEnd;
  readonly madeAt: Date;
}

/** A self-contained page about a run: the result, then the cost, then the batches. */
export function reportPage({ summary, figures, end, madeAt }: Report): string {
  const { input, service, columns, compared } = summary;
  return pageOf(
    input,
    html`<header>
        <h1>Verification of ${input}</h1>
        <p>${moment(madeAt)}, ${rowsSentence(summary, timeOfRun(summary))}.</p>
        ${trialNote(summary)}
      </header>
      <main>
        ${headline(summary)} ${endNote(end)}
        ${(compared?.odd ?? []).map((odd) => html`<p class="warning">${oddSentence(odd)}.</p>`)}
        ${adviceList(end.advice)} ${serviceNote(service)}
        ${columns.map((column, index) => columnSection(column, figures?.examples[index], figures))}
        ${figures === undefined ? rowsNote() : topTables(figures)} ${earlierRuns(summary)}
        ${creditTable(summary)} ${failedBatches(summary)} ${differingBatches(summary)}
        ${timeline(summary.batches)}
      </main>
      <footer>
        <p>
          Made by Sluice ${version}. Counts are of cells, unless they are said to be of addresses.
          This page has domains of emails and operators of phones, but no cell of the list: examples
          show dots for letters and digits, except in the domain of an email and in the first three
          digits of a phone.
        </p>
      </footer>`,
  );
}

function pageOf(title: string, body: Html): string {
  return page({
    title: `Sluice: ${title}`,
    meta: html`<meta http-equiv="Content-Security-Policy" content="${reportLook.policy}" />
      <meta name="referrer" content="no-referrer" />`,
    look: reportLook,
    body,
  });
}

function trialNote({ limit, rows }: Summary): Html {
  if (limit === undefined || rows < limit) return nothing;
  const text = `A trial: only the first ${counted(limit, 'row')} of the list (${optionName('limit')}).`;
  return html`<p>${withOptions(text)}</p>`;
}

/** A problem with its consequence; a finished run's advice has its own list. */
function endNote({ exit_code, message }: RunEnd): Html {
  if (message === null) return nothing;
  return html`<p class="warning">Exit code ${exit_code}: ${message}.</p>`;
}

function adviceList(advice: readonly string[]): Html {
  if (advice.length === 0) return nothing;
  return html`<section class="advice">
    <h2>What to do next</h2>
    <ul>
      ${advice.map((each) => html`<li>${withOptions(each)}</li>`)}
    </ul>
  </section>`;
}

function serviceNote(service: string): Html {
  if (service !== 'local') return html`<p>Verified by ${service}.</p>`;
  return html`<p class="warning">
    Verified by the local service, free of charge: its verdicts are not a paid service's.
  </p>`;
}

function card(figure: string, label: string): Html {
  return html`<div class="card"><b>${figure}</b> <span>${label}</span></div>`;
}

function rowsNote(): Html {
  return html`<p class="warning">
    An earlier process wrote the output: domains, operators and examples were not counted.
  </p>`;
}

/**
 * What a reader wants to know first: how many rows can be reached, and how many addresses are valid. Unknown
 * ones count as neither: where the local service did not know most cells, no share is large.
 */
function headline(summary: Summary): Html {
  const { rows, columns, service } = summary;
  if (columns.length === 0 || rows === 0) return nothing;
  const isOpen = (column: ColumnSummary): boolean =>
    service === 'local' && 2 * column.verdicts.unknown > cellsOfShares(column);
  return html`<section class="headline" aria-label="Result">
    ${columns.some(isOpen) || isByFormAlone(summary) ? nothing : rowFigure(summary)}
    ${columns.map((column) => columnFigure(column, isOpen(column)))}
  </section>`;
}

/** Whether nobody is known to be reachable, as all valid cells are phones of which only the form is known. */
function isByFormAlone({
  reachable_rows,
  opted_out_rows: optedOut = 0,
  columns,
}: Summary): boolean {
  return reachable_rows + optedOut === 0 && columns.some(({ verdicts }) => verdicts.valid > 0);
}

function rowFigure(summary: Summary): Html {
  const { reachable_rows, opted_out_rows: optedOut = 0, rows_by_form: byForm = 0 } = summary;
  const { columns } = summary;
  const rows = summary.rows - (summary.rows_split_off ?? 0);
  const share = percent(reachable_rows, rows);
  const unknown = columns.reduce((sum, { verdicts }) => sum + verdicts.unknown, 0);
  const types = new Set(columns.map(({ type }) => type));
  const what = [...types].join(' or a valid ');
  const known = types.has('phone') ? ' whose status is known' : '';
  const reached = `${grouped(reachable_rows)} of ${grouped(rows)}`;
  const without = [
    byForm === 0
      ? ''
      : `; ${grouped(byForm)} more ${byForm === 1 ? 'has' : 'have'} only a phone that is valid by form, and may not be in service`,
    optedOut === 0
      ? ''
      : `; ${grouped(optedOut)} more opted out, and ${optedOut === 1 ? 'does' : 'do'} not count`,
  ].join('');
  return unknown === 0 && known === ''
    ? figure(share, 'of all rows can be reached', `${reached} have a valid ${what}${without}`)
    : figure(
        share,
        'of all rows are known to be reachable',
        `${reached} have a valid ${what}${known}${without}${unknown === 0 ? '' : `; ${counted(unknown, 'cell')} with an unknown verdict do not count as valid`}`,
      );
}

function columnFigure(column: ColumnSummary, isOpen: boolean): Html {
  const { name, verdicts } = column;
  const cells = cellsOfShares(column);
  const shares = fateShares(column);
  const unsent = shares.find(({ tone }) => tone === 'not-submitted');
  const apart = countedApart.map((reason) => ({
    label: reason,
    count: column.reasons[reason] ?? 0,
  }));
  const why = [...apart, ...(unsent ? [unsent] : [])].filter(({ count }) => count > 0);
  const listed = why.map(({ label, count }) => `${grouped(count)} ${label}`).join(', ');
  const { not_submitted: notSubmitted } = column.buckets;
  const without = notSubmitted === 0 ? '' : `; ${grouped(notSubmitted)} not submitted: ${listed}`;
  const stated = shares
    .filter(({ count }) => count > 0)
    .map(({ label, count }) => `${label} ${percent(count, cells)}`);
  const [valid, unknown] = [percent(verdicts.valid, cells), percent(verdicts.unknown, cells)];
  const share = unknown === '0 %' ? '' : `, ${unknown} not known`;
  const [kind] = shares;
  const what =
    isValidByForm(column) || share === '' ? (kind?.label ?? 'valid') : 'known to be valid';
  return figure(
    isOpen ? unknown : valid,
    isOpen
      ? html`unknown in <b>${name}</b>: the local service could not tell`
      : html`${what} in <b>${name}</b>${share}`,
    `of ${counted(cells, 'filled cell')}${without}`,
    html`${stackedBar(shares, `${name}: ${stated.join(', ')}`)}
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

/** A page about a stopped run: why, what was paid, and what comes next. */
export function stoppedPage(
  summary: StoppedSummary & RunEnd,
  status: RunStatus | undefined,
  madeAt: Date,
): string {
  const { input, output, service, batches } = summary;
  return pageOf(
    `${input}, stopped`,
    html`<header>
        <h1>Verification of ${input}, stopped</h1>
        <p>${moment(madeAt)}. ${outputNote(output, status)}</p>
        ${endNote(summary)} ${adviceList(summary.next === null ? [] : [summary.next])}
        ${service === null ? nothing : serviceNote(service)}
        ${status ? html`<p>So far: ${describeStatus(status).soFar}.</p>` : nothing}
      </header>
      <main>
        <div class="cards">${card(timeOfRun(summary), 'took')} ${statusCards(status)}</div>
        ${creditTable(summary)} ${timeline(batches)} ${failedBatches(summary)}
      </main>
      <footer><p>Made by Sluice ${version}. No cell of the list is in this page.</p></footer>`,
  );
}

/** Streamed rows are wherever they went. */
function outputNote(output: string, status: RunStatus | undefined): string {
  if (!status) return '';
  return status.isFinished ? `Written to ${output}.` : `${output} was not written.`;
}

function statusCards(status: RunStatus | undefined): Html {
  if (!status) return nothing;
  const { rows, batches, done } = status;
  return html`${rows === null ? nothing : card(grouped(rows), 'rows')}
  ${card(`${grouped(done)} of ${grouped(batches)}`, 'batches done')}
  ${card(startText(status.startedAt), 'begun')}`;
}
