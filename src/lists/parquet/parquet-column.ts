import type { ColumnChunk, SchemaElement } from 'hyparquet';
import type { Kind } from '../rows/values/kinds.js';
import { kindOfElement } from './parquet-form.js';
import { logicalReader, nestedReader } from './parquet-values.js';
import type { ReadLogical } from './schema-node.js';

/** A column of a Parquet file. */
export interface ParquetColumn {
  readonly name: string;
  /** The schema's elements of this column: one, or that of a group and those of all in it. */
  readonly elements: readonly SchemaElement[];
  readonly read: ReadLogical;
  /** What the schema says that it holds; `undefined` where only each value shows it. */
  readonly kind: Kind | undefined;
}

/** The columns of a schema, in order. */
export function parquetColumns(schema: readonly SchemaElement[]): readonly ParquetColumn[] {
  const columns: ParquetColumn[] = [];
  for (let at = 1; at < schema.length;) {
    const next = endOfElement(schema, at);
    const elements = schema.slice(at, next);
    const [first] = elements;
    if (first === undefined) break;
    const isValue = isFlat(elements);
    const read = isValue ? logicalReader(first) : nestedReader(elements);
    const kind: Kind | undefined = isValue ? kindOfElement(first) : { name: 'json' };
    columns.push({ name: first.name, elements, read, kind });
    at = next;
  }
  return columns;
}

/** Whether a column has one value a row, and nothing in it. */
export function isFlat(elements: readonly SchemaElement[]): boolean {
  return elements.length === 1 && elements[0]?.repetition_type !== 'REPEATED';
}

function endOfElement(schema: readonly SchemaElement[], at: number): number {
  let next = at + 1;
  for (let child = 0; child < (schema[at]?.num_children ?? 0); child += 1) {
    next = endOfElement(schema, next);
  }
  return next;
}

/** The values of a column in a row group as they are stored; an array is one, too. */
export interface StoredValues {
  readonly length: number;
  at(row: number): unknown;
}

/** A part of a column as it is in the file. */
export interface CopiedChunk {
  readonly data: NonNullable<ColumnChunk['meta_data']>;
  /** Where it begins in its file. */
  readonly start: bigint;
  readonly bytes: Uint8Array;
}
