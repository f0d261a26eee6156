import { ObjectChunk } from '../../rows/chunks/object-chunk.js';
import type { RowChunk } from '../../rows/chunks/row-chunk.js';
import type { JoinedRows } from '../../rows/sink.js';
import { printValue } from '../../rows/values/print-value.js';
import { type Connection, retryOnLock } from '../connection.js';
import {
  applyStatements,
  askAll,
  define,
  refuseRepeatedKeys,
  writeMarkers,
  type TableWriting,
} from './apply-staged.js';
import { createMarker, findMarkers, writeMarker } from './run-marker.js';

/**
 * Performs a complete writing with a few staged rows, under the real constraints, and rolls it back.
 *
 * @param numbers of the staged rows in the input: further rows are the same again with other results
 */
export async function trialWrite<Database extends Connection>(
  writing: TableWriting<Database>,
  numbers: readonly number[],
): Promise<void> {
  const rowsAtOnce = numbers.length;
  const { dialect, connection, staging, runId, waiting } = writing;
  const { statements, putInPlace, tryDefinitions } = dialect;
  const marker = createMarker(runId, await staging.end());
  if (staging.isInPlace === true) {
    await writeMarkers(writing, marker);
    await connection.query('ROLLBACK');
    return;
  }
  await staging.prepare?.(false);
  if (putInPlace?.modes.includes(writing.plan.mode) === true) {
    return putInPlace.run(connection, writing.plan, marker, true);
  }
  const hasMarkers = (await findMarkers(dialect, connection, writing.plan.name)) !== undefined;
  const plan = (await tryDefinitions?.(connection, writing.plan, hasMarkers)) ?? writing.plan;
  for (let after = 0; after === 0 || after < marker.rows; after += rowsAtOnce) {
    const range = { after, upTo: after + rowsAtOnce };
    if (after === 0) await refuseRepeatedKeys(writing, numbers);
    await retryOnLock(waiting, connection, async () => {
      await askAll(connection, statements.begin);
      if (!tryDefinitions) await define(writing);
      await applyStatements({ ...writing, plan }, range);
      if (statements.checkDeferred !== undefined) await connection.query(statements.checkDeferred);
      if (hasMarkers || !tryDefinitions) {
        await writeMarker(dialect, connection, plan.name, marker);
      }
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

  /** Adds the next rows while they are among the first. */
  addFirst(chunk: RowChunk): void {
    const to = Math.min(chunk.length, mostFirst - this.#firstCount);
    if (to <= 0) return;
    this.#first.push({ chunk, from: 0, to });
    this.#firstCount += to;
  }

  /** Whether a row, by its number from 1, is examined. */
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

  /** Numbers of the rows in the input, from 1. */
  numbers(): readonly number[] {
    const first = Array.from({ length: this.#firstCount }, (_, at) => at + 1);
    return [...first, ...this.#later().map(({ row }) => row)];
  }

  /**
   * The rows with outcomes for each verified column.
   *
   * @param start outcome of the first row; later ones count up
   */
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
