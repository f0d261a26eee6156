import { textOfValue } from '../rows/values/print-value.js';
import type { CellText, RowChunk } from '../rows/chunks/row-chunk.js';
import type { SourceReading } from '../rows/source.js';
import type { ParquetColumn } from './parquet-column.js';
import type { StoredGroup } from './stored-group.js';

/** One reading of a Parquet file: also without any row it tells what the columns hold. */
export interface ParquetReading extends SourceReading<ParquetChunk> {
  readonly columns: readonly ParquetColumn[];
  /**
   * From now on only the wanted columns and these are loaded, and the bytes of all are kept: for the only
   * one who asks for the cells of others, before the first row.
   */
  copyGroups(columns: readonly number[]): void;
}

export function isParquetReading(reading: SourceReading): reading is ParquetReading {
  return 'columns' in reading && Array.isArray(reading.columns);
}

/** Some rows of a row group; the values are as they are stored. */
export class ParquetChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  readonly columns: readonly ParquetColumn[];
  readonly group: StoredGroup;
  /** Its first row in the group. */
  readonly from: number;

  constructor(columns: readonly ParquetColumn[], group: StoredGroup, from: number, to: number) {
    this.columns = columns;
    this.group = group;
    this.from = from;
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
    return this.group.values(column).at(this.from + row);
  }
}
