import type { SchemaElement } from 'hyparquet';
import type { Kind } from '../rows/values/kinds.js';
import type { CellText, RowChunk } from '../rows/chunks/row-chunk.js';
import type { SourceReading } from '../rows/source.js';
import { textOfValue } from '../rows/values/print-value.js';
import { logicalReader, nestedReader } from './parquet-values.js';
import type { ReadLogical } from './schema-node.js';
import { kindOfElement } from './parquet-form.js';

/** A column of a Parquet file. */
export interface ParquetColumn {
  readonly name: string;
  /** The schema's elements of this column: one, or that of a group and those of all in it. */
  readonly elements: readonly SchemaElement[];
  readonly read: ReadLogical;
  /** What the schema says that it holds; `undefined` where only each value tells. */
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

/** One reading of a Parquet file: also without any row it tells what the columns hold. */
export interface ParquetReading extends SourceReading<ParquetChunk> {
  readonly columns: readonly ParquetColumn[];
}

export function isParquetReading(reading: SourceReading): reading is ParquetReading {
  return 'columns' in reading && Array.isArray(reading.columns);
}

/** Some rows of a row group; the values are as they are stored. */
export class ParquetChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  readonly columns: readonly ParquetColumn[];
  readonly #stored: readonly ArrayLike<unknown>[];
  readonly #from: number;

  /** @param stored for each column the values of the whole row group */
  constructor(
    columns: readonly ParquetColumn[],
    stored: readonly ArrayLike<unknown>[],
    from: number,
    to: number,
  ) {
    this.columns = columns;
    this.#stored = stored;
    this.#from = from;
    this.length = to - from;
    this.byteSize = this.length * columns.length * 24;
  }

  text(row: number, column: number): CellText {
    return textOfValue(this.value(row, column));
  }

  value(row: number, column: number): unknown {
    return this.columns[column]?.read(this.stored(row, column));
  }

  /** A value as the file stores it. */
  stored(row: number, column: number): unknown {
    return this.#stored[column]?.[this.#from + row];
  }
}
