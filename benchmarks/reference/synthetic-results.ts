import { addedColumns } from '../../src/engine/columns/added-fields.js';
import { recordFields } from '../../src/contract/records.js';
import { recordOf } from '../data/records.js';
import type { ExpectedColumn } from './expected-output.js';

/** The result that the benchmarks' own service gives an email address. */
export function syntheticRecord(email: string): Readonly<Record<string, unknown>> {
  let number = 0x811c_9dc5;
  const key = email.toLowerCase();
  for (let at = 0; at < key.length; at += 1) {
    number = Math.imul(number ^ key.charCodeAt(at), 0x0100_0193);
  }
  return recordOf('few', number >>> 0);
}

/** The column `email` with those results. */
export const syntheticEmailColumn: ExpectedColumn = {
  column: 'email',
  added: addedColumns('email', 'email').map(({ name }) => name),
  cellsOf(address) {
    const record = syntheticRecord(address);
    return ['verified', '', ...recordFields.email.map((field) => String(record[field]))];
  },
};
