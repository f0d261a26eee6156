import type { VerificationType } from '../../contract/enums.js';
import type { OutputRows, SkippedUpdates } from '../../lists/rows/sink.js';
import type {
  BatchReport,
  ColumnHints,
  ColumnSummary,
  Comparison,
  Counts,
  CountryProblems,
  CreditSummary,
  TypeSummary,
} from './figures.js';

/** The options that summary and estimate name. */
interface Asked {
  /** How many rows were asked for at most; absent where all were. */
  readonly limit?: number | undefined;
}

/** What a run says of itself when it is over; all of it is JSON. */
export interface Summary extends Asked {
  /** Where the rows came from, as messages call it: a path or a URL without its password. */
  readonly input: string;
  /** Where the rows went, as messages call it. */
  readonly output: string;
  /** The service's base URL, or `local`. */
  readonly service: string;
  /** Rows that were read, without the header. */
  readonly rows: number;
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
  return [summary.email, summary.phone].some((each) => each !== null && each.buckets.failed > 0);
}

/** Whether what failed may be sent again: the output holds all else of the run. */
export function isRetriable(summary: Summary): boolean {
  return hasFailed(summary) && !summary.suspect;
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

/** What would be sent of one type for one country. */
export interface GroupEstimate {
  /** A code of two letters. */
  readonly country: string;
  /** Addresses that would be sent. */
  readonly addresses: number;
  /** Batches that they would need. */
  readonly batches: number;
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
  readonly not_submitted: Counts;
  /** The same by country. */
  readonly groups: readonly GroupEstimate[];
  /** Credits that the run would need at most, before refunds. */
  readonly credits: number;
}

/** What a run would read, send and cost. */
export interface Estimate extends Asked {
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
  /** The emails; `null` where none would be verified. */
  readonly email: TypeEstimate | null;
  /** The phones; `null` where none would be verified. */
  readonly phone: TypeEstimate | null;
  /** The verified columns, in order. */
  readonly columns: readonly ColumnEstimate[];
  /** Rows that could not be sent for want of a country; absent where there are none. */
  readonly countries?: CountryProblems | undefined;
  /** Credits that the account has; `null` where the service does not say. */
  readonly balance: Readonly<Record<VerificationType, number>> | null;
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

/** How a run ended, which is written beside its figures, whatever they are. */
export interface RunEnd {
  /** What `sluice verify` exits with: 0 where every row came out and none failed. */
  readonly exit_code: number;
  /** The code of what stopped it, or of what is not as it should be; `null` where all is well. */
  readonly reason: string | null;
  /** The same as a sentence. */
  readonly message: string | null;
  /**
   * What the user has to do, and what the next run will do then; `null` where nothing is needed.
   */
  readonly next: string | null;
  /** What to do, the most important first: `next`, then what is to be said of cells, by how many they are. */
  readonly advice: readonly string[];
}

/** What is written at the end of a run, of a dry run, and of a run that stopped. */
export type SummaryFile = (Summary | Estimate | StoppedSummary) & RunEnd;
