import type { VerificationType } from '../../contract/enums.js';
import { html, nothing, type Html } from '../../pages/html.js';
import { page } from '../../pages/page.js';
import type { TableColumn } from '../../pages/table.js';
import { duration, grouped } from '../../words/shown-numbers.js';
import { chart, percent, stackedBar, type Share } from './charts.js';
import { differingBatches, failedBatches } from './batch-tables.js';
import { cardTable, mostRows } from './card-table.js';
import { creditTable } from './credit-table.js';
import { earlierRuns } from './earlier-runs.js';
import { fates, type ListFigures } from './list-figures.js';
import { moment } from './moment.js';
import { reasonTexts } from './reason-texts.js';
import { reportLook } from './report-style.js';
import { timeline } from './timeline.js';
import type { RunEnd, Summary, TypeSummary } from '../../runs/summary.js';
import { version } from '../../system/version.js';
import { endOf } from '../run-end.js';
import type { Top } from './top-counts.js';

export interface Report {
  readonly summary: Summary;
  /** What only the rows tell; `undefined` when this process did not write them. */
  readonly figures: ListFigures | undefined;
  readonly madeAt: Date;
}

/** A page about a run that needs nothing but itself. */
export function reportPage({ summary, figures, madeAt }: Report): string {
  const { input, output, service, rows, seconds } = summary;
  return page({
    title: `Sluice: ${input}`,
    meta: html`<meta http-equiv="Content-Security-Policy" content="${reportLook.policy}" />
      <meta name="referrer" content="no-referrer" />`,
    look: reportLook,
    body: html`<header>
        <h1>Verification of ${input}</h1>
        <p>${moment(madeAt)}. Written to ${output}.</p>
        ${serviceNote(service)} ${endNote(endOf(summary))}
      </header>
      <main>
        <div class="cards">
          ${card(grouped(rows), 'rows')} ${card(duration(seconds), 'took')}
          ${(['email', 'phone'] as const).map((type) => typeCards(type, summary))}
        </div>
        ${(['email', 'phone'] as const).map((type) => typeSection(type, summary[type]))}
        ${earlierRuns(summary)} ${figures === undefined ? rowsNote() : topSections(figures)}
        ${creditTable(summary)} ${timeline(summary.batches)} ${failedBatches(summary)}
        ${differingBatches(summary)}
      </main>
      <footer>
        <p>
          Made by Sluice ${version}. Counts are of cells, unless they are said to be of addresses;
          no cell of the list is in this page, except domains of emails and operators of phones.
        </p>
      </footer>`,
  });
}

/** What is not as it should be, and what comes of it. */
export function endNote({ exit_code, message, next }: RunEnd): Html {
  if (message === null) return nothing;
  return html`<p class="warning">
    Exit code ${exit_code}: ${message}.
    ${next === null ? '' : `${next.charAt(0).toUpperCase()}${next.slice(1)}.`}
  </p>`;
}

export function serviceNote(service: string): Html {
  if (service !== 'local') return html`<p>Verified by ${service}.</p>`;
  return html`<p class="warning">
    Verified by the local service, offline and free of charge: its verdicts are not a paid
    service's.
  </p>`;
}

export function card(figure: string, label: string): Html {
  return html`<div class="card"><b>${figure}</b> <span>${label}</span></div>`;
}

function typeCards(type: VerificationType, { [type]: counts, credits: all }: Summary): Html {
  if (counts === null) return nothing;
  const net = all[type]?.net ?? null;
  const price = net === null ? nothing : card(grouped(net), `${type} credits, net`);
  return html`${card(grouped(counts.addresses), `${type} addresses`)} ${price}`;
}

function typeSection(type: VerificationType, counts: TypeSummary | null): Html {
  if (counts === null) return nothing;
  const { addresses, duplicates } = counts;
  return html`<section>
    <h2>${type === 'email' ? 'Emails' : 'Phones'}</h2>
    <p>
      ${grouped(addresses)} different addresses; ${grouped(duplicates)} cells held one that had been
      seen before.${historyNote(counts)}
    </p>
    ${chart('What became of the cells', fateShares(counts), 'Cells')}
    ${chart('Quality of what was verified', qualityShares(counts), 'Cells')}
    ${reasonTable(counts.reasons)}
  </section>`;
}

function historyNote({ from_history: known }: TypeSummary): string {
  return known > 0
    ? ` The history knew ${grouped(known)} of the addresses: they cost nothing.`
    : '';
}

function fateShares({ verdicts, buckets }: TypeSummary): readonly Share[] {
  return [
    { label: 'valid', count: verdicts.valid, tone: 'valid' },
    { label: 'wrong', count: verdicts.wrong, tone: 'wrong' },
    { label: 'unknown', count: verdicts.unknown, tone: 'unknown' },
    { label: 'verified, without a verdict', count: verdicts.none, tone: 'none' },
    { label: 'sent, without a result', count: buckets.no_result, tone: 'no-result' },
    { label: 'not sent', count: buckets.not_submitted, tone: 'not-submitted' },
    { label: 'failed', count: buckets.failed, tone: 'failed' },
  ];
}

const qualityTones: ReadonlyMap<string, string> = new Map([
  ['good', 'valid'],
  ['risky', 'failed'],
  ['bad', 'wrong'],
  ['unknown', 'unknown'],
]);

function qualityShares({ quality }: TypeSummary): readonly Share[] {
  const order = [...qualityTones.keys()];
  const rank = (label: string): number =>
    order.includes(label) ? order.indexOf(label) : order.length;
  return Object.entries(quality)
    .toSorted(([one], [other]) => rank(one) - rank(other))
    .map(([label, count]) => ({
      label: label || '(none given)',
      count,
      tone: qualityTones.get(label) ?? 'none',
    }));
}

const reasonColumns = [
  { name: 'Reason' },
  { name: 'Meaning' },
  { name: 'Cells', kind: 'number' },
] as const;

function reasonTable(reasons: TypeSummary['reasons']): Html {
  const entries = Object.entries(reasons).toSorted(([, one], [, other]) => other - one);
  if (entries.length === 0) return nothing;
  const rows = entries.map(
    ([reason, count]) =>
      html`<tr>
        <th scope="row" class="word"><code>${reason}</code></th>
        <td>${reasonTexts.get(reason) ?? ''}</td>
        <td class="number">${grouped(count)}</td>
      </tr>`,
  );
  return html`<h3>Why cells are not verified</h3>
    ${cardTable(reasonColumns, rows)}`;
}

function rowsNote(): Html {
  return html`<p class="warning">
    The output stood already when this process took the run up: domains and operators were not
    counted.
  </p>`;
}

function topSections({ domains, operators }: ListFigures): Html {
  return html`${topTable('Domains', domains.top(mostRows))}
  ${topTable('Operators', operators.top(mostRows))}`;
}

const fateTones = ['valid', 'wrong', 'unknown', 'not-submitted'] as const;

function topTable(title: string, { counts, words, missing }: Top): Html {
  if (counts.length === 0) return nothing;
  const about = missing > 0 ? `, each count too low by at most ${grouped(missing)}` : '';
  const columns: readonly TableColumn[] = [
    { name: title.slice(0, -1) },
    { name: 'Cells', kind: 'number' },
    { name: 'Valid', kind: 'number' },
    { name: 'Wrong', kind: 'number' },
    { name: 'Unknown', kind: 'number' },
    { name: 'Share', kind: 'chart' },
  ];
  return html`<section>
    <h2>${title}</h2>
    <p>
      The ${counts.length} most frequent of ${missing > 0 ? 'about ' : ''}${grouped(words)}${about}.
    </p>
    ${cardTable(columns, counts.map(topRow))}
  </section>`;
}

function topRow({ word, total, ways }: Top['counts'][number]): Html {
  const shares = fates.map((label, way) => ({
    label,
    count: ways[way] ?? 0,
    tone: fateTones[way] ?? 'none',
  }));
  const described = shares
    .map(({ label, count }) => `${label} ${percent(count, total)}`)
    .join(', ');
  return html`<tr>
    <th scope="row" class="word">${word}</th>
    <td class="number">${grouped(total)}</td>
    <td class="number">${grouped(ways[0] ?? 0)}</td>
    <td class="number">${grouped(ways[1] ?? 0)}</td>
    <td class="number">${grouped(ways[2] ?? 0)}</td>
    <td class="chart">${stackedBar(shares, `${word}: ${described}`)}</td>
  </tr>`;
}
