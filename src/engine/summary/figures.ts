import type { VerificationType } from '../../contract/enums.js';
import type { BatchTimes } from '../batches/batch-log.js';
import type { Charge } from '../batches/status-answer.js';
import type { ForeignNumbers } from '../columns/column-looks.js';
import type { Verdict } from '../results/outcome-table.js';

/*
 * What summary and estimate say of columns, types, batches and earlier runs. They are written out, not read from their
 * schemas (`summary-schema.ts`): to infer them would be most of what a program takes to compile. The published JSON
 * Schema (docs/reference/summary.schema.json) has their texts.
 */

/** How many of each. */
export type Counts = Readonly<Record<string, number>>;

/** What became of cells: of one column, or of all columns of a type. */
export interface CellTally {
  /** Cells by what became of them: they add up to the rows of each column. */
  readonly buckets: {
    readonly verified: number;
    readonly not_submitted: number;
    readonly no_result: number;
    readonly failed: number;
  };
  /** Cells that are not verified, by reason. */
  readonly reasons: Counts;
  /** Verified cells by the record's flags; of one with more than one, wrong before unknown before valid. */
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Verified cells by quality; empty for phones. */
  readonly quality: Counts;
  /**
   * Valid emails of risky quality, and those of throw-away services; one can be both. Absent where there
   * are none.
   */
  readonly of_valid?: { readonly risky: number; readonly disposable: number } | undefined;
}

/** Emails whose domain looks misspelt, so that another is suggested. */
export interface MisspeltCells {
  /** How many cells. */
  readonly cells: number;
  /** In how many rows they were counted: where no suggestions are written, in the first 1,000 at most. */
  readonly of_rows: number;
  /** The added column that has the suggestions; `null` where `suggest` was not given. */
  readonly suggested_in: string | null;
}

/** What can be put right in a column of the list. */
export interface ColumnHints {
  /**
   * Cells without a result that are not one plain address, by reason and form: `mailto` (a link), `named`
   * (`Name <address>`), `several` (more than one address), `unsplit` (more than one, and not to be split for sure), `beside` (an
   * address and other text), `no_at`; of phones `tel` (a link), `several`, `unsplit`, `extension`. Absent where there are none.
   */
  readonly forms?: Readonly<Record<string, Counts>> | undefined;
  /** Emails whose domain looks misspelt. Absent where there are none. */
  readonly misspelt?: MisspeltCells | undefined;
  /**
   * Phone numbers that may begin with a calling code that has lost its `+` (`447700900123`), and were not
   * sent as international. Absent where they are so few that it may be chance.
   */
  readonly ambiguous?: number | undefined;
  /** The rows of the first five of them: numbers in the sheet or file where known, else below the header. */
  readonly ambiguous_rows?: readonly number[] | undefined;
  /** Phone numbers of other countries than the one given for all rows. Absent where they are few. */
  readonly foreign?: ForeignNumbers | undefined;
}

/** Phone numbers that are wrong or without a result, and are no valid number in the country of their row. */
export interface UnfitCells {
  /** How many cells. */
  readonly cells: number;
  /** Of how many that are wrong or without a result: the first 1,000 at most. */
  readonly of: number;
  /** How many would be valid in the country of the emails beside them; `null` where none is likely. */
  readonly fitting: { readonly country: string; readonly cells: number } | null;
  /** Those that would be valid with a + in front, and the rows of the first five. Absent where there are none. */
  readonly without_plus?: { readonly cells: number; readonly rows: readonly number[] } | undefined;
}

/** What became of one verified column, cell by cell. */
export interface ColumnSummary extends CellTally, ColumnHints {
  /** The column's name in the header. */
  readonly name: string;
  /** What its cells were verified as. */
  readonly type: VerificationType;
  /**
   * Rows that the output does not have although this column is valid, because another one is not. Absent
   * where there are none.
   */
  readonly valid_left_out?: number | undefined;
  /** Phone numbers that probably are of another country than their row. Absent where there are none. */
  readonly unfit?: UnfitCells | undefined;
}

export interface UnknownCountry {
  /** The cell; masked where the column does not look like countries. */
  readonly value: string;
  /** How many rows have it. */
  readonly rows: number;
  /**
   * The first of them: its number in the sheet or file where that is known, else below the header. Absent
   * in the figures of an older version.
   */
  readonly first_row?: number | undefined;
  /** The country that was probably meant, by its name; `null` where none is near. */
  readonly guess: string | null;
  /** Its code; `null` where the service does not take it. */
  readonly code: string | null;
}

/** Rows that could not be sent for want of a country. */
export interface CountryProblems {
  /** The column that holds a country row by row; `null` where none was named. */
  readonly column: string | null;
  /** Rows without a country. */
  readonly missing: number;
  /**
   * Those of them whose number in a column of phones begins with a calling code: `countryFrom` takes their
   * country from it. Absent where there are none.
   */
  readonly calling_codes?: { readonly column: string; readonly rows: number } | undefined;
  /** Rows whose country is not understood, or not one of the service's. */
  readonly not_understood: number;
  /** Those of them whose cell is not text in the input's encoding. */
  readonly no_text: number;
  /**
   * Whether the column seems to hold countries. If it does not, the values are masked, as they may be
   * personal data: letters and digits are dots. So are rare values that are like no country.
   */
  readonly looks_like_countries: boolean;
  /** The ten commonest cells that are not understood, the commonest first. */
  readonly values: readonly UnknownCountry[];
}

/** What became of one verification type. Cells are counted, addresses where it says so. */
export interface TypeSummary extends CellTally {
  /** Unique addresses: those that were sent, and those that the history knew. */
  readonly addresses: number;
  /**
   * Unique addresses whose result came from earlier runs, the history or a run whose list has changed: they
   * were not sent.
   */
  readonly from_history: number;
  /** Cells that held an address seen before in their batch group. */
  readonly duplicates: number;
}

export interface CreditSummary {
  /** Credits before refunds; `null` where only the net is known. */
  readonly spent: number | null;
  /** Credits that were given back; `null` where this is not known. */
  readonly refunded: number | null;
  /** Credits after refunds: what it cost; `null` where this is not known. */
  readonly net: number | null;
  /**
   * Where the figures come from: the service's own cost objects, the difference of the balances (other
   * jobs of the account count in), the addresses of what was launched (of a run that stopped before the
   * service said what it cost), or `null` when they are not known.
   */
  readonly source: 'cost_objects' | 'balance_difference' | 'launched' | null;
  /** Credits of launches without a clear answer, which may have been spent, too. Absent where there are none. */
  readonly in_doubt?: number | undefined;
}

export interface BatchExport {
  /** Addresses that the service says it verified; `null` where it does not say. */
  readonly counted: number | null;
  /** Addresses of the batch that the export names. */
  readonly named: number;
  /** Records of addresses that the batch does not have. */
  readonly strangers: number;
  /** Addresses without a result, as the export does not say which of several records is theirs. */
  readonly conflicting: number;
  /** Addresses that it should name and did not, however often it was asked for. Absent when none. */
  readonly missing?: number | undefined;
}

/** One batch of a run: what was sent, what became of it, and what it cost. */
export interface BatchReport {
  /** The service's id of it; `null` where it was never received. */
  readonly batch_uuid: string | null;
  /** Its name on the service. */
  readonly name: string;
  /** What its addresses were verified as. */
  readonly type: VerificationType;
  /** Its target country, as a code of two letters. */
  readonly country: string;
  /** How many unique addresses it has. */
  readonly addresses: number;
  /** `exported`, `failed`, or where a run that stopped has left it. */
  readonly stage: string;
  /** Why it failed, as a code; `null` where it did not. */
  readonly reason: string | null;
  /** What it cost, in credits of its type; `null` where the service has not said it. */
  readonly charge: Charge | null;
  /** What its export held, compared with what the service counted; `null` where none was read whole. */
  readonly export: BatchExport | null;
  /** When it got to each step. */
  readonly times: BatchTimes;
}

/** What is kept of one type of a finished run. */
export interface PastCounts {
  /** Unique addresses: those that were sent, and those that the history knew. */
  readonly addresses: number;
  /** Those that the history knew: they were not paid for again. */
  readonly from_history: number;
  /** Verified cells by verdict. */
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Credits after refunds; `null` where this is not known. */
  readonly net_credits: number | null;
}

/** What is kept of a finished run, so that later ones can be compared with it. */
export interface PastRun {
  /** When it finished, as `2026-11-21T03:00:00.000Z`. */
  readonly finished_at: string;
  /** Rows that it read. */
  readonly rows: number;
  /** Its emails; `null` where none were verified. */
  readonly email: PastCounts | null;
  /** Its phones; `null` where none were verified. */
  readonly phone: PastCounts | null;
}

/** A share that is far from what it was in the runs before. */
export interface OddShare {
  /** Of which addresses. */
  readonly type: VerificationType;
  /** `new` are the addresses that the history had no result of, as a share of all. */
  readonly share: 'valid' | 'wrong' | 'unknown' | 'new';
  /** From 0 to 1. */
  readonly now: number;
  /** The median of the runs before. */
  readonly usual: number;
  /** How far from that a share may be without being odd. */
  readonly allowed: number;
}

/** Earlier runs of a list, and what of this one is odd beside them. */
export interface Comparison {
  /** The run before, the last that had rows where one had; `null` where there was none. */
  readonly previous: PastRun | null;
  /** The latest runs before this one, 30 at most, oldest first. */
  readonly runs: readonly PastRun[];
  /** Shares that are far from what they were. */
  readonly odd: readonly OddShare[];
}
