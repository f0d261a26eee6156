import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';

/** All cells of a CSV file by csv-parse, byte for byte (latin1), the header's first. */
export function csvCells(bytes: Buffer): string[][] {
  return parse(bytes, {
    encoding: 'latin1',
    record_delimiter: ['\r\n', '\n'],
    relax_column_count_less: true,
  });
}

/** Rows as objects; names and cells are UTF-8 here. */
export function csvRows(bytes: Buffer): Record<string, string>[] {
  return parse(bytes, { columns: true, bom: true, record_delimiter: ['\r\n', '\n'] });
}

/** Holds the output's rows against the input's: as many, in order, every input cell to the letter. */
export async function expectInputKept(inputPath: string, outputPath: string): Promise<void> {
  expectCellsKept(await readFile(inputPath), await readFile(outputPath));
}

export function expectCellsKept(input: Buffer, output: Buffer): void {
  const before = csvCells(input);
  const after = csvCells(output);
  const width = before[0]?.length ?? 0;
  const filledUp = before.map((row) => [...row, ...Array<string>(width - row.length).fill('')]);
  expect(after.map((row) => row.slice(0, width))).toEqual(filledUp);
  expect(new Set(after.map((row) => row.length)).size).toBe(1);
}
