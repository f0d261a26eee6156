import { findCountry } from '../addresses/country/parse-country.js';
import { fitsCountry, isFixedOrMobile } from '../addresses/phone/fits-country.js';
import type { Plan } from '../plan/plan.js';
import type { CountryCode } from '../../contract/countries.js';
import type { CellText, RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import type { ColumnSummary } from './summary.js';

/** So many numbers of a column are enough to see where they belong. */
const mostNumbers = 1000;
const longestNumber = 64;
/** Cells with fewer are no number. */
const fewestDigits = 5;
/** A country is guessed where these shares of the rows and of the numbers speak for it. */
const leastNamed = 0.1;
const leastFitting = 0.25;

interface SeenNumbers {
  seen: number;
  /** Those that are no valid number as they were sent. */
  readonly unfit: string[];
  /** Of the domains of emails beside these. */
  readonly countries: Map<CountryCode, number>;
}

/** Phone numbers that are wrong, or without a result: whether their country may be the cause. */
export class UnfitNumbers {
  readonly #plan: Plan;
  readonly #emails: readonly number[];
  readonly #columns = new Map<number, SeenNumbers>();

  constructor(plan: Plan) {
    const { columns } = plan.layout;
    this.#plan = plan;
    this.#emails = columns.flatMap(({ type, position }) => (type === 'email' ? [position] : []));
  }

  /** @param column of phone numbers */
  add(column: number, chunk: RowChunk, row: number): void {
    const cell = chunk.text(row, this.#plan.layout.columns[column]?.position ?? 0);
    const text = typeof cell === 'string' ? cell : '';
    // `n/a` is of no country.
    if (text.replaceAll(/\D/g, '').length < fewestDigits) return;
    const numbers: SeenNumbers = this.#columns.get(column) ?? {
      seen: 0,
      unfit: [],
      countries: new Map(),
    };
    if (numbers.seen >= mostNumbers) return;
    this.#columns.set(column, numbers);
    numbers.seen += 1;
    if (isFixedOrMobile(this.#plan.planner.lineOf(chunk, row, column) ?? '')) return;
    numbers.unfit.push(text.slice(0, longestNumber));
    for (const position of this.#emails) {
      const country = countryOfDomain(chunk.text(row, position));
      if (country === undefined) continue;
      numbers.countries.set(country, (numbers.countries.get(country) ?? 0) + 1);
    }
  }

  /** @returns `undefined` where there are none */
  of(column: number): ColumnSummary['unfit'] {
    const numbers = this.#columns.get(column);
    if (!numbers || numbers.unfit.length === 0) return undefined;
    const { seen, unfit, countries } = numbers;
    // Many plans have room for nearly all digits: only a country that something else names is likely.
    const [best] = Array.from(countries)
      .filter(([, rows]) => rows >= unfit.length * leastNamed)
      .map(([country]) => {
        const cells = unfit.filter((number) => fitsCountry(number, country)).length;
        return { country, cells };
      })
      .toSorted((one, other) => other.cells - one.cells);
    const isLikely = best !== undefined && best.cells >= unfit.length * leastFitting;
    return { cells: unfit.length, of: seen, fitting: isLikely ? best : null };
  }
}

/** The country of a domain that ends with one's code. */
function countryOfDomain(cell: CellText): CountryCode | undefined {
  if (typeof cell !== 'string' || !cell.includes('@')) return undefined;
  const [, code] = /^([a-z]{2})[>\s]*$/i.exec(cell.slice(cell.lastIndexOf('.') + 1)) ?? [];
  return code === undefined ? undefined : findCountry(code);
}
