import { randomBytes } from 'node:crypto';
import { AddressBook } from './address-book.js';
import type { Batch } from './batch.js';
import { BatchCutter, type BatchStorage } from './batch-cutter.js';
import { Planner, type OnChanged } from './planner.js';
import type { Recall, ResultHistory } from './result-history.js';
import { ResultJoin, type BatchEnding } from './result-join.js';
import { parseCountry } from '../addresses/find-country.js';
import type { CountryCode } from '../contract/countries.js';
import { ConfigurationError } from '../errors/family.js';
import { outcomeCells } from '../results/columns.js';
import { OutcomeTable } from '../results/outcome-table.js';
import type { OutputCell } from '../rows/sink.js';
import type { ColumnLayout, ColumnOptions } from './column-layout.js';

export interface PlanSettings {
  /** Where the columns stand. */
  readonly layout: ColumnLayout;
  /** Target country of the rows whose own cell is empty, or of all. */
  readonly country: CountryCode | undefined;
  /** Target country of all emails, whatever that of their row is. */
  readonly emailCountry?: CountryCode | undefined;
  /** Most addresses in one batch. */
  readonly batchSize: number;
  readonly storage: BatchStorage;
  /** 32 random bytes. @default fresh ones */
  readonly seed?: Uint8Array;
  /** Told of each cell that is sent as something else than it holds. */
  readonly onChanged?: OnChanged | undefined;
  /** Makes what knows results of earlier runs, by hashes under the seed. */
  readonly recall?: ((outcomes: OutcomeTable) => Recall) | undefined;
}

/** Rows to addresses to batches, and results back to rows: all that does not wait. */
export class Plan {
  readonly layout: ColumnLayout;
  readonly outcomes = new OutcomeTable();
  readonly book: AddressBook;
  readonly cutter: BatchCutter;
  readonly planner: Planner;
  readonly join: ResultJoin;

  constructor(settings: PlanSettings) {
    this.layout = settings.layout;
    this.book = new AddressBook({ seed: settings.seed ?? randomBytes(32) });
    this.cutter = new BatchCutter(settings);
    this.planner = new Planner({
      columns: settings.layout.columns,
      country: {
        fallback: settings.country,
        position: settings.layout.countryPosition,
        ofEmails: settings.emailCountry,
      },
      book: this.book,
      cutter: this.cutter,
      outcomes: this.outcomes,
      recall: settings.recall?.(this.outcomes),
      onChanged: settings.onChanged,
    });
    this.join = new ResultJoin({ book: this.book, outcomes: this.outcomes });
  }

  /**
   * Gives every address of a batch that is at its end its outcome, and has the history keep it.
   *
   * @throws as `ResultJoin.settle` does; what the history throws
   */
  async settle(
    batch: Batch,
    ending: BatchEnding,
    when: {
      /** As `2026-11-21T03:00:00.000Z`. */
      readonly verifiedAt: string;
      readonly batchUuid: string | undefined;
      readonly history: ResultHistory | undefined;
      /** Called when the outcomes are there, before the history has them. */
      readonly onSettled?: () => void;
    },
  ): Promise<void> {
    const { verifiedAt, batchUuid = '', history, onSettled } = when;
    const origin = { verifiedAt, source: 'service', batchUuid } as const;
    await this.join.settle(batch, ending, this.layout.withOrigin ? origin : undefined);
    onSettled?.();
    if (!history || 'failure' in ending) return;
    await history.keep({
      batchUuid,
      atMs: Date.parse(verifiedAt),
      addresses: batch.addresses,
      outcomes: this.outcomes,
      results: this.join.results(batch),
    });
  }

  /** Number of verified columns. */
  get width(): number {
    return this.layout.columns.length;
  }

  /** Cells that an outcome adds in the k-th verified column. */
  cellsOf(outcome: number, column: number): readonly OutputCell[] {
    const { type } = this.layout.columns[column] ?? { type: 'email' as const };
    return outcomeCells(this.outcomes.get(outcome), type, this.layout.withOrigin);
  }
}

/** What decides which country's lane an address belongs to. */
export interface CountryOptions {
  /** Target country of every row, or, with `countryColumn`, of the rows whose own cell is empty. */
  readonly country?: string;
  /** Target country of all emails, whatever that of their row is. */
  readonly emailCountry?: string;
}

/** The service verifies for a country, emails too: one of these ways has to say for which. */
export type CountryChoice =
  | { readonly country: string }
  | { readonly countryColumn: string }
  | { readonly emailCountry: string; readonly phone?: readonly [] };

/**
 * Checks what decides the lanes before anything is read.
 *
 * @throws ConfigurationError `invalid_option`, `country_missing`
 */
export function checkCountries(
  options: CountryOptions & Pick<ColumnOptions, 'countryColumn' | 'phone'>,
): Pick<PlanSettings, 'country' | 'emailCountry'> {
  const country = checkCountry(options.country);
  const emailCountry = checkCountry(options.emailCountry);
  const isEveryRowKnown = country !== undefined || options.countryColumn !== undefined;
  const hasPhones = (options.phone ?? []).length > 0;
  if (isEveryRowKnown || (emailCountry !== undefined && !hasPhones)) {
    return { country, emailCountry };
  }
  throw new ConfigurationError(
    'a target country is needed: give one for all rows (country), or the column that holds it row by row (countryColumn)',
    { code: 'country_missing' },
  );
}

function checkCountry(country: string | undefined): CountryCode | undefined {
  return country === undefined ? undefined : parseCountry(country);
}
