import type { CountryCode } from '../../contract/countries.js';
import type { CellText, RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import { trimCell } from '../addresses/address.js';
import { findCountry } from '../addresses/country/parse-country.js';
import { hasCallingCode, fitsCountry, isFixedOrMobile } from '../addresses/phone/phone-country.js';
import { barePhone, phoneDigits } from '../addresses/phone/phone-digits.js';
import type { Plan } from '../plan/plan.js';
import type { ColumnSummary } from './figures.js';

/** Enough numbers of a column to see their country. */
const mostNumbers = 1000;
const longestNumber = 64;
const mostRows = 5;
/** Cells with fewer are not numbers. */
const fewestDigits = 5;
/** A country is guessed from these shares of the rows and of the numbers on. */
const leastNamed = 0.1;
const leastFitting = 0.25;

interface SeenNumbers {
  seen: number;
  /** Cells that are not valid as sent. */
  readonly unfit: string[];
  /** Those whose digits would be valid after a +, and the rows of the first of them. */
  withoutPlus: number;
  readonly rows: number[];
  /** By the domains of emails beside these. */
  readonly countries: Map<CountryCode, number>;
}

/** Phone numbers that are wrong or without a result, possibly for their country. */
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
  add(
    column: number,
    {
      chunk,
      row,
      number,
    }: { readonly chunk: RowChunk; readonly row: number; readonly number: number },
  ): void {
    const cell = chunk.text(row, this.#plan.layout.columns[column]?.position ?? 0);
    const text = typeof cell === 'string' ? cell : '';
    // `n/a` and `Tel. 040 123456` belong to no other country.
    if ((phoneDigits(barePhone(trimCell(text)))?.digits.length ?? 0) < fewestDigits) return;
    const numbers: SeenNumbers = this.#columns.get(column) ?? {
      seen: 0,
      unfit: [],
      withoutPlus: 0,
      rows: [],
      countries: new Map(),
    };
    if (numbers.seen >= mostNumbers) return;
    this.#columns.set(column, numbers);
    numbers.seen += 1;
    // A number with its own country needs no other.
    if (hasCallingCode(text)) return;
    if (isFixedOrMobile(this.#plan.planner.cells.lineOf(chunk, row, column) ?? '')) return;
    numbers.unfit.push(text.slice(0, longestNumber));
    if (isFixedOrMobile(`+${text.replaceAll(/[\s()./-]/g, '')}`)) {
      numbers.withoutPlus += 1;
      if (numbers.rows.length < mostRows) numbers.rows.push(number);
    }
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
    const { seen, unfit, countries, withoutPlus, rows } = numbers;
    // Many plans allow nearly all digits: only a country that other data or the command name is likely.
    const named = Array.from(countries)
      .filter(([, rows]) => rows >= unfit.length * leastNamed)
      .map(([country]) => country);
    const [best] = [...(this.#plan.country ? [this.#plan.country] : []), ...named]
      .map((country) => {
        const cells = unfit.filter((number) => fitsCountry(number, country)).length;
        return { country, cells };
      })
      .toSorted((one, other) => other.cells - one.cells);
    const isLikely = best !== undefined && best.cells >= unfit.length * leastFitting;
    return {
      cells: unfit.length,
      of: seen,
      fitting: isLikely ? best : null,
      ...(this.#plan.layout.countryPosition !== undefined && { has_country_column: true }),
      ...(withoutPlus > 0 && { without_plus: { cells: withoutPlus, rows } }),
    };
  }
}

function countryOfDomain(cell: CellText): CountryCode | undefined {
  if (typeof cell !== 'string' || !cell.includes('@')) return undefined;
  const [, code] = /^([a-z]{2})[>\s]*$/i.exec(cell.slice(cell.lastIndexOf('.') + 1)) ?? [];
  return code === undefined ? undefined : findCountry(code);
}
