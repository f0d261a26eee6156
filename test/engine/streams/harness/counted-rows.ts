import type { Row } from '../../../../src/lists/rows/chunks/object-chunk.js';

/** Rows that are made when they are asked for. */
export interface CountedRows {
  readonly asked: number;
  readonly rows: Generator<Row>;
}

export function countRows(length: number, makeRow: (index: number) => Row): CountedRows {
  let asked = 0;
  function* make(): Generator<Row> {
    for (; asked < length; asked += 1) yield makeRow(asked);
  }
  return {
    rows: make(),
    get asked() {
      return asked;
    },
  };
}

export const numberedRow = (index: number): Row => ({ id: index, email: `a${index}@example.com` });
