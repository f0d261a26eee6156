import { decodeCell, findCells } from '../csv-cells.js';

/** What the first row of a CSV file tells. */
export interface CsvHead {
  /** Names of the columns; `#1`, `#2`, … when the file has no header. */
  readonly names: readonly string[];
  /** The header's own bytes, a byte-order mark included; `undefined` when the file has none. */
  readonly bytes: Buffer | undefined;
  /** Bytes of a byte-order mark in front. */
  readonly markBytes: number;
  /** The first row's own line end; empty when the file ends with that row. */
  readonly lineEnd: Buffer;
}

/** Where the first row lies: its start (a byte-order mark in front), its end, and its line end's. */
export interface FirstRow {
  readonly markBytes: number;
  readonly end: number;
  readonly lineEnd: number;
}

export function readCsvHead(
  bytes: Buffer,
  row: FirstRow,
  options: {
    readonly delimiter: number;
    readonly hasHeader: boolean;
  },
): CsvHead {
  const bounds = findCells(bytes, row.markBytes, row.end, options.delimiter);
  const names: string[] = [];
  for (let cell = 0; cell < bounds.length; cell += 2) {
    const [from, to] = [bounds[cell] as number, bounds[cell + 1] as number];
    // In another encoding a name is still a name, if not a pretty one: what is no UTF-8 is replaced.
    const text = options.hasHeader ? decodeCell(bytes, from, to, 'utf8') : undefined;
    names.push(typeof text === 'string' ? text : `#${String(names.length + 1)}`);
  }
  return {
    names,
    markBytes: row.markBytes,
    bytes: options.hasHeader ? Buffer.from(bytes.subarray(0, row.end)) : undefined,
    lineEnd: Buffer.from(bytes.subarray(row.end, row.lineEnd)),
  };
}
