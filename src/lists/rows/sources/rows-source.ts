import { Stream, type Readable } from 'node:stream';
import { ConfigurationError, InputError } from '../../../platform/errors/errors.js';
import {
  checkOptions,
  checkValue,
  type OptionShape,
  type Wanted,
} from '../../../platform/check-options.js';
import { columnNames, text } from '../../../platform/option-kinds.js';
import {
  CellsChunk,
  kindOfRow,
  ObjectChunk,
  refuseSameObjects,
  type Row,
} from '../chunks/object-chunk.js';
import { closableChunks, type RowChunk, gatherRows } from '../chunks/row-chunk.js';
import { refuseRows, ofLibrary } from '../guarded-ends.js';
import { copyRows, readCopiedRows, areCopiedBeside, beginRows, noteCopied } from './read-once.js';
import type { OpenSourceOptions, Source, SourceReading } from '../source.js';
import { grouped } from '../../../platform/text/shown-numbers.js';

/** Rows of a program: objects of any type, or lists of cells in the header's order. */
export type RowsInput = RowsOf<object>;

export type RowsOf<Input> = Iterable<Input> | AsyncIterable<Input> | WebStream<Input>;

/**
 * A `ReadableStream`, declared as iterable, which the DOM types omit. Its name is not used: where neither the
 * DOM types nor Node's declare it, rows would become `any`.
 */
export interface WebStream<Row> {
  pipeTo(to: { getWriter(): { write(row?: Row): unknown } }): Promise<void>;
}

declare const rowType: unique symbol;

/** A source of typed rows: options that name columns are checked against the type. */
export interface RowsSource<Input> extends Source {
  /** For the compiler only. */
  readonly [rowType]?: Input;
}

export function isRows(given: unknown): given is RowsInput {
  return (
    typeof given === 'object' &&
    given !== null &&
    (Symbol.iterator in given || Symbol.asyncIterator in given)
  );
}

export const someRows: Wanted = {
  what: 'an array, a generator or a stream of row objects',
  isRight: isRows,
};

export interface RowsSourceOptions {
  /**
   * Its name in messages.
   * @default 'rows'
   */
  readonly name?: string | undefined;
  /**
   * Names of the columns, in order. Required for lists of cells.
   * @default the fields of all objects in an array; of anything else those of its first 512 objects, or of
   * fewer where they arrive with pauses in a streaming run; a later object with another field is refused
   */
  readonly header?: readonly string[] | undefined;
}

const shape: OptionShape<RowsSourceOptions> = { name: text, header: columnNames };

/**
 * Rows from memory or from any stream of objects. What can be read once (a generator, a stream) serves one
 * call: another is refused, as it would continue where the first stopped. A run resumed in the same process
 * with all rows on disk accepts it again.
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
  given: RowsInput,
  { name, header }: NamedOptions,
  opening: OpenSourceOptions,
): Promise<SourceReading> {
  const { signal } = opening;
  const gathered = gatherRows(begin(given, name), signal);
  const close = async (): Promise<void> => {
    // A Readable must release its resources; waiting for its next row may never end.
    if (given instanceof Stream) (given as Readable).destroy();
    gathered.return(undefined).catch(() => undefined);
  };
  const refuseFrom =
    (before: number): RefuseRow =>
    (at, what) => {
      throw new InputError(`row ${grouped(before + at + 1)} of ${name} ${what}`, {
        rows: [before + at + 1],
      });
    };
  try {
    const first = await nextRows(gathered, name, signal);
    const looked = Array.isArray(given) ? given : (first ?? []);
    const columns = header ?? headerOf(looked, name, refuseFrom(0));
    opening.wanted(columns);
    const chunks = async function* (): AsyncGenerator<RowChunk> {
      // All rows of an array exist before the first is read.
      const check = Array.isArray(given) ? undefined : refuseSameObjects(name);
      let before = 0;
      for (let rows = first; rows !== undefined; rows = await nextRows(gathered, name, signal)) {
        if (check) rows.forEach(check);
        yield chunkOf(rows, columns, refuseFrom(before));
        before += rows.length;
      }
    };
    return { header: columns, chunks: closableChunks(chunks(), close) };
  } catch (error) {
    await close();
    throw error;
  }
}

type RefuseRow = (at: number, what: string) => never;

function chunkOf(rows: readonly unknown[], header: readonly string[], refuse: RefuseRow): RowChunk {
  if (!Array.isArray(rows[0])) return new ObjectChunk(objectsOf(rows, refuse), header);
  const lists = rows.map((row, at): readonly unknown[] => {
    if (!Array.isArray(row)) {
      return refuse(at, `must be a list of cells, as the first, not ${kindOfRow(row)}`);
    }
    if (row.length <= header.length) return row;
    return refuse(
      at,
      `has ${String(row.length)} cells, more than the ${String(header.length)} columns of its header`,
    );
  });
  return new CellsChunk(lists);
}

function objectsOf(rows: readonly unknown[], refuse: RefuseRow): readonly Row[] {
  return rows.map((row, at) => {
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as Row;
    return refuse(at, `must be an object of columns, not ${kindOfRow(row)}`);
  });
}

function headerOf(rows: readonly unknown[], name: string, refuse: RefuseRow): readonly string[] {
  if (Array.isArray(rows[0])) {
    throw new ConfigurationError(
      `the rows of ${name} are lists of cells: name their columns with the option header`,
      { option: 'header' },
    );
  }
  return [...new Set(objectsOf(rows, refuse).flatMap((row) => Object.keys(row)))];
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

function begin(rows: RowsInput, name: string): AsyncIterable<unknown> {
  const iterator = beginRows(rows, name);
  if (Symbol.asyncIterator in rows) {
    return { [Symbol.asyncIterator]: () => iterator as AsyncIterator<unknown> };
  }
  return (async function* () {
    yield* { [Symbol.iterator]: () => iterator as Iterator<unknown> };
  })();
}
