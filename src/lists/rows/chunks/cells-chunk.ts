import type { CellText, RowChunk } from './row-chunk.js';
import { textOfValue } from '../values/print-value.js';

/** About what an array takes on the heap, and each of its cells beside its text. */
const arrayBytes = 32;
const cellBytes = 16;

/** Rows that are lists of cells in the header's order; cells that are missing hold nothing. */
export class CellsChunk implements RowChunk {
  readonly rows: readonly (readonly unknown[])[];
  readonly byteSize: number;

  constructor(rows: readonly (readonly unknown[])[]) {
    this.rows = rows;
    this.byteSize = rows.reduce((bytes, row) => bytes + rowBytes(row), 0);
  }

  get length(): number {
    return this.rows.length;
  }

  text(row: number, column: number): CellText {
    const value = this.value(row, column);
    return typeof value === 'symbol' ? (value as CellText) : textOfValue(value);
  }

  cells(row: number): readonly unknown[] {
    return this.rows[row] ?? [];
  }

  value(row: number, column: number): unknown {
    return this.rows[row]?.[column];
  }
}

function rowBytes(row: readonly unknown[]): number {
  let bytes = arrayBytes;
  for (const value of row) {
    bytes += cellBytes;
    if (typeof value === 'string') bytes += value.length;
    else if (ArrayBuffer.isView(value)) bytes += value.byteLength;
  }
  return bytes;
}
