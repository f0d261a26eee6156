import { randomBytes } from 'node:crypto';
import { AddressBook } from './address-book.js';
import type { Batch } from '../batches/batch.js';
import type { Charge } from '../batches/status-answer.js';
import { isExportWrong } from '../batches/export-check.js';
import { BatchCutter, type BatchStorage } from './batch-cutter.js';
import type { OnChanged } from './cell-reader.js';
import { lineHashes } from './line-hashes.js';
import { Planner } from './planner.js';
import type { Recall, ResultHistory } from './result-cache.js';
import type { Suppressed } from './suppressed.js';
import { ResultJoin, type BatchEnding } from './result-join.js';
import { parseCountry } from '../addresses/country/parse-country.js';
import { suggestDomain } from '../addresses/suggest-domain.js';
import type { CountryCode } from '../../contract/countries.js';
import type { Open } from '../../contract/enums.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { fieldPlace, outcomeCells } from '../columns/added-fields.js';
import { OutcomeTable } from '../results/outcome-table.js';
import type { RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import type { OutputCell } from '../../lists/rows/sink.js';
import type { ColumnLayout, ColumnOptions } from '../columns/column-layout.js';

interface PlanSettings extends CountryOptions {
  readonly layout: ColumnLayout;
  readonly batchSize: number;
  readonly storage: BatchStorage;
  /** 32 random bytes. @default fresh ones */
  readonly seed?: Uint8Array;
  readonly onChanged?: OnChanged | undefined;
  readonly suppressed?: Suppressed | undefined;
  /** Opens the results of earlier runs, by hashes under the seed. */
  readonly recall?: ((outcomes: OutcomeTable) => Recall) | undefined;
}

export class Plan {
  readonly layout: ColumnLayout;
  readonly outcomes = new OutcomeTable();
  readonly book: AddressBook;
  readonly cutter: BatchCutter;
  readonly planner: Planner;
  readonly join: ResultJoin;
  /** Target country of rows without one of their own. */
  readonly country: CountryCode | undefined;
  /** By verified column: positions of values that belong to the cell itself. */
  readonly #perCell: readonly (readonly { readonly at: number; readonly field: string }[])[];
  readonly #places: ColumnPlaces;
  readonly #wholePlaces: ColumnPlaces;

  constructor(settings: PlanSettings) {
    this.layout = settings.layout;
    this.#places = placesOf(settings.layout, settings.layout.added);
    this.#wholePlaces = placesOf(settings.layout, settings.layout.whole ?? settings.layout.added);
    this.#perCell = settings.layout.added.map((columns) =>
      columns.flatMap(({ field }, at) => (perCellFields.has(field) ? [{ at, field }] : [])),
    );
    this.country = readCountry(settings.country);
    this.book = new AddressBook({ seed: settings.seed ?? randomBytes(32) });
    this.cutter = new BatchCutter(settings);
    this.planner = new Planner({
      columns: settings.layout.columns,
      country: {
        fallback: this.country,
        position: settings.layout.countryPosition,
        phonePosition: settings.layout.countryFromPosition,
        ofEmails: readCountry(settings.emailCountry),
      },
      book: this.book,
      cutter: this.cutter,
      outcomes: this.outcomes,
      recall: settings.recall?.(this.outcomes),
      onChanged: settings.onChanged,
      suppressed: settings.suppressed,
    });
    this.join = new ResultJoin({ book: this.book, outcomes: this.outcomes });
  }

  /** Gives every address of a finished batch its outcome, and stores the results in the history. */
  async settle(
    batch: Batch,
    ending: BatchEnding,
    when: {
      /** As `2026-11-21T03:00:00.000Z`. */
      readonly verifiedAt: string;
      readonly batchUuid: string | undefined;
      readonly charge: Charge | undefined;
      readonly history: ResultHistory | undefined;
      /** Called when the outcomes are set, before the history has them. */
      readonly onSettled?: () => void;
    },
  ): Promise<void> {
    const { verifiedAt, batchUuid = '', charge, history, onSettled } = when;
    const origin = { verifiedAt, source: 'service', batchUuid } as const;
    const isKept = history !== undefined && !('failure' in ending);
    // Once settled, their batch is no longer known.
    const numbers = isKept ? this.join.numbersOf(batch) : undefined;
    await this.join.settle(batch, ending, this.layout.withOrigin ? origin : undefined);
    onSettled?.();
    const cost = { type: batch.group.type, addresses: batch.addresses, charge };
    if ('failure' in ending && !isExportWrong(ending.failure)) {
      // Without a charge it may never have been launched.
      await history?.dropLaunch(batchUuid, charge && cost);
    }
    if (!numbers || !history) return;
    await history.keep({
      batchUuid,
      atMs: Date.parse(verifiedAt),
      ...cost,
      outcomes: this.outcomes,
      hashes: lineHashes(batch, history.seed),
      outcomeOf: (place) => this.join.outcomeOf(numbers[place]),
    });
  }

  get width(): number {
    return this.layout.columns.length;
  }

  /** Whether added values depend on the cell, not on its outcome alone. */
  get hasPerCellValues(): boolean {
    return this.#perCell.some((places) => places.length > 0);
  }

  /** Values that an outcome adds in the k-th verified column; null for those of the cell itself. */
  cellsOf(outcome: number, column: number): readonly OutputCell[] {
    return this.#pick(outcome, column, this.#places);
  }

  /** The same for the default columns. */
  wholeCellsOf(outcome: number, column: number): readonly OutputCell[] {
    return this.#pick(outcome, column, this.#wholePlaces);
  }

  withPerCellValues(
    cells: readonly OutputCell[],
    chunk: RowChunk,
    row: number,
    column: number,
  ): readonly OutputCell[] {
    let filled = cells;
    for (const { at, field } of this.#perCell[column] ?? []) {
      const value =
        field === 'submitted'
          ? this.planner.cells.lineOf(chunk, row, column)
          : suggestDomain(chunk.text(row, this.layout.columns[column]?.position ?? 0));
      filled = filled.with(at, value ?? null);
    }
    return filled;
  }

  #pick(outcome: number, column: number, places: ColumnPlaces): readonly OutputCell[] {
    const { type } = this.layout.columns[column] ?? { type: 'email' as const };
    const cells = outcomeCells(this.outcomes.get(outcome), type);
    return places[column]?.map((at) => cells[at] ?? null) ?? [];
  }
}

/** By verified column: positions of the added columns among an outcome's values. */
type ColumnPlaces = readonly (readonly number[])[];

function placesOf({ columns }: ColumnLayout, added: ColumnLayout['added']): ColumnPlaces {
  return columns.map(({ type }, column) =>
    (added[column] ?? []).map(({ field }) => fieldPlace(type, field)),
  );
}

/** Values that follow from the cell itself. */
const perCellFields: ReadonlySet<string> = new Set(['submitted', 'suggestion']);

export type CountryCodeOrName = Open<CountryCode>;

/** Decides the batch group of each address. */
export interface CountryOptions {
  /**
   * Target country of every row, or with `countryColumn` and `countryFrom` of the rows without one: a code
   * such as `US`, or a name.
   * @default none: a row without a country of its own is not sent
   */
  readonly country?: CountryCodeOrName | undefined;
  /** Target country of all emails. @default their row's */
  readonly emailCountry?: CountryCodeOrName | undefined;
}

/**
 * The service verifies for a country, emails too: one of these options gives it. Without one the compiler
 * reports the last alternative: from TypeScript 7 on the last by name, so names are in that order.
 */
export type CountryChoice = CountryByEmails | CountryByRow | CountryFromNumbers | CountryOfAllRows;

interface CountryByEmails {
  /** Target country of all emails, where no phone numbers are verified. */
  readonly emailCountry: {};
  /** Not used. */
  readonly phone?: readonly [] | undefined;
}

interface CountryByRow {
  /** Column that holds the target country row by row. */
  readonly countryColumn: {};
}

interface CountryFromNumbers {
  /** Column of phone numbers whose calling codes say the target country row by row. */
  readonly countryFrom: {};
}

interface CountryOfAllRows {
  /** Target country of every row. */
  readonly country: {};
}

/** Checks the countries before anything is read. @throws ConfigurationError `invalid_option`, `country_missing` */
export function checkCountries(options: CountryOptions & ColumnOptions): void {
  const country = readCountry(options.country);
  const emailCountry = readCountry(options.emailCountry);
  const { countryColumn, countryFrom } = options;
  const isEveryRowKnown = [country, countryColumn, countryFrom].some((way) => way !== undefined);
  const hasPhones = (options.phone ?? []).length > 0;
  if (isEveryRowKnown || (emailCountry !== undefined && !hasPhones)) return;
  throw new ConfigurationError(
    'a target country is needed: give one for all rows (country), the column that holds it row by row (countryColumn), or a column of international phone numbers (countryFrom)',
    { code: 'country_missing', option: 'country' },
  );
}

export function readCountry(country: string | undefined): CountryCode | undefined {
  return country === undefined ? undefined : parseCountry(country);
}
