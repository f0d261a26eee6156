import type { Summary, TypeSummary } from '../../runs/summary.js';
import { html, nothing, type Html } from '../../pages/html.js';
import { grouped } from '../../words/shown-numbers.js';
import { cardTable } from './card-table.js';

const sources = {
  cost_objects: 'as the service says',
  balance_difference: 'difference of the balances; other jobs of the account count in',
  launched: 'addresses of what was launched; the service has not said its cost yet',
} as const;

const typeColumn = { name: 'Type' };
const addressColumn = { name: 'Unique addresses', kind: 'number' } as const;
const creditColumns = [
  { name: 'Spent', kind: 'number' },
  { name: 'Refunded', kind: 'number' },
  { name: 'Net', kind: 'number' },
  { name: 'Known' },
] as const;

type CountedCredits = Pick<Summary, 'credits'> & Partial<Pick<Summary, 'email' | 'phone'>>;

/** What a run has cost, by type, and for how many addresses. */
export function creditTable({ credits: all, ...types }: CountedCredits): Html {
  const isCounted = types.email !== undefined || types.phone !== undefined;
  const rows = (['email', 'phone'] as const).flatMap((type) => {
    const given = all[type];
    if (!given) return [];
    const shown = (value: number | null): string => (value === null ? 'not known' : grouped(value));
    return [
      html`<tr>
        <th scope="row">${type}</th>
        ${isCounted ? html`<td class="number">${describeAddresses(types[type])}</td>` : nothing}
        <td class="number">${shown(given.spent)}</td>
        <td class="number">${shown(given.refunded)}</td>
        <td class="number">${shown(given.net)}</td>
        <td>${given.source === null ? 'the service did not say' : sources[given.source]}</td>
      </tr>`,
    ];
  });
  if (rows.length === 0) return nothing;
  return html`<section>
    <h2>Cost</h2>
    ${cardTable([typeColumn, ...(isCounted ? [addressColumn] : []), ...creditColumns], rows)}
  </section>`;
}

function describeAddresses(counts: TypeSummary | null | undefined): Html {
  if (!counts) return nothing;
  const { addresses, duplicates, from_history: known } = counts;
  const others = [
    ...(duplicates > 0 ? [`${grouped(duplicates)} duplicates`] : []),
    ...(known > 0 ? [`${grouped(known)} from earlier runs`] : []),
  ];
  return html`${grouped(addresses)}${others.map((other) => html`<br /><small>${other}</small>`)}`;
}
