import type { VerificationType } from '../../contract/enums.js';
import type { BatchTimes } from '../batches/batch-log.js';
import type { Charge } from '../batches/status-answer.js';
import type { ForeignNumbers } from '../columns/column-profile.js';
import type { MisreadNumbers } from '../columns/country-fit.js';
import type { Verdict } from '../results/outcome-table.js';
import { type BatchState, isLaunchInDoubt, mayHaveLaunched } from '../batches/batch-state.js';

/*
 * Figures of columns, types, batches and earlier runs in summary and estimate. They are written out, not
 * inferred from their schemas (`summary-schema.ts`): inference would take most of a program's compile time.
 * The published JSON Schema (docs/reference/summary.schema.json) has their texts.
 */

/** Counts by key. */
export type Counts = Readonly<Record<string, number>>;

/** Results of cells: of one column, or of all columns of a type. */
export interface CellTally {
  /** Cells by result: they add up to the rows of each column. */
  readonly buckets: {
    readonly verified: number;
    readonly not_submitted: number;
    readonly no_result: number;
    readonly failed: number;
  };
  /** Cells without a verdict, by reason. */
  readonly reasons: Counts;
  /** Verified cells by the record's flags; of one with more than one, wrong before unknown before valid. */
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Verified cells by quality; empty for phones. */
  readonly quality: Counts;
  /** Valid emails of risky quality, those of disposable services, and those that are both. Absent without any. */
  readonly of_valid?:
    | { readonly risky: number; readonly disposable: number; readonly both: number }
    | undefined;
  /** Valid phones of status `unknown`: valid by their form, and perhaps not in service. Absent without any. */
  readonly valid_by_form?: number | undefined;
}

/** Emails whose domain looks misspelt. */
export interface MisspeltCells {
  /** Number of cells. */
  readonly cells: number;
  /** Rows examined: without written suggestions the first 1,000 at most. */
  readonly of_rows: number;
  /** The added column with the suggestions; `null` without `suggest`. */
  readonly suggested_in: string | null;
}

/** What can be corrected in a column of the list. */
export interface ColumnHints {
  /**
   * Cells without a result that are not one plain address, by reason and form: `mailto` (a link), `named`
   * (`Name <address>`), `several` (more than one address), `unsplit` (more than one, and not to be split for
   * sure), `beside` (an address and other text), `no_at`; of phones `tel` (a link), `several`, `unsplit`,
   * `beside`, `extension`; of both `header` (the column's name). Absent without any.
   */
  readonly forms?: Readonly<Record<string, Counts>> | undefined;
  /** Emails whose domain looks misspelt. Absent without any. */
  readonly misspelt?: MisspeltCells | undefined;
  /**
   * Phone numbers that may begin with a calling code without its `+` (`447700900123`), and were not sent as
   * international. Absent where they are few.
   */
  readonly ambiguous?: number | undefined;
  /** Row numbers of the first five: of the sheet or file where known, else counted below the header. */
  readonly ambiguous_rows?: readonly number[] | undefined;
  /** Phone numbers of other countries than the given one. Absent where they are few. */
  readonly foreign?: ForeignNumbers | undefined;
  /**
   * Phone numbers without a calling code of which far more are valid in other countries than in the one that
   * they are read by. Absent where that one fits.
   */
  readonly misread?: MisreadNumbers | undefined;
}

/** Phone numbers that are wrong or without a result, and not valid in their row's country. */
export interface UnfitCells {
  /** Number of cells. */
  readonly cells: number;
  /** Examined cells that are wrong or without a result: the first 1,000 at most. */
  readonly of: number;
  /** How many would be valid in the country of the emails beside them; `null` without a likely one. */
  readonly fitting: { readonly country: string; readonly cells: number } | null;
  /** Whether the command names a column of countries. Absent where not. */
  readonly has_country_column?: true | undefined;
  /** Those that would be valid with a + in front, and the rows of the first five. Absent without any. */
  readonly without_plus?: { readonly cells: number; readonly rows: readonly number[] } | undefined;
}

export interface ColumnSummary extends CellTally, ColumnHints {
  readonly name: string;
  /** The type of its cells. */
  readonly type: VerificationType;
  /** Rows not among the valid ones although this column is valid, because another is not. Absent without any. */
  readonly valid_left_out?: number | undefined;
  /** Phone numbers that probably belong to another country than their row. Absent without any. */
  readonly unfit?: UnfitCells | undefined;
}

export interface UnknownCountry {
  /** The cell; masked where the column does not look like countries. */
  readonly value: string;
  /** Number of rows with it. */
  readonly rows: number;
  /** The first of them: its number in the sheet or file where known, else counted below the header. */
  readonly first_row: number;
  /** The country probably meant, by name; `null` where none is close. */
  readonly guess: string | null;
  /** Its code; `null` where the service does not accept it. */
  readonly code: string | null;
}

/** Rows that could not be sent without a country. */
export interface CountryProblems {
  /** The column with each row's country; `null` where none was named. */
  readonly column: string | null;
  /** Rows without a country. */
  readonly missing: number;
  /**
   * Those with a calling code in a column of phones: `countryFrom` takes their country from it. Absent
   * without any.
   */
  readonly calling_codes?: { readonly column: string; readonly rows: number } | undefined;
  /** Rows whose country is unknown, or not one of the service's. */
  readonly not_understood: number;
  /** Those of them whose cell is not text in the input's encoding. */
  readonly no_text: number;
  /**
   * Whether the column seems to hold countries. If not, the values are masked, as they may be personal data:
   * letters and digits become dots. So are rare values unlike any country.
   */
  readonly looks_like_countries: boolean;
  /** The ten commonest unknown cells, the commonest first. */
  readonly values: readonly UnknownCountry[];
}

/** Results of one verification type. Counts of cells, unless they say addresses. */
export interface TypeSummary extends CellTally {
  /** Unique addresses: sent ones, and those in the history. */
  readonly addresses: number;
  /** Unique addresses with a result from the history, or from a run before its list changed: not sent. */
  readonly from_history: number;
  /** Cells that repeat an address of their batch group. */
  readonly duplicates: number;
  /**
   * Emails in rows of several countries: each is an address in each of them. Of over 16,384 emails an even sample is
   * counted. Absent without any.
   */
  readonly in_several_countries?: number | undefined;
}

export interface CreditSummary {
  /** Credits before refunds; `null` where only the net is known. */
  readonly spent: number | null;
  /** Credits given back; `null` where unknown. */
  readonly refunded: number | null;
  /** Credits after refunds: the cost; `null` where unknown. */
  readonly net: number | null;
  /**
   * Source of the figures: the service's cost objects, the difference of the balances (which other jobs of
   * the account affect), the launched addresses (of a run that stopped before its cost was known), or `null`
   * where unknown.
   */
  readonly source: 'cost_objects' | 'balance_difference' | 'launched' | null;
  /** Credits of batches of which it is unknown whether they were launched: they may have been spent, too. Absent without any. */
  readonly in_doubt?: number | undefined;
}

export interface BatchExport {
  /** Addresses that the service says it verified; `null` where unknown. */
  readonly counted: number | null;
  /** Addresses of the batch in the export. */
  readonly named: number;
  /** Records of addresses that are not in the batch. */
  readonly strangers: number;
  /** Addresses without a result, as several records may be theirs. */
  readonly conflicting: number;
  /** Addresses missing in every export. Absent without any. */
  readonly missing?: number | undefined;
}

/** One batch of a run: its content, result and cost. */
export interface BatchReport {
  /** The service's id; `null` where it was never received. */
  readonly batch_uuid: string | null;
  /** Its name on the service. */
  readonly name: string;
  /** The type of its addresses. */
  readonly type: VerificationType;
  /** Its target country, as a code of two letters. */
  readonly country: string;
  /** Number of unique addresses. */
  readonly addresses: number;
  /** `exported`, `failed`, or the stage in which a stopped run left it. */
  readonly stage: string;
  /** Code of its failure; `null` without one. */
  readonly reason: string | null;
  /** Its cost in credits of its type; `null` where unknown. */
  readonly charge: Charge | null;
  /** Counts of its export, beside the service's; `null` without a complete export. */
  readonly export: BatchExport | null;
  /** When it reached each step. */
  readonly times: BatchTimes;
}

/** Stored counts of one type of a finished run. */
export interface FinishedCounts {
  /** Unique addresses: sent ones, and those in the history. */
  readonly addresses: number;
  /** Those in the history: not paid for again. */
  readonly from_history: number;
  /** Verified cells by verdict. */
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Credits after refunds; `null` where unknown. */
  readonly net_credits: number | null;
}

/** The stored figures of a finished run, for comparison with later ones. */
export interface FinishedRun {
  /** When it finished, as `2026-11-21T03:00:00.000Z`. */
  readonly finished_at: string;
  /** Rows that it read. */
  readonly rows: number;
  /** Its emails; `null` where none were verified. */
  readonly email: FinishedCounts | null;
  /** Its phones; `null` where none were verified. */
  readonly phone: FinishedCounts | null;
}

/** A share that differs from earlier runs. */
export interface OddShare {
  /** The type of the addresses. */
  readonly type: VerificationType;
  /** `new` is the share of addresses without a result in the history. */
  readonly share: 'valid' | 'wrong' | 'unknown' | 'new';
  /** From 0 to 1. */
  readonly now: number;
  /** The median of earlier runs. */
  readonly usual: number;
  /** The largest difference that is not odd. */
  readonly allowed: number;
}

/** Earlier runs of a list, and what is odd about this one. */
export interface Comparison {
  /** The last run that had rows, else the last, its output refused or not; `null` without an earlier run. */
  readonly previous: FinishedRun | null;
  /** The latest runs before this one whose output was not refused, 30 at most, oldest first. */
  readonly runs: readonly FinishedRun[];
  /** Shares that differ from earlier runs. */
  readonly odd: readonly OddShare[];
}

/** A batch of a run that has stopped. */
export interface PaidBatch {
  readonly state: BatchState;
  readonly addresses: number;
  readonly charge?: Charge | null | undefined;
  /** As in `BatchProgress`. */
  readonly replacedCharge?: Charge | null | undefined;
}

/** What a run that has stopped has paid: a batch of unknown cost costs at most its addresses. */
export function launchedCredits(batches: readonly PaidBatch[]): CreditSummary {
  const inDoubt = batches
    .filter(({ state }) => isLaunchInDoubt(state))
    .reduce((total, { addresses }) => total + addresses, 0);
  const launched = batches.filter(({ state }) => mayHaveLaunched(state) && !isLaunchInDoubt(state));
  const replaced = batches
    .filter(({ replacedCharge }) => replacedCharge !== undefined)
    .map(({ replacedCharge: charge, addresses }) => ({ charge, addresses }));
  const costs = [...launched, ...replaced];
  const isComplete = inDoubt === 0 && costs.every(({ charge }) => charge);
  const sum = (of: (cost: (typeof costs)[number]) => number): number =>
    costs.reduce((total, cost) => total + of(cost), 0);
  return {
    spent: sum(({ charge, addresses }) => charge?.spent ?? addresses),
    refunded: isComplete ? sum(({ charge }) => charge?.refunded ?? 0) : null,
    net: isComplete ? sum(({ charge }) => charge?.net ?? 0) : null,
    source: isComplete ? 'cost_objects' : 'launched',
    ...(inDoubt > 0 && { in_doubt: inDoubt }),
  };
}
