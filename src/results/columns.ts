import { z } from 'zod';
import type { VerificationType } from '../contract/enums.js';
import { emailRecord, phoneRecord, recordFields } from '../contract/records.js';
import type { AddedColumn, OutputCell } from '../rows/sink.js';
import type { Outcome, OutcomeValue } from './outcome-table.js';

/** What the columns of a result's origin are called: what was sent, and what came of it. */
const originFields = ['submitted', 'verified_at', 'source', 'batch_uuid'] as const;
/** The first of them is of the cell, not of its outcome. */
const submittedFromEnd = originFields.length;

const flags = { email: flagsOf(emailRecord), phone: flagsOf(phoneRecord) };

/** The fields of a record that are true or false, and nothing else. */
function flagsOf({ shape }: z.ZodObject): ReadonlySet<string> {
  const fields = Object.entries(shape).filter(([, schema]) => schema instanceof z.ZodBoolean);
  return new Set(fields.map(([field]) => field));
}

/**
 * The columns that a verified column adds, in order; each name begins with `<prefix>_`.
 *
 * @param withOrigin whether they say where a result is from
 */
export function addedColumns(
  type: VerificationType,
  prefix: string,
  withOrigin = false,
): readonly AddedColumn[] {
  const fields = ['verification', 'reason', ...recordFields[type]];
  if (withOrigin) fields.push(...originFields);
  return fields.map((field) => ({
    name: `${prefix}_${field}`,
    field,
    kind: flags[type].has(field) ? 'boolean' : 'text',
  }));
}

/**
 * What stands in the columns of {@link addedColumns}: nulls for the record's fields unless the cell is
 * verified.
 *
 * @throws TypeError when the outcome is a result of the other type
 */
export function outcomeCells(
  outcome: Outcome,
  type: VerificationType,
  withOrigin = false,
): readonly OutcomeValue[] {
  if (outcome.type !== undefined && outcome.type !== type) {
    throw new TypeError(`a result of type ${outcome.type} in a column of type ${type}`);
  }
  const values = outcome.values ?? recordFields[type].map(() => null);
  const cells = [outcome.verification, outcome.reason, ...values];
  return withOrigin ? [...cells, ...originCells(outcome)] : cells;
}

/** What the service did not tell has no time; the batch that failed is named all the same. */
function originCells({ verification, origin }: Outcome): readonly OutcomeValue[] {
  if (!origin) return originFields.map(() => null);
  const { verifiedAt, source, batchUuid } = origin;
  return [null, verification === 'failed' ? null : verifiedAt, source, batchUuid || null];
}

/** The same cells, of an outcome with its origin, for a cell for which a line was sent, or none. */
export function withSubmitted(
  cells: readonly OutputCell[],
  line: string | undefined,
): readonly OutputCell[] {
  return cells.with(-submittedFromEnd, line ?? null);
}
