import type { ColumnOptions } from '../batches/column-layout.js';
import type { PhoneColumn, TextColumn } from '../streams/enriched-row.js';
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
  : From extends Iterable<infer Row> | AsyncIterable<infer Row> | ReadableStream<infer Row>
    ? Row extends string | URL | readonly unknown[]
      ? AnyRow
      : [keyof Row] extends [never]
        ? AnyRow
        : Row
    : AnyRow;

type AnyRow = Readonly<Record<string, unknown>>;
