import * as z from 'zod';
import { creditBalance } from '../../contract/bodies.js';
import type { FailedReason, BatchState, Stage } from '../batches/batch-state.js';
import type { BatchProgress } from '../batches/claim.js';
import type { Summary } from '../summary/summary.js';
import { summarySchema } from '../summary/summary-schema.js';

/** The journal's fields of each stage: a forgotten stage or field does not compile. */
type Shapes = {
  readonly [S in Stage]: {
    readonly [
      Field in Exclude<keyof Extract<BatchState, { readonly stage: S }>, 'stage'>
    ]-?: z.ZodType;
  };
};

const count = z.int().min(0);
const uuid = z.string().min(1);
const tries = { attempt: z.int().min(1), fresh: count, uploads: count };
const elected = {
  ...tries,
  uuid,
  isFound: z.boolean(),
  misses: count,
  prepares: count,
  launches: count,
  doubt: z.boolean(),
  isRetried: z.literal(true).optional(),
};

const reasons: Readonly<Record<FailedReason, true>> = {
  parse_error: true,
  upload_error: true,
  prepare_error: true,
  launch_error: true,
  launch_lost: true,
  internal_error: true,
  batch_missing: true,
  too_large: true,
  export_incomplete: true,
  export_foreign: true,
};

const shapes: Shapes = {
  planned: tries,
  uploading: { ...tries, accepted: z.boolean(), looks: count },
  uploaded: elected,
  parsing: { ...elected, prepared: z.boolean(), polls: count },
  ready: elected,
  launching: {
    ...elected,
    answeredError: z.boolean(),
    isGivenUp: z.literal(true).optional(),
  },
  verifying: { ...elected, readies: count },
  done: {
    ...elected,
    broken: count,
    doubts: count.optional(),
  },
  exported: elected,
  split: { ...tries, uuid: uuid.optional() },
  failed: {
    ...tries,
    reason: z.enum(Object.keys(reasons)),
    uuid: uuid.optional(),
    launched: z.boolean(),
    isRetried: z.literal(true).optional(),
  },
};

const ofStage = new Map(
  Object.entries(shapes).map(([stage, shape]) => [stage, z.object(shape)] as const),
);
const staged = z.object({ stage: z.string() });

const batchState = z.custom<BatchState>((value) => {
  const { data } = staged.safeParse(value);
  return data !== undefined && ofStage.get(data.stage)?.safeParse(value).success === true;
});

/* The entries of a run's journal, in the order in which they may come. */

/** Where a journal is: another number or time means a copy. */
const statePlace = z.object({ ino: z.number(), born: z.number().nullable() });
export type StateLocation = z.infer<typeof statePlace>;

/**
 * A run, with what must be the same when it resumes. The first entry of a journal; each later one begins
 * another run in place of the previous, whose paid results stay.
 */
const runEntry = z.object({
  entry: z.literal('run'),
  id: z.string().regex(/^[0-9a-f]{16}$/),
  seed: z.string().regex(/^[0-9a-f]{64}$/),
  startedAt: z.iso.datetime(),
  /** Major and minor version of Sluice, where several processes must share it. */
  version: z.string().optional(),
  /** The service's base URL, or `local`. */
  service: z.string(),
  /** Salted fingerprint of the key. */
  account: z.string(),
  /** Options that decide the rows and the batches, by name. */
  decides: z.record(z.string(), z.json()),
  /** Options that decide only what is written, and where. */
  writes: z.record(z.string(), z.json()),
  place: statePlace.optional(),
  /** Whether its batches are deleted once their results are safe. */
  deletes: z.boolean().optional(),
  /** What the names of its batches begin with, whatever later processes are given. */
  batchName: z.string().optional(),
  /** Whether failed addresses of earlier runs are sent again. */
  retries: z.boolean().optional(),
  /** Whether its budget is that of the run that it replaced, for the same list. */
  keepsBudget: z.boolean().optional(),
  /** The file of the history that it began with. */
  history: z.string().optional(),
  /** The `maxCredits` that it began with: a process that resumes it may have another. */
  maxCredits: z.number().min(0).optional(),
  /** The options of the command that began it, for who resumes it; `null` for one that may hold a password. */
  command: z
    .array(z.tuple([z.string(), z.union([z.string(), z.literal(true), z.null()])]))
    .optional(),
  /** Its id in outputs, where that is the id of the run that it replaced. */
  outputId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
});
export type RunEntry = z.infer<typeof runEntry>;

/** The options that are compared when a run resumes. */
export type Decisions = { readonly [Part in 'decides' | 'writes']: RunEntry[Part] };

/** A run's id in outputs: a run that replaces another overwrites its output. */
export function outputIdOf({ id, outputId }: RunEntry): string {
  return outputId ?? id;
}

/** The key was replaced by another of the same account. */
const accountEntry = z.object({ entry: z.literal('account'), account: z.string() });

/** The state directory was moved, and no other process continues the run elsewhere. */
const placeEntry = z.object({ entry: z.literal('place'), place: statePlace });

/** An input that can be read once was copied completely; a later copy replaces it. */
const keptEntry = z.object({
  entry: z.literal('kept'),
  /** Its name in the state directory. @default `input` */
  file: z
    .string()
    .regex(/^input\.\d+$/)
    .optional(),
});
export type KeptEntry = z.infer<typeof keptEntry>;

/** The source was read to its end. */
const planEntry = z.object({
  entry: z.literal('plan'),
  rows: z.int().min(0),
  /** Digest of the input's bytes, where the source gives one. */
  content: z.string().nullable(),
  /** Lines or rows of headers found below others; absent without one. */
  headers: z.array(z.int().min(2)).optional(),
  batches: z.array(
    z.object({
      type: z.string(),
      country: z.string(),
      addresses: z.int().min(1),
      checksum: z.int(),
    }),
  ),
  /** Addresses with noted results of a history, and the note's checksum. */
  recalled: z.object({ addresses: z.int(), checksum: z.int() }).optional(),
});
export type PlanEntry = z.infer<typeof planEntry>;

/** A person has agreed to carry the run over to another list, however little of it is useful. */
const carryEntry = z.object({ entry: z.literal('carry') });

/** Launches of all processes are stopped, and why. */
export const stoppedEntry = z.object({
  entry: z.literal('stopped'),
  /** Code of the error that stopped the first of them, or of what it saw of others. */
  code: z.enum([
    'payment_required',
    'budget_exhausted',
    'unauthorized',
    'forbidden',
    'detached',
    'abandoned',
    'processes_lost',
  ]),
  message: z.string(),
  at: z.iso.datetime(),
});
export type StoppedEntry = z.infer<typeof stoppedEntry>;

/** A process joins a stopped run: what stopped it may no longer apply. */
const resumedEntry = z.object({ entry: z.literal('resumed') });

/** Most credits of each type for the launches of all processes; the newest entry counts. */
const budgetEntry = z.object({
  entry: z.literal('budget'),
  /** `null` where there is no limit. */
  most: z.number().nullable(),
});
export type BudgetEntry = z.infer<typeof budgetEntry>;

const approvedEntry = z.object({ entry: z.literal('approved') });

/** The service has answered an upload with another batch's uuid: each is compared with its list from then on. */
const distrustedEntry = z.object({ entry: z.literal('distrusted') });

/** The balance before the first launch; `null` where the service does not give it. */
const balanceEntry = z.object({
  entry: z.literal('balance'),
  credits: creditBalance.nullable(),
});
export type BalanceEntry = z.infer<typeof balanceEntry>;

const charge = z.object({ spent: z.number(), refunded: z.number(), net: z.number() });

/** The new state of a batch. */
const batchEntry = z.object({
  entry: z.literal('batch'),
  batch: z.int().min(0),
  name: z.string(),
  state: batchState,
  charge: charge.nullable(),
  /** Cost of launched uploads before this one; `null` where unknown. */
  replacedCharge: charge.nullable().optional(),
  /** Names of its uploads that nothing has confirmed; absent without any. */
  unconfirmed: z.array(z.string()).readonly().optional(),
  exported: z
    .object({
      counted: z.number().nullable(),
      named: z.int(),
      strangers: z.int(),
      conflicting: z.int(),
      missing: z.int().optional(),
    })
    .optional(),
  /** Of the earlier run that it is of. @default the current one */
  generation: z.int().min(0).optional(),
  at: z.iso.datetime(),
});
export type BatchEntry = z.infer<typeof batchEntry>;

/** The new state of a part of a batch that was too large: the batch is `split` before. */
const partEntry = batchEntry.extend({
  entry: z.literal('part'),
  /** Number of its first line, from 0. */
  start: z.int().min(0),
  addresses: z.int().min(1),
});
export type PartEntry = z.infer<typeof partEntry>;

/** @param at when it became known */
export function batchEntryOf(
  { batch, state, name, charge: cost, exported, replacedCharge, unconfirmed }: BatchProgress,
  at: string,
): BatchEntry | PartEntry {
  const entry = {
    batch: batch.id,
    state,
    name,
    charge: cost ?? null,
    ...(replacedCharge !== undefined && { replacedCharge }),
    ...(unconfirmed && { unconfirmed }),
    ...(exported && { exported }),
    at,
  };
  const { part, addresses } = batch;
  return part
    ? { entry: 'part', ...entry, start: part.start, addresses }
    : { entry: 'batch', ...entry };
}

/** The output is complete: only tidying is left. */
export const finishedEntry = z.object({
  entry: z.literal('finished'),
  summary: z.custom<Summary>((value) => summarySchema.safeParse(value).success),
});
export type FinishedEntry = z.infer<typeof finishedEntry>;

/** The end of the run, with `failed` rows, was reported to the caller. */
const endedEntry = z.object({ entry: z.literal('ended') });

export const journalEntry = z.discriminatedUnion('entry', [
  runEntry,
  accountEntry,
  placeEntry,
  keptEntry,
  planEntry,
  carryEntry,
  balanceEntry,
  stoppedEntry,
  resumedEntry,
  budgetEntry,
  approvedEntry,
  distrustedEntry,
  batchEntry,
  partEntry,
  finishedEntry,
  endedEntry,
]);
export type JournalEntry = z.infer<typeof journalEntry>;
