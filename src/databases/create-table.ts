import type { NewColumn } from './plan-table.js';
import { quoteName } from './quote-name.js';

/** @param target the table's name as SQL takes it */
export function createTableStatement(
  target: string,
  columns: readonly NewColumn[],
  key: readonly string[],
): string {
  const definitions = columns.map(({ name, type }) => `${quoteName(name)} ${type}`);
  const primary = key.length === 0 ? [] : [`PRIMARY KEY (${key.map(quoteName).join(', ')})`];
  return `CREATE TABLE ${target} (${[...definitions, ...primary].join(', ')})`;
}
