import type { CsvChunk } from '../../../src/lists/csv/csv-chunk.js';
import { CsvScanner, type CsvScannerOptions } from '../../../src/lists/csv/csv-scanner.js';
import type { CellText } from '../../../src/lists/rows/chunks/row-chunk.js';

export interface ScannedCsv {
  readonly names: readonly string[];
  /** All cells, parsed from the rows' bytes. */
  readonly rows: readonly (readonly CellText[])[];
  /** The wanted cells, where the scanner found them. */
  readonly wanted: readonly (readonly CellText[])[];
  /** How many cells each row lacks. */
  readonly missing: readonly number[];
  /** The header, its line end, the rows and theirs, as they stand in the chunks. */
  readonly bytes: Buffer;
  readonly chunks: readonly CsvChunk[];
}

/** Feeds pieces to a scanner, by default one that finds all cells. */
export function scanCsv(
  pieces: readonly (Uint8Array | string)[],
  options: Partial<CsvScannerOptions> = {},
): ScannedCsv {
  let columns: readonly number[] = [];
  const scanner = new CsvScanner({
    name: 'contacts.csv',
    delimiter: 0x2c,
    hasHeader: true,
    maxRowBytes: 1000,
    ...options,
    wanted: (names) => (columns = options.wanted?.(names) ?? [...names.keys()]),
  });
  const chunks = pieces.map((piece) => scanner.feed(Buffer.from(piece)));
  chunks.push(scanner.end());

  const found = chunks.filter((chunk) => chunk !== undefined);
  const { head } = scanner;
  const bytes: Buffer[] = head?.bytes === undefined ? [] : [head.bytes, head.lineEnd];
  const [rows, wanted, missing]: [CellText[][], CellText[][], number[]] = [[], [], []];
  for (const chunk of found) {
    for (let row = 0; row < chunk.length; row += 1) {
      rows.push(chunk.cells(row));
      wanted.push(columns.map((column) => chunk.text(row, column)));
      missing.push(chunk.missingCells(row));
      bytes.push(chunk.bytes.subarray(chunk.rowStart(row), chunk.lineEnd(row)));
    }
  }
  const names = head?.names ?? [];
  return { names, rows, wanted, missing, bytes: Buffer.concat(bytes), chunks: found };
}
