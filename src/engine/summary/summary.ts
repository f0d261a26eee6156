import type { ForeignNumbers } from '../columns/column-looks.js';
import type { VerificationType } from '../../contract/enums.js';
import type { Verification } from '../results/outcome-table.js';
import type { SkippedUpdates, OutputRows } from '../../lists/rows/sink.js';
import type { BatchTimes } from '../batches/batch-log.js';

/** What a run says of itself when it is over; all of it is JSON. */
export interface Summary {
  /** Where the rows came from, as messages call it: a path or a URL without its password. */
  readonly input: string;
  /** Where the rows went, as messages call it. */
  readonly output: string;
  /** The service's base URL, or `local`. */
  readonly service: string;
  /** Rows that were read, without the header. */
  readonly rows: number;
  /** How many rows were asked for at most; absent where all were. */
  readonly limit?: number | undefined;
  /** Rows that the output does not have, as they were not to be kept. */
  readonly rows_left_out: number;
  /** Those of them that repeat an address of a row above. Absent where there are none. */
  readonly rows_repeated?: number | undefined;
  /** Where the rows are: the output first, then what got those that it does not have. */
  readonly outputs: readonly OutputRows[];
  /** Rows with at least one valid address. */
  readonly reachable_rows: number;
  /** Whether too many verdicts are unknown, so that the rows went beside the output. */
  readonly suspect: boolean;
  /**
   * That nothing was read, sent or written: the shared run of this name had finished before, and these are its
   * figures. Absent in any other run.
   */
  readonly already_finished?: true | undefined;
  /**
   * Rows of a table verified in place that got no result, as their verified cells changed or they went
   * meanwhile. Absent where there are none.
   */
  readonly skipped_updates?: SkippedUpdates | undefined;
  /** How long the last call took, in seconds; earlier calls of a resumed run are not counted. */
  readonly seconds: number;
  /** What became of each verified column, in the order in which they were named. */
  readonly columns: readonly ColumnSummary[];
  /** Rows that could not be sent for want of a country; absent where there are none. */
  readonly countries?: CountryProblems | undefined;
  /** What became of the emails; `null` where no column of emails was verified. */
  readonly email: TypeSummary | null;
  /** What became of the phones; `null` where no column of phones was verified. */
  readonly phone: TypeSummary | null;
  /**
   * What the whole run cost, in credits of each type, with what it launched before it was resumed; `null`
   * for a type that was not verified.
   */
  readonly credits: Readonly<Record<VerificationType, CreditSummary | null>>;
  /**
   * What the earlier runs of the list have cost whose results this one has used, beside `credits`; before
   * refunds where these are not known. Absent where there are none.
   */
  readonly credits_before?: Readonly<Record<VerificationType, number>> | undefined;
  /** Every batch of the run; of one that was too large for the service, its parts. */
  readonly batches: readonly BatchReport[];
  /** How it differs from earlier runs of its list; absent without a history. */
  readonly compared?: Comparison | undefined;
}

/** What became of cells: of one column, or of all columns of a type. */
export type CellTally = Pick<
  TypeSummary,
  'buckets' | 'reasons' | 'verdicts' | 'quality' | 'of_valid'
>;

/** What can be put right in a column of the list. */
export interface ColumnHints {
  /**
   * Emails without a result that are written as something else, by reason and form: `mailto` (a link),
   * `named` (`Name <address>`), `several` (more than one address), `beside` (an address and other text), `no_at`. Absent where there are none.
   */
  readonly forms?: Readonly<Record<string, Readonly<Record<string, number>>>> | undefined;
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

/** Phone numbers that are wrong or without a result, and are no valid number in the country of their row. */
export interface UnfitCells {
  readonly cells: number;
  /** Of how many that are wrong or without a result: the first 1,000 at most. */
  readonly of: number;
  /** How many would be valid in the country of the emails beside them; `null` where none is likely. */
  readonly fitting: { readonly country: string; readonly cells: number } | null;
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
  /** Those of them whose cell is no text in the input's encoding. */
  readonly no_text: number;
  /**
   * Whether the column seems to hold countries. If it does not, the values are masked, as they may be
   * personal data: letters and digits are dots. So are rare values that are like no country.
   */
  readonly looks_like_countries: boolean;
  /** The ten commonest cells that are not understood, the commonest first. */
  readonly values: readonly {
    readonly value: string;
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
  }[];
}

/** What became of one verification type. Cells are counted, addresses where it says so. */
export interface TypeSummary {
  /** Unique addresses: those that were sent, and those that the history knew. */
  readonly addresses: number;
  /** Unique addresses whose result came from the history: they were not sent. */
  readonly from_history: number;
  /** Cells that held an address seen before in their batch group. */
  readonly duplicates: number;
  /** Cells by what became of them: they add up to the rows of each column. */
  readonly buckets: Readonly<Record<Verification, number>>;
  /** Cells that are not verified, by reason. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Verified cells by the record's flags; of one with more than one, wrong before unknown before valid. */
  readonly verdicts: Readonly<Record<'valid' | 'wrong' | 'unknown' | 'none', number>>;
  /** Verified cells by quality; empty for phones. */
  readonly quality: Readonly<Record<string, number>>;
  /**
   * Valid emails of risky quality, and those of throw-away services; one can be both. Absent where there
   * are none.
   */
  readonly of_valid?: Readonly<Record<'risky' | 'disposable', number>> | undefined;
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
  readonly charge: {
    /** Before refunds. */
    readonly spent: number;
    /** Given back. */
    readonly refunded: number;
    /** After refunds. */
    readonly net: number;
  } | null;
  /** What its export held, compared with what the service counted; `null` where none was read whole. */
  readonly export: {
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
  } | null;
  /** When it got to each step. */
  readonly times: BatchTimes;
}

/** Earlier runs of a list, and what of this one is odd beside them. */
export interface Comparison {
  /** The run before; `null` where there was none. */
  readonly previous: PastRun | null;
  /** The latest runs before this one, 30 at most, oldest first. */
  readonly runs: readonly PastRun[];
  /** Shares that are far from what they were. */
  readonly odd: readonly OddShare[];
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

/** What is kept of one type of a finished run. */
export interface PastCounts extends Pick<TypeSummary, 'addresses' | 'from_history' | 'verdicts'> {
  /** Credits after refunds; `null` where this is not known. */
  readonly net_credits: number | null;
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

/** How a run ended, which is written beside its figures, whatever they are. */
export interface RunEnd {
  /** What `sluice verify` exits with: 0 where every row came out and none failed. */
  readonly exit_code: number;
  /** The code of what stopped it, or of what is not as it should be; `null` where all is well. */
  readonly reason: string | null;
  /** The same as a sentence. */
  readonly message: string | null;
  /**
   * What whoever runs it has to do, and what the next run will do then; `null` where nothing is asked of them.
   */
  readonly next: string | null;
  /** What to do, the most important first: `next`, then what is to be said of cells, by how many they are. */
  readonly advice: readonly string[];
}

/** What is known of a run that stopped: it has no results yet. */
export interface StoppedSummary {
  /** Distinguishes it from the summary of a run that finished. */
  readonly stopped: true;
  /** Where the rows come from, as messages call it. */
  readonly input: string;
  /** Where the rows are to go, as messages call it. */
  readonly output: string;
  /** The service's base URL, or `local`; `null` where it had not been reached. */
  readonly service: string | null;
  /** `null` where the input was not read to its end. */
  readonly rows: number | null;
  /** How long the call took, in seconds. */
  readonly seconds: number;
  /**
   * What was paid so far, in credits of each type, with earlier calls of the run; `null` for a type that is
   * not verified.
   */
  readonly credits: Readonly<Record<VerificationType, CreditSummary | null>>;
  /** Batches that something was sent of. */
  readonly batches: readonly BatchReport[];
}

/**
 * Whether any row of the run is `failed`.
 *
 * @example
 * ```ts
 * const summary = await run({ source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * process.exitCode = hasFailed(summary) ? 3 : 0;
 * ```
 */
export function hasFailed(summary: Summary): boolean {
  return [summary.email, summary.phone].some((type) => type !== null && type.buckets.failed > 0);
}

/** Whether what failed may be sent again: the output holds all else of the run. */
export function isRetriable(summary: Summary): boolean {
  return hasFailed(summary) && !summary.suspect;
}

/** What a run would read, send and cost. */
export interface Estimate {
  /** Distinguishes it from the summary of a run. */
  readonly dry_run: true;
  /** Where the rows come from, as messages call it. */
  readonly input: string;
  /** Where the rows would go; `null` where no sink was given. */
  readonly output: string | null;
  /** The service's base URL, or `local`. */
  readonly service: string;
  /** Rows that were read, without the header. */
  readonly rows: number;
  /** How many rows were asked for at most; absent where all were. */
  readonly limit?: number | undefined;
  /** The emails; `null` where none would be verified. */
  readonly email: TypeEstimate | null;
  /** The phones; `null` where none would be verified. */
  readonly phone: TypeEstimate | null;
  /** The verified columns, in order. */
  readonly columns: readonly ColumnEstimate[];
  /** Rows that could not be sent for want of a country; absent where there are none. */
  readonly countries?: CountryProblems | undefined;
  /** Credits that the account has; `null` where the service does not tell. */
  readonly balance: { readonly email: number; readonly phone: number } | null;
}

/**
 * What is known of one verified column before it is sent. Forms of emails that would be sent count under
 * `no_record`, as the service usually has no record of them.
 */
export interface ColumnEstimate extends ColumnHints {
  /** The column's name in the header. */
  readonly name: string;
  /** What its cells would be verified as. */
  readonly type: VerificationType;
}

/** What would be sent of one type, and what it would cost. */
export interface TypeEstimate {
  /** Unique addresses. */
  readonly addresses: number;
  /** Unique addresses that the history knows: they would not be sent. */
  readonly from_history: number;
  /** Cells that hold an address seen before in their batch group. */
  readonly duplicates: number;
  /** Cells that cannot be sent, by reason. */
  readonly not_submitted: Readonly<Record<string, number>>;
  /** The same by country. */
  readonly groups: readonly GroupEstimate[];
  /** Credits that the run would need at most, before refunds. */
  readonly credits: number;
}

/** What would be sent of one type for one country. */
export interface GroupEstimate {
  /** A code of two letters. */
  readonly country: string;
  /** Addresses that would be sent. */
  readonly addresses: number;
  /** Batches that they would need. */
  readonly batches: number;
}

/** What is written at the end of a run, of a dry run, and of a run that stopped. */
export type SummaryFile = (Summary | Estimate | StoppedSummary) & RunEnd;
