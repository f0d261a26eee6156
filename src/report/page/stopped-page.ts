import { html, nothing, type Html } from '../../platform/html/html.js';
import { page } from '../../platform/html/page.js';
import { describeStart, describeStatus } from '../../engine/runs/reporting/describe-status.js';
import type { RunStatus } from '../../engine/stores/run-status.js';
import type { RunEnd, StoppedSummary } from '../../engine/summary/summary.js';
import { version } from '../../platform/version.js';
import { duration, grouped, moment } from '../../platform/text/shown-numbers.js';
import { failedBatches } from './batch-tables.js';
import { creditTable } from './credit-table.js';
import { adviceList, card, endNote, serviceNote } from './report-page.js';
import { reportLook } from './report-style.js';
import { timeline } from './timeline.js';

/** A page about a run that stopped: why, what was paid, and what comes next. */
export function stoppedPage(
  summary: StoppedSummary & RunEnd,
  status: RunStatus | undefined,
  madeAt: Date,
): string {
  const { input, output, service, seconds, batches } = summary;
  return page({
    title: `Sluice: ${input}, stopped`,
    meta: html`<meta http-equiv="Content-Security-Policy" content="${reportLook.policy}" />
      <meta name="referrer" content="no-referrer" />`,
    look: reportLook,
    body: html`<header>
        <h1>Verification of ${input}, stopped</h1>
        <p>${moment(madeAt)}. ${outputNote(output, status)}</p>
        ${endNote(summary)} ${adviceList(summary.next === null ? [] : [summary.next])}
        ${service === null ? nothing : serviceNote(service)}
        ${status ? html`<p>So far: ${describeStatus(status).soFar}.</p>` : nothing}
      </header>
      <main>
        <div class="cards">${card(duration(seconds), 'took')} ${statusCards(status)}</div>
        ${creditTable(summary)} ${timeline(batches)} ${failedBatches(summary)}
      </main>
      <footer><p>Made by Sluice ${version}. No cell of the list is in this page.</p></footer>`,
  });
}

/** Rows that streamed are wherever they went. */
function outputNote(output: string, status: RunStatus | undefined): string {
  if (!status) return '';
  return status.isFinished ? `Written to ${output}.` : `${output} is as it was before.`;
}

function statusCards(status: RunStatus | undefined): Html {
  if (!status) return nothing;
  const { rows, batches, done } = status;
  return html`${rows === null ? nothing : card(grouped(rows), 'rows')}
  ${card(`${grouped(done)} of ${grouped(batches)}`, 'batches done')}
  ${card(describeStart(status), 'begun')}`;
}
