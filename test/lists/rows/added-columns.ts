import type { AddedColumn } from '../../../src/index.js';

/** Added columns of these fields. */
export function addedColumnsOf(column: string, ...fields: readonly string[]): AddedColumn[] {
  return fields.map((field) => ({
    name: `${column}_${field}`,
    field,
    kind: flags.includes(field) ? 'boolean' : 'text',
  }));
}

const flags = ['valid', 'wrong', 'unknown'];
