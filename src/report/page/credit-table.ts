import type { Summary } from '../../engine/summary/summary.js';
import { html, nothing, type Html } from '../../platform/html/html.js';
import { earlierCreditsSentence, grouped } from '../../platform/text/shown-numbers.js';
import { cardTable } from './charts.js';

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
