import * as z from 'zod';
import { type VerificationType, verificationTypes } from '../../contract/enums.js';
import { closestColumn } from './column-lookup.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { optionName } from '../../platform/text/sentence.js';
import { emailRecord, phoneRecord, recordFields } from '../../contract/records.js';
import type { AddedColumn } from '../../lists/rows/sink.js';
import type { Outcome, OutcomeValue } from '../results/outcome-table.js';

/** Of every verified cell. */
const always = ['verification', 'reason'] as const;
/** Fields about a result's origin. */
export const originFields = ['submitted', 'verified_at', 'source', 'batch_uuid'] as const;

/** The fields that each verified column may add, in the order of {@link outcomeCells}. */
export const addedFields = {
  email: [...always, ...recordFields.email, 'suggestion', ...originFields],
  phone: [...always, ...recordFields.phone, ...originFields],
} as const;

/** Name of an added column without its prefix. */
export type AddedField = (typeof addedFields)[VerificationType][number];

const flags = { email: flagsOf(emailRecord), phone: flagsOf(phoneRecord) };

function flagsOf({ shape }: z.ZodObject): ReadonlySet<string> {
  const fields = Object.entries(shape).filter(([, schema]) => schema instanceof z.ZodBoolean);
  return new Set(fields.map(([field]) => field));
}

/** The added fields by default: all without the origin. */
function usualFields(type: VerificationType): readonly AddedField[] {
  return [...always, ...recordFields[type]];
}

export function fieldPlace(type: VerificationType, field: string): number {
  const fields: readonly string[] = addedFields[type];
  return fields.indexOf(field);
}

/** The columns that a verified column adds, in order, as `<prefix>_…`. @param fields some of {@link addedFields} */
export function addedColumns(
  type: VerificationType,
  prefix: string,
  fields: readonly AddedField[] = usualFields(type),
): readonly AddedColumn[] {
  return fields.map((field) => ({
    name: `${prefix}_${field}`,
    field,
    kind: flags[type].has(field) ? 'boolean' : 'text',
  }));
}

/**
 * An outcome's values for all of {@link addedFields}: null for the record's fields unless the cell is
 * verified, and for fields of the cell itself.
 */
export function outcomeCells(outcome: Outcome, type: VerificationType): readonly OutcomeValue[] {
  if (outcome.type !== undefined && outcome.type !== type) {
    throw new TypeError(`a result of type ${outcome.type} in a column of type ${type}`);
  }
  const values = outcome.values ?? recordFields[type].map(() => null);
  const suggestion = type === 'email' ? [null] : [];
  return [outcome.verification, outcome.reason, ...values, ...suggestion, ...originCells(outcome)];
}

/** Without a verdict there is no time; the failed batch is named all the same. */
function originCells({ verification, origin }: Outcome): readonly OutcomeValue[] {
  if (!origin) return originFields.map(() => null);
  const { verifiedAt, source, batchUuid } = origin;
  return [null, verification === 'failed' ? null : verifiedAt, source, batchUuid || null];
}

/**
 * Which columns are added for a verified one.
 *
 * @template Chosen the fields that are chosen
 */
export interface FieldOptions<Chosen = AddedField> {
  /**
   * The added columns to write, without prefix and in this order, such as `['verification', 'valid',
   * 'quality']`; a name of one type applies to its columns alone.
   * @default all but those of `provenance` and `suggest`
   */
  readonly columns?: readonly Chosen[] | undefined;
  /**
   * Adds columns for the origin of each result: what was sent, when it was verified, its source and batch.
   * @default false
   */
  readonly provenance?: boolean | undefined;
  /**
   * Adds `suggestion` to columns of emails: the domain probably meant where the cell's looks misspelt
   * (`gmail.com` for `gmial.com`). Never sent.
   * @default false
   */
  readonly suggest?: boolean | undefined;
}

export function fieldsOf(
  type: VerificationType,
  { columns, provenance = false, suggest = false }: FieldOptions,
): readonly AddedField[] {
  const known: readonly string[] = addedFields[type];
  const chosen = columns?.filter((field) => known.includes(field)) ?? usualFields(type);
  const more: AddedField[] = [];
  if (suggest && type === 'email') more.push('suggestion');
  if (provenance) more.push(...originFields);
  return [...new Set([...chosen, ...more])];
}

export function wantsOrigin({ columns = [], provenance = false }: FieldOptions): boolean {
  const ofOutcome: readonly AddedField[] = originFields.filter((field) => field !== 'submitted');
  return provenance || columns.some((field) => ofOutcome.includes(field));
}

export function checkFields(types: ReadonlySet<VerificationType>, options: FieldOptions): void {
  const { columns, suggest = false } = options;
  if (suggest && !types.has('email')) {
    throw new ConfigurationError(
      `${optionName('suggest')} is for emails, and no column of emails is verified: leave it out`,
      { option: 'suggest' },
    );
  }
  if (columns === undefined) return;
  if (columns.length === 0) {
    throw new ConfigurationError(
      `at least one result column is written: name one, such as ${optionName('columns')} valid, and delete it afterwards`,
      { option: 'columns', fault: 'empty' },
    );
  }
  for (const [at, field] of columns.entries()) {
    if (columns.indexOf(field) < at) {
      throw new ConfigurationError(
        `the added column ${JSON.stringify(field)} is named twice: name it once`,
        { option: 'columns', column: field, fault: 'repeated' },
      );
    }
    const having = verificationTypes.filter((type) => hasField(type, field));
    if (having.length === 0) throw unknownField(field);
    if (having.some((type) => types.has(type))) continue;
    throw new ConfigurationError(
      `${JSON.stringify(field)} is a column of ${having.join()} addresses, and none is verified; ${listOf(types)}`,
      { option: 'columns', column: field },
    );
  }
  for (const type of types) {
    if (columns.some((field) => hasField(type, field))) continue;
    throw new ConfigurationError(
      `none of ${columns.join(', ')} is added for ${type} addresses, which would be verified for nothing: name one more, such as verification`,
      { option: 'columns' },
    );
  }
}

function hasField(type: VerificationType, field: string): boolean {
  const known: readonly string[] = addedFields[type];
  return known.includes(field);
}

function unknownField(field: string): ConfigurationError {
  const all = verificationTypes.flatMap((type) => addedFields[type]);
  const near = closestColumn([...new Set<string>(all)], field);
  const guess = near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
  return new ConfigurationError(
    `no column ${JSON.stringify(field)} can be added${guess || ';'} ${listOf(verificationTypes)}`,
    { option: 'columns', column: field },
  );
}

function listOf(types: Iterable<VerificationType>): string {
  return Array.from(types, (type) => `for ${type} there are ${addedFields[type].join(', ')}`).join(
    '; ',
  );
}
