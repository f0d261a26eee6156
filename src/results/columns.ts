import type { VerificationType } from '../contract/enums.js';
import { recordFields } from '../contract/records.js';
import type { Outcome, OutcomeValue } from './outcome-table.js';

/** Names of the columns that a verified column adds, in order; each begins with `<prefix>_`. */
export function addedColumns(type: VerificationType, prefix: string): readonly string[] {
  return ['verification', 'reason', ...recordFields[type]].map((name) => `${prefix}_${name}`);
}

/**
 * What stands in the columns of {@link addedColumns}: nulls for the record's fields unless the cell is
 * verified.
 *
 * @throws TypeError when the outcome is a result of the other type
 */
export function outcomeCells(outcome: Outcome, type: VerificationType): readonly OutcomeValue[] {
  if (outcome.type !== undefined && outcome.type !== type) {
    throw new TypeError(`a result of type ${outcome.type} in a column of type ${type}`);
  }
  const values = outcome.values ?? recordFields[type].map(() => null);
  return [outcome.verification, outcome.reason, ...values];
}
