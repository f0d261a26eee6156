import { createTableStatement } from './create-table.js';
import type { TablePlan, WritingMode } from './plan-table.js';
import { quoteName } from './quote-name.js';

/** Rows that wait beside their table, in the columns `c0`, `c1`, … and one that numbers them. */
export interface StagedTable {
  readonly name: string;
  readonly rowNumber: string;
  /** The modes in which a row that is the same already is not written anew. */
  readonly skipsSame: readonly WritingMode[];
  /** Whether a cell of the table is to the letter another than the one that is staged for it. */
  differs(cell: string, other: string): string;
}

/** What brings the staged rows to where they belong: one transaction. */
export function stagedStatements(
  { mode, target, columns, key, missing }: TablePlan,
  staged: StagedTable,
): readonly string[] {
  const names = columns.map(({ name }) => quoteName(name));
  const cells = columns.map((_, at) => `s.c${at}`);
  const from = `${staged.name} AS s`;
  const insert = `INSERT INTO ${target} (${names.join(', ')}) SELECT ${cells.join(', ')} FROM ${from}`;
  const inOrder = `ORDER BY s.${staged.rowNumber}`;
  if (mode === 'create') {
    return [createTableStatement(target, columns, key), `${insert} ${inOrder}`];
  }
  if (mode === 'replace') return [`DELETE FROM ${target}`, `${insert} ${inOrder}`];
  const pairs = columns.map(({ name }, at) => ({
    isKey: key.includes(name),
    name: quoteName(name),
    cell: `s.c${at}`,
  }));
  const others = pairs.filter(({ isKey }) => !isKey);
  const isSame = pairs
    .filter(({ isKey }) => isKey)
    .map(({ name, cell }) => `t.${name} = ${cell}`)
    .join(' AND ');
  const sets = others.map(({ name, cell }) => `${name} = ${cell}`).join(', ');
  const isOther = others.map(({ name, cell }) => staged.differs(`t.${name}`, cell)).join(' OR ');
  const which = staged.skipsSame.includes(mode) ? `${isSame} AND (${isOther})` : isSame;
  const added = missing.map(
    ({ name, type }) => `ALTER TABLE ${target} ADD COLUMN ${quoteName(name)} ${type}`,
  );
  const update = `UPDATE ${target} AS t SET ${sets} FROM ${from} WHERE ${which}`;
  if (mode === 'update') return [...added, update];
  return [
    ...added,
    update,
    `${insert} WHERE NOT EXISTS (SELECT 1 FROM ${target} AS t WHERE ${isSame}) ${inOrder}`,
  ];
}
