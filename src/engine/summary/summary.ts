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

/** Options repeated in summary and estimate. */
export interface Asked {
  /** The limit of rows; absent without one. */
  readonly limit?: number | undefined;
}

export function askedOptions({ limit }: Asked): Asked {
  return limit === undefined ? {} : { limit };
}

/** The result of a run, as JSON. */
export interface Summary extends Asked {
  /** The source, as in messages: a path, or a URL without its password. */
  readonly input: string;
  /** The output, as in messages. */
  readonly output: string;
  /** The service's base URL, or `local`. */
  readonly service: string;
  /** Rows that were read, without the header. */
  readonly rows: number;
  /** Rows left out of the output by `keep` or `unique`. */
  readonly rows_left_out: number;
  /** Those that repeat an address of an earlier row. Absent without any. */
  readonly rows_repeated?: number | undefined;
  /** The options that may leave rows out: `keep`, `keepQuality`, `unique`. Absent without any. */
  readonly left_out_by?: readonly string[] | undefined;
  /** The outputs: the main one first, then those of left-out rows. */
  readonly outputs: readonly OutputRows[];
  /**
   * Rows of the input with at least one valid address of a type that the person has not opted out of. A phone
   * whose status is `unknown` does not count: it is valid by its form alone.
   */
  readonly reachable_rows: number;
  /** Rows beyond these that have such a phone, and have not opted out. Absent without any. */
  readonly rows_by_form?: number | undefined;
  /**
   * Rows of the input that are not reachable only as `suppress` names their addresses, or as a column of the
   * list says that they have opted out of the valid ones. Absent without any.
   */
  readonly opted_out_rows?: number | undefined;
  /** Rows that `splitCells` made beyond those of the input. Absent without any. */
  readonly rows_split_off?: number | undefined;
  /** Whether too many verdicts are unknown, so that the rows went to the suspect output. */
  readonly suspect: boolean;
  /** The percentage of unknown verdicts that a type goes beyond. Absent where it is not suspect. */
  readonly max_unknown?: number | undefined;
  /**
   * Nothing was read, sent or written: the shared run of this name had finished before, and these are its
   * figures. Absent otherwise.
   */
  readonly already_finished?: true | undefined;
  /**
   * Rows of a table verified in place that got no result, as they were changed or deleted meanwhile. Absent
   * without any.
   */
  readonly skipped_updates?: SkippedUpdates | undefined;
  /** Duration of the last call in seconds, without earlier calls of a resumed run. */
  readonly seconds: number;
  /** Results of each verified column, in the given order. */
  readonly columns: readonly ColumnSummary[];
  /** Rows that could not be sent without a country; absent without any. */
  readonly countries?: CountryProblems | undefined;
  /** Results of emails; `null` where none were verified. */
  readonly email: TypeSummary | null;
  /** Results of phones; `null` where none were verified. */
  readonly phone: TypeSummary | null;
  /**
   * Cost of the whole run in credits of each type, including launches before it was resumed; `null` for a
   * type that was not verified.
   */
  readonly credits: Readonly<Record<VerificationType, CreditSummary | null>>;
  /**
   * Cost of earlier runs of the list whose results were used, beside `credits`; before refunds where these
   * are unknown. Absent without any.
   */
  readonly credits_before?: Readonly<Record<VerificationType, number>> | undefined;
  /** Every batch of the run; of one that was too large for the service, its parts. */
  readonly batches: readonly BatchReport[];
  /** Comparison with earlier runs of its list; absent without a history. */
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

/** Whether failed addresses may be sent again: the output has everything else. */
export function isRetriable(summary: Summary): boolean {
  return hasFailed(summary) && !summary.suspect;
}

/**
 * One verified column before it is sent. Malformed emails that would be sent count under `no_record`, as the
 * service usually has no record of them.
 */
export interface ColumnEstimate extends ColumnHints {
  readonly name: string;
  /** The type of its cells. */
  readonly type: VerificationType;
  /** Its empty cells. */
  readonly empty: number;
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

/** What would be sent of one type, and its cost. */
export interface TypeEstimate {
  /** Unique addresses. */
  readonly addresses: number;
  /** Unique addresses in the history: not sent. */
  readonly from_history: number;
  /** Cells that repeat an address of their batch group. */
  readonly duplicates: number;
  /** Cells that cannot be sent, by reason. */
  readonly not_submitted: Counts;
  /** What would be sent, by country. */
  readonly groups: readonly GroupEstimate[];
  /**
   * Credits that the run would still pay at most, before refunds: one for each address that would be sent.
   * What an unfinished run has launched does not count.
   */
  readonly credits: number;
}

/** The unfinished run in the state directory, and what the run would do with it. */
export interface UnfinishedRun {
  /**
   * Resume it; begin a run of this list that uses what it has paid for; or stop before anything is sent. The
   * service may still know more of it than the state directory.
   */
  readonly action: 'resume' | 'carry' | 'stop';
  /** What has changed, or why it stops; `null` where it is resumed. */
  readonly why: string | null;
  /** When it began, as `2026-11-21T03:00:00.000Z`. */
  readonly started_at: string;
  /** Credits of each type that are already paid, before refunds. */
  readonly paid: Readonly<Record<VerificationType, number>>;
  /** Addresses that may be paid for, and those of them that this list has; `null` where not compared. */
  readonly paid_addresses: number | null;
  readonly used_addresses: number | null;
  /**
   * The `maxCredits` that is enough for all of the run, where the given one stops it before its end; `null`
   * where it does not.
   */
  readonly enough_credits: number | null;
}

/** What a run would read, send and cost. */
export interface Estimate extends Asked {
  /** Distinguishes it from the summary of a run. */
  readonly dry_run: true;
  /** The source, as in messages. */
  readonly input: string;
  /** The output, as in messages; `null` without a sink. */
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
  /** Rows that could not be sent without a country; absent without any. */
  readonly countries?: CountryProblems | undefined;
  /**
   * The unfinished run in `stateDir`, from which something was sent: what it has paid is no part of `credits`
   * above. Absent without one.
   */
  readonly unfinished?: UnfinishedRun | undefined;
  /**
   * Another process works in `stateDir` now: until it ends, a run ends with `state_locked`. Absent where none
   * is seen, which proves nothing on macOS and in containers.
   */
  readonly state_locked?: true | undefined;
  /** The account's credits; `null` where unknown. */
  readonly balance: Readonly<Record<VerificationType, number>> | null;
}

/** A stopped run, without results yet. */
export interface StoppedSummary {
  /** Distinguishes it from the summary of a run that finished. */
  readonly stopped: true;
  /** The source, as in messages. */
  readonly input: string;
  /** The output, as in messages. */
  readonly output: string;
  /** The service's base URL, or `local`; `null` where it had not been reached. */
  readonly service: string | null;
  /** `null` until the input is read to its end. */
  readonly rows: number | null;
  /** Duration of the call in seconds. */
  readonly seconds: number;
  /**
   * Paid so far in credits of each type, including earlier calls of the run; `null` for a type that is not
   * verified.
   */
  readonly credits: Readonly<Record<VerificationType, CreditSummary | null>>;
  /** Cost of earlier runs of the list whose results were used. Absent without any. */
  readonly credits_before?: Summary['credits_before'];
  /** Batches of which something was sent. */
  readonly batches: readonly BatchReport[];
}

/** How a run ended, beside its figures. */
export interface RunEnd {
  /** The exit code of `sluice verify`: 0 where every row came out and none failed. */
  readonly exit_code: number;
  /** Code of the error or problem; `null` where all is well. */
  readonly reason: string | null;
  /** The same as a sentence. */
  readonly message: string | null;
  /** What the user must do, and what the next run will then do; `null` where nothing is needed. */
  readonly next: string | null;
  /** Advice, the most important first: `next`, then hints about cells, by their number. */
  readonly advice: readonly string[];
}

/** The file written at the end of a run, of a dry run, or of a stopped run. */
export type SummaryFile = (Summary | Estimate | StoppedSummary) & RunEnd;
