import type { Statements } from './dialect.js';
import type { NewColumn, TablePlan } from './plan-table.js';

/** Staged rows of these numbers: after the first, up to the second. */
export interface RowRange {
  readonly after: number;
  readonly upTo: number;
}

/** @param target the table's name as SQL takes it */
export function createTableStatement(
  target: string,
  columns: readonly NewColumn[],
  key: readonly string[],
  { quote, keyType = (type) => type, tableOptions = '' }: Statements,
): string {
  const definitions = columns.map(
    ({ name, type }) => `${quote(name)} ${key.includes(name) ? keyType(type) : type}`,
  );
  const primary =
    key.length === 0 ? [] : [`PRIMARY KEY (${key.map((name) => quote(name)).join(', ')})`];
  return `CREATE TABLE ${target} (${[...definitions, ...primary].join(', ')})${tableOptions}`;
}

/** What makes the table that the rows go into, or the columns that it lacks. */
export function definitionStatements(
  { mode, target, columns, key, missing }: TablePlan,
  form: Statements,
): readonly string[] {
  if (mode === 'create') return [createTableStatement(target, columns, key, form)];
  return addColumnStatements(target, missing, form);
}

export function addColumnStatements(
  table: string,
  columns: readonly NewColumn[],
  { quote, addColumn = 'ADD COLUMN', addsOneColumn = false }: Statements,
): readonly string[] {
  const clauses = columns.map(({ name, type }) => `${addColumn} ${quote(name)} ${type}`);
  if (addsOneColumn) return clauses.map((clause) => `ALTER TABLE ${table} ${clause}`);
  return clauses.length === 0 ? [] : [`ALTER TABLE ${table} ${clauses.join(', ')}`];
}

/**
 * What brings staged rows to where they belong.
 *
 * @param range which of them; without it all
 */
export function rowStatements(
  { mode, target, columns, key }: TablePlan,
  form: Statements,
  range?: RowRange,
): readonly string[] {
  const { quote, staging, rowNumber } = form;
  const cells = columns.map(({ name }, at) => ({
    isKey: key.includes(name),
    name: quote(name),
    cell: `s.${form.stagedName(name, at)}`,
  }));
  const table = `${target} AS t`;
  const staged = `${staging} AS s`;
  const number = `s.${rowNumber}`;
  const inRange = range ? [`${number} > ${range.after} AND ${number} <= ${range.upTo}`] : [];
  const insert = (...conditions: readonly string[]): string => {
    const where = [...inRange, ...conditions].join(' AND ');
    const rows = `SELECT ${list(cells, ({ cell }) => cell)} FROM ${staged}`;
    return `INSERT INTO ${target} (${list(cells, ({ name }) => name)}) ${form.overriding ?? ''} ${rows}${where && ` WHERE ${where}`} ORDER BY ${number}`;
  };
  if (mode === 'create') return [insert()];
  if (mode === 'replace') return [`${form.empty ?? 'DELETE FROM'} ${target}`, insert()];
  const keys = cells.filter(({ isKey }) => isKey);
  const others = cells.filter(({ isKey }) => !isKey);
  const isSame = list(keys, ({ name, cell }) => `t.${name} = ${cell}`, ' AND ');
  const conditions = [isSame, ...inRange];
  if (form.skipsSame?.modes.includes(mode) === true) {
    const { differs } = form.skipsSame;
    conditions.push(`(${list(others, ({ name, cell }) => differs(`t.${name}`, cell), ' OR ')})`);
  }
  const parts = { table, staged, cells: others, where: conditions.join(' AND ') };
  const update =
    form.update?.(parts) ??
    `UPDATE ${table} SET ${list(others, ({ name, cell }) => `${name} = ${cell}`)} FROM ${staged} WHERE ${parts.where}`;
  if (mode === 'update') return [update];
  const added = insert(`NOT EXISTS (SELECT 1 FROM ${table} WHERE ${isSame})`);
  const onConflict = `ON CONFLICT (${list(keys, ({ name }) => name)}) DO UPDATE SET ${list(others, ({ name }) => `${name} = excluded.${name}`)}`;
  // First those that are there: a column that only they have may take no null.
  return [update, form.updatesOnConflict === true ? `${added} ${onConflict}` : added];
}

/** Counts the keys that stand in more than one of the staged rows, as one cell. */
export function repeatedKeysQuery({ columns, key }: TablePlan, form: Statements): string {
  const cells = columns.flatMap(({ name }, at) =>
    key.includes(name) ? [form.stagedName(name, at)] : [],
  );
  return `SELECT count(*) FROM (SELECT 1 FROM ${form.staging} GROUP BY ${cells.join(', ')} HAVING count(*) > 1) AS r`;
}

function list<Item>(items: readonly Item[], print: (item: Item) => string, between = ', '): string {
  return items.map((item) => print(item)).join(between);
}
