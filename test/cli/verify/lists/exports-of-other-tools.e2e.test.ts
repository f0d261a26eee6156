import { cp, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { runInProcess } from '../../harness/run-in-process.js';

const exportsFolder = fileURLToPath(new URL('../../../../examples/exports/', import.meta.url));

interface ExpectedExport {
  /** What stands between two cells; `undefined` for a workbook. */
  readonly delimiter?: string;
  readonly encoding?: 'utf16le' | 'utf16be';
  /** Line, or row of the sheet, that the header is in. @default 1 */
  readonly header?: number;
  /** Whether it is found by the rows around it, and so is said. @default false */
  readonly isFound?: boolean;
  /** Rows without the header and without empty rows of a sheet. */
  readonly rows: number;
  /** Lines or rows below the last row, which are said; those of a text come out as they are. @default none */
  readonly footer?: number;
  /** Columns that say who has opted out. @default none */
  readonly optOuts?: readonly string[];
  /** Addresses that are paid for. */
  readonly paid: readonly string[];
}

const germans = [
  'bad.amelie@sluice.test',
  'juergen.weisshaupt@sluice.test',
  'zoe@sluice.test',
  '+491701234567',
  '+491707654321',
];

const expected: Readonly<Record<string, ExpectedExport>> = {
  'mailchimp-audience.csv': {
    delimiter: ',',
    rows: 4,
    paid: [
      'mara.lindqvist@sluice.test',
      'bad.otis@sluice.test',
      'tunde.akerele@sluice.test',
      '+12075550142',
    ],
  },
  'hubspot-contacts.csv': {
    delimiter: ',',
    rows: 4,
    optOuts: ['Marketing contact status'],
    paid: [
      'ingrid.thorsby@sluice.test',
      'rafael@sluice.test',
      'unknown.noor@sluice.test',
      '+4722123456',
      '+15125550163',
    ],
  },
  'salesforce-report.csv': {
    delimiter: ',',
    rows: 3,
    footer: 7,
    paid: ['callum@sluice.test', 'yuki.moreau@sluice.test', '+447700900123'],
  },
  'salesforce-report.xlsx': {
    header: 10,
    isFound: true,
    rows: 3,
    footer: 1,
    paid: ['callum@sluice.test', 'yuki.moreau@sluice.test'],
  },
  'salesforce-data-loader.csv': {
    delimiter: ',',
    rows: 3,
    optOuts: ['HASOPTEDOUTOFEMAIL'],
    paid: ['callum@sluice.test', 'Yuki.Moreau@sluice.test'],
  },
  'shopify-customers.csv': {
    delimiter: ',',
    rows: 3,
    optOuts: ['Accepts Email Marketing', 'Accepts SMS Marketing'],
    paid: ['beatriz.fonseca@sluice.test', 'bad.hollis@sluice.test', '+15125550131'],
  },
  'google-contacts.csv': {
    delimiter: ',',
    rows: 3,
    paid: ['leopold.ashgrove@sluice.test', '+447700900456', '+12125550187', '+12125550190'],
  },
  'excel-csv-utf8.csv': { delimiter: ';', rows: 4, paid: germans },
  'excel-csv.csv': { delimiter: ';', rows: 4, paid: germans },
  'excel-unicode-text.txt': { delimiter: '\t', encoding: 'utf16le', rows: 4, paid: germans },
  'excel-unicode-text-big-endian.txt': {
    delimiter: '\t',
    encoding: 'utf16be',
    rows: 4,
    paid: germans,
  },
  'excel-title.csv': { delimiter: ';', header: 4, isFound: true, rows: 4, paid: germans },
  'excel-title.xlsx': { header: 4, isFound: true, rows: 4, paid: germans },
  'sep-line.csv': { delimiter: ';', header: 2, rows: 4, paid: germans },
};

/** The arguments of each command of the folder's page, by the file that it reads. */
async function commandsOf(page: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const lines = (await readFile(page, 'utf8')).split('\n');
  const commands = lines.filter((line) => line.startsWith('sluice verify '));
  return new Map(
    commands.map((command) => {
      const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare ?? '',
      );
      return [words[2] ?? '', words.slice(1)];
    }),
  );
}

/** All cells of a text, byte for byte, from its header on; and what is above the header. */
function textCells(bytes: Buffer, { delimiter = ',', header = 1 }: ExpectedExport) {
  const lines = bytes.toString('latin1').split('\n');
  const text = lines.slice(header - 1).join('\n');
  const cells: string[][] = parse(header === 1 ? text.replace(/^\xef\xbb\xbf/, '') : text, {
    delimiter,
    relax_column_count: true,
    skip_empty_lines: false,
  });
  return { above: lines.slice(0, header - 1).join('\n'), cells };
}

async function sheetCells(bytes: Buffer, header: number): Promise<string[][]> {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.load(new Uint8Array(bytes).buffer);
  const cells: string[][] = [];
  workbook.worksheets[0]?.eachRow((row, number) => {
    if (number < header) return;
    const values = Array.isArray(row.values) ? row.values.slice(1) : [];
    cells.push(Array.from(values, (value) => String(value ?? '')));
  });
  return cells;
}

function inUtf8(bytes: Buffer, { encoding }: ExpectedExport): Buffer {
  if (encoding === undefined) return bytes;
  const text = encoding === 'utf16be' ? Buffer.from(bytes).swap16() : bytes;
  return Buffer.from(text.toString('utf16le'));
}

/** Holds the output against the input: every cell, every row, and new columns behind them. */
function expectKept(before: string[][], after: string[][], rows: number): void {
  expect(before.length - 1).toBe(rows);
  expect(after).toHaveLength(before.length);
  const width = before[0]?.length ?? 0;
  for (const [index, row] of before.entries()) {
    const filledUp = [...row, ...Array<string>(width - row.length).fill('')];
    const kept = after[index]?.slice(0, width) ?? [];
    // A column without a name is named by its position where the format is written again.
    const named = index === 0 ? kept.map((name) => name.replace(/^#\d+$/, '')) : kept;
    expect(named).toEqual(filledUp);
  }
  expect(after[0]?.slice(width).some((name) => name.endsWith('_verification'))).toBe(true);
}

describe('an export of another tool', async () => {
  const commands = await commandsOf(join(exportsFolder, 'README.md'));

  it('has a command in the page of its folder, and is expected here', async () => {
    const files = (await readdir(exportsFolder)).filter((name) => name !== 'README.md');
    expect([...commands.keys()].toSorted()).toEqual(files.toSorted());
    expect(Object.keys(expected).toSorted()).toEqual(files.toSorted());
  });

  it.each(Object.entries(expected))('is verified whole by one command: %s', async (name, form) => {
    const { service } = await withService();
    const folder = await withFolder();
    await cp(join(exportsFolder, name), join(folder, name));
    const command = commands.get(name) ?? [];
    const ended = await runInProcess(
      [...command, '--poll-interval', '5'],
      inFolder(folder, service),
    );
    expect(ended.code, ended.stderr).toBe(0);
    const { header = 1, isFound = false, rows, footer = 0, optOuts = [] } = form;
    const unit = name.endsWith('.xlsx') ? 'row' : 'line';
    expect(ended.events.filter(({ severity }) => severity === 'warning')).toMatchObject(
      optOuts.map((column) => ({ code: 'opted_out', columns: [{ column }] })),
    );
    expect(
      ended.events.filter(({ event }) => /^(?:header|footer)_found$/.test(event)),
    ).toMatchObject([
      ...(isFound ? [{ event: 'header_found', input: name, unit, number: header }] : []),
      ...(footer > 0 ? [{ event: 'footer_found', input: name, count: footer }] : []),
    ]);

    const given = inUtf8(await readFile(join(folder, name)), form);
    const output = await readFile(join(folder, command.at(-1) ?? ''));
    if (unit === 'row') {
      const before = await sheetCells(given, header);
      expectKept(before.slice(0, before.length - footer), await sheetCells(output, 1), rows);
    } else {
      const [before, after] = [textCells(given, form), textCells(output, form)];
      expect(after.above).toBe(before.above);
      const withoutFooter = (cells: string[][]): string[][] => cells.slice(0, rows + 1);
      expect(after.cells.slice(rows + 1)).toEqual(before.cells.slice(rows + 1));
      expect(before.cells.length - rows - 1).toBe(footer);
      expectKept(withoutFooter(before.cells), withoutFooter(after.cells), rows);
      const isMarked = given.subarray(0, 3).equals(Buffer.from('\ufeff'));
      expect(output.subarray(0, 3).equals(Buffer.from('\ufeff'))).toBe(isMarked);
      expect(output.includes('\r\n')).toBe(given.includes('\r\n'));
    }
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(paid.toSorted()).toEqual(form.paid.toSorted());
  });
});
