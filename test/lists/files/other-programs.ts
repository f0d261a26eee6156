import { gunzipSync, gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import ExcelJS from 'exceljs';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { Row } from '../../../src/lists/rows/chunks/object-chunk.js';

/** Files of each format as other programs write and read them; columns in the order of the first row. */
export const otherPrograms = {
  csv: {
    write: async (rows: readonly Row[]) => Buffer.from(stringify([...rows], csvForm)),
    read: async (bytes: Buffer) => parse(bytes, { columns: true, bom: true }),
  },
  'csv.gz': {
    write: async (rows: readonly Row[]) => gzipSync(stringify([...rows], csvForm)),
    read: async (bytes: Buffer) => parse(gunzipSync(bytes), { columns: true, bom: true }),
  },
  tsv: {
    write: async (rows: readonly Row[]) =>
      Buffer.from(stringify([...rows], { ...csvForm, delimiter: '\t' })),
    read: async (bytes: Buffer) => parse(bytes, { columns: true, bom: true, delimiter: '\t' }),
  },
  jsonl: {
    write: async (rows: readonly Row[]) =>
      Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join('')),
    read: async (bytes: Buffer) =>
      bytes
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Row),
  },
  txt: {
    write: async (rows: readonly Row[]) =>
      Buffer.from(rows.map(({ email }) => `${String(email)}\n`).join('')),
    read: async (bytes: Buffer) =>
      bytes
        .toString()
        .replace(/\n$/, '')
        .split('\n')
        .map((value) => ({ value })),
  },
  xlsx: { write: writeXlsx, read: readXlsx },
  parquet: {
    async write(rows: readonly Row[]) {
      const names = Object.keys(rows[0] ?? {});
      const columnData = names.map((name) => ({ name, data: rows.map((row) => row[name]) }));
      return Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 7 }));
    },
    read: async (bytes: Buffer) =>
      parquetReadObjects({ file: new Uint8Array(bytes).buffer }) as Promise<Row[]>,
  },
} satisfies Record<
  string,
  { write(rows: readonly Row[]): Promise<Buffer>; read(bytes: Buffer): Promise<readonly Row[]> }
>;

export type OtherFormat = keyof typeof otherPrograms;

const csvForm = {
  header: true,
  cast: { boolean: (value: boolean) => String(value), date: (value: Date) => value.toISOString() },
};

async function writeXlsx(rows: readonly Row[]): Promise<Buffer> {
  const workbook = new ExcelJS.Workbook();
  const sheet = workbook.addWorksheet('List');
  const names = Object.keys(rows[0] ?? {});
  sheet.addRow(names);
  for (const row of rows) sheet.addRow(names.map((name) => row[name]));
  return Buffer.from(await workbook.xlsx.writeBuffer());
}

async function readXlsx(bytes: Buffer): Promise<readonly Row[]> {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.load(new Uint8Array(bytes).buffer);
  const [names, ...rows] = workbook.worksheets[0]?.getSheetValues().slice(1) ?? [];
  // The cells of a row stand from 1 on.
  const header = (names as string[]).slice(1);
  return rows.map((row) =>
    Object.fromEntries(header.map((name, at) => [name, (row as unknown[])[at + 1] ?? null])),
  );
}
