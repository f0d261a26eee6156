import * as z from 'zod';
import type { VerificationType } from '../../contract/enums.js';
import { emailRecord, phoneRecord, recordFields } from '../../contract/records.js';
import type { AddedColumn } from '../../lists/rows/sink.js';
import type { Outcome, OutcomeValue } from './outcome-table.js';

/** Of every verified cell. */
const always = ['verification', 'reason'] as const;
/** Those of a result's origin: what was sent, and what came of it. */
export const originFields = ['submitted', 'verified_at', 'source', 'batch_uuid'] as const;

/** What each verified column may add, in the order of {@link outcomeCells}. */
export const addedFields = {
  email: [...always, ...recordFields.email, 'suggestion', ...originFields],
  phone: [...always, ...recordFields.phone, ...originFields],
} as const;

/** What an added column is called, without its prefix. */
export type AddedField = (typeof addedFields)[VerificationType][number];

const flags = { email: flagsOf(emailRecord), phone: flagsOf(phoneRecord) };

/** The fields of a record that are true or false, and nothing else. */
function flagsOf({ shape }: z.ZodObject): ReadonlySet<string> {
  const fields = Object.entries(shape).filter(([, schema]) => schema instanceof z.ZodBoolean);
  return new Set(fields.map(([field]) => field));
}

/** The fields of a result without its origin: those that are added where nobody chooses. */
export function usualFields(type: VerificationType): readonly AddedField[] {
  return [...always, ...recordFields[type]];
}

/** Where a field is among {@link outcomeCells}. */
export function fieldPlace(type: VerificationType, field: string): number {
  const fields: readonly string[] = addedFields[type];
  return fields.indexOf(field);
}

/**
 * The columns that a verified column adds, in order; each name begins with `<prefix>_`.
 *
 * @param fields some of {@link addedFields}
 */
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
 * What an outcome puts under all of {@link addedFields}: nulls for the record's fields unless the cell is
 * verified, and for what is of the cell itself.
 */
export function outcomeCells(outcome: Outcome, type: VerificationType): readonly OutcomeValue[] {
  if (outcome.type !== undefined && outcome.type !== type) {
    throw new TypeError(`a result of type ${outcome.type} in a column of type ${type}`);
  }
  const values = outcome.values ?? recordFields[type].map(() => null);
  const own = type === 'email' ? [null] : [];
  return [outcome.verification, outcome.reason, ...values, ...own, ...originCells(outcome)];
}

/** What the service did not tell has no time; the batch that failed is named all the same. */
function originCells({ verification, origin }: Outcome): readonly OutcomeValue[] {
  if (!origin) return originFields.map(() => null);
  const { verifiedAt, source, batchUuid } = origin;
  return [null, verification === 'failed' ? null : verifiedAt, source, batchUuid || null];
}
