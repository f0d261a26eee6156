import { exportDiffers } from '../../engine/batches/export-check.js';
import type { StoppedSummary, Summary } from '../../engine/summary/summary.js';
import { html, type Html, nothing, type TableColumn } from '../../platform/html.js';
import { optionName } from '../../platform/text/sentence.js';
import {
  counted,
  duration,
  earlierCreditsSentence,
  grouped,
  moment,
} from '../../platform/text/shown-numbers.js';
import { cardTable, mostRows, numberCell, tableRow } from './charts.js';

type BatchReport = Summary['batches'][number];

/** A section with a row for each of the first of these batches. */
function batchSection(
  section: {
    readonly id: string;
    readonly title: string;
    readonly note: string;
    readonly columns: readonly TableColumn[];
  },
  batches: readonly BatchReport[],
  cellsOf: (batch: BatchReport) => readonly Html[],
): Html {
  if (batches.length === 0) return nothing;
  const { id, title, note, columns } = section;
  const rows = batches.slice(0, mostRows).map((batch) => {
    const { name, batch_uuid: uuid } = batch;
    const head = html`${name}<br /><small>${uuid ?? 'no batch_uuid'}</small>`;
    return tableRow(head, cellsOf(batch), 'word');
  });
  const more = batches.length - mostRows;
  return html`<section id="${id}">
    <h2>${title}</h2>
    <p>${note}</p>
    ${cardTable([{ name: 'Batch' }, ...columns], rows)}
    ${more > 0 ? html`<p>and ${grouped(more)} more</p>` : nothing}
  </section>`;
}

export function failedBatches({ batches }: Summary | StoppedSummary): Html {
  return batchSection(
    {
      id: 'failed',
      title: 'Batches that failed',
      note: `Report them to the service's support with their batch_uuid; ${optionName('retryFailed')} sends their addresses again, which may pay for those that were launched a second time, and asks for an export again that was not what was asked for.`,
      columns: [{ name: 'Reason' }, { name: 'Addresses', kind: 'number' }],
    },
    batches.filter(({ stage }) => stage === 'failed'),
    ({ reason, addresses }) => [html`<td><code>${reason ?? ''}</code></td>`, numberCell(addresses)],
  );
}

export function differingBatches({ batches }: Summary): Html {
  return batchSection(
    {
      id: 'exports',
      title: 'Exports that differ from what the service counted',
      note: 'Addresses, except the records of addresses that were not sent.',
      columns: [
        { name: 'Counted by the service', kind: 'number' },
        { name: 'Named by the export', kind: 'number' },
        { name: 'Records of other addresses', kind: 'number' },
        { name: 'Contradicted', kind: 'number' },
      ],
    },
    batches.filter(({ export: held }) => held && exportDiffers(held)),
    ({ export: held }) =>
      held
        ? [held.counted, held.named, held.strangers, held.conflicting].map((each) =>
            numberCell(each),
          )
        : [],
  );
}

const sources = {
  cost_objects: 'the service said what each batch cost',
  balance_difference: 'the balance before and after; other jobs of the account count in',
  launched: 'one credit for each launched address; the service has not said its cost yet',
} as const;

type CountedCredits = Pick<Summary | StoppedSummary, 'credits' | 'batches'> &
  Partial<Pick<Summary, 'email' | 'phone' | 'credits_before'>>;

/** The cost of a run by type and addresses. A phone has room for few columns. */
export function creditTable({
  credits: all,
  batches,
  credits_before,
  ...counts
}: CountedCredits): Html {
  const types = (['email', 'phone'] as const).flatMap((type) => {
    const credits = all[type];
    return credits ? [{ type, credits, counts: counts[type] }] : [];
  });
  if (types.length === 0) return nothing;
  type OfType = (typeof types)[number];
  const line = (name: string, of: (each: OfType) => number | string | null): Html =>
    tableRow(
      name,
      types.map((each) => numberCell(of(each))),
    );
  const optionalLine = (name: string, of: (each: OfType) => number | undefined): readonly Html[] =>
    types.some((each) => (of(each) ?? 0) > 0) ? [line(name, (each) => of(each) ?? 0)] : [];
  return html`<section class="cost">
    <h2>Cost</h2>
    ${cardTable(
      [{ name: '' }, ...types.map(({ type: name }) => ({ name, kind: 'number' as const }))],
      [
        ...optionalLine('Unique addresses', (each) => each.counts?.addresses),
        ...optionalLine(
          'Emails in several countries, an address in each',
          (each) => each.counts?.in_several_countries,
        ),
        ...optionalLine('Duplicates', (each) => each.counts?.duplicates),
        ...optionalLine('From earlier runs', (each) => each.counts?.from_history),
        line('Credits spent', ({ credits }) => credits.spent),
        ...optionalLine('Perhaps spent, too', ({ credits }) => credits.in_doubt),
        line('Credits refunded', ({ credits }) => credits.refunded),
        line('Credits, net', ({ credits }) => credits.net),
        line('How this is known', ({ type, credits: { spent, source } }) => {
          const isSent = spent !== 0 || batches.some((batch) => batch.type === type);
          if (!isSent) return 'nothing was sent';
          return source === null ? 'the service did not say' : sources[source];
        }),
      ],
    )}
    ${
      credits_before
        ? html`<p>Not counted here: ${earlierCreditsSentence(credits_before)}.</p>`
        : nothing
    }
  </section>`;
}

/** Longer tables are not read: these took longest, and the summary has all. */
const mostBatches = 20;

/** What happens between two moments of a batch. */
const spans = [
  { tone: 'preparing', label: 'being prepared', from: 'uploaded_at', to: 'prepared_at' },
  { tone: 'waiting', label: 'waiting to be verified', from: 'prepared_at', to: 'launched_at' },
  { tone: 'verifying', label: 'being verified', from: 'launched_at', to: 'verified_at' },
  { tone: 'exporting', label: 'results being fetched', from: 'verified_at', to: 'exported_at' },
] as const;

/** Each batch's stages over time, as bars and as a table. */
export function timeline(batches: readonly BatchReport[]): Html {
  const timed = batches.filter(({ times }) => momentsOf(times).length > 0);
  if (timed.length === 0) return nothing;
  // A loop: a call accepts only a limited number of arguments.
  let begin = Infinity;
  let end = -Infinity;
  for (const { times } of timed) {
    for (const at of momentsOf(times)) {
      begin = Math.min(begin, at);
      end = Math.max(end, at);
    }
  }
  const longest = timed.toSorted((one, other) => lifeOf(other.times) - lifeOf(one.times));
  const slowest = new Set(longest.slice(0, mostBatches));
  const shown = timed.filter((batch) => slowest.has(batch));
  const usual = longest[Math.floor(longest.length / 2)];
  return html`<details id="batches">
    <summary>
      <h2>Batches over time</h2>
      <small>${counted(timed.length, 'batch')}, ${shortDuration(end - begin)}</small>
    </summary>
    <p>
      From ${moment(new Date(begin))} to ${moment(new Date(end))} (${shortDuration(end - begin)}).
      ${
        shown.length === timed.length
          ? nothing
          : `Half of the batches took ${spansOf(usual?.times)} or less. These ${grouped(shown.length)} took longest; the summary (${optionName('summary')}) lists all.`
      }
    </p>
    <p class="key">
      ${spans.map(({ tone, label }) => html`<span><i class="swatch ${tone}"></i>${label}</span> `)}
    </p>
    <div class="timeline">${shown.map((batch) => timelineRow(batch, begin, end))}</div>
  </details>`;
}

function timelineRow(
  { name, type, country, addresses, times }: BatchReport,
  begin: number,
  end: number,
): Html {
  const scale = 1000 / Math.max(1, end - begin);
  const parts = spans.map(({ tone, from, to }) => {
    const [start, stop] = [readTime(times[from]), readTime(times[to])];
    if (start === undefined || stop === undefined) return nothing;
    const length = Math.max(2, (stop - start) * scale);
    const at = Math.min(1000 - length, (start - begin) * scale);
    return html`<rect
      class="${tone}"
      x="${at.toFixed(1)}"
      width="${length.toFixed(1)}"
      height="14"
    />`;
  });
  const took = spansOf(times);
  return html`<div>
    <span class="name"
      ><b>${type} ${country}, ${grouped(addresses)}</b> <small>${name}</small></span
    >
    <svg
      class="life"
      viewBox="0 0 1000 14"
      preserveAspectRatio="none"
      role="img"
      aria-label="${name}: ${took}"
    >
      ${parts}
    </svg>
    <small class="took">${took}</small>
  </div>`;
}

function spansOf(times: BatchReport['times'] | undefined): string {
  return times ? shortDuration(lifeOf(times)) : '';
}

function lifeOf(times: BatchReport['times']): number {
  const moments = momentsOf(times);
  return (moments.at(-1) ?? 0) - (moments[0] ?? 0);
}

/** A batch of a small list takes less than a second. */
function shortDuration(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms / 1000);
}

function momentsOf(times: BatchReport['times']): readonly number[] {
  const { uploaded_at, prepared_at, launched_at, verified_at, exported_at } = times;
  return [uploaded_at, prepared_at, launched_at, verified_at, exported_at]
    .map(readTime)
    .filter((at) => at !== undefined);
}

function readTime(text: string | null): number | undefined {
  if (text === null) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
