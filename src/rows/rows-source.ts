import { Stream, type Readable } from 'node:stream';
import { ConfigurationError, InputError } from '../errors/family.js';
import { CellsChunk } from './cells-chunk.js';
import { closableChunks } from './closable-chunks.js';
import { gatherRows, refuseRows } from './gather-rows.js';
import { keepRows, readKeptRows } from './kept-rows.js';
import { ObjectChunk, type Row } from './object-chunk.js';
import type { RowChunk } from './row-chunk.js';
import type { OpenSourceOptions, Source, SourceReading } from './source.js';

/** Rows that a program has: objects of any type, or lists of cells in the header's order. */
export type RowsInput = Iterable<object> | AsyncIterable<object> | ReadableStream<object>;

export function isRows(given: unknown): given is RowsInput {
  return (
    typeof given === 'object' &&
    given !== null &&
    (Symbol.iterator in given || Symbol.asyncIterator in given)
  );
}

export interface RowsSourceOptions {
  /**
   * How messages call it.
   * @default 'rows'
   */
  readonly name?: string;
  /**
   * Names of the columns, in order. Needed for lists of cells.
   * @default those of all objects in an array; of anything else those of its first 512 objects, or of
   *   fewer where they come with pauses into a run that streams; a later object that has another field is
   *   refused
   */
  readonly header?: readonly string[];
}

/**
 * Rows from memory or from any stream of objects: an array as often as asked, anything else once.
 *
 * @example
 * ```ts
 * const source = rowsSource([[1, 'good@sluice.test']], { header: ['id', 'email'] });
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function rowsSource(rows: RowsInput, options: RowsSourceOptions = {}): Source {
  const { name = 'rows' } = options;
  const open = (opening: OpenSourceOptions): Promise<SourceReading> =>
    openRows(rows, { ...options, name }, opening);
  if (Array.isArray(rows)) return { name, open };
  return {
    name,
    open,
    async keep(path, signal, most) {
      const kept = most === undefined ? asAsync(rows) : firstOf(asAsync(rows), most);
      await keepRows(path, kept, name, { ...(signal && { signal }) });
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
    name: options.name,
    async open(opening) {
      const kept = readKeptRows(path, options.name);
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
  const gathered = gatherRows(asAsync(rows), opening.signal);
  const close = async (): Promise<void> => {
    // A Readable lets go of what it reads from; waiting for its next row may never end.
    if (rows instanceof Stream) (rows as Readable).destroy();
    gathered.return(undefined).catch(() => undefined);
  };
  try {
    const first = await nextRows(gathered, name, opening.signal);
    const known = options.header ?? headerOf(Array.isArray(rows) ? rows : (first ?? []), name);
    opening.wanted(known);
    return {
      header: known,
      chunks: closableChunks(toChunks(first, gathered, known, options, opening), close),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function* toChunks(
  first: readonly unknown[] | undefined,
  gathered: AsyncGenerator<unknown[]>,
  header: readonly string[],
  { name }: NamedOptions,
  { signal }: OpenSourceOptions,
): AsyncGenerator<RowChunk> {
  for (let rows = first; rows !== undefined; rows = await nextRows(gathered, name, signal)) {
    yield chunkOf(rows, header, name);
  }
}

function chunkOf(rows: readonly unknown[], header: readonly string[], name: string): RowChunk {
  const [first] = rows;
  if (Array.isArray(first)) {
    return new CellsChunk(rows.map((row) => checkedList(row, header.length, name)));
  }
  return new ObjectChunk(
    rows.map((row) => checkedObject(row, name)),
    header,
  );
}

function checkedList(row: unknown, columns: number, name: string): readonly unknown[] {
  if (!Array.isArray(row)) throw new InputError(`${name} gives lists of cells and other things`);
  if (row.length <= columns) return row;
  throw new InputError(
    `${name} gives a row of ${String(row.length)} cells, more than the ${String(columns)} columns of its header`,
  );
}

function checkedObject(row: unknown, name: string): Row {
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as Row;
  throw new InputError(`${name} gives something else than objects or lists of cells`);
}

function headerOf(rows: readonly unknown[], name: string): readonly string[] {
  if (Array.isArray(rows[0])) {
    throw new ConfigurationError(
      `the rows of ${name} are lists of cells: name their columns with the option header`,
    );
  }
  return [...new Set(rows.flatMap((row) => Object.keys(checkedObject(row, name))))];
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

async function* fromIterable(rows: Iterable<unknown>): AsyncGenerator {
  yield* rows;
}

function asAsync(rows: RowsInput): AsyncIterable<unknown> {
  return Symbol.asyncIterator in rows
    ? (rows as AsyncIterable<unknown>)
    : fromIterable(rows as Iterable<unknown>);
}
