import { type CellText, invalidText, type RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import { caseless } from '../../lists/rows/sources/combine-headers.js';
import type { RowsFrom } from '../../lists/rows/sink.js';
import { maskedText } from '../../platform/text/printable.js';
import { trimCell } from '../addresses/address.js';
import { cellForm } from '../addresses/cell-form.js';
import { guessCountry } from '../addresses/country/parse-country.js';
import { phoneCountry } from '../addresses/phone/phone-country.js';
import type { ColumnLayout } from '../columns/column-layout.js';
import type { Plan } from '../plan/plan.js';
import { type Outcome, type OutcomeTable, verdictOf } from '../results/outcome-table.js';
import type { ColumnSummary, CountryProblems } from './figures.js';
import { UnfitNumbers } from './unfit-numbers.js';

const [nothing, withoutCountry, unknownCountry, wrong, badForm] = [0, 1, 2, 3, 4];
/** Reasons about a cell's form, from the mark of the first on. */
const ofForm = ['no_record', 'contains_comma', 'several_numbers'];
const marks: ReadonlyMap<string, number> = new Map([
  ['country_missing', withoutCountry],
  ['country_unsupported', unknownCountry],
  ...ofForm.map((reason, at) => [reason, badForm + at] as const),
]);

const mostShown = 10;
/** There are fewer countries and misspellings; in a column of names the first ones do. */
const mostValues = 2000;
const longestValue = 60;

/** What keeps cells of a list from a result and can be corrected there: countries, forms of cells. */
export class RejectedCells {
  readonly #layout: ColumnLayout;
  readonly #marks: OutcomeMarks;
  readonly #values = new Map<string, { rows: number; readonly first: number }>();
  /** By verified column and reason: counts of forms. */
  readonly #forms: readonly Map<string, Map<string, number>>[];
  readonly unfit: UnfitNumbers;
  /** By column of phones: rows without a country but with a calling code in it. */
  readonly #codes = new Map<number, number>();
  #rows = 0;
  #missing = 0;
  #notUnderstood = 0;
  #noText = 0;

  constructor(plan: Plan) {
    const { layout, outcomes } = plan;
    this.#layout = layout;
    this.#marks = new OutcomeMarks(outcomes, markOf);
    this.unfit = new UnfitNumbers(plan);
    this.#forms = layout.columns.map(() => new Map());
  }

  /** @param outcomes of whole rows, from row `from` of the chunk */
  add(outcomes: Uint32Array, { chunk, from }: RowsFrom): void {
    const { columns, countryPosition } = this.#layout;
    const width = columns.length;
    const before = this.#rows;
    this.#rows += outcomes.length / width;
    let counted = -1;
    for (let index = 0; index < outcomes.length; index += 1) {
      const mark = this.#marks.of(outcomes[index] as number);
      if (mark === nothing) continue;
      const row = from + Math.floor(index / width);
      const at = { chunk, row, number: chunk.number?.(row) ?? before + row - from + 1 };
      if (mark >= badForm) {
        const { type, position } = columns[index % width] as (typeof columns)[number];
        const reason = ofForm[mark - badForm] as string;
        const form = this.#addForm(index % width, reason, chunk.text(row, position));
        // Another country would not help a cell that is not one plain number.
        if (type === 'phone' && mark === badForm && form === undefined)
          this.unfit.add(index % width, at);
      } else if (mark === wrong) {
        this.unfit.add(index % width, at);
      } else if (mark === unknownCountry && this.#isHeader(index % width, chunk, row)) {
        // The name of a column is no country to correct.
        this.#countForm(index % width, 'country_unsupported', 'header');
      } else if (row !== counted) {
        counted = row;
        if (mark === withoutCountry) {
          this.#missing += 1;
          this.#addCallingCode(chunk, row);
        } else {
          this.#notUnderstood += 1;
          if (countryPosition !== undefined) {
            this.#addValue(chunk.text(row, countryPosition), at.number);
          }
        }
      }
    }
  }

  /** @returns `undefined` where every row has a country that the service accepts */
  countries(): CountryProblems | undefined {
    if (this.#missing + this.#notUnderstood === 0) return undefined;
    const { countryName, countryFromName } = this.#layout;
    const [codes] = [...this.#codes].toSorted(([, one], [, other]) => other - one);
    const values = [...this.#values]
      .toSorted(([, one], [, other]) => other.rows - one.rows)
      .slice(0, mostShown)
      .map(([value, { rows, first }]) => {
        const { code = null, name = null } = guessCountry(value) ?? {};
        return { value, rows, first_row: first, guess: name, code };
      });
    const guessed = values.reduce((sum, { rows, guess }) => sum + (guess === null ? 0 : rows), 0);
    const understood = this.#rows - this.#missing - this.#notUnderstood;
    const isAlike = this.#notUnderstood <= Math.max(understood, 2 * guessed);
    return {
      column: countryName ?? null,
      missing: this.#missing,
      // Calling codes of one column count.
      ...(codes &&
        countryFromName === undefined && {
          calling_codes: { column: this.#layout.columns[codes[0]]?.as ?? '', rows: codes[1] },
        }),
      not_understood: this.#notUnderstood,
      no_text: this.#noText,
      looks_like_countries: isAlike,
      values: values.map((each) =>
        isAlike && mayBeCountry(each)
          ? each
          : { ...each, value: maskedText(each.value), guess: null, code: null },
      ),
    };
  }

  /** @returns `undefined` without such a cell */
  forms(column: number): ColumnSummary['forms'] {
    const forms = this.#forms[column];
    if (!forms || forms.size === 0) return undefined;
    return Object.fromEntries(
      [...forms].map(([reason, counts]) => [reason, Object.fromEntries(counts)]),
    );
  }

  /** A row without a country may have a calling code. */
  #addCallingCode(chunk: RowChunk, row: number): void {
    for (const [column, { type, position }] of this.#layout.columns.entries()) {
      if (type !== 'phone' || typeof phoneCountry(chunk.text(row, position)) !== 'string') continue;
      this.#codes.set(column, (this.#codes.get(column) ?? 0) + 1);
    }
  }

  #addValue(cell: CellText, row: number): void {
    if (cell === invalidText) this.#noText += 1;
    if (typeof cell !== 'string') return;
    const value = trimCell(cell).slice(0, longestValue);
    const known = this.#values.get(value);
    if (known === undefined && this.#values.size >= mostValues) return;
    if (known) known.rows += 1;
    else this.#values.set(value, { rows: 1, first: row });
  }

  #addForm(column: number, reason: string, cell: CellText): string | undefined {
    const { type, name } = this.#layout.columns[column] as ColumnLayout['columns'][number];
    const formOf = (text: string): string | undefined =>
      caseless(text) === caseless(name) ? 'header' : cellForm(type, text);
    const found = typeof cell === 'string' ? formOf(trimCell(cell)) : undefined;
    const form = found ?? (reason === 'several_numbers' ? 'unsplit' : undefined);
    if (form !== undefined) this.#countForm(column, reason, form);
    return form;
  }

  #countForm(column: number, reason: string, form: string): void {
    const byReason = this.#forms[column] as Map<string, Map<string, number>>;
    const counts = byReason.get(reason) ?? new Map<string, number>();
    byReason.set(reason, counts.set(form, (counts.get(form) ?? 0) + 1));
  }

  /** Whether the row repeats the header in the cells of the column and of the countries. */
  #isHeader(column: number, chunk: RowChunk, row: number): boolean {
    const { columns, countryPosition, countryName } = this.#layout;
    const { position, name } = columns[column] as ColumnLayout['columns'][number];
    if (countryPosition === undefined || countryName === undefined) return false;
    const holds = (at: number, what: string): boolean => {
      const cell = chunk.text(row, at);
      return typeof cell === 'string' && caseless(trimCell(cell)) === caseless(what);
    };
    return holds(position, name) && holds(countryPosition, countryName);
  }
}

function markOf(outcome: Outcome): number {
  if (outcome.type === 'phone' && verdictOf(outcome) === 'wrong') return wrong;
  return marks.get(outcome.reason) ?? nothing;
}

/** A rare value, or one with digits, that is unlike any country may be anything: a row may have shifted. */
function mayBeCountry({ value, rows, guess }: CountryProblems['values'][number]): boolean {
  if (guess !== null) return true;
  return !/[\p{N}@]/u.test(value) && (rows > 1 || value.length <= 3);
}

const notSeen = 255;

/** A small number for each outcome, computed once: one byte read for each cell. */
export class OutcomeMarks {
  readonly #outcomes: OutcomeTable;
  readonly #mark: (outcome: Outcome) => number;
  #marks = new Uint8Array(1024).fill(notSeen);

  /** @param mark returns 0 to 254 */
  constructor(outcomes: OutcomeTable, mark: (outcome: Outcome) => number) {
    this.#outcomes = outcomes;
    this.#mark = mark;
  }

  of(id: number): number {
    if (id >= this.#marks.length) {
      const grown = new Uint8Array(Math.max(id + 1, this.#marks.length * 2)).fill(notSeen);
      grown.set(this.#marks);
      this.#marks = grown;
    }
    const known = this.#marks[id] as number;
    if (known !== notSeen) return known;
    const mark = this.#mark(this.#outcomes.get(id));
    this.#marks[id] = mark;
    return mark;
  }
}
