import * as z from 'zod';
import { verificationTypes, type VerificationType } from '../../contract/enums.js';
import type { OutputRows, SkippedUpdates } from '../../lists/rows/sink.js';
import type { BatchTimes } from '../batches/batch-log.js';
import type { Charge } from '../batches/status-answer.js';
import type {
  ColumnEstimate,
  Estimate,
  GroupEstimate,
  Summary,
  SummaryFile,
  TypeEstimate,
  UnfinishedRun,
} from './summary.js';
import type { ForeignNumbers } from '../columns/column-profile.js';
import type { MisreadNumbers } from '../columns/country-fit.js';
import type {
  BatchExport,
  BatchReport,
  ColumnSummary,
  Comparison,
  CountryProblems,
  CreditSummary,
  MisspeltCells,
  OddShare,
  FinishedCounts,
  FinishedRun,
  TypeSummary,
  UnfitCells,
  UnknownCountry,
} from './figures.js';

/** Makes optional fields required: otherwise an additional one would go unnoticed. */
type Whole<Value> = Value extends object
  ? { readonly [Name in keyof Value]-?: Whole<Value[Name]> }
  : Value;

/** Ties a schema to a hand-written type: neither can have a field that the other lacks. */
function schemaOf<Type>() {
  return <Schema extends z.ZodType<Type>>(
    schema: [Whole<Type>] extends [Whole<z.output<Schema>>]
      ? [Whole<z.output<Schema>>] extends [Whole<Type>]
        ? Schema
        : never
      : never,
  ): z.ZodType<Type> => schema;
}

const count = z.int().min(0);
const counts = z.record(z.string(), count);
const dateTime = z.string().meta({ format: 'date-time' });
const type = z.enum(verificationTypes);
const verdicts = z.object({ valid: count, wrong: count, unknown: count, none: count });

function ofBoth<Schema extends z.ZodType>(
  schema: Schema,
): z.ZodObject<Record<VerificationType, Schema>> {
  return z.object({ email: schema, phone: schema });
}

const cellTally = {
  buckets: z.object({ verified: count, not_submitted: count, no_result: count, failed: count }),
  reasons: counts,
  verdicts,
  quality: counts,
  of_valid: z.object({ risky: count, disposable: count, both: count }).optional(),
  valid_by_form: count.optional(),
};

const misspelt = schemaOf<MisspeltCells>()(
  z.object({ cells: count, of_rows: count, suggested_in: z.string().nullable() }),
);

const foreign = schemaOf<ForeignNumbers>()(
  z.object({
    cells: count,
    of: count,
    national: count,
    read_as: z.string(),
    countries: z.array(z.object({ country: z.string(), cells: count })).max(10),
  }),
);

const misread = schemaOf<MisreadNumbers>()(
  z.object({
    cells: count,
    of: count,
    read_as: z.string(),
    given_by: z.enum(['country_column', 'country_from', 'country']),
    fitting: z.array(z.object({ country: z.string(), cells: count })).max(10),
  }),
);

const columnHints = {
  forms: z.record(z.string(), counts).optional(),
  misspelt: misspelt.optional(),
  ambiguous: count.optional(),
  ambiguous_rows: z.array(count).max(5).optional(),
  foreign: foreign.optional(),
  misread: misread.optional(),
};

const unfit = schemaOf<UnfitCells>()(
  z.object({
    cells: count,
    of: count,
    fitting: z.object({ country: z.string(), cells: count }).nullable(),
    has_country_column: z.literal(true).optional(),
    without_plus: z.object({ cells: count, rows: z.array(count).max(5) }).optional(),
  }),
);

const columnSummary = schemaOf<ColumnSummary>()(
  z.object({
    name: z.string(),
    type,
    valid_left_out: count.optional(),
    unfit: unfit.optional(),
    ...cellTally,
    ...columnHints,
  }),
);

const unknownCountry = schemaOf<UnknownCountry>()(
  z.object({
    value: z.string(),
    rows: count,
    first_row: count,
    guess: z.string().nullable(),
    code: z.string().nullable(),
  }),
);

const countries = schemaOf<CountryProblems>()(
  z.object({
    column: z.string().nullable(),
    missing: count,
    calling_codes: z.object({ column: z.string(), rows: count }).optional(),
    not_understood: count,
    no_text: count,
    looks_like_countries: z.boolean(),
    values: z.array(unknownCountry).max(10),
  }),
).optional();

const typeSummary = schemaOf<TypeSummary>()(
  z.object({
    addresses: count,
    from_history: count,
    duplicates: count,
    in_several_countries: count.optional(),
    ...cellTally,
  }),
).nullable();

const creditSummary = schemaOf<CreditSummary>()(
  z.object({
    spent: z.number().nullable(),
    refunded: z.number().nullable(),
    net: z.number().nullable(),
    source: z.enum(['cost_objects', 'balance_difference', 'launched']).nullable(),
    in_doubt: z.number().optional(),
  }),
);

const credits = ofBoth(creditSummary.nullable());

const charge = schemaOf<Charge>()(
  z.object({ spent: z.number(), refunded: z.number(), net: z.number() }),
);

const batchExport = schemaOf<BatchExport>()(
  z.object({
    counted: count.nullable(),
    named: count,
    strangers: count,
    conflicting: count,
    missing: count.optional(),
  }),
);

const batchTimes = schemaOf<BatchTimes>()(
  z.object({
    uploaded_at: dateTime.nullable(),
    prepared_at: dateTime.nullable(),
    launched_at: dateTime.nullable(),
    verified_at: dateTime.nullable(),
    exported_at: dateTime.nullable(),
  }),
);

const batches = z.array(
  schemaOf<BatchReport>()(
    z.object({
      batch_uuid: z.string().nullable(),
      name: z.string(),
      type,
      country: z.string(),
      addresses: count,
      stage: z.string(),
      reason: z.string().nullable(),
      charge: charge.nullable(),
      export: batchExport.nullable(),
      times: batchTimes,
    }),
  ),
);

const finishedCounts = schemaOf<FinishedCounts>()(
  z.object({ addresses: count, from_history: count, verdicts, net_credits: z.number().nullable() }),
);

export const finishedRunSchema = schemaOf<FinishedRun>()(
  z.object({
    finished_at: dateTime,
    rows: count,
    email: finishedCounts.nullable(),
    phone: finishedCounts.nullable(),
  }),
);

const oddShare = schemaOf<OddShare>()(
  z.object({
    type,
    share: z.enum(['valid', 'wrong', 'unknown', 'new']),
    now: z.number(),
    usual: z.number(),
    allowed: z.number(),
  }),
);

const compared = schemaOf<Comparison>()(
  z.object({
    previous: finishedRunSchema.nullable(),
    runs: z.array(finishedRunSchema),
    odd: z.array(oddShare),
  }),
);

const outputRows = schemaOf<OutputRows>()(z.object({ name: z.string(), rows: count }));
const skippedUpdates = schemaOf<SkippedUpdates>()(
  z.object({ changed: count, gone: count, keys: z.array(z.string()) }),
);

const askedFields = { limit: z.int().min(1).optional() };

const summaryFields = {
  input: z.string(),
  output: z.string(),
  service: z.string(),
  rows: count,
  ...askedFields,
  rows_left_out: count,
  rows_repeated: count.optional(),
  left_out_by: z.array(z.string()).optional(),
  outputs: z.array(outputRows),
  reachable_rows: count,
  rows_by_form: count.optional(),
  opted_out_rows: count.optional(),
  rows_split_off: count.optional(),
  suspect: z.boolean(),
  max_unknown: z.number().min(0).max(100).optional(),
  already_finished: z.literal(true).optional(),
  skipped_updates: skippedUpdates.optional(),
  seconds: z.number().min(0),
  columns: z.array(columnSummary),
  countries,
  email: typeSummary,
  phone: typeSummary,
  credits,
  credits_before: ofBoth(z.number()).optional(),
  batches,
  compared: compared.optional(),
};

/** Schema of a run's summary. */
export const summarySchema = schemaOf<Summary>()(z.object(summaryFields));

const columnEstimate = schemaOf<ColumnEstimate>()(
  z.object({ name: z.string(), type, empty: count, ...columnHints }),
);

const groupEstimate = schemaOf<GroupEstimate>()(
  z.object({ country: z.string(), addresses: count, batches: count }),
);

const typeEstimate = schemaOf<TypeEstimate>()(
  z.object({
    addresses: count,
    from_history: count,
    duplicates: count,
    not_submitted: counts,
    groups: z.array(groupEstimate),
    credits: count,
  }),
).nullable();

const unfinishedRun = schemaOf<UnfinishedRun>()(
  z.object({
    action: z.enum(['resume', 'carry', 'stop']),
    why: z.string().nullable(),
    started_at: z.string(),
    paid: ofBoth(count),
    paid_addresses: count.nullable(),
    used_addresses: count.nullable(),
    enough_credits: count.nullable(),
  }),
);

const estimateFields = {
  dry_run: z.literal(true),
  input: z.string(),
  output: z.string().nullable(),
  service: z.string(),
  rows: count,
  ...askedFields,
  email: typeEstimate,
  phone: typeEstimate,
  columns: z.array(columnEstimate),
  countries,
  unfinished: unfinishedRun.optional(),
  state_locked: z.literal(true).optional(),
  balance: ofBoth(z.number()).nullable(),
};

/** Schema of an estimate. */
export const estimateSchema = schemaOf<Estimate>()(z.object(estimateFields));

const stoppedFields = {
  stopped: z.literal(true),
  input: z.string(),
  output: z.string(),
  service: z.string().nullable(),
  rows: count.nullable(),
  seconds: z.number().min(0),
  credits,
  credits_before: ofBoth(z.number()).optional(),
  batches,
};

const runEnd = {
  exit_code: count,
  reason: z.string().nullable(),
  message: z.string().nullable(),
  next: z.string().nullable(),
  advice: z.array(z.string()),
};

/**
 * Schema of the file written at the end of a run; docs/reference/summary.schema.json is made from it and the
 * texts of its types.
 */
export const summaryFileSchema = schemaOf<SummaryFile>()(
  z.union([
    z.object({ ...summaryFields, ...runEnd }),
    z.object({ ...estimateFields, ...runEnd }),
    z.object({ ...stoppedFields, ...runEnd }),
  ]),
);
