import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import ExcelJS from 'exceljs';
import { expect, it } from 'vitest';
import { findColumn } from '../../../src/engine/columns/column-lookup.js';
import { fileSink, fileSource, partsSink, streamSink } from '../../../src/index.js';
import type { FoundFooter, OpenSourceOptions } from '../../../src/lists/rows/source.js';
import { useTemporaryFolder } from '../files/temporary-folder.js';
import { carry } from '../sql/harness/carry.js';

const at = useTemporaryFolder();

const header = ['email', 'name'];
const leads = [header, ['a@x.example', 'A'], ['b@x.example', 'B']];
const customers = [['Customers of May'], [], header, ['c@x.example', 'C']];

/** A workbook that another program wrote. */
async function write(sheets: Readonly<Record<string, readonly (readonly string[])[]>>) {
  const book = new ExcelJS.Workbook();
  for (const [name, rows] of Object.entries(sheets)) {
    book.addWorksheet(name).addRows(rows.map((row) => [...row]));
  }
  await book.xlsx.writeFile(at('book.xlsx'));
}

/** A file's rows, as cells with commas between them. */
async function listOf(path: string): Promise<string[]> {
  const { header, chunks } = await fileSource(path, { columns: 'all' }).open({
    wanted: (names) => [...names.keys()],
  });
  const rows = [header.join()];
  for await (const chunk of chunks) {
    for (let row = 0; row < chunk.length; row += 1) {
      rows.push(header.map((_, column) => String(chunk.text(row, column) ?? '')).join());
    }
  }
  return rows;
}

async function rowsOf(sheet?: string | number): Promise<string[]> {
  await carry(fileSource(at('book.xlsx'), { sheet }), fileSink(at('out.csv')));
  const text = await readFile(at('out.csv'), 'utf8');
  return text.replace('\ufeff', '').trimEnd().split('\n');
}

it.each([
  ['Leads,Customers', 'abc'],
  ['Customers, Leads', 'cab'],
  ['2,1', 'cab'],
  ['1,Leads', 'ab'],
  ['all', 'abc'],
])('--sheet %s is one list, in the order of the names', async (sheet, expected) => {
  await write({ Leads: leads, Customers: customers, Empty: [] });
  const rows = expected.split('').map((one) => `${one}@x.example,${one.toUpperCase()}`);
  expect(await rowsOf(sheet)).toEqual(['email,name', ...rows]);
});

it.each(['Leads, old', 'all', '2'])(
  'a sheet is called %s before it is anything else',
  async (name) => {
    await write({ Leads: leads, Customers: customers, [name]: [['email'], ['d@x.example']] });
    expect(await rowsOf(name)).toEqual(['email', 'd@x.example']);
  },
);

it('a sheet is found whatever the case of its name, where that leaves one', async () => {
  await write({ 'Leads, old': leads, Customers: customers });
  expect(await rowsOf('leads, OLD')).toEqual(['email,name', 'a@x.example,A', 'b@x.example,B']);
  await expect(rowsOf('customers,LEADS, old')).rejects.toMatchObject({ option: 'sheet' });
  expect(await rowsOf('customers,1')).toHaveLength(4);
  await write({ Leads: leads, All: customers });
  expect(await rowsOf('all')).toHaveLength(4);
  expect(await rowsOf('ALL')).toHaveLength(2);
});

const partners = [
  ['Note', 'Email'],
  ['n', 'd@x.example'],
];

const others = { Partners: partners, 'New (1)': [['email'], ['e@x.example']] };

it.each([
  ['out.csv', 'out-Partners.csv', 'out-New-1.csv'],
  ['out.jsonl.gz', 'out-Partners.jsonl.gz', 'out-New-1.jsonl.gz'],
  ['out.parquet', 'out-Partners.parquet', 'out-New-1.parquet'],
])('sheets with another header than the first of %s get a file of their own', async (...paths) => {
  const [path] = paths;
  await write({ Leads: leads, ...others, Customers: customers });
  const sink = fileSink(at(path));
  await carry(fileSource(at('book.xlsx'), { sheet: 'all' }), sink);
  expect(sink.outputs?.()).toEqual(
    [3, 1, 1].map((rows, file) => ({ name: at(paths[file] ?? ''), rows })),
  );
  const lists = await Promise.all(paths.map(async (name) => listOf(at(name))));
  expect(lists).toEqual([
    ['email,name', 'a@x.example,A', 'b@x.example,B', 'c@x.example,C'],
    ['Note,Email', 'n,d@x.example'],
    ['email', 'e@x.example'],
  ]);
});

it('files of sheets have names that differ in more than signs', async () => {
  await write({ Leads: leads, 'A B': [['email']], 'a-b': [['Email', 'x']] });
  const sink = fileSink(at('out.csv'));
  await carry(fileSource(at('book.xlsx'), { sheet: 'all' }), sink);
  const names = ['out.csv', 'out-A-B.csv', 'out-a-b-2.csv'];
  expect(sink.outputs?.()?.map(({ name }) => name)).toEqual(names.map((name) => at(name)));
});

it('sheets of other headers are parts in folders of their own', async () => {
  await write({ Leads: leads, Partners: partners });
  const sink = partsSink(at('out/'), { partBytes: 1_000_000 });
  await carry(fileSource(at('book.xlsx'), { sheet: 'all' }), sink);
  const { columns } = JSON.parse(await readFile(at('out-Partners/manifest.json'), 'utf8')) as {
    columns: unknown;
  };
  expect(columns).toEqual(['Note', 'Email']);
});

it('sheets of other headers are one list in a stream, those of one header together', async () => {
  await write({ Leads: leads, Partners: partners, Customers: customers });
  const stream = createWriteStream(at('out.csv'));
  const sink = streamSink(stream, { name: 'stream' });
  await carry(fileSource(at('book.xlsx'), { sheet: 'all' }), sink);
  expect(await listOf(at('out.csv'))).toEqual([
    'email,name,Note',
    'a@x.example,A,',
    'b@x.example,B,',
    'c@x.example,C,',
    'd@x.example,,n',
  ]);
});

it('a run that writes one file holds those of all sheets', async () => {
  await write({ Leads: leads, Partners: partners });
  const source = fileSource(at('book.xlsx'), { sheet: 'all' });
  const sink = fileSink(at('out.csv'));
  const release = await sink.hold?.();
  await carry(source, sink);
  const other = fileSink(at('out-Partners.csv')).hold?.();
  await expect(other).rejects.toMatchObject({ code: 'state_locked' });
  await release?.();
});

it('writes a sheet for each header into a workbook', async () => {
  await write({
    Leads: leads,
    Partners: partners,
    Customers: customers,
    None: [['email', 'other']],
  });
  await carry(fileSource(at('book.xlsx'), { sheet: 'all' }), fileSink(at('out.xlsx')));
  const book = new ExcelJS.Workbook();
  await book.xlsx.readFile(at('out.xlsx'));
  const found = book.worksheets.map((sheet) => [
    sheet.name,
    ...sheet
      .getSheetValues()
      .slice(1)
      .map((row) => (row as string[]).slice(1).join()),
  ]);
  expect(found).toEqual([
    ['Leads', 'email,name', 'a@x.example,A', 'b@x.example,B', 'c@x.example,C'],
    ['Partners', 'Note,Email', 'n,d@x.example'],
    ['None', 'email,other'],
  ]);
});

it.each([
  ['Leads,Nobody', [0]],
  // Its `name` is needed of every row.
  ['Leads,Partners', [0, 1]],
])('refuses --sheet %s where a sheet is no part of the list', async (sheet, wanted) => {
  await write({ Leads: leads, Partners: partners });
  const opening: OpenSourceOptions = { wanted: () => wanted };
  await expect(fileSource(at('book.xlsx'), { sheet }).open(opening)).rejects.toMatchObject({
    code: 'invalid_option',
  });
});

it('names the sheets that are one list where another is not', async () => {
  await write({ Leads: leads, Notes: [['note'], ['call back']], Customers: customers });
  await expect(rowsOf('all')).rejects.toThrow("`sheet: 'Leads,Customers'`");
  const wanted = (names: readonly string[]): readonly number[] => {
    if (!names.includes('note')) throw new TypeError('no note');
    return [0];
  };
  const ofNotes = fileSource(at('book.xlsx'), { sheet: 'all' }).open({ wanted });
  await expect(ofNotes).rejects.toThrow("`sheet: 'Notes'`");
});

it('refuses a sheet without a row that is named, and says which are empty of all', async () => {
  await write({ Leads: leads, Empty: [] });
  const notices: unknown[] = [];
  const opening = { wanted: () => [0], onNotice: (notice: unknown) => notices.push(notice) };
  const source = (sheet: string) => fileSource(at('book.xlsx'), { sheet }).open(opening);
  await expect(source('Leads,Empty')).rejects.toMatchObject({ code: 'input_malformed' });
  const reading = await source('all');
  await reading.chunks[Symbol.asyncIterator]().return?.();
  expect(notices).toMatchObject([{ code: 'sheets_empty', fields: { sheets: ['Empty'] } }]);
});

it('names the sheet of a row that cannot be read', async () => {
  await write({ Leads: leads, Customers: [header, ['c@x.example', 'C', 'more']] });
  await expect(rowsOf('all')).rejects.toMatchObject({
    message: expect.stringContaining('"Customers"') as string,
    line: 2,
  });
});

it('a column that the first sheet lacks is found in another, which is named', async () => {
  await write({ Summary: [['total'], ['2']], Empty: [], Leads: leads });
  const notices: unknown[] = [];
  const opened = fileSource(at('book.xlsx')).open({
    wanted: (names) => [findColumn(names, 'email')],
    onNotice: (found) => notices.push(found),
  });
  await expect(opened).rejects.toMatchObject({
    code: 'column_not_found',
    option: 'sheet',
    column: 'email',
    message: expect.stringContaining('"Leads"') as string,
  });
  expect(notices).toEqual([]);
});

it('says in which row of the sheet a footer begins', async () => {
  await write({ Leads: [...leads, [], ['Total: 2 contacts'], ['Copyright 2026 Acme']] });
  const found: FoundFooter[] = [];
  const { chunks } = await fileSource(at('book.xlsx')).open({
    wanted: (names) => [...names.keys()],
    onFooterFound: (footer) => found.push(footer),
  });
  for await (const chunk of chunks) expect(chunk.length).toBe(2);
  expect(found).toMatchObject([{ unit: 'row', count: 2, first: 5 }]);
});
