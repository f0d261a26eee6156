import { columnsFor } from '../../../lists/files/file-format.js';
import { defaultStateDir, isSameList } from '../../../lists/location.js';
import { findLists, listSink, listSource } from '../../../lists/named-lists.js';
import { guardedSink, guardedSource } from '../../../lists/rows/guarded-ends.js';
import type { Sink } from '../../../lists/rows/sink.js';
import type { Source } from '../../../lists/rows/source.js';
import { combinedSource } from '../../../lists/rows/sources/combined-source.js';
import {
  isRows,
  type RowsInput,
  type RowsOf,
  rowsSource,
  type RowsSource,
} from '../../../lists/rows/sources/rows-source.js';
import { ConfigurationError, placeOf } from '../../../platform/errors/errors.js';
import { namedSource } from '../../../lists/rows/sources/derived-sources.js';
import { type ColumnOptions, namedColumns } from '../../columns/column-layout.js';
import type { PhoneColumn, TextColumn } from '../../streams/enriched-row.js';

/**
 * Where the rows of a run come from: a path of any format, a folder, a pattern, a URL (`https:`, `s3:`,
 * `file:`), several of these, rows of a program, or a source.
 */
export type SourceInput = string | URL | readonly (string | URL)[] | RowsInput | Source;

/** Where the rows of a run go: a path of any format, an `s3:` URL, or a sink. */
export type SinkInput = string | URL | Sink;

export async function findEnds(
  options: ColumnOptions & { readonly source: SourceInput; readonly sink: SinkInput },
): Promise<{ readonly source: Source; readonly sink: Sink }> {
  const sink = sinkOf('sink', options.sink);
  const source = await sourceOf(options.source, options.sink);
  return { source: namedSource(source, namedColumns(options)), sink };
}

export function sinkOf(option: string, given: SinkInput): Sink {
  if (!isLocationName(given)) return guardedSink(given);
  try {
    return listSink(given);
  } catch (error) {
    throw naming(option, error);
  }
}

export async function stateDirFor(given: SinkInput, sink: Sink): Promise<string> {
  // A direct output, such as a pipe, has no place beside it.
  if (isLocationName(given) && (await sink.mayBeginEarly?.()) === true) {
    return defaultStateDir(given);
  }
  throw new ConfigurationError(
    'stateDir is missing: give the path of a folder (only a sink that is the path of a file, or an s3:// URL, has a default)',
    { option: 'stateDir', fault: 'missing' },
  );
}

/** @param sink may take rows unchanged, and must not be the source */
export async function sourceOf(given: SourceInput, sink?: SinkInput): Promise<Source> {
  if (isSource(given)) return guardedSource(given);
  if (!isLocationName(given) && !isListOfNames(given)) return rowsSource(given);
  try {
    const lists = await findLists(given);
    await refuseSameList(lists, sink);
    const [only = ''] = lists;
    if (lists.length === 1)
      return listSource(only, { columns: columnsFor(isLocationName(sink) ? sink : undefined) });
    // The common header has each list's columns, wherever they first appear.
    return combinedSource(lists.map((list) => listSource(list, { columns: 'all' })));
  } catch (error) {
    throw naming('source', error);
  }
}

async function refuseSameList(
  lists: readonly string[],
  sink: SinkInput | undefined,
): Promise<void> {
  if (sink === undefined || !isLocationName(sink)) return;
  for (const list of lists) {
    if (!(await isSameList(list, sink))) continue;
    throw new ConfigurationError('the sink is the same list: write to another place', {
      option: 'sink',
    });
  }
}

function naming(option: string, error: unknown): unknown {
  return error instanceof ConfigurationError
    ? concerning(option, `${option}: ${error.message}`, error)
    : error;
}

function concerning(
  option: string,
  message: string,
  error: ConfigurationError,
): ConfigurationError {
  return new ConfigurationError(message, {
    ...placeOf(error),
    code: error.code,
    option,
    cause: error.cause,
  });
}

/** Checks the output of a run; what is wrong with it concerns `sink`, unless it names another option. */
export async function checkSink(sink: Sink, verifiedColumns: number): Promise<void> {
  try {
    await sink.check(verifiedColumns);
  } catch (error) {
    const isUnnamed = error instanceof ConfigurationError && error.option === undefined;
    throw isUnnamed ? concerning('sink', error.message, error) : error;
  }
}

export function isLocationName(given: unknown): given is string | URL {
  return typeof given === 'string' || given instanceof URL;
}

function isListOfNames(given: unknown): given is readonly (string | URL)[] {
  return Array.isArray(given) && given.length > 0 && given.every(isLocationName);
}

/** A stream of a file also has `open`, but is iterable and not a source. */
export function isSource(given: unknown): given is Source {
  return (
    typeof given === 'object' &&
    given !== null &&
    'open' in given &&
    typeof given.open === 'function' &&
    !isRows(given)
  );
}

/** The source, and the column options checked against its rows. */
export interface SourceColumns<From extends SourceInput = SourceInput> extends ColumnOptions<
  NameOf<TextColumn<RowOf<From>>>,
  NameOf<PhoneColumn<RowOf<From>>>,
  NameOf<TextColumn<RowOf<From>>>
> {
  /** A path, a URL, an array of these, rows, or a `Source` of your own. */
  readonly source: From;
}

/** A column's name, or its position. */
type NameOf<Column extends string> = Column | `#${number}`;

/** The rows of a source: any columns, unless they are typed objects. */
type RowOf<From> = From extends string | URL
  ? AnyRow
  : From extends RowsSource<infer Row>
    ? TypeOf<Row>
    : From extends RowsOf<infer Row>
      ? TypeOf<Row>
      : AnyRow;

/** Types without known fields may have any. */
type TypeOf<Row> = unknown extends Row
  ? AnyRow
  : Row extends string | URL | readonly unknown[]
    ? AnyRow
    : [keyof Row] extends [never]
      ? AnyRow
      : Row;

type AnyRow = Readonly<Record<string, unknown>>;
