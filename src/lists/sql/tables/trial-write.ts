import { ConfigurationError } from '../../../platform/errors/errors.js';
import { ObjectChunk } from '../../rows/chunks/object-chunk.js';
import type { RowChunk } from '../../rows/chunks/row-chunk.js';
import type {
  JoinedRows,
  ColumnsToValidate,
  OpenSinkOptions,
  OutputCell,
} from '../../rows/sink.js';
import { printValue } from '../../rows/values/print-value.js';
import { type Connection, retryOnLock } from '../connection.js';
import {
  applyStatements,
  askAll,
  define,
  refuseRepeatedKeys,
  writeMarkers,
  columnId,
  type TableWriting,
  createMarker,
  findMarkers,
  hasAllColumns,
  withoutAdded,
} from './apply-staged.js';
import { notice, type Notice } from '../../../platform/text/notices.js';
import { optionName } from '../../../platform/text/sentence.js';
import type { SourceReading } from '../../rows/source.js';
import { checkingRefuser, withRowOf, type DatabaseFailure } from '../database-failure.js';
import type { TableAccess } from './table-access.js';
import type { TablePlan } from './table-plan.js';

/**
 * Performs a complete writing with a few staged rows, under the real constraints, and rolls it back.
 *
 * @param numbers of the staged rows in the input: further rows are the same again with other results
 */
async function trialWrite(writing: TableWriting, numbers: readonly number[]): Promise<void> {
  const rowsAtOnce = numbers.length;
  const { dialect, connection, staging, waiting } = writing;
  const { statements, putInPlace } = dialect;
  const definesNow = dialect.tryDefinitions === undefined;
  const marker = createMarker(writing, await staging.end());
  if (staging.isInPlace === true) {
    await writeMarkers(writing, marker);
    await connection.query('ROLLBACK');
    return;
  }
  await staging.prepare?.(false);
  if (putInPlace?.modes.includes(writing.plan.mode) === true) {
    return putInPlace.run(connection, writing.plan, marker, true);
  }
  const found = await findMarkers(dialect, connection, writing.plan.name);
  const markers = !found ? 'missing' : hasAllColumns(found) ? 'complete' : 'older';
  const current = await withoutAdded(dialect, connection, writing.plan);
  const plan = (await dialect.tryDefinitions?.(connection, current, markers)) ?? writing.plan;
  for (let after = 0; after === 0 || after < marker.rows; after += rowsAtOnce) {
    const range = { after, upTo: after + rowsAtOnce };
    if (after === 0) await refuseRepeatedKeys(writing, numbers);
    await retryOnLock(waiting, connection, async () => {
      await askAll(connection, statements.begin);
      if (definesNow) await define(writing);
      await applyStatements({ ...writing, plan }, range);
      if (statements.checkDeferred !== undefined) await connection.query(statements.checkDeferred);
      if (markers === 'complete' || definesNow) await writeMarkers(writing, marker);
      await connection.query('ROLLBACK');
    });
    if (rowsAtOnce === 0) return;
  }
}

/** The first rows up to this number are kept. */
const mostFirst = 200;

/** Shapes of cells that a database may convert to a number or a date. */
const shapes: readonly (readonly [string, RegExp])[] = [
  ['empty', /^$/],
  ['integer', /^[+-]?\d+$/],
  ['number', /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i],
  ['date', /^\d{4}-\d\d-\d\d/],
];

/**
 * Sample rows of an input: the first ones and, for an existing table, the first row with each shape of a cell
 * in each column, and the one with the longest cell.
 */
export class SampleRows {
  readonly #header: readonly string[];
  readonly #first: { readonly chunk: RowChunk; readonly from: number; readonly to: number }[] = [];
  readonly #others = new Map<
    string,
    { readonly row: number; readonly cells: readonly unknown[] }
  >();
  readonly #longest: number[] = [];
  #firstCount = 0;

  constructor(header: readonly string[]) {
    this.#header = header;
  }

  addFirst(chunk: RowChunk): void {
    const to = Math.min(chunk.length, mostFirst - this.#firstCount);
    if (to <= 0) return;
    this.#first.push({ chunk, from: 0, to });
    this.#firstCount += to;
  }

  isWatched(row: number): boolean {
    return row > this.#firstCount;
  }

  watch(row: number, cells: readonly unknown[]): void {
    for (const [column, cell] of cells.entries()) {
      const text = printValue(cell) ?? '';
      if (text.length > (this.#longest[column] ?? 0)) {
        this.#longest[column] = text.length;
        this.#others.set(`${column} longest`, { row, cells });
      }
      const isText = typeof cell === 'string';
      const shape = isText ? shapes.find(([, form]) => form.test(text))?.[0] : typeof cell;
      const key = `${column} ${shape ?? 'text'}`;
      if (!this.#others.has(key)) this.#others.set(key, { row, cells });
    }
  }

  numbers(): readonly number[] {
    const first = Array.from({ length: this.#firstCount }, (_, at) => at + 1);
    return [...first, ...this.#later().map(({ row }) => row)];
  }

  /** The rows with outcomes for each verified column. @param start outcome of the first row; later ones count up */
  *joined(start: number, width: number): Generator<JoinedRows> {
    const later = this.#later();
    const rest = new ObjectChunk(
      later.map(({ cells }) =>
        Object.fromEntries(this.#header.map((name, column) => [name, cells[column]])),
      ),
      this.#header,
    );
    let outcome = start;
    for (const { chunk, from, to } of [
      ...this.#first,
      { chunk: rest, from: 0, to: later.length },
    ]) {
      const outcomes = Uint32Array.from(
        { length: (to - from) * width },
        (_, at) => outcome + Math.floor(at / width),
      );
      outcome += to - from;
      if (to > from) yield { chunk, from, to, outcomes, width };
    }
  }

  /** A row may represent several columns. */
  #later(): readonly { readonly row: number; readonly cells: readonly unknown[] }[] {
    const rows = new Map([...this.#others.values()].map((other) => [other.row, other]));
    return [...rows.values()].toSorted((a, b) => a.row - b.row);
  }
}

const patienceMs = 3000;

/** Plans a writing with what is known of the rows by then. */
export type PlanWriting = (connection: Connection, opening: OpenSinkOptions) => Promise<TablePlan>;

/** For a second plan: a table of another run that is refused says more than the error of the first plan. */
export function rethrowRefusal(error: unknown): (again: unknown) => never {
  return (again) => {
    throw again instanceof ConfigurationError ? again : error;
  };
}

/** Writes sample rows with results of every kind into a table for trial, and reports what is unexpected. */
export async function trySamples(
  access: TableAccess,
  plan: PlanWriting,
  rows: SampleRows,
  { reading, columns }: { readonly reading: SourceReading; readonly columns: ColumnsToValidate },
): Promise<void> {
  const numbers = rows.numbers();
  const failureOf = (error: unknown): DatabaseFailure =>
    withRowOf(access.failureOf(error), numbers);
  await access.use('look', checkingRefuser(access.name, failureOf), async (connection) => {
    const results = columns.samples.map((cells) => [...cells]);
    const cellsOf = (outcome: number, column: number): readonly OutputCell[] => {
      const cells = results[column] ?? [];
      return cells[outcome % cells.length] ?? [];
    };
    const opening: OpenSinkOptions = { ...columns, reading, cellsOf };
    const planned = await plan(connection, opening);
    for (const each of noticesOf(planned, reading, access.into)) columns.onNotice?.(each);
    const tryPlan = async (tried: TablePlan): Promise<void> => {
      const { leftOutBy = [] } = columns;
      if (tried.mode === 'upsert' && leftOutBy.length > 0) {
        const some = await connection.query(`SELECT 1 FROM ${tried.target} LIMIT 1`);
        const fields = { table: access.into, options: leftOutBy };
        if (some.length > 0) columns.onNotice?.(notice('stale_rows', fields));
      }
      await refuseForeignColumns(access, connection, tried, { ...columns, reading });
      const writing = await access.stage(connection, tried, opening, patienceMs);
      const exists = tried.mode === 'upsert' || tried.mode === 'update';
      const kinds = exists ? Math.max(...results.map((cells) => cells.length)) : 0;
      let start = 0;
      do {
        for (const joined of rows.joined(start, columns.verified.length)) {
          await writing.staging.write(joined);
        }
        start += numbers.length;
      } while (start < kinds && numbers.length > 0);
      await trialWrite(writing, numbers);
    };
    // Rows of this run that it may write again.
    const isOfRun = columns.runId !== undefined && planned.marker?.run === columns.runId;
    if (!isOfRun) {
      const tried = tryPlan(planned).catch(async (error: unknown) => {
        // Another run may have made the new table since.
        if (planned.mode !== 'create') throw error;
        await connection.query('ROLLBACK').catch(() => undefined);
        const again = await plan(connection, opening).catch(rethrowRefusal(error));
        if (again.mode === 'create') throw error;
        await tryPlan(again);
      });
      await tried.catch((error: unknown) => {
        if (access.failureOf(error).refusal?.kind !== 'locked') throw error;
        columns.onNotice?.(notice('lock_before_trial', { table: access.name }));
      });
    }
    await connection.close();
  });
}

/**
 * Refuses to write over columns that only have the names of added ones. The marker knows those of a run, unless the
 * table was rebuilt since; results that came another way have the values of `verification`.
 */
async function refuseForeignColumns(
  { dialect, name }: TableAccess,
  connection: Connection,
  { mode, target, marker, columns, positions, missing }: TablePlan,
  { added, verified, reading }: ColumnsToValidate & { readonly reading: SourceReading },
): Promise<void> {
  if (mode !== 'upsert' && mode !== 'update') return;
  const { quote } = dialect.statements;
  const written = new Set(marker?.written.split(','));
  let at = positions.length;
  for (const [index, fields] of added.entries()) {
    const group = columns.slice(at, (at += fields.length));
    const recorded = group.filter((column) =>
      written.has('') ? !missing.includes(column) : written.has(columnId(column.name)),
    );
    const isRebuilt = recorded.some((column) => missing.includes(column));
    const foreign = group.filter(
      (column) => !missing.includes(column) && (isRebuilt || !recorded.includes(column)),
    );
    const [first] = foreign;
    if (!first) continue;
    const verification = group[fields.findIndex(({ field }) => field === 'verification')];
    const query =
      verification && foreign.includes(verification)
        ? `${quote(verification.name)} NOT IN ('verified', 'not_submitted', 'no_result', 'failed')`
        : foreign.map((column) => `${quote(column.name)} IS NOT NULL`).join(' OR ');
    const some = await connection.query(`SELECT 1 FROM ${target} WHERE ${query} LIMIT 1`);
    if (some.length === 0) continue;
    const names = foreign.map((column) => JSON.stringify(column.name)).join(', ');
    const column = reading.header[verified[index] ?? -1] ?? '';
    const prefix = optionName('prefix', { [column]: `${column}_2` });
    throw new ConfigurationError(
      `${name} has values in ${names} that no run is known to have written, and that would be written over: give the new columns another name with ${prefix}, or, where the values may go, empty these columns first`,
      { code: 'column_exists', option: 'prefix', column: first.name },
    );
  }
}

function noticesOf(
  { mode, unguarded, renamed }: TablePlan,
  reading: SourceReading,
  table: string,
): readonly Notice[] {
  const rounded = (mode === 'update' ? undefined : reading.roundedColumns) ?? [];
  return [
    ...rounded.map((column) => notice('float_rounded', { column, output: table })),
    ...unguarded.map((column) => notice('unguarded_column', { column, table })),
    ...(renamed.length > 0 ? [notice('names_shortened', { table, columns: renamed })] : []),
  ];
}
