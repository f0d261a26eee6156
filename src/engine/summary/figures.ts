import * as z from 'zod';
import { verificationTypes, type VerificationType } from '../../contract/enums.js';
import type { BatchTimes } from '../batches/batch-log.js';
import type { ForeignNumbers } from '../columns/column-looks.js';

/*
 * What summary and estimate say of columns, types and batches. Each figure is declared once: its schema is the
 * field of a shape, its text the comment above it, and its type is read from the schema. The published JSON
 * Schema (docs/summary.schema.json) has the same texts.
 */

type OptionalName<Shape> = {
  [Name in keyof Shape]: Shape[Name] extends z.ZodOptional ? Name : never;
}[keyof Shape];

/** Its own parameter keeps the texts of the fields: an editor shows them. */
type Present<Shape, Names extends keyof Shape> = {
  readonly [Name in Names]: ValueOf<Shape[Name]>;
};
type Absent<Shape, Names extends keyof Shape> = {
  readonly [Name in Names]?: ValueOf<Shape[Name]> | undefined;
};

/** The type of what has a shape; nothing of it can be written to. */
export type FieldsOf<Shape> = Present<Shape, Exclude<keyof Shape, OptionalName<Shape>>> &
  Absent<Shape, OptionalName<Shape>>;

type ValueOf<Schema> =
  Schema extends z.ZodOptional<infer Inner>
    ? ValueOf<Inner>
    : Schema extends z.ZodNullable<infer Inner>
      ? ValueOf<Inner> | null
      : Schema extends z.ZodArray<infer Item>
        ? readonly ValueOf<Item>[]
        : Schema extends z.ZodObject<infer Shape>
          ? FieldsOf<Shape>
          : Readonly<z.output<Schema>>;

/** A schema whose type has a name, by which declarations call it. */
export function named<Type>(schema: z.ZodType<Type>): z.ZodType<Type> {
  return schema;
}

export const count = z.int().min(0);
export const counts = z.record(z.string(), count);
export const dateTime = z.string().meta({ format: 'date-time' });
export const type = z.enum(verificationTypes);

/** Of each verification type. */
export function ofBoth<Schema extends z.ZodType>(
  schema: Schema,
): z.ZodObject<Record<VerificationType, Schema>> {
  return z.object({ email: schema, phone: schema });
}

export const verdicts = z.object({ valid: count, wrong: count, unknown: count, none: count });

const cellTally = {
  /** Cells by what became of them: they add up to the rows of each column. */
  buckets: z.object({ verified: count, not_submitted: count, no_result: count, failed: count }),
  /** Cells that are not verified, by reason. */
  reasons: counts,
  /** Verified cells by the record's flags; of one with more than one, wrong before unknown before valid. */
  verdicts,
  /** Verified cells by quality; empty for phones. */
  quality: counts,
  /**
   * Valid emails of risky quality, and those of throw-away services; one can be both. Absent where there
   * are none.
   */
  of_valid: z.object({ risky: count, disposable: count }).optional(),
};

/** What became of cells: of one column, or of all columns of a type. */
export interface CellTally extends FieldsOf<typeof cellTally> {}

const misspelt = {
  /** How many cells. */
  cells: count,
  /** In how many rows they were counted: where no suggestions are written, in the first 1,000 at most. */
  of_rows: count,
  /** The added column that has the suggestions; `null` where `suggest` was not given. */
  suggested_in: z.string().nullable(),
};

/** Emails whose domain looks misspelt, so that another is suggested. */
export interface MisspeltCells extends FieldsOf<typeof misspelt> {}

const foreign = {
  cells: count,
  of: count,
  national: count,
  read_as: z.string(),
  countries: z.array(z.object({ country: z.string(), cells: count })).max(10),
};

export const columnHints = {
  /**
   * Cells without a result that are not one plain address, by reason and form: `mailto` (a link), `named`
   * (`Name <address>`), `several` (more than one address), `unsplit` (more than one, and not to be split for sure), `beside` (an
   * address and other text), `no_at`; of phones `tel` (a link), `several`, `unsplit`, `extension`. Absent where there are none.
   */
  forms: z.record(z.string(), counts).optional(),
  /** Emails whose domain looks misspelt. Absent where there are none. */
  misspelt: named<MisspeltCells>(z.object(misspelt)).optional(),
  /**
   * Phone numbers that may begin with a calling code that has lost its `+` (`447700900123`), and were not
   * sent as international. Absent where they are so few that it may be chance.
   */
  ambiguous: count.optional(),
  /** The rows of the first five of them: numbers in the sheet or file where known, else below the header. */
  ambiguous_rows: z.array(count).max(5).optional(),
  /** Phone numbers of other countries than the one given for all rows. Absent where they are few. */
  foreign: named<ForeignNumbers>(z.object(foreign)).optional(),
};

/** What can be put right in a column of the list. */
export interface ColumnHints extends FieldsOf<typeof columnHints> {}

const unfit = {
  /** How many cells. */
  cells: count,
  /** Of how many that are wrong or without a result: the first 1,000 at most. */
  of: count,
  /** How many would be valid in the country of the emails beside them; `null` where none is likely. */
  fitting: z.object({ country: z.string(), cells: count }).nullable(),
};

/** Phone numbers that are wrong or without a result, and are no valid number in the country of their row. */
export interface UnfitCells extends FieldsOf<typeof unfit> {}

const columnSummary = {
  /** The column's name in the header. */
  name: z.string(),
  /** What its cells were verified as. */
  type,
  /**
   * Rows that the output does not have although this column is valid, because another one is not. Absent
   * where there are none.
   */
  valid_left_out: count.optional(),
  /** Phone numbers that probably are of another country than their row. Absent where there are none. */
  unfit: named<UnfitCells>(z.object(unfit)).optional(),
};

/** What became of one verified column, cell by cell. */
export interface ColumnSummary extends FieldsOf<typeof columnSummary>, CellTally, ColumnHints {}

export const columnSummaries = z.array(
  named<ColumnSummary>(z.object({ ...columnSummary, ...cellTally, ...columnHints })),
);

const unknownCountry = {
  /** The cell; masked where the column does not look like countries. */
  value: z.string(),
  /** How many rows have it. */
  rows: count,
  /**
   * The first of them: its number in the sheet or file where that is known, else below the header. Absent
   * in the figures of an older version.
   */
  first_row: count.optional(),
  /** The country that was probably meant, by its name; `null` where none is near. */
  guess: z.string().nullable(),
  /** Its code; `null` where the service does not take it. */
  code: z.string().nullable(),
};

interface UnknownCountry extends FieldsOf<typeof unknownCountry> {}

const countryProblems = {
  /** The column that holds a country row by row; `null` where none was named. */
  column: z.string().nullable(),
  /** Rows without a country. */
  missing: count,
  /**
   * Those of them whose number in a column of phones begins with a calling code: `countryFrom` takes their
   * country from it. Absent where there are none.
   */
  calling_codes: z.object({ column: z.string(), rows: count }).optional(),
  /** Rows whose country is not understood, or not one of the service's. */
  not_understood: count,
  /** Those of them whose cell is no text in the input's encoding. */
  no_text: count,
  /**
   * Whether the column seems to hold countries. If it does not, the values are masked, as they may be
   * personal data: letters and digits are dots. So are rare values that are like no country.
   */
  looks_like_countries: z.boolean(),
  /** The ten commonest cells that are not understood, the commonest first. */
  values: z.array(named<UnknownCountry>(z.object(unknownCountry))).max(10),
};

/** Rows that could not be sent for want of a country. */
export interface CountryProblems extends FieldsOf<typeof countryProblems> {}

export const countries = named<CountryProblems>(z.object(countryProblems)).optional();

const typeSummary = {
  /** Unique addresses: those that were sent, and those that the history knew. */
  addresses: count,
  /**
   * Unique addresses whose result came from earlier runs, the history or a run whose list has changed: they
   * were not sent.
   */
  from_history: count,
  /** Cells that held an address seen before in their batch group. */
  duplicates: count,
};

/** What became of one verification type. Cells are counted, addresses where it says so. */
export interface TypeSummary extends FieldsOf<typeof typeSummary>, CellTally {}

export const typeSummaryOrNull = named<TypeSummary>(
  z.object({
    ...typeSummary,
    ...cellTally,
  }),
).nullable();

const creditSummary = {
  /** Credits before refunds; `null` where only the net is known. */
  spent: z.number().nullable(),
  /** Credits that were given back; `null` where this is not known. */
  refunded: z.number().nullable(),
  /** Credits after refunds: what it cost; `null` where this is not known. */
  net: z.number().nullable(),
  /**
   * Where the figures come from: the service's own cost objects, the difference of the balances (other
   * jobs of the account count in), the addresses of what was launched (of a run that stopped before the
   * service said what it cost), or `null` when they are not known.
   */
  source: z.enum(['cost_objects', 'balance_difference', 'launched']).nullable(),
  /** Credits of launches without a clear answer, which may have been spent, too. Absent where there are none. */
  in_doubt: z.number().optional(),
};

export interface CreditSummary extends FieldsOf<typeof creditSummary> {}

export const credits = ofBoth(named<CreditSummary>(z.object(creditSummary)).nullable());

const batchCharge = {
  /** Before refunds. */
  spent: z.number(),
  /** Given back. */
  refunded: z.number(),
  /** After refunds. */
  net: z.number(),
};

interface BatchCharge extends FieldsOf<typeof batchCharge> {}

const batchExport = {
  /** Addresses that the service says it verified; `null` where it does not say. */
  counted: count.nullable(),
  /** Addresses of the batch that the export names. */
  named: count,
  /** Records of addresses that the batch does not have. */
  strangers: count,
  /** Addresses without a result, as the export does not say which of several records is theirs. */
  conflicting: count,
  /** Addresses that it should name and did not, however often it was asked for. Absent when none. */
  missing: count.optional(),
};

interface BatchExport extends FieldsOf<typeof batchExport> {}

const batchTimes = {
  uploaded_at: dateTime.nullable(),
  prepared_at: dateTime.nullable(),
  launched_at: dateTime.nullable(),
  verified_at: dateTime.nullable(),
  exported_at: dateTime.nullable(),
};

const batchReport = {
  /** The service's id of it; `null` where it was never received. */
  batch_uuid: z.string().nullable(),
  /** Its name on the service. */
  name: z.string(),
  /** What its addresses were verified as. */
  type,
  /** Its target country, as a code of two letters. */
  country: z.string(),
  /** How many unique addresses it has. */
  addresses: count,
  /** `exported`, `failed`, or where a run that stopped has left it. */
  stage: z.string(),
  /** Why it failed, as a code; `null` where it did not. */
  reason: z.string().nullable(),
  /** What it cost, in credits of its type; `null` where the service has not said it. */
  charge: named<BatchCharge>(z.object(batchCharge)).nullable(),
  /** What its export held, compared with what the service counted; `null` where none was read whole. */
  export: named<BatchExport>(z.object(batchExport)).nullable(),
  /** When it got to each step. */
  times: named<BatchTimes>(z.object(batchTimes)),
};

/** One batch of a run: what was sent, what became of it, and what it cost. */
export interface BatchReport extends FieldsOf<typeof batchReport> {}

export const batchReports = z.array(named<BatchReport>(z.object(batchReport)));
