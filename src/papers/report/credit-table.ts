import type { Summary } from '../../runs/summary.js';
import { html, nothing, type Html } from '../../pages/html.js';
import { grouped } from '../../words/shown-numbers.js';
import { cardTable } from './card-table.js';

const sources = {
  cost_objects: 'as the service says',
  balance_difference: 'difference of the balances; other jobs of the account count in',
  launched: 'addresses of what was launched; the service has not said its cost yet',
} as const;

const creditColumns = [
  { name: 'Type' },
  { name: 'Spent', kind: 'number' },
  { name: 'Refunded', kind: 'number' },
  { name: 'Net', kind: 'number' },
  { name: 'Known' },
] as const;

/** What a run has cost, by type. */
export function creditTable({ credits: all }: Pick<Summary, 'credits'>): Html {
  const rows = (['email', 'phone'] as const).flatMap((type) => {
    const given = all[type];
    if (!given) return [];
    const shown = (value: number | null): string => (value === null ? 'not known' : grouped(value));
    return [
      html`<tr>
        <th scope="row">${type}</th>
        <td class="number">${shown(given.spent)}</td>
        <td class="number">${shown(given.refunded)}</td>
        <td class="number">${shown(given.net)}</td>
        <td>${given.source === null ? 'the service did not say' : sources[given.source]}</td>
      </tr>`,
    ];
  });
  if (rows.length === 0) return nothing;
  return html`<section>
    <h2>Credits</h2>
    ${cardTable(creditColumns, rows)}
  </section>`;
}
