import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { SkippedUpdates } from '../../rows/sink.js';
import type { SourceReading } from '../../rows/source.js';
import type { Connection } from '../connection.js';
import type { DialectForm, Statements } from '../dialect.js';
import { skippedUpdateQueries, type RowRange } from '../statements.js';
import type { TablePlan, ExistingTable } from './table-plan.js';
import { TableReading } from './table-reading.js';

/** Cells of a table that must be unchanged for a row to get its result. */
interface GuardedColumns {
  /** Names of the table's own columns, by the position of the input's column. */
  readonly names: ReadonlyMap<number, string>;
  /** Names of verified columns without a counterpart in the table. */
  readonly unguarded: readonly string[];
}

export interface TargetDatabase {
  readonly dialect: DialectForm;
  readonly store: string;
}

/** Finds the table's own columns of the verified ones: by the query's origins in this database, else by name. */
export function findGuardedColumns(
  { reading, verified }: { readonly reading: SourceReading; readonly verified: readonly number[] },
  place: TargetDatabase,
  table: ExistingTable,
): GuardedColumns {
  const names = new Map<number, string>();
  const unguarded: string[] = [];
  const columnNames = new Set(table.columns.map(({ name }) => name));
  for (const position of verified) {
    const header = reading.header[position] ?? '';
    const column = isSameDatabase(reading, place) ? originColumn(reading, position, table) : header;
    if (column === undefined || !columnNames.has(column)) unguarded.push(header);
    else if (![...names.values()].includes(column)) names.set(position, column);
  }
  return { names, unguarded };
}

/** Whether rows come from a query in the target database. */
export function isSameDatabase(
  reading: SourceReading,
  { dialect, store }: TargetDatabase,
): reading is TableReading {
  return (
    reading instanceof TableReading &&
    reading.form.dialect === dialect.name &&
    reading.form.store === store
  );
}

/** The table's own column at a position, if the rows return it unchanged. */
export function originColumn(
  { form }: TableReading,
  position: number,
  table: ExistingTable,
): string | undefined {
  const origin = form.columns[position]?.origin;
  return origin?.table === table.id ? origin.column : undefined;
}

/**
 * Refuses to insert rows that the query may have read from the table itself: what others change meanwhile would
 * be overwritten, and what they delete would come back.
 */
export function refuseUntraced(
  shown: string,
  { reading, verified }: { readonly reading: SourceReading; readonly verified: readonly number[] },
  keyPositions: readonly number[],
  place: TargetDatabase,
  table: ExistingTable,
): void {
  if (!isSameDatabase(reading, place)) return;
  const { columns, reads } = reading.form;
  const targetIds = new Set([table.id, ...(table.sharing ?? [])]);
  if (reads?.some((read) => targetIds.has(read)) === false) return;
  const isOfOther = (position: number): boolean => {
    const origin = columns[position]?.origin?.table ?? table.id;
    return !targetIds.has(origin) && reads?.includes(origin) === true;
  };
  const isComputed = (position: number): boolean => columns[position]?.origin === undefined;
  const isNew = (position: number): boolean => isComputed(position) || isOfOther(position);
  if (keyPositions.every(isOfOther) && verified.every(isNew)) return;
  const { quote } = place.dialect.statements;
  const names = keyPositions.map((position) => quote(reading.header[position] ?? '')).join(', ');
  const key = keyPositions.length > 1 ? `(${names})` : names;
  throw new ConfigurationError(
    `the query reads the table ${shown}, and not so that its rows are known to be that table's (through a view, a union, a join or the like): what others change in it meanwhile would be overwritten, and what they delete would come back. To verify the table's rows, take their columns from the table itself: select … from ${shown} where ${key} in (select ${names} from …). To add the rows of other tables, leave this one out of the query`,
    { option: 'query' },
  );
}

const mostKeys = 20;

/** Finds rows that were changed or deleted meanwhile: among applied staged rows, in the same transaction. */
export async function findSkippedUpdates(
  plan: TablePlan,
  form: Statements,
  connection: Connection,
  range: RowRange | undefined,
): Promise<SkippedUpdates | undefined> {
  if (plan.mode !== 'update') return undefined;
  const queries = skippedUpdateQueries(plan, form, range, mostKeys);
  const [[all, gone] = []] = await connection.query(queries.counts);
  if (Number(all) === 0) return undefined;
  const keys = await connection.query(queries.keys);
  return {
    changed: Number(all) - Number(gone),
    gone: Number(gone),
    keys: keys.map((cells) => cells.map(String).join(', ')),
  };
}

export function addSkippedUpdates(
  known: SkippedUpdates | undefined,
  more: SkippedUpdates | undefined,
): SkippedUpdates | undefined {
  if (!known || !more) return known ?? more;
  return {
    changed: known.changed + more.changed,
    gone: known.gone + more.gone,
    keys: [...known.keys, ...more.keys].slice(0, mostKeys),
  };
}
