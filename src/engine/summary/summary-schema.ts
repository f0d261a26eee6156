import * as z from 'zod';
import { verificationTypes } from '../../contract/enums.js';
import { pastRunSchema } from './past-run.js';
import type { Estimate, RunEnd, StoppedSummary, Summary } from './summary.js';

/*
 * The summary and the estimate as schemas: what `--summary` writes is published as JSON Schema
 * (docs/summary.schema.json), which a test holds to these.
 */

const count = z.int().min(0);
const counts = z.record(z.string(), count);
const dateTime = z.string().meta({ format: 'date-time' });

const cellTally = {
  buckets: z
    .object({ verified: count, not_submitted: count, no_result: count, failed: count })
    .describe('Cells by what became of them'),
  reasons: counts.describe('Cells that are not verified, by reason'),
  verdicts: z
    .object({ valid: count, wrong: count, unknown: count, none: count })
    .describe('Verified cells by verdict'),
  quality: counts.describe('Verified cells by quality; empty for phones'),
  of_valid: z
    .object({ risky: count, disposable: count })
    .optional()
    .describe(
      'Valid emails of risky quality, and those of throw-away services; one can be both; absent where there are none',
    ),
};

const columnHints = {
  forms: z
    .record(z.string(), counts)
    .optional()
    .describe(
      'Cells without a result that are not one plain address, by reason and form: mailto, named (Name <address>), several, beside (other text), no_at; of phones several, extension',
    ),
  misspelt: z
    .object({
      cells: count,
      of_rows: count.describe(
        'In how many rows they were counted: without suggestions in the first 1,000 at most',
      ),
      suggested_in: z
        .string()
        .nullable()
        .describe('The added column that has the suggestions; null where none is added'),
    })
    .optional()
    .describe('Emails whose domain looks misspelt; absent where there are none'),
  ambiguous: count
    .optional()
    .describe(
      'Phone numbers that may begin with a calling code that has lost its +; absent where they are few',
    ),
  ambiguous_rows: z
    .array(count)
    .max(5)
    .optional()
    .describe('The rows of the first of them: numbers in the sheet or file, or below the header'),
  foreign: z
    .object({
      cells: count,
      of: count.describe('How many numbers have a calling code'),
      national: count.describe('Numbers without one: they are read as numbers of read_as'),
      read_as: z.string().describe('The country given for all rows'),
      countries: z
        .array(z.object({ country: z.string(), cells: count }))
        .max(10)
        .describe('Their countries, the commonest first'),
    })
    .optional()
    .describe(
      'Phone numbers with a calling code of other countries than the one given for all rows; absent where they are few',
    ),
};

const columnSummary = z.object({
  name: z.string(),
  type: z.enum(verificationTypes),
  ...cellTally,
  ...columnHints,
  valid_left_out: count
    .optional()
    .describe(
      'Rows that the output does not have although this column is valid, because another one is not; absent where there are none',
    ),
  unfit: z
    .object({
      cells: count,
      of: count.describe('Of how many that are wrong or without a result: the first 1,000 at most'),
      fitting: z
        .object({ country: z.string(), cells: count })
        .nullable()
        .describe(
          'How many would be valid in the country of the emails beside them; null where none is likely',
        ),
    })
    .optional()
    .describe(
      'Phone numbers that are wrong or without a result, and no valid number in the country of their row; absent where there are none',
    ),
});

const countries = z
  .object({
    column: z.string().nullable().describe('The column of countries; null where none was named'),
    missing: count.describe('Rows without a country'),
    calling_codes: z
      .object({ column: z.string(), rows: count })
      .optional()
      .describe(
        'Those of them whose number in a column of phones begins with a calling code; absent where there are none',
      ),
    not_understood: count.describe("Rows whose country is not understood, or not the service's"),
    no_text: count.describe("Those of them whose cell is no text in the input's encoding"),
    looks_like_countries: z
      .boolean()
      .describe('If not, the values may be personal data, and their letters and digits are dots'),
    values: z
      .array(
        z.object({
          value: z.string(),
          rows: count,
          first_row: count
            .optional()
            .describe('The first of them: its number in the sheet or file, or below the header'),
          guess: z.string().nullable(),
          code: z
            .string()
            .nullable()
            .describe('Its code; null where the service does not take it, or none is near'),
        }),
      )
      .max(10)
      .describe('The commonest cells that are not understood, and what was probably meant'),
  })
  .optional()
  .describe('Rows that could not be sent for want of a country; absent where there are none');

const typeSummary = z.object({
  addresses: count.describe('Unique addresses: those sent, and those that the history knew'),
  from_history: count.describe(
    'Unique addresses whose result came from earlier runs: the history, or a run whose list has changed',
  ),
  duplicates: count.describe('Cells that held an address seen before in their batch group'),
  ...cellTally,
});

const creditSummary = z.object({
  spent: z.number().nullable().describe('Before refunds'),
  refunded: z.number().nullable(),
  net: z.number().nullable(),
  source: z
    .enum(['cost_objects', 'balance_difference', 'launched'])
    .nullable()
    .describe(
      "How that is known: the service's cost objects, the difference of the balances, or, where a run stopped before the service said it, the addresses of what was launched",
    ),
  in_doubt: z
    .number()
    .optional()
    .describe(
      'Of launches without a clear answer, which may have been spent, too; absent where there are none',
    ),
});

const batchReport = z.object({
  batch_uuid: z.string().nullable(),
  name: z.string(),
  type: z.enum(verificationTypes),
  country: z.string(),
  addresses: count,
  stage: z.string().describe('exported, failed, or where a run left it that was stopped'),
  reason: z.string().nullable().describe('Why it failed'),
  charge: z
    .object({ spent: z.number(), refunded: z.number(), net: z.number() })
    .nullable()
    .describe('What it cost; null where the service did not tell'),
  export: z
    .object({
      counted: count
        .nullable()
        .describe('Addresses that the service says it verified; null where it does not say'),
      named: count.describe('Addresses of the batch that the export names'),
      strangers: count.describe('Records of addresses that the batch does not have'),
      conflicting: count.describe('Addresses whose records contradict each other: no result'),
      missing: count
        .optional()
        .describe('Addresses that it should name and did not, however often it was asked for'),
    })
    .nullable()
    .describe('What its export held; null where none was read whole'),
  times: z.object({
    uploaded_at: dateTime.nullable(),
    prepared_at: dateTime.nullable(),
    launched_at: dateTime.nullable(),
    verified_at: dateTime.nullable(),
    exported_at: dateTime.nullable(),
  }),
});

const comparison = z
  .object({
    previous: pastRunSchema.nullable().describe('The run before'),
    runs: z.array(pastRunSchema).describe('The latest runs before, oldest first'),
    odd: z
      .array(
        z.object({
          type: z.enum(verificationTypes),
          share: z.enum(['valid', 'wrong', 'unknown', 'new']),
          now: z.number().describe('From 0 to 1'),
          usual: z.number().describe('The median of the runs before'),
          allowed: z.number().describe('How far from it a share may be without being odd'),
        }),
      )
      .describe('Shares that are far from what they were in the runs before'),
  })
  .describe('Earlier runs of the list; absent without a history');
const credits = z.object({ email: creditSummary.nullable(), phone: creditSummary.nullable() });

const limit = z
  .int()
  .min(1)
  .optional()
  .describe('How many rows were asked for at most; absent where all were');

const ends = {
  input: z.string(),
  output: z.string(),
  service: z.string().describe("The service's base URL, or local"),
  rows: count,
};

/** What a run says of itself when it is over. */
export const summarySchema = z
  .object({
    ...ends,
    limit,
    rows_left_out: count.describe(
      'Rows that the output does not have, as they were not to be kept',
    ),
    rows_repeated: count
      .optional()
      .describe('Those of them that repeat an address of a row above; absent where none do'),
    outputs: z
      .array(z.object({ name: z.string(), rows: count }))
      .describe('Where the rows are: the output first, then what got those that it does not have'),
    reachable_rows: count.describe('Rows with at least one valid address'),
    suspect: z
      .boolean()
      .describe('Whether too many verdicts are unknown, so that the rows went beside the output'),
    already_finished: z
      .literal(true)
      .optional()
      .describe(
        'The shared run of this name had finished before: nothing was done; absent otherwise',
      ),
    skipped_updates: z
      .object({
        changed: count.describe('Rows whose verified cells are others now'),
        gone: count.describe('Rows that are not there any more'),
        keys: z.array(z.string()).describe('Keys of the first of them'),
      })
      .optional()
      .describe('Rows of a table verified in place that got no result, as they changed meanwhile'),
    seconds: z.number().min(0),
    columns: z
      .array(columnSummary)
      .describe('Each verified column, in the order in which they were named'),
    countries,
    email: typeSummary.nullable(),
    phone: typeSummary.nullable(),
    credits,
    credits_before: z
      .object({ email: z.number(), phone: z.number() })
      .optional()
      .describe(
        'What the earlier runs have cost whose results this one has used, beside credits; absent where there are none',
      ),
    batches: z.array(batchReport),
    compared: comparison.optional(),
  })
  .describe('What a run says of itself') satisfies z.ZodType<Summary>;

const typeEstimate = z.object({
  addresses: count,
  from_history: count,
  duplicates: count,
  not_submitted: counts.describe('Cells that cannot be sent, by reason'),
  groups: z.array(z.object({ country: z.string(), addresses: count, batches: count })),
  credits: count.describe('Needed at most, before refunds'),
});

/** What a dry run says. */
export const estimateSchema = z
  .object({
    dry_run: z.literal(true),
    ...ends,
    limit,
    output: z.string().nullable().describe('null where no output was named'),
    email: typeEstimate.nullable(),
    phone: typeEstimate.nullable(),
    columns: z.array(
      z.object({ name: z.string(), type: z.enum(verificationTypes), ...columnHints }),
    ),
    countries,
    balance: z.object({ email: z.number(), phone: z.number() }).nullable(),
  })
  .describe('What a dry run says') satisfies z.ZodType<Estimate>;

const stoppedSummarySchema = z
  .object({
    stopped: z.literal(true),
    input: z.string(),
    output: z.string(),
    service: z.string().nullable().describe('null where it had not been reached'),
    rows: count.nullable().describe('null where the input was not read to its end'),
    seconds: z.number().min(0),
    credits: credits.describe('What was paid, with the runs that this one went on from'),
    batches: z.array(batchReport).describe('Batches that something was sent of'),
  })
  .describe('What a run says of itself that stopped') satisfies z.ZodType<StoppedSummary>;

const runEnd = z.object({
  exit_code: count,
  reason: z
    .string()
    .nullable()
    .describe('Code of what stopped it, or of what is not as it should be'),
  message: z.string().nullable().describe('The same as a sentence'),
  next: z
    .string()
    .nullable()
    .describe(
      'What whoever runs it has to do, and what the next run will do; null where nothing is asked of them',
    ),
  advice: z
    .array(z.string())
    .describe(
      'What to do, the most important first: next, then what is to be said of cells, by how many they are',
    ),
}) satisfies z.ZodType<RunEnd>;

/** What is written at the end of a run, of a dry run, and of a run that stopped. */
export const summaryFileSchema = z.union([
  summarySchema.extend(runEnd.shape),
  estimateSchema.extend(runEnd.shape),
  stoppedSummarySchema.extend(runEnd.shape),
]);
