import * as z from 'zod';
import { count, dateTime, type FieldsOf, named, type, verdicts } from './figures.js';

const pastCounts = {
  /** Unique addresses: those that were sent, and those that the history knew. */
  addresses: count,
  /** Those that the history knew: they were not paid for again. */
  from_history: count,
  /** Verified cells by verdict. */
  verdicts,
  /** Credits after refunds; `null` where this is not known. */
  net_credits: z.number().nullable(),
};

/** What is kept of one type of a finished run. */
export interface PastCounts extends FieldsOf<typeof pastCounts> {}

const pastRun = {
  /** When it finished, as `2026-11-21T03:00:00.000Z`. */
  finished_at: dateTime,
  /** Rows that it read. */
  rows: count,
  /** Its emails; `null` where none were verified. */
  email: named<PastCounts>(z.object(pastCounts)).nullable(),
  /** Its phones; `null` where none were verified. */
  phone: named<PastCounts>(z.object(pastCounts)).nullable(),
};

/** What is kept of a finished run, so that later ones can be compared with it. */
export interface PastRun extends FieldsOf<typeof pastRun> {}

export const pastRunSchema = named<PastRun>(z.object(pastRun));

const oddShare = {
  /** Of which addresses. */
  type,
  /** `new` are the addresses that the history had no result of, as a share of all. */
  share: z.enum(['valid', 'wrong', 'unknown', 'new']),
  /** From 0 to 1. */
  now: z.number(),
  /** The median of the runs before. */
  usual: z.number(),
  /** How far from that a share may be without being odd. */
  allowed: z.number(),
};

/** A share that is far from what it was in the runs before. */
export interface OddShare extends FieldsOf<typeof oddShare> {}

export const comparison = {
  /** The run before; `null` where there was none. */
  previous: pastRunSchema.nullable(),
  /** The latest runs before this one, 30 at most, oldest first. */
  runs: z.array(pastRunSchema),
  /** Shares that are far from what they were. */
  odd: z.array(named<OddShare>(z.object(oddShare))),
};

/** Earlier runs of a list, and what of this one is odd beside them. */
export interface Comparison extends FieldsOf<typeof comparison> {}
