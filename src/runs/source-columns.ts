import type { PhoneColumn, TextColumn } from '../streams/enriched-row.js';
import type { SourceInput } from './run-ends.js';

/** The options that name columns, held to those that the rows have. */
export interface SourceColumns<From extends SourceInput> {
  readonly source: From;
  readonly email?: readonly NameOf<TextColumn<RowOf<From>>>[];
  readonly phone?: readonly NameOf<PhoneColumn<RowOf<From>>>[];
  readonly countryColumn?: NameOf<TextColumn<RowOf<From>>>;
  readonly countryFrom?: NameOf<TextColumn<RowOf<From>>>;
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
