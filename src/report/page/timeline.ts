import type { Summary } from '../../engine/summary/summary.js';
import { html, nothing, type Html } from '../../platform/html.js';
import { duration, grouped, moment } from '../../platform/text/shown-numbers.js';
import { optionName } from '../../platform/text/option-name.js';

type BatchReport = Summary['batches'][number];

/** More would make a page that nobody reads: these took longest, and the summary has all of them. */
const mostBatches = 20;

/** What happens between two moments of a batch's life. */
const spans = [
  { tone: 'preparing', label: 'prepared', from: 'uploaded_at', to: 'prepared_at' },
  { tone: 'waiting', label: 'waiting for its launch', from: 'prepared_at', to: 'launched_at' },
  { tone: 'verifying', label: 'verified', from: 'launched_at', to: 'verified_at' },
  { tone: 'exporting', label: 'fetched', from: 'verified_at', to: 'exported_at' },
] as const;

/** When each batch was where, as bars over one span of time, and as a table. */
export function timeline(batches: readonly BatchReport[]): Html {
  const timed = batches.filter(({ times }) => momentsOf(times).length > 0);
  if (timed.length === 0) return nothing;
  // A loop, for a call takes only so many arguments.
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
  const count = `${grouped(timed.length)} ${timed.length === 1 ? 'batch' : 'batches'}`;
  return html`<details>
    <summary>
      <h2>Batches over time</h2>
      <small>${count}, ${shortDuration(end - begin)}</small>
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
