import type { ColumnOptions } from '../../columns/column-layout.js';
import type { RowsSource } from '../../../lists/rows/sources/rows-source.js';
import type { PhoneColumn, TextColumn } from '../../streams/enriched-row.js';
import type { SourceInput } from './run-ends.js';

/** The source, and the options that name columns, held to those that its rows have. */
export interface SourceColumns<From extends SourceInput = SourceInput> extends ColumnOptions<
  NameOf<TextColumn<RowOf<From>>>,
  NameOf<PhoneColumn<RowOf<From>>>,
  NameOf<TextColumn<RowOf<From>>>
> {
  /** Where the rows are: a path, a URL, an array of these, rows, or a `Source` of your own. */
  readonly source: From;
}

/** A column's name, or its position. */
type NameOf<Column extends string> = Column | `#${number}`;

/** A source's rows: with any columns, unless they are objects of a type. */
type RowOf<From> = From extends string | URL
  ? AnyRow
  : From extends RowsSource<infer Row>
    ? TypeOf<Row>
    : From extends Iterable<infer Row> | AsyncIterable<infer Row> | ReadableStream<infer Row>
      ? TypeOf<Row>
      : AnyRow;

/** What is no object of known fields may have any. */
type TypeOf<Row> = unknown extends Row
  ? AnyRow
  : Row extends string | URL | readonly unknown[]
    ? AnyRow
    : [keyof Row] extends [never]
      ? AnyRow
      : Row;

type AnyRow = Readonly<Record<string, unknown>>;
