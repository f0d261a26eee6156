import { html, nothing, type Html } from '../../platform/html/html.js';
import { page } from '../../platform/html/page.js';
import type { RunEnd, Summary } from '../../engine/summary/summary.js';
import { version } from '../../platform/version.js';
import { oddSentence, rowsSentence } from '../sentences/list-sentences.js';
import { duration, moment } from '../../platform/text/shown-numbers.js';
import { differingBatches, failedBatches } from './batch-tables.js';
import { columnSection } from './column-section.js';
import { creditTable } from './credit-table.js';
import { earlierRuns } from './earlier-runs.js';
import { headline } from './headline.js';
import { type ListFigures, topTables } from './list-figures.js';
import { reportLook } from './report-style.js';
import { timeline } from './timeline.js';

export interface Report {
  readonly summary: Summary;
  /** What only the rows tell; `undefined` when this process did not write them. */
  readonly figures: ListFigures | undefined;
  /** How the run ended. */
  readonly end: RunEnd;
  readonly madeAt: Date;
}

/** A page about a run that needs nothing but itself: the result first, then what it cost, then the batches. */
export function reportPage({ summary, figures, end, madeAt }: Report): string {
  const { input, service, seconds, columns, compared } = summary;
  return page({
    title: `Sluice: ${input}`,
    meta: html`<meta http-equiv="Content-Security-Policy" content="${reportLook.policy}" />
      <meta name="referrer" content="no-referrer" />`,
    look: reportLook,
    body: html`<header>
        <h1>Verification of ${input}</h1>
        <p>${moment(madeAt)}, ${rowsSentence(summary)} in ${duration(seconds)}.</p>
      </header>
      <main>
        ${headline(summary)} ${endNote(end)}
        ${(compared?.odd ?? []).map((odd) => html`<p class="warning">${oddSentence(odd)}.</p>`)}
        ${adviceList(end.advice)} ${serviceNote(service)}
        ${columns.map((column, index) => columnSection(column, figures?.examples[index], figures?.hasRowNumbers === true))}
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
  });
}

/** What is not as it should be, and what comes of it; the advice of a run at its end has a list of its own. */
export function endNote({ exit_code, message }: RunEnd): Html {
  if (message === null) return nothing;
  return html`<p class="warning">Exit code ${exit_code}: ${message}.</p>`;
}

export function adviceList(advice: readonly string[]): Html {
  if (advice.length === 0) return nothing;
  return html`<section class="advice">
    <h2>What to do next</h2>
    <ul>
      ${advice.map((each) => html`<li>${each.charAt(0).toUpperCase()}${each.slice(1)}.</li>`)}
    </ul>
  </section>`;
}

export function serviceNote(service: string): Html {
  if (service !== 'local') return html`<p>Verified by ${service}.</p>`;
  return html`<p class="warning">
    Verified by the local service, free of charge: its verdicts are not a paid service's.
  </p>`;
}

export function card(figure: string, label: string): Html {
  return html`<div class="card"><b>${figure}</b> <span>${label}</span></div>`;
}

function rowsNote(): Html {
  return html`<p class="warning">
    An earlier process wrote the output: domains, operators and examples were not counted.
  </p>`;
}
