import type { Statements } from './dialect.js';
import type { NewColumn, TablePlan } from './tables/table-plan.js';

/** Staged rows by number: after the first, up to the second. */
export interface RowRange {
  readonly after: number;
  readonly upTo: number;
}

/** @param target the table's quoted name */
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

/** Applies staged rows. @param range which of them. @default all */
export function rowStatements(
  plan: TablePlan,
  form: Statements,
  range?: RowRange,
): readonly string[] {
  const { mode, target } = plan;
  const { staging, rowNumber, orFail = '' } = form;
  const { cells, keys, guards, others } = cellsOf(plan, form);
  const table = `${target} AS t`;
  const staged = `${staging} AS s`;
  const number = `s.${rowNumber}`;
  const inRange = rangeConditions(range, form);
  const insert = (...conditions: readonly string[]): string => {
    const where = [...inRange, ...conditions].join(' AND ');
    const rows = `SELECT ${list(cells, ({ cell }) => cell)} FROM ${staged}`;
    return `INSERT${orFail} INTO ${target} (${list(cells, ({ name }) => name)}) ${form.overriding ?? ''} ${rows}${where && ` WHERE ${where}`} ORDER BY ${number}`;
  };
  if (mode === 'create') return [insert()];
  if (mode === 'replace') return [`${form.empty ?? 'DELETE FROM'} ${target}`, insert()];
  const isSame = hasKey(keys, form);
  const conditions = [isSame, ...inRange, ...guards.map(isUnchanged(form))];
  if (others.length > 0 && form.skipsSame?.includes(mode) === true) {
    conditions.push(`NOT (${list(others, isUnchanged(form), ' AND ')})`);
  }
  const set = others.length > 0 ? others : keys;
  const parts = { table, staged, cells: set, where: conditions.join(' AND ') };
  const update =
    form.update?.(parts) ??
    `UPDATE${orFail} ${table} SET ${list(set, ({ name, cell }) => `${name} = ${cell}`)} FROM ${staged} WHERE ${parts.where}`;
  if (mode === 'update') return [update];
  const added = insert(`NOT EXISTS (SELECT 1 FROM ${table} WHERE ${isSame})`);
  const onConflict = `ON CONFLICT (${list(keys, ({ name }) => name)}) DO UPDATE SET ${list(set, ({ name }) => `${name} = excluded.${name}`)}`;
  // Existing rows first: a column that only they have may not accept null.
  return [update, form.updatesOnConflict === true ? `${added} ${onConflict}` : added];
}

/**
 * Staged rows that were not to be written, as they were changed or deleted in the table: their counts as one
 * row, deleted ones last; and the keys of the first of them.
 */
export function skippedUpdateQueries(
  plan: TablePlan,
  form: Statements,
  range: RowRange | undefined,
  mostKeys: number,
): { readonly counts: string; readonly keys: string } {
  const { keys, guards } = cellsOf(plan, form);
  const isGone = `t.${keys[0]?.name ?? ''} IS NULL`;
  const reasons = [isGone, ...guards.map((guard) => `NOT (${isUnchanged(form)(guard)})`)];
  const where = [...rangeConditions(range, form), `(${reasons.join(' OR ')})`].join(' AND ');
  const rows = `FROM ${form.staging} AS s LEFT JOIN ${plan.target} AS t ON ${hasKey(keys, form)} WHERE ${where}`;
  const latest = form.readsLatest ?? '';
  return {
    counts: `SELECT count(*), count(CASE WHEN ${isGone} THEN 1 END) ${rows}${latest}`,
    keys: `SELECT ${list(keys, ({ cell }) => cell)} ${rows} ORDER BY s.${form.rowNumber} LIMIT ${mostKeys}${latest}`,
  };
}

/**
 * The number of the first staged row that was to be written and was not: a trigger or policy can drop one
 * without an error. `undefined` where no table can.
 */
export function droppedRowQuery(
  plan: TablePlan,
  form: Statements,
  range: RowRange | undefined,
): string | undefined {
  const { mode, target } = plan;
  const { isWritten, staging, rowNumber } = form;
  if (isWritten === undefined || (mode !== 'update' && mode !== 'upsert')) return undefined;
  const { keys, guards, others } = cellsOf(plan, form);
  const exists = `t.${keys[0]?.name ?? ''} IS NOT NULL`;
  const conditions =
    mode === 'upsert'
      ? [`NOT (${exists} AND ${isWritten})`]
      : [
          exists,
          ...guards.map(isUnchanged(form)),
          `NOT (${list(others, isUnchanged(form), ' AND ') || 'TRUE'})`,
          `NOT (${isWritten})`,
        ];
  const where = [...rangeConditions(range, form), ...conditions].join(' AND ');
  return `SELECT min(s.${rowNumber}) FROM ${staging} AS s LEFT JOIN ${target} AS t ON ${hasKey(keys, form)} WHERE ${where}`;
}

interface StagedCell {
  readonly name: string;
  readonly cell: string;
}

function cellsOf({ columns, key, guards, withheld = [] }: TablePlan, form: Statements) {
  const all = columns.map((column, at) => ({
    isKey: key.includes(column.name),
    isGuard: guards.includes(column.name),
    isWithheld: withheld.includes(column),
    name: form.quote(column.name),
    cell: `s.${form.stagedName(column.name, at)}`,
  }));
  const cells = all.filter(({ isWithheld }) => !isWithheld);
  return {
    cells,
    keys: cells.filter(({ isKey }) => isKey),
    guards: cells.filter(({ isGuard }) => isGuard),
    others: cells.filter(({ isKey, isGuard }) => !isKey && !isGuard),
  };
}

function hasKey(keys: readonly StagedCell[], { isSameKey }: Statements): string {
  const same = isSameKey ?? ((cell, other) => `${cell} = ${other}`);
  return list(keys, ({ name, cell }) => same(`t.${name}`, cell), ' AND ');
}

function isUnchanged(form: Statements): (cell: StagedCell) => string {
  return ({ name, cell }) => form.isSame(`t.${name}`, cell);
}

function rangeConditions(
  range: RowRange | undefined,
  { rowNumber }: Statements,
): readonly string[] {
  if (!range) return [];
  return [`s.${rowNumber} > ${range.after} AND s.${rowNumber} <= ${range.upTo}`];
}

/** The first key in more than one staged row: their count, and its first and last row. */
export function repeatedKeysQuery(plan: TablePlan, form: Statements, range?: RowRange): string {
  const { keys } = cellsOf(plan, form);
  // Two new rows of such a key the table refuses itself.
  const isByTable = form.stagesUntyped === true && plan.mode === 'upsert';
  const cells = list(keys, ({ name, cell }) => (isByTable ? `t.${name}` : cell));
  const table = isByTable ? ` JOIN ${plan.target} AS t ON ${hasKey(keys, form)}` : '';
  const where = rangeConditions(range, form).map((condition) => ` WHERE ${condition}`);
  const repeated = `SELECT min(s.${form.rowNumber}) AS first_row, max(s.${form.rowNumber}) AS last_row FROM ${form.staging} AS s${table}${where.join('')} GROUP BY ${cells} HAVING count(*) > 1`;
  return `SELECT count(*) OVER (), r.first_row, r.last_row FROM (${repeated}) AS r ORDER BY r.first_row LIMIT 1`;
}

function list<Item>(items: readonly Item[], print: (item: Item) => string, between = ', '): string {
  return items.map((item) => print(item)).join(between);
}
