import { Stream, type Readable } from 'node:stream';
import { ConfigurationError, InputError } from '../../../platform/errors/errors.js';
import {
  checkOptions,
  checkValue,
  type OptionShape,
  type Wanted,
} from '../../../platform/check-options.js';
import { columnNames, text } from '../../../platform/option-kinds.js';
import { CellsChunk, kindOfRow, ObjectChunk, type Row } from '../chunks/object-chunk.js';
import { closableChunks, type RowChunk } from '../chunks/row-chunk.js';
import { gatherRows, refuseRows } from './gather-rows.js';
import { copyRows, readCopiedRows, areCopiedBeside, beginRows, noteCopied } from './read-once.js';
import { ofLibrary, refuseSameObjects } from '../guarded-ends.js';
import type { OpenSourceOptions, Source, SourceReading } from '../source.js';
import { grouped } from '../../../platform/text/shown-numbers.js';

/** Rows that a program has: objects of any type, or lists of cells in the header's order. */
export type RowsInput = RowsOf<object>;

export type RowsOf<Input> = Iterable<Input> | AsyncIterable<Input> | WebStream<Input>;

/**
 * A `ReadableStream`, which can be looped over where the types of the DOM do not say so. That name is not used: where
 * neither they nor those of Node declare it, rows would become `any`.
 */
export interface WebStream<Row> {
  pipeTo(to: { getWriter(): { write(row?: Row): unknown } }): Promise<void>;
}

declare const rowType: unique symbol;

/** A source of rows whose type is known: options that name columns are held to it. */
export interface RowsSource<Input> extends Source {
  /** For the compiler alone. */
  readonly [rowType]?: Input;
}

export function isRows(given: unknown): given is RowsInput {
  return (
    typeof given === 'object' &&
    given !== null &&
    (Symbol.iterator in given || Symbol.asyncIterator in given)
  );
}

/** What rows of a program must be. */
export const someRows: Wanted = {
  what: 'an array, a generator or a stream of row objects',
  isRight: isRows,
};

export interface RowsSourceOptions {
  /**
   * How messages call it.
   * @default 'rows'
   */
  readonly name?: string | undefined;
  /**
   * Names of the columns, in order. Needed for lists of cells.
   * @default those of all objects in an array; of anything else those of its first 512 objects, or of
   *   fewer where they come with pauses into a run that streams; a later object that has another field is
   *   refused
   */
  readonly header?: readonly string[] | undefined;
}

const shape: OptionShape<RowsSourceOptions> = { name: text, header: columnNames };

/**
 * Rows from memory or from any stream of objects. What can be read once (a generator, a stream) is read by
 * one call: another is refused, as it would go on where the first has stopped. A run that goes on in the same
 * process and has all of it on disk takes the same one again.
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const source = rowsSource([[1, 'good@sluice.test']], { header: ['id', 'email'] });
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function rowsSource<Input extends object>(
  rows: RowsOf<Input>,
  options: RowsSourceOptions = {},
): RowsSource<Input> {
  checkValue('rows', rows, someRows);
  checkOptions(options, shape);
  const { name = 'rows' } = options;
  const open = (opening: OpenSourceOptions): Promise<SourceReading> =>
    openRows(rows, { ...options, name }, opening);
  if (Array.isArray(rows)) return { ...ofLibrary, name, open };
  return {
    ...ofLibrary,
    name,
    open,
    async keep(path, signal, most) {
      const isDone = await areCopiedBeside(rows, { path, most });
      const all = begin(isDone ? [] : rows, name);
      const kept = most === undefined ? all : firstOf(all, most);
      await copyRows(path, kept, name, { ...(signal && { signal }) });
      if (!isDone) noteCopied(rows, { path, most });
      return keptSource(path, { ...options, name });
    },
    kept: (path) => keptSource(path, { ...options, name }),
  };
}

interface NamedOptions extends RowsSourceOptions {
  readonly name: string;
}

function keptSource(path: string, options: NamedOptions): Source {
  return {
    ...ofLibrary,
    name: options.name,
    async open(opening) {
      const kept = readCopiedRows(path, options.name);
      const reading = await openRows(kept.rows, options, opening);
      return { ...reading, contentDigest: () => kept.digest() };
    },
  };
}

async function openRows(
  rows: RowsInput,
  options: NamedOptions,
  opening: OpenSourceOptions,
): Promise<SourceReading> {
  const { name } = options;
  const gathered = gatherRows(begin(rows, name), opening.signal);
  const close = async (): Promise<void> => {
    // A Readable releases what it reads from; waiting for its next row may never end.
    if (rows instanceof Stream) (rows as Readable).destroy();
    gathered.return(undefined).catch(() => undefined);
  };
  try {
    const first = await nextRows(gathered, name, opening.signal);
    const known = options.header ?? headerOf(Array.isArray(rows) ? rows : (first ?? []), name);
    opening.wanted(known);
    return {
      header: known,
      chunks: closableChunks(toChunks(rows, first, gathered, known, options, opening), close),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function* toChunks(
  given: RowsInput,
  first: readonly unknown[] | undefined,
  gathered: AsyncGenerator<unknown[]>,
  header: readonly string[],
  { name }: NamedOptions,
  { signal }: OpenSourceOptions,
): AsyncGenerator<RowChunk> {
  // Of an array all rows are there before the first is read.
  const check = Array.isArray(given) ? undefined : refuseSameObjects(name);
  let before = 0;
  for (let rows = first; rows !== undefined; rows = await nextRows(gathered, name, signal)) {
    if (check) rows.forEach(check);
    yield chunkOf(rows, header, { name, before });
    before += rows.length;
  }
}

/** Where rows are, for messages. */
interface CopyLocation {
  readonly name: string;
  /** How many rows came before them. */
  readonly before: number;
}

function chunkOf(
  rows: readonly unknown[],
  header: readonly string[],
  place: CopyLocation,
): RowChunk {
  const [first] = rows;
  if (Array.isArray(first)) {
    return new CellsChunk(rows.map((row, at) => checkedList(row, header.length, place, at)));
  }
  return new ObjectChunk(
    rows.map((row, at) => checkedObject(row, place, at)),
    header,
  );
}

function checkedList(
  row: unknown,
  columns: number,
  place: CopyLocation,
  at: number,
): readonly unknown[] {
  if (!Array.isArray(row)) {
    throw refusedRow(place, at, `must be a list of cells, as the first, not ${kindOfRow(row)}`);
  }
  if (row.length <= columns) return row;
  throw refusedRow(
    place,
    at,
    `has ${String(row.length)} cells, more than the ${String(columns)} columns of its header`,
  );
}

function checkedObject(row: unknown, place: CopyLocation, at: number): Row {
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as Row;
  throw refusedRow(place, at, `must be an object of columns, not ${kindOfRow(row)}`);
}

function refusedRow({ name, before }: CopyLocation, at: number, what: string): InputError {
  return new InputError(`row ${grouped(before + at + 1)} of ${name} ${what}`);
}

function headerOf(rows: readonly unknown[], name: string): readonly string[] {
  if (Array.isArray(rows[0])) {
    throw new ConfigurationError(
      `the rows of ${name} are lists of cells: name their columns with the option header`,
    );
  }
  const place = { name, before: 0 };
  const names = rows.flatMap((row, at) => Object.keys(checkedObject(row, place, at)));
  return [...new Set(names)];
}

async function nextRows(
  gathered: AsyncGenerator<unknown[]>,
  name: string,
  signal: AbortSignal | undefined,
): Promise<unknown[] | undefined> {
  try {
    const step = await gathered.next();
    return step.done === true ? undefined : step.value;
  } catch (cause) {
    signal?.throwIfAborted();
    refuseRows(name, cause);
  }
}

async function* firstOf(rows: AsyncIterable<unknown>, most: number): AsyncGenerator {
  let given = 0;
  for await (const row of rows) {
    yield row;
    given += 1;
    if (given === most) return;
  }
}

/** Begins to read. */
function begin(rows: RowsInput, name: string): AsyncIterable<unknown> {
  const iterator = beginRows(rows, name);
  return Symbol.asyncIterator in rows
    ? { [Symbol.asyncIterator]: () => iterator as AsyncIterator<unknown> }
    : fromIterator(iterator as Iterator<unknown>);
}

async function* fromIterator(iterator: Iterator<unknown>): AsyncGenerator {
  yield* { [Symbol.iterator]: () => iterator };
}
