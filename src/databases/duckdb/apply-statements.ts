import type { TablePlan } from '../plan-table.js';
import { quoteName } from '../quote-name.js';

/** The rows that were staged, with cells of the table's own types in the columns `c0`, `c1`, … */
export const staged = 'temp.sluice_rows';

/** What brings the staged rows to where they belong: one transaction. */
export function applyStatements(plan: TablePlan): readonly string[] {
  const { mode, columns, key, missing, target } = plan;
  const names = columns.map(({ name }) => quoteName(name));
  const cells = columns.map((_, at) => `s.c${at}`);
  const from = `${staged} AS s`;
  const insert = `INSERT INTO ${target} (${names.join(', ')}) SELECT ${cells.join(', ')} FROM ${from}`;
  const inOrder = 'ORDER BY s.sluice_row';
  switch (mode) {
    case 'create': {
      const definitions = columns.map(({ name, type }) => `${quoteName(name)} ${type}`);
      const primary = key.length === 0 ? [] : [`PRIMARY KEY (${key.map(quoteName).join(', ')})`];
      return [
        `CREATE TABLE ${target} (${[...definitions, ...primary].join(', ')})`,
        `${insert} ${inOrder}`,
      ];
    }
    case 'replace':
      return [`DELETE FROM ${target}`, `${insert} ${inOrder}`];
    case 'upsert':
    case 'update': {
      const cellOf = (name: string): string =>
        `s.c${columns.findIndex((column) => column.name === name)}`;
      const others = columns.map(({ name }) => name).filter((name) => !key.includes(name));
      const isSame = key.map((name) => `t.${quoteName(name)} = ${cellOf(name)}`).join(' AND ');
      const sets = others.map((name) => `${quoteName(name)} = ${cellOf(name)}`).join(', ');
      const isOther = others
        .map((name) => `t.${quoteName(name)} IS DISTINCT FROM ${cellOf(name)}`)
        .join(' OR ');
      const added = missing.map(
        ({ name, type }) => `ALTER TABLE ${target} ADD COLUMN ${quoteName(name)} ${type}`,
      );
      // What is the same already is not written anew.
      const update = `UPDATE ${target} AS t SET ${sets} FROM ${from} WHERE ${isSame} AND (${isOther})`;
      if (mode === 'update') return [...added, update];
      return [
        ...added,
        update,
        `${insert} WHERE NOT EXISTS (SELECT 1 FROM ${target} AS t WHERE ${isSame}) ${inOrder}`,
      ];
    }
  }
}
