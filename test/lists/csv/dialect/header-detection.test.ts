import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import type { FileOptions } from '../../../../src/lists/files/file-format.js';
import { fileSource, streamSource } from '../../../../src/lists/files/file-source.js';
import type { FoundHeader, Source } from '../../../../src/lists/rows/source.js';
import { useTemporaryFolder } from '../../files/temporary-folder.js';
import { cutEvenly } from '../csv-reference.js';
import { textsOf } from '../../rows/read-rows.js';
import { join } from 'node:path';
import { withFolder } from '../../../service/with-service.js';

const at = useTemporaryFolder();

interface Read {
  readonly header: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** The line that was found to be the header, if one was. */
  readonly found: number | undefined;
}

async function readAll(source: Source): Promise<Read> {
  const found: FoundHeader[] = [];
  const reading = await source.open({
    onHeaderFound: (header) => found.push(header),
    wanted: (header) => [...header.keys()],
  });
  const rows = await textsOf(reading);
  expect(found.length).toBeLessThan(2);
  return { header: reading.header, rows, found: found[0]?.number };
}

async function read(name: string, text: string | Buffer, options?: FileOptions): Promise<Read> {
  await writeFile(at(name), text);
  return readAll(fileSource(at(name), options));
}

const table = 'Name;Email;Note\r\nAnn;ann@sluice.test;"Hi, there; you"\r\nBob;bob@sluice.test;';
const cells = [
  ['Ann', 'ann@sluice.test', 'Hi, there; you'],
  ['Bob', 'bob@sluice.test', ''],
];
const header = ['Name', 'Email', 'Note'];

it('says of blank lines alone that the list is empty, as where some rows are asked for', async () => {
  for (const text of ['\n\n\n', '\ufeff\r\n \r\n']) {
    await expect(read('blank.csv', text)).rejects.toMatchObject({
      fault: 'empty',
    });
  }
});

describe('lines above the header', () => {
  it.each<[string, number | undefined, string]>([
    ['none', undefined, ''],
    ['a sep= line', undefined, 'sep=;\r\n'],
    ['a sep= line in quotes behind a byte-order mark', undefined, '\ufeff"SEP=;"\n'],
    ['a title', 2, 'Contacts of the fair\n'],
    ['a title behind a byte-order mark', 2, '\ufeffContacts, all of them\r\n'],
    ['a title, in quotes, of two lines', 3, '"Contacts\nof the fair"\n'],
    ['a title and empty lines', 4, 'Contacts\r\n\r\n;;\r\n'],
    ['a title in a filled-up row', 2, 'Contacts;;\r\n'],
    ['a title with other delimiters', 3, 'Contacts, as of Monday, January 5, 2026\n\n'],
    ['a sep= line and a title', 3, 'sep=;\nContacts, all, of, them\n'],
  ])('are read over: %s', async (_, found, above) => {
    expect(await read('list.csv', above + table)).toEqual({ header, rows: cells, found });
  });

  it('are found alike in a stream, however it comes', async () => {
    const text = `\ufeffContacts, all\n\n${table}`;
    for (const size of [1, 2, 3, 7, 50, 1000]) {
      const pieces = cutEvenly(Buffer.from(text), size);
      const source = streamSource('list', () => Readable.from(pieces));
      expect(await readAll(source)).toEqual({ header, rows: cells, found: 3 });
    }
  });

  it('are not waited for in a stream whose first rows show that there are none', async () => {
    for (const first of [
      'email\nann@sluice.test\n',
      'column of numbers\n1\n',
      'id,email\n1,a@sluice.test\n2',
    ]) {
      const stream = new Readable({
        read() {
          // Nothing more comes.
        },
      });
      stream.push(first);
      const reading = await streamSource('a pipe', () => stream).open({ wanted: () => [0] });
      for await (const chunk of reading.chunks) {
        expect(chunk.length).toBe(1);
        break;
      }
      expect(stream.destroyed).toBe(true);
    }
  });

  it('are as many as is said, and nothing is guessed then', async () => {
    const text = `Contacts\nof the fair\n${table}`;
    expect(await read('list.csv', text, { skipRows: 2 })).toEqual({
      header,
      rows: cells,
      found: undefined,
    });
    await expect(read('list.csv', text, { skipRows: 0 })).rejects.toThrow(/\b3\b/);
    await expect(read('list.csv', text, { skipRows: 1 })).rejects.toThrow(/\b3\b/);
    await expect(read('list.csv', 'a\nb\n', { skipRows: 3 })).rejects.toThrow(/3/);
    await expect(read('list.csv', 'a\nb\n', { skipRows: 2 })).rejects.toThrow(/\b3\b/);
  });

  it('count in the lines that messages name', async () => {
    const broken = `Contacts\n\n${table}\r\nEve;eve@sluice.test;;;\r\n`;
    await expect(read('list.csv', broken)).rejects.toMatchObject({ line: 6 });
    // Through csv-parse, which reads other dialects.
    const quoted = `Contacts\n\n'Name';'Email'\n'Ann';'ann@sluice.test'\n'Eve';'e@sluice.test';'x'\n`;
    await expect(read('list.csv', quoted, { quote: "'" })).rejects.toMatchObject({ line: 5 });
  });

  it('are a part of what tells one content from another', async () => {
    const digests = new Set<string | undefined>();
    for (const text of ['Contacts, May\n', 'Contacts, June\n', 'sep=;\n', '']) {
      await writeFile(at('list.csv'), text + table);
      const reading = await fileSource(at('list.csv')).open({ wanted: () => [] });
      let rows = 0;
      for await (const chunk of reading.chunks) rows += chunk.length;
      expect(rows).toBe(2);
      digests.add(reading.contentDigest?.());
    }
    expect(digests.size).toBe(4);
  });

  it('are looked for in the first 64 KiB only', async () => {
    const long = `${'A long title. '.repeat(10_000)}\n${table}`;
    await expect(read('list.csv', long)).rejects.toThrow(/list\.csv.*\b3\b/);
    expect((await read('list.csv', long, { skipRows: 1 })).rows).toEqual(cells);
  });

  it('are no rows where there is no header either', async () => {
    const rows = 'Ann;ann@sluice.test\nBob;bob@sluice.test\n';
    const bare = { header: ['#1', '#2'], rows: [cells[0]?.slice(0, 2), cells[1]?.slice(0, 2)] };
    expect(await read('list.csv', `sep=;\n${rows}`, { header: false })).toMatchObject(bare);
    expect(await read('list.csv', `Fair\n${rows}`, { header: false, skipRows: 1 })).toMatchObject(
      bare,
    );
  });

  it('cannot be skipped where a format has none', async () => {
    await expect(read('list.jsonl', '{"email":"a@b"}\n', { skipRows: 1 })).rejects.toThrow(/jsonl/);
    expect(() => fileSource(at('list.csv'), { skipRows: -1 })).toThrow(/skipRows.*\b0\b/);
  });
});

describe('a name that ends in .txt', () => {
  const tabs = table.replaceAll('"', '').replaceAll('Hi, there; you', 'Hi').replaceAll(';', '\t');
  const tabCells = [['Ann', 'ann@sluice.test', 'Hi'], cells[1]];

  it.each<[string, number | undefined, string | Buffer]>([
    ['text with tabs', undefined, tabs],
    ['Unicode Text of Excel', undefined, Buffer.from(`\ufeff${tabs}`, 'utf16le')],
    ['the same, big-endian', undefined, Buffer.from(`\ufeff${tabs}`, 'utf16le').swap16()],
    ['a table below a title', 3, `Contacts\n\n${tabs}`],
    ['semicolons', undefined, tabs.replaceAll('\t', ';')],
  ])('may be a table: %s', async (_, found, text) => {
    expect(await read('list.txt', text)).toEqual({ header, rows: tabCells, found });
  });

  it('may be a table without a header', async () => {
    const { header: names, rows } = await read('list.txt', 'Ann\ta@sluice.test\n', {
      header: false,
    });
    expect([names, rows]).toEqual([['#1', '#2'], [['Ann', 'a@sluice.test']]]);
  });

  it.each<[string, string]>([
    ['addresses', 'ann@sluice.test\nbob@sluice.test\n'],
    ['addresses with white space', 'ann@sluice.test\t\nbob@sluice.test\t\n'],
    ['numbers', '+442071234567\n2025550143\n'],
    ['addresses with commas among them', 'ann@sluice.test\nbob, bob@sluice.test\n'],
    ['nothing plain', 'one\ntwo\n'],
  ])('is one address a line: %s', async (_, text) => {
    const { header: names, rows } = await read('list.txt', text);
    expect(names).toEqual(['value']);
    expect(rows.map(([cell]) => `${String(cell)}\n`).join('')).toBe(text);
  });

  it('is one address a line where that is said', async () => {
    expect((await read('list.txt', tabs, { format: 'txt' })).header).toEqual(['value']);
  });
});

describe('rows above the header of a sheet', () => {
  const values = [['Name', 'Email', 'Note'], ...cells];

  async function readSheet(
    above: readonly (readonly unknown[])[],
    options?: FileOptions,
    below: readonly (readonly unknown[])[] = values,
  ): Promise<Read> {
    const workbook = new ExcelJS.Workbook();
    const sheet = workbook.addWorksheet('List');
    for (const row of [...above, ...below]) sheet.addRow([...row]);
    return read('list.xlsx', Buffer.from(await workbook.xlsx.writeBuffer()), options);
  }

  // What is empty in a sheet is nothing.
  const rows = [cells[0], ['Bob', 'bob@sluice.test', undefined]];

  it.each<[string, number | undefined, unknown[][]]>([
    ['none', undefined, []],
    ['a title', 2, [['Contacts']]],
    ['a title, empty rows and a date', 5, [['Contacts'], [], ['As of', new Date(0)], []]],
    ['empty rows', undefined, [[], []]],
  ])('are read over: %s', async (_, found, above) => {
    expect(await readSheet(above)).toEqual({ header, rows, found });
  });

  it('are as many rows of the sheet as is said, and nothing is guessed then', async () => {
    const expected = { header, rows, found: undefined };
    expect(await readSheet([['Contacts'], [], ['all']], { skipRows: 3 })).toEqual(expected);
    expect(await readSheet([['Contacts'], [], []], { skipRows: 1 })).toEqual(expected);
    await expect(readSheet([['Contacts']], { skipRows: 0 })).rejects.toThrow(/2.*3.*1.*1/);
    await expect(readSheet([], { skipRows: 9 })).rejects.toThrow(/\b9\b/);
  });

  it('are rows of a sheet without a header, unless they are said', async () => {
    const bare = await readSheet([['Fair']], { header: false, skipRows: 1 }, cells);
    expect(bare).toMatchObject({ header: ['#1', '#2', '#3'], found: undefined });
    expect(bare.rows).toHaveLength(2);
  });
});

/** The columns that a list has by its first line. */
async function headerOf(first: string, form: FileOptions = {}): Promise<readonly string[]> {
  const path = join(await withFolder(), 'list.csv');
  await writeFile(path, `${first}\nada@x.example;7;8\n`);
  let header: readonly string[] = [];
  const source = fileSource(path, { delimiter: ';', ...form });
  const reading = await source.open({ wanted: (names) => ((header = names), []) });
  for await (const _ of reading.chunks);
  return header;
}

describe('a first row that is no header', () => {
  it.each([
    'a@gmail.com;1;2',
    'Ada;a@gmail.com;2',
    'Ada;+49 30 1234567;2',
    'Ada;202-555-0101;2',
    'Ada;(030) 123 4567;2',
    'Ada;030 1234567;2',
    'Ada;01 23 45 67 89;2',
    'Ada;0301234567;2',
    `"o'hara@x.example";1;2`,
  ])('is refused where it holds an address: %s', async (first) => {
    const refused = headerOf(first);
    await expect(refused).rejects.toMatchObject({ code: 'header_missing' });
    // Nobody's address gets into a log.
    await expect(refused).rejects.toThrow(/list\.csv.*\b[12]\b/);
    expect(await headerOf(first, { header: false })).toEqual(['#1', '#2', '#3']);
    expect(await headerOf(first, { skipRows: 0 })).toHaveLength(3);
  });

  it.each([
    'Email;+1 phone;1',
    'E@mail;Phone (+49);2024-2025',
    '01/24-12/24;01/2024 - 12/2024;01-02-2024',
    '01/02/24;20240101;1700000000',
    'Ada <ada@x.example>;0-17 18-25;100-200',
  ])('is taken for the header where no cell is surely one: %s', async (first) => {
    expect(await headerOf(first)).toEqual(first.split(';'));
  });
});
