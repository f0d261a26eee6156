import type { VerificationType } from '../contract/enums.js';
import type { Verification } from '../results/outcome-table.js';
import type { LeftAlone, OutputRows } from '../rows/sink.js';
import type { BatchTimes } from './batch-times.js';

/** What a run says of itself when it is over; all of it is JSON. */
export interface Summary {
  readonly input: string;
  readonly output: string;
  /** The service's base URL, or `local`. */
  readonly service: string;
  readonly rows: number;
  /** How many rows were asked for at most; absent where all were. */
  readonly limit?: number | undefined;
  /** Rows that the output does not have, as they were not to be kept. */
  readonly rows_left_out: number;
  /** Where the rows are: the output first, then what got those that it does not have. */
  readonly outputs: readonly OutputRows[];
  /** Rows with at least one valid address. */
  readonly reachable_rows: number;
  /** Whether too many verdicts are unknown, so that the rows went beside the output. */
  readonly suspect: boolean;
  /**
   * Rows of a table verified in place that got no result, as their verified cells changed or they went
   * meanwhile. Absent where there are none.
   */
  readonly left_alone?: LeftAlone | undefined;
  readonly seconds: number;
  /** What became of each verified column, in the order in which they were named. */
  readonly columns: readonly ColumnSummary[];
  readonly email: TypeSummary | null;
  readonly phone: TypeSummary | null;
  readonly credits: Readonly<Record<VerificationType, CreditSummary | null>>;
  readonly batches: readonly BatchReport[];
  /** How it differs from earlier runs of its list; absent without a history. */
  readonly compared?: Comparison | undefined;
}

/** What became of cells: of one column, or of all columns of a type. */
export type CellTally = Pick<TypeSummary, 'buckets' | 'reasons' | 'verdicts' | 'quality'>;

/** What became of one verified column, cell by cell. */
export interface ColumnSummary extends CellTally {
  readonly name: string;
  readonly type: VerificationType;
}

/** What became of one verification type. Cells are counted, addresses where it says so. */
export interface TypeSummary {
  /** Unique addresses: those that were sent, and those that the history knew. */
  readonly addresses: number;
  /** Unique addresses whose result came from the history: they were not sent. */
  readonly from_history: number;
  /** Cells that held an address seen before in their lane. */
  readonly duplicates: number;
  /** Cells by what became of them: they add up to the rows of each column. */
  readonly buckets: Readonly<Record<Verification, number>>;
  /** Cells that are not verified, by reason. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Verified cells by the record's flags; of one with more than one, wrong before unknown before valid. */
  readonly verdicts: Readonly<Record<'valid' | 'wrong' | 'unknown' | 'none', number>>;
  /** Verified cells by quality; empty for phones. */
  readonly quality: Readonly<Record<string, number>>;
}

export interface CreditSummary {
  /** Before refunds. `null` where only the net is known. */
  readonly spent: number | null;
  readonly refunded: number | null;
  readonly net: number | null;
  /**
   * Where the figures come from: the service's own cost objects, the difference of the balances (other
   * jobs of the account count in), the addresses of what was launched (of a run that stopped before the
   * service said what it cost), or `null` when they are not known.
   */
  readonly source: 'cost_objects' | 'balance_difference' | 'launched' | null;
}

export interface BatchReport {
  readonly batch_uuid: string | null;
  readonly name: string;
  readonly type: VerificationType;
  readonly country: string;
  readonly addresses: number;
  /** `exported`, `failed`, or where a run that stopped has left it. */
  readonly stage: string;
  /** Why it failed. */
  readonly reason: string | null;
  readonly charge: {
    readonly spent: number;
    readonly refunded: number;
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
  } | null;
  readonly times: BatchTimes;
}

/** Earlier runs of a list, and what of this one is odd beside them. */
export interface Comparison {
  readonly previous: PastRun | null;
  /** The latest runs before this one, 30 at most, oldest first. */
  readonly runs: readonly PastRun[];
  readonly odd: readonly OddShare[];
}

/** What is kept of a finished run, so that later ones can be compared with it. */
export interface PastRun {
  readonly finished_at: string;
  readonly rows: number;
  readonly email: PastCounts | null;
  readonly phone: PastCounts | null;
}

export interface PastCounts extends Pick<TypeSummary, 'addresses' | 'from_history' | 'verdicts'> {
  readonly net_credits: number | null;
}

/** A share that is far from what it was in the runs before. */
export interface OddShare {
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
  readonly exit_code: number;
  /** The code of what stopped it, or of what is not as it should be; `null` where all is well. */
  readonly reason: string | null;
  /** The same as a sentence. */
  readonly message: string | null;
  /** What the next run will do about it. */
  readonly next: string | null;
}

/** What is known of a run that stopped: it has no results yet. */
export interface StoppedSummary {
  /** Distinguishes it from the summary of a run that finished. */
  readonly stopped: true;
  readonly input: string;
  readonly output: string;
  /** The service's base URL, or `local`; `null` where it had not been reached. */
  readonly service: string | null;
  /** `null` where the input was not read to its end. */
  readonly rows: number | null;
  readonly seconds: number;
  /** What was paid, with the runs that this one went on from. */
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

/** What a run would read, send and cost. */
export interface Estimate {
  /** Distinguishes it from the summary of a run. */
  readonly dry_run: true;
  readonly input: string;
  /** `null` where no sink was given. */
  readonly output: string | null;
  /** The service's base URL, or `local`. */
  readonly service: string;
  readonly rows: number;
  /** How many rows were asked for at most; absent where all were. */
  readonly limit?: number | undefined;
  readonly email: TypeEstimate | null;
  readonly phone: TypeEstimate | null;
  /** What the account has; `null` where the service does not tell. */
  readonly balance: { readonly email: number; readonly phone: number } | null;
}

export interface TypeEstimate {
  /** Unique addresses. */
  readonly addresses: number;
  /** Unique addresses that the history knows: they would not be sent. */
  readonly from_history: number;
  /** Cells that hold an address seen before in their lane. */
  readonly duplicates: number;
  /** Cells that cannot be sent, by reason. */
  readonly not_submitted: Readonly<Record<string, number>>;
  readonly lanes: readonly LaneEstimate[];
  /** Credits that the run would need at most, before refunds. */
  readonly credits: number;
}

export interface LaneEstimate {
  readonly country: string;
  /** Addresses that would be sent. */
  readonly addresses: number;
  readonly batches: number;
}

/** What is written at the end of a run, of a dry run, and of a run that stopped. */
export type SummaryFile = (Summary | Estimate | StoppedSummary) & RunEnd;
