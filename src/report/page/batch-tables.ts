import { exportDiffers } from '../../engine/batches/export-check.js';
import type { Summary } from '../../engine/summary/summary.js';
import { html, type Html, nothing } from '../../platform/html.js';
import { optionName } from '../../platform/text/option-name.js';
import { earlierCreditsSentence, grouped } from '../../platform/text/shown-numbers.js';
import { cardTable, mostRows } from './charts.js';

const failedColumns = [
  { name: 'Batch' },
  { name: 'Reason' },
  { name: 'Addresses', kind: 'number' },
] as const;

export function failedBatches({ batches }: Pick<Summary, 'batches'>): Html {
  const failed = batches.filter(({ stage }) => stage === 'failed');
  if (failed.length === 0) return nothing;
  const rows = failed.slice(0, mostRows).map(
    ({ name, batch_uuid, reason, addresses }) =>
      html`<tr>
        <th scope="row" class="word">
          ${name}<br /><small>${batch_uuid ?? 'no batch_uuid'}</small>
        </th>
        <td><code>${reason ?? ''}</code></td>
        <td class="number">${grouped(addresses)}</td>
      </tr>`,
  );
  return html`<section>
    <h2>Batches that failed</h2>
    <p>
      Report them to the service's support with their batch_uuid; ${optionName('retryFailed')} sends
      their addresses again, which may pay for those that were launched a second time, and asks for
      an export again that was not what was asked for.
    </p>
    ${cardTable(failedColumns, rows)}
    ${failed.length > mostRows ? html`<p>and ${grouped(failed.length - mostRows)} more</p>` : nothing}
  </section>`;
}

const differingColumns = [
  { name: 'Batch' },
  { name: 'Counted by the service', kind: 'number' },
  { name: 'Named by the export', kind: 'number' },
  { name: 'Records of other addresses', kind: 'number' },
  { name: 'Contradicted', kind: 'number' },
] as const;

export function differingBatches({ batches }: Summary): Html {
  const differing = batches.flatMap(({ name, batch_uuid, export: held }) =>
    held && exportDiffers(held) ? [{ name, batch_uuid, held }] : [],
  );
  if (differing.length === 0) return nothing;
  const rows = differing.slice(0, mostRows).map(
    ({ name, batch_uuid, held: { counted, named, strangers, conflicting } }) =>
      html`<tr>
        <th scope="row" class="word">
          ${name}<br /><small>${batch_uuid ?? 'no batch_uuid'}</small>
        </th>
        <td class="number">${counted === null ? 'not known' : grouped(counted)}</td>
        <td class="number">${grouped(named)}</td>
        <td class="number">${grouped(strangers)}</td>
        <td class="number">${grouped(conflicting)}</td>
      </tr>`,
  );
  return html`<section>
    <h2>Exports that differ from what the service counted</h2>
    <p>Addresses, except the records of addresses that were not sent.</p>
    ${cardTable(differingColumns, rows)}
    ${
      differing.length > mostRows
        ? html`<p>and ${grouped(differing.length - mostRows)} more</p>`
        : nothing
    }
  </section>`;
}

const sources = {
  cost_objects: 'the service said what each batch cost',
  balance_difference: 'the balance before and after; other jobs of the account count in',
  launched: 'one credit for each launched address; the service has not said its cost yet',
} as const;

type CountedCredits = Pick<Summary, 'credits'> &
  Partial<Pick<Summary, 'email' | 'phone' | 'credits_before'>>;

/** What a run has cost, by type, and for how many addresses. A phone has room for few columns. */
export function creditTable({ credits: all, credits_before, ...counts }: CountedCredits): Html {
  const types = (['email', 'phone'] as const).flatMap((type) => {
    const credits = all[type];
    return credits ? [{ type, credits, counts: counts[type] }] : [];
  });
  if (types.length === 0) return nothing;
  type OfType = (typeof types)[number];
  const line = (name: string, of: (each: OfType) => string): Html =>
    html`<tr>
      <th scope="row">${name}</th>
      ${types.map((each) => html`<td class="number">${of(each)}</td>`)}
    </tr>`;
  const seldom = (name: string, of: (each: OfType) => number | undefined): readonly Html[] =>
    types.some((each) => (of(each) ?? 0) > 0) ? [line(name, (each) => grouped(of(each) ?? 0))] : [];
  const shown = (value: number | null): string => (value === null ? 'not known' : grouped(value));
  return html`<section class="cost">
    <h2>Cost</h2>
    ${cardTable(
      [{ name: '' }, ...types.map(({ type: name }) => ({ name, kind: 'number' as const }))],
      [
        ...seldom('Unique addresses', (each) => each.counts?.addresses),
        ...seldom('Duplicates', (each) => each.counts?.duplicates),
        ...seldom('From earlier runs', (each) => each.counts?.from_history),
        line('Credits spent', ({ credits }) => shown(credits.spent)),
        line('Credits refunded', ({ credits }) => shown(credits.refunded)),
        line('Credits, net', ({ credits }) => shown(credits.net)),
        line('How this is known', ({ credits: { source } }) =>
          source === null ? 'the service did not say' : sources[source],
        ),
      ],
    )}
    ${
      credits_before
        ? html`<p>Not counted here: ${earlierCreditsSentence(credits_before)}.</p>`
        : nothing
    }
  </section>`;
}
