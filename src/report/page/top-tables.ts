import { html, nothing, type Html, type TableColumn } from '../../platform/html/html.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import { cardTable, mostRows } from './card-table.js';
import { percent, stackedBar } from './charts.js';
import { fates, type ListFigures } from './list-figures.js';
import type { Top } from './top-counts.js';

/** The most frequent domains of emails, and operators of phones. */
export function topTables({ domains, operators }: ListFigures): Html {
  return html`${topTable('Domains', domains.top(mostRows))}
  ${topTable('Operators', operators.top(mostRows))}`;
}

const fateTones = ['valid', 'wrong', 'unknown', 'rest'] as const;

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
    ${
      counts.length === words
        ? nothing
        : html`<p>
            The ${counts.length} most frequent of
            ${missing > 0 ? 'about ' : ''}${grouped(words)}${about}.
          </p>`
    }
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
