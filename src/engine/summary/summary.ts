import * as z from 'zod';
import type { SkippedUpdates, OutputRows } from '../../lists/rows/sink.js';
import {
  batchReports,
  type ColumnHints,
  columnHints,
  columnSummaries,
  count,
  countries,
  counts,
  credits,
  type FieldsOf,
  named,
  ofBoth,
  type,
  typeSummaryOrNull,
} from './figures.js';
import { type Comparison, comparison } from './past-run.js';

const limit = z.int().min(1).optional();

const outputRows = { name: z.string(), rows: count };
const skippedUpdates = { changed: count, gone: count, keys: z.array(z.string()) };

const summaryShape = {
  /** Where the rows came from, as messages call it: a path or a URL without its password. */
  input: z.string(),
  /** Where the rows went, as messages call it. */
  output: z.string(),
  /** The service's base URL, or `local`. */
  service: z.string(),
  /** Rows that were read, without the header. */
  rows: count,
  /** How many rows were asked for at most; absent where all were. */
  limit,
  /** Rows that the output does not have, as they were not to be kept. */
  rows_left_out: count,
  /** Those of them that repeat an address of a row above. Absent where there are none. */
  rows_repeated: count.optional(),
  /** Where the rows are: the output first, then what got those that it does not have. */
  outputs: z.array(named<OutputRows>(z.object(outputRows))),
  /** Rows with at least one valid address. */
  reachable_rows: count,
  /** Whether too many verdicts are unknown, so that the rows went beside the output. */
  suspect: z.boolean(),
  /**
   * That nothing was read, sent or written: the shared run of this name had finished before, and these are its
   * figures. Absent in any other run.
   */
  already_finished: z.literal(true).optional(),
  /**
   * Rows of a table verified in place that got no result, as their verified cells changed or they went
   * meanwhile. Absent where there are none.
   */
  skipped_updates: named<SkippedUpdates>(z.object(skippedUpdates)).optional(),
  /** How long the last call took, in seconds; earlier calls of a resumed run are not counted. */
  seconds: z.number().min(0),
  /** What became of each verified column, in the order in which they were named. */
  columns: columnSummaries,
  /** Rows that could not be sent for want of a country; absent where there are none. */
  countries,
  /** What became of the emails; `null` where no column of emails was verified. */
  email: typeSummaryOrNull,
  /** What became of the phones; `null` where no column of phones was verified. */
  phone: typeSummaryOrNull,
  /**
   * What the whole run cost, in credits of each type, with what it launched before it was resumed; `null`
   * for a type that was not verified.
   */
  credits,
  /**
   * What the earlier runs of the list have cost whose results this one has used, beside `credits`; before
   * refunds where these are not known. Absent where there are none.
   */
  credits_before: ofBoth(z.number()).optional(),
  /** Every batch of the run; of one that was too large for the service, its parts. */
  batches: batchReports,
  /** How it differs from earlier runs of its list; absent without a history. */
  compared: named<Comparison>(z.object(comparison)).optional(),
};

/** What a run says of itself when it is over; all of it is JSON. */
export interface Summary extends FieldsOf<typeof summaryShape> {}

/** What a run says of itself, as a schema. */
export const summarySchema = z.object(summaryShape);

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

const columnEstimate = {
  /** The column's name in the header. */
  name: z.string(),
  /** What its cells would be verified as. */
  type,
};

/**
 * What is known of one verified column before it is sent. Forms of emails that would be sent count under
 * `no_record`, as the service usually has no record of them.
 */
export interface ColumnEstimate extends FieldsOf<typeof columnEstimate>, ColumnHints {}

const groupEstimate = {
  /** A code of two letters. */
  country: z.string(),
  /** Addresses that would be sent. */
  addresses: count,
  /** Batches that they would need. */
  batches: count,
};

/** What would be sent of one type for one country. */
export interface GroupEstimate extends FieldsOf<typeof groupEstimate> {}

const typeEstimate = {
  /** Unique addresses. */
  addresses: count,
  /** Unique addresses that the history knows: they would not be sent. */
  from_history: count,
  /** Cells that hold an address seen before in their batch group. */
  duplicates: count,
  /** Cells that cannot be sent, by reason. */
  not_submitted: counts,
  /** The same by country. */
  groups: z.array(named<GroupEstimate>(z.object(groupEstimate))),
  /** Credits that the run would need at most, before refunds. */
  credits: count,
};

/** What would be sent of one type, and what it would cost. */
export interface TypeEstimate extends FieldsOf<typeof typeEstimate> {}

const typeEstimateOrNull = named<TypeEstimate>(z.object(typeEstimate)).nullable();

const estimate = {
  /** Distinguishes it from the summary of a run. */
  dry_run: z.literal(true),
  /** Where the rows come from, as messages call it. */
  input: z.string(),
  /** Where the rows would go; `null` where no sink was given. */
  output: z.string().nullable(),
  /** The service's base URL, or `local`. */
  service: z.string(),
  /** Rows that were read, without the header. */
  rows: count,
  /** How many rows were asked for at most; absent where all were. */
  limit,
  /** The emails; `null` where none would be verified. */
  email: typeEstimateOrNull,
  /** The phones; `null` where none would be verified. */
  phone: typeEstimateOrNull,
  /** The verified columns, in order. */
  columns: z.array(named<ColumnEstimate>(z.object({ ...columnEstimate, ...columnHints }))),
  /** Rows that could not be sent for want of a country; absent where there are none. */
  countries,
  /** Credits that the account has; `null` where the service does not tell. */
  balance: ofBoth(z.number()).nullable(),
};

/** What a run would read, send and cost. */
export interface Estimate extends FieldsOf<typeof estimate> {}

/** What a dry run says, as a schema. */
export const estimateSchema = z.object(estimate);

const stoppedSummary = {
  /** Distinguishes it from the summary of a run that finished. */
  stopped: z.literal(true),
  /** Where the rows come from, as messages call it. */
  input: z.string(),
  /** Where the rows are to go, as messages call it. */
  output: z.string(),
  /** The service's base URL, or `local`; `null` where it had not been reached. */
  service: z.string().nullable(),
  /** `null` where the input was not read to its end. */
  rows: count.nullable(),
  /** How long the call took, in seconds. */
  seconds: z.number().min(0),
  /**
   * What was paid so far, in credits of each type, with earlier calls of the run; `null` for a type that is
   * not verified.
   */
  credits,
  /** Batches that something was sent of. */
  batches: batchReports,
};

/** What is known of a run that stopped: it has no results yet. */
export interface StoppedSummary extends FieldsOf<typeof stoppedSummary> {}

const runEnd = {
  /** What `sluice verify` exits with: 0 where every row came out and none failed. */
  exit_code: count,
  /** The code of what stopped it, or of what is not as it should be; `null` where all is well. */
  reason: z.string().nullable(),
  /** The same as a sentence. */
  message: z.string().nullable(),
  /**
   * What whoever runs it has to do, and what the next run will do then; `null` where nothing is asked of them.
   */
  next: z.string().nullable(),
  /** What to do, the most important first: `next`, then what is to be said of cells, by how many they are. */
  advice: z.array(z.string()),
};

/** How a run ended, which is written beside its figures, whatever they are. */
export interface RunEnd extends FieldsOf<typeof runEnd> {}

/** What is written at the end of a run, of a dry run, and of a run that stopped. */
export type SummaryFile = (Summary | Estimate | StoppedSummary) & RunEnd;

/** The same as a schema; docs/summary.schema.json is made from it and from the texts of its types. */
export const summaryFileSchema = z.union([
  z.object({ ...summaryShape, ...runEnd }),
  z.object({ ...estimate, ...runEnd }),
  z.object({ ...stoppedSummary, ...runEnd }),
]);
