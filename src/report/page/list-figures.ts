import { trimCell } from '../../engine/addresses/address.js';
import type { CellText } from '../../lists/rows/chunks/row-chunk.js';
import type { AddedCells, JoinedRows, OpenSinkOptions, OutputCell } from '../../lists/rows/sink.js';
import { html, type Html, nothing, type TableColumn } from '../../platform/html.js';
import { maskedCell } from '../../platform/text/printable.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import { cardTable, mostRows, numberCell, percent, stackedBar, tableRow } from './charts.js';

/** Results of a cell in the report's charts. */
const fates = ['valid', 'wrong', 'unknown', 'unverified'] as const;
type Fate = (typeof fates)[number];

/** What an outcome means for the figures; a run has a few dozen. */
interface Meaning {
  readonly way: number;
  readonly operator: string | undefined;
  /** Why there is no result; empty with one. */
  readonly reason: string;
}

/** With `--provenance` each cell has its own outcome. */
const mostMeanings = 10_000;
/** No domain is longer. */
const longestDomain = 253;

/** Figures that only the rows show: domains of emails, operators of phones, and cells without a result. */
export class ListFigures {
  readonly domains = new TopCounts(fates.length);
  readonly operators = new TopCounts(fates.length);
  readonly examples: readonly ReasonExamples[];
  readonly #verified: readonly number[];
  /** All values of a cell, including unwritten ones. */
  readonly #found: AddedCells;
  /** By verified column: the meanings of outcomes. */
  readonly #meanings: readonly Map<number, Meaning>[];
  /** Whether examples have row numbers of the sheet or file; else they count from the header. */
  hasRowNumbers = true;
  readonly #isOneInput: boolean;
  readonly #sheets = new Set<string>();
  #rows = 0;

  constructor(opening: OpenSinkOptions) {
    this.#verified = opening.verified;
    this.#isOneInput = opening.reading.first === undefined;
    this.#found = opening.whole ?? opening;
    this.#meanings = opening.added.map(() => new Map());
    this.examples = opening.added.map((_, column) => new ReasonExamples(this.#isEmail(column)));
  }

  /** Whether rows of several sheets have the same numbers. */
  get hasSheets(): boolean {
    return this.#sheets.size > 1;
  }

  add({ chunk, from, to, outcomes, width }: JoinedRows): void {
    const { sheetName: sheet } = chunk;
    if (sheet !== undefined) this.#sheets.add(sheet);
    for (const [column, position] of this.#verified.entries()) {
      const isEmail = this.#isEmail(column);
      const examples = this.examples[column];
      for (let row = from; row < to; row += 1) {
        const { way, operator, reason } = this.#meaningOf(
          outcomes[(row - from) * width + column] ?? 0,
          column,
        );
        if (reason !== '') {
          const counted = this.#rows + row - from + 1;
          examples?.add(
            reason,
            { row: this.#isOneInput ? (chunk.number?.(row) ?? counted) : counted, sheet },
            chunk.text(row, position),
          );
        }
        if (isEmail) {
          const domain = domainOf(chunk.text(row, position));
          if (domain !== undefined) this.domains.add(domain, way);
        } else if (operator !== undefined) {
          this.operators.add(operator, way);
        }
      }
    }
    this.hasRowNumbers &&= this.#isOneInput && chunk.number !== undefined;
    this.#rows += to - from;
  }

  #isEmail(column: number): boolean {
    return !this.#fieldsOf(column).includes('operator');
  }

  #meaningOf(outcome: number, column: number): Meaning {
    const known = this.#meanings[column]?.get(outcome);
    if (known) return known;
    const fields = this.#fieldsOf(column);
    const cells = this.#found.cellsOf(outcome, column);
    const cellOf = (field: string): OutputCell => cells[fields.indexOf(field)] ?? null;
    const [operator, reason] = [cellOf('operator'), cellOf('reason')];
    const meaning = {
      way: fates.indexOf(fateOf(cellOf)),
      operator: typeof operator === 'string' && operator !== '' ? operator : undefined,
      reason: typeof reason === 'string' ? reason : '',
    };
    const meanings = this.#meanings[column];
    if ((meanings?.size ?? 0) >= mostMeanings) meanings?.clear();
    meanings?.set(outcome, meaning);
    return meaning;
  }

  #fieldsOf(column: number): readonly string[] {
    return this.#found.added[column]?.map(({ field }) => field) ?? [];
  }
}

/** Of several flags wrong counts before unknown before valid, as in the summary. */
function fateOf(cellOf: (field: string) => OutputCell): Fate {
  if (cellOf('wrong') === true) return 'wrong';
  if (cellOf('unknown') === true) return 'unknown';
  return cellOf('valid') === true ? 'valid' : 'unverified';
}

/** Of the address as it is sent. */
function domainOf(cell: unknown): string | undefined {
  if (typeof cell !== 'string') return undefined;
  const sent = trimCell(cell).normalize('NFC');
  const domain = sent.slice(sent.lastIndexOf('@') + 1);
  const isDomain =
    sent.includes('@') && domain.length <= longestDomain && /^[^\s,;:<>()"']+$/.test(domain);
  return isDomain ? domain.toLowerCase() : undefined;
}

/** A cell without a result, for its owner to find: the report may be passed on, the list not. */
export interface Example {
  /** Row number of the sheet or file where known; else counted from 1 below the header. */
  readonly row: number;
  readonly sheet?: string | undefined;
  /** Its masked form; empty for an empty or invalid cell. */
  readonly form: string;
}

const mostExamples = 5;
/** Reasons may come from the service, too. */
const mostReasons = 50;

export class ReasonExamples {
  readonly #isEmail: boolean;
  readonly #byReason = new Map<string, Example[]>();

  constructor(isEmail: boolean) {
    this.#isEmail = isEmail;
  }

  add(reason: string, place: Pick<Example, 'row' | 'sheet'>, cell: CellText): void {
    let examples = this.#byReason.get(reason);
    if (!examples) {
      if (this.#byReason.size >= mostReasons) return;
      examples = [];
      this.#byReason.set(reason, examples);
    }
    if (examples.length >= mostExamples) return;
    examples.push({
      ...place,
      form: typeof cell === 'string' ? maskedCell(cell, this.#isEmail) : '',
    });
  }

  of(reason: string): readonly Example[] {
    return this.#byReason.get(reason) ?? [];
  }
}

/** The most frequent domains of emails and operators of phones. */
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
  return html`<section id="${title.toLowerCase()}">
    <h2>${title}</h2>
    <p>
      Cells of the list by ${title.slice(0, -1).toLowerCase()}: those that are neither valid, wrong
      nor unknown have no verdict.
    </p>
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
  const counts = [total, ways[0] ?? 0, ways[1] ?? 0, ways[2] ?? 0].map((each) => numberCell(each));
  const chart = html`<td class="chart">${stackedBar(shares, `${word}: ${described}`)}</td>`;
  return tableRow(word, [...counts, chart], 'word');
}

interface TopCount {
  readonly word: string;
  readonly total: number;
  readonly ways: readonly number[];
}

interface Top {
  readonly counts: readonly TopCount[];
  /** Number of different words, as far as counted. */
  readonly words: number;
  /** Whether rare words were dropped: counts may be too low by this much. */
  readonly missing: number;
}

/**
 * Counts words in bounded memory: when there are too many, the rarer half is dropped. A dropped word had at
 * most `missing` occurrences before.
 */
export class TopCounts {
  readonly #ways: number;
  readonly #mostWords: number;
  readonly #counts = new Map<string, number[]>();
  #missing = 0;
  #forgotten = 0;

  constructor(ways: number, mostWords = 20_000) {
    this.#ways = ways;
    this.#mostWords = mostWords;
  }

  add(word: string, way: number): void {
    let counts = this.#counts.get(word);
    if (!counts) {
      if (this.#counts.size >= this.#mostWords) this.#forget();
      counts = Array.from({ length: this.#ways }, () => 0);
      this.#counts.set(word, counts);
    }
    counts[way] = (counts[way] ?? 0) + 1;
  }

  top(most: number): Top {
    const counts = [...this.#counts]
      .map(([word, ways]) => ({ word, total: sum(ways), ways }))
      .toSorted((one, other) => other.total - one.total || (one.word < other.word ? -1 : 1))
      .slice(0, most);
    return { counts, words: this.#counts.size + this.#forgotten, missing: this.#missing };
  }

  #forget(): void {
    const totals = [...this.#counts.values()].map(sum).toSorted((one, other) => one - other);
    const middle = totals[Math.floor(totals.length / 2)] ?? 0;
    for (const [word, ways] of this.#counts) {
      if (sum(ways) > middle) continue;
      this.#counts.delete(word);
      this.#forgotten += 1;
    }
    this.#missing += middle;
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
