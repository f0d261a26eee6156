import { html, nothing, type Html, table, createPageLook, page } from '../../platform/html.js';
import { grouped } from '../../platform/text/shown-numbers.js';

/** How many of the newest a narrow window shows, unless asked for all. */
const mostOnPhone = { batches: 4, requests: 5 } as const;

const statusLook = createPageLook(`
:root {
  --good: light-dark(#17663a, #6fd39a);
  --busy: light-dark(#7a4b00, #f0b95a);
  --waiting: light-dark(#1d4f91, #8fbcff);
  --bad: light-dark(#9c1c1c, #ff9a94);
}
body { max-width: 72rem; font-size: 0.95rem; }
h1 { font-size: 1.4rem; }
h2 { font-size: 1.05rem; margin: 2rem 0 0.6rem; }
.accounts { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0.8rem; }
.account { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.8rem 1rem; }
.account h3 { font-size: 0.95rem; margin: 0 0 0.4rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.1rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
table { background: var(--card); border: 1px solid var(--line); }
th, td { padding: 0.45rem 0.7rem; }
th { color: var(--soft); font-weight: 600; font-size: 0.85rem; }
td { overflow-wrap: anywhere; }
.nowrap { white-space: nowrap; }
small { font-size: 0.8rem; }
.status { font-weight: 600; white-space: nowrap; }
.good { color: var(--good); }
.waiting { color: var(--waiting); }
.busy { color: var(--busy); }
.bad { color: var(--bad); }
progress { width: 100%; min-width: 6rem; height: 0.6rem; accent-color: var(--busy); }
.run th { text-align: left; color: inherit; font-size: 0.95rem; padding-top: 0.9rem; overflow-wrap: anywhere; }
.run small { color: var(--soft); font-weight: 400; }
.empty { background: var(--card); border: 1px dashed var(--line); border-radius: 0.5rem; padding: 1rem; }
.more { display: none; margin-top: 0.4rem; }
a { color: inherit; }
@media (max-width: 44rem) {
  body { padding: 1rem 0.7rem 2rem; }
  h2 { margin: 1.2rem 0 0.4rem; }
  .accounts { gap: 0.5rem; }
  .account { padding: 0.5rem 0.8rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody { display: block; border: 0; background: none; }
  tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.9rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; margin-bottom: 0.4rem; padding: 0.4rem 0.8rem; }
  td { border: 0; padding: 0; max-width: 100%; }
  td:empty { display: none; }
  .number, .nowrap, .status { white-space: normal; text-align: left; }
  .soft { color: var(--soft); font-size: 0.8rem; }
  .batches td:first-child { flex: 1 1 100%; }
  td[data-name='Addresses']::before { content: 'addresses '; }
  .requests td[data-name='Request'] { order: -2; flex: 1 1 70%; }
  .requests td[data-name='Answer'] { order: -1; font-weight: 600; }
  .batches tr.run { border: 0; background: none; padding: 0.4rem 0 0; margin: 0; }
  .run th { border: 0; padding: 0; }
  .batches.short tr:nth-child(n + ${mostOnPhone.batches + 1} of .batch), .requests.short tr:nth-child(n + ${mostOnPhone.requests + 1}) { display: none; }
  .more { display: block; }
}
`);

/** Nothing is loaded, run or sent, and no other page may embed this one. */
export const pagePolicy = `${statusLook.policy}; frame-ancestors 'none'`;

export interface AccountView {
  readonly name: string;
  readonly emailCredits: string;
  readonly phoneCredits: string;
  readonly batches: number;
  readonly note: string;
}

export interface BatchView {
  readonly uuid: string;
  readonly name: string;
  readonly account: string;
  readonly kind: string;
  readonly status: string;
  readonly tone: 'good' | 'waiting' | 'busy' | 'bad';
  readonly progress: number | undefined;
  readonly addresses: string;
  readonly outcome: string;
  readonly updatedAt: string;
}

/** The batches of a client's run, as far as their names show; others stand alone. */
export interface RunView {
  /** Its name; absent where the batch's name shows no run. */
  readonly name: string | undefined;
  readonly id: string;
  /** Its finished batches, and all of them here. */
  readonly done: number;
  readonly all: number;
  readonly batches: readonly BatchView[];
}

export interface RequestView {
  readonly at: string;
  readonly what: string;
  readonly account: string;
  readonly status: string;
  readonly tone: 'good' | 'busy' | 'bad';
  readonly took: string;
}

interface StatusView {
  readonly now: string;
  readonly accounts: readonly AccountView[];
  readonly runs: readonly RunView[];
  readonly moreBatches: number;
  readonly requests: readonly RequestView[];
  readonly requestsTotal: number;
  /** Whether a narrow window shows all of them, too. */
  readonly isWhole: boolean;
}

const refreshSeconds = 5;

/** The page for people; it works without a script. */
export function statusHtml(view: StatusView): string {
  return page({
    title: 'Sluice: local service',
    meta: html`<meta http-equiv="refresh" content="${refreshSeconds}" />`,
    look: statusLook,
    body: html`<header>
        <h1>Sluice: local service</h1>
        <p>${view.now}. This page refreshes itself every ${refreshSeconds} seconds.</p>
      </header>
      <main>
        <h2>Balances</h2>
        <div class="accounts">${view.accounts.map(accountCard)}</div>
        <section class="batches${view.isWhole ? '' : ' short'}">
          <h2>Batches</h2>
          ${batchTable(view)}
          ${moreLink(
            view,
            view.runs.reduce((sum, { batches }) => sum + batches.length, 0),
            mostOnPhone.batches,
          )}
        </section>
        <section class="requests${view.isWhole ? '' : ' short'}">
          <h2>Requests</h2>
          ${requestTable(view)} ${moreLink(view, view.requests.length, mostOnPhone.requests)}
        </section>
      </main>`,
  });
}

/** Only in a narrow window: it shows the newest, and all on request, also after a reload. */
function moreLink({ isWhole }: StatusView, count: number, most: number): Html {
  if (count <= most) return nothing;
  return isWhole
    ? html`<p class="more"><a href="?">Show the newest only</a></p>`
    : html`<p class="more">The newest ${most}. <a href="?all">Show all ${grouped(count)}</a></p>`;
}

function accountCard({ name, emailCredits, phoneCredits, batches, note }: AccountView): Html {
  return html`<section class="account">
    <h3>${name}</h3>
    <dl>
      <dt>Email credits</dt>
      <dd>${emailCredits}</dd>
      <dt>Phone credits</dt>
      <dd>${phoneCredits}</dd>
      <dt>Batches</dt>
      <dd>${grouped(batches)}</dd>
    </dl>
    ${note === '' ? nothing : html`<p class="bad">${note}</p>`}
  </section>`;
}

const batchColumns = [
  { name: 'Batch' },
  { name: 'Type, country' },
  { name: 'Status' },
  { name: 'Addresses', kind: 'number' },
  { name: 'Outcome' },
  { name: 'Changed' },
] as const;

function batchTable({ runs, moreBatches }: StatusView): Html {
  if (runs.length === 0) return html`<p class="empty">No batch was uploaded yet.</p>`;
  return html`${table(
    batchColumns,
    runs.flatMap((run) => [runRow(run), ...run.batches.map(batchRow)]),
  )}
  ${moreBatches === 0 ? nothing : html`<p>and ${grouped(moreBatches)} older ones</p>`}`;
}

function runRow({ name, id, done, all }: RunView): Html {
  if (name === undefined) return nothing;
  return html`<tr class="run">
    <th colspan="${batchColumns.length}" scope="colgroup">
      ${name}: ${grouped(done)} of ${grouped(all)} done <small>run ${id}</small>
    </th>
  </tr>`;
}

function batchRow(batch: BatchView): Html {
  const { progress } = batch;
  const percent = Math.floor((progress ?? 0) * 100);
  return html`<tr class="batch">
    <td data-name="Batch">
      <span>${batch.name}<br /><small>${batch.uuid}, ${batch.account}</small></span>
    </td>
    <td data-name="Type, country">${batch.kind}</td>
    <td data-name="Status">
      <span
        ><span class="status ${batch.tone}">${batch.status}</span>${
          progress === undefined
            ? nothing
            : html` <small>${percent}&nbsp;%</small><br /><progress
                  max="100"
                  value="${percent}"
                  aria-label="progress"
                >
                  ${percent} %
                </progress>`
        }</span
      >
    </td>
    <td data-name="Addresses" class="number">${batch.addresses}</td>
    <td data-name="Outcome">${batch.outcome}</td>
    <td data-name="Changed" class="nowrap soft">${batch.updatedAt}</td>
  </tr>`;
}

const requestColumns = [
  { name: 'Time' },
  { name: 'Request' },
  { name: 'Account' },
  { name: 'Answer' },
  { name: 'Took', kind: 'number' },
] as const;

function requestTable({ requests, requestsTotal }: StatusView): Html {
  if (requests.length === 0) return html`<p class="empty">No request was answered yet.</p>`;
  return html`<p>The last ${requests.length} of ${grouped(requestsTotal)} since the start.</p>
    ${table(requestColumns, requests.map(requestRow))}`;
}

function requestRow({ at, what, account, status, tone, took }: RequestView): Html {
  return html`<tr>
    <td data-name="Time" class="nowrap soft">${at}</td>
    <td data-name="Request">${what}</td>
    <td data-name="Account" class="soft">${account}</td>
    <td data-name="Answer"><span class="${tone}">${status}</span></td>
    <td data-name="Took" class="number soft">${took}</td>
  </tr>`;
}
