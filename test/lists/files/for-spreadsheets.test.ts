import { readFile, writeFile } from 'node:fs/promises';
import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { fileSink, fileSource, rowsSource } from '../../../src/index.js';
import { carry } from '../sql/harness/carry.js';
import { useTemporaryFolder } from './temporary-folder.js';

const at = useTemporaryFolder();

describe('what a spreadsheet opens', () => {
  it('is CSV with a byte-order mark where it comes from a workbook, and without from other formats', async () => {
    await writeFile(at('list.csv'), 'email,ort\na@x.example,Königstraße\n');
    await carry(fileSource(at('list.csv')), fileSink(at('list.xlsx')));
    for (const ending of ['csv', 'tsv']) {
      await carry(fileSource(at('list.xlsx')), fileSink(at(`again.${ending}`)));
      const text = await readFile(at(`again.${ending}`), 'utf8');
      expect(text).toMatch(/^\ufeffemail.ort\na@x\.example.Königstraße\n$/);
    }
    await carry(rowsSource([{ ort: 'Königstraße' }]), fileSink(at('rows.csv')));
    expect(await readFile(at('rows.csv'), 'utf8')).toBe('ort\nKönigstraße\n');
  });

  it('is a workbook whose names stay in view, with filters, and with columns as wide as what is in them', async () => {
    const rows = Array.from({ length: 300 }, (_, row) => ({
      id: row,
      email: `somebody.${row}@a-long-domain.example`,
      note: row === 299 ? 'x'.repeat(500) : '',
    }));
    await carry(rowsSource(rows), fileSink(at('list.xlsx')));
    const workbook = new ExcelJS.Workbook();
    await workbook.xlsx.readFile(at('list.xlsx'));
    const [sheet] = workbook.worksheets;
    expect(sheet?.views).toMatchObject([{ state: 'frozen', ySplit: 1 }]);
    expect(sheet?.autoFilter).toBe('A1:C301');
    const widths = sheet?.columns.map(({ width }) => width);
    expect(widths).toEqual([8, 'somebody.199@a-long-domain.example'.length + 3, 8]);
    await carry(fileSource(at('list.xlsx'), { header: false }), fileSink(at('bare.xlsx')));
    await workbook.xlsx.readFile(at('bare.xlsx'));
    expect(workbook.worksheets[0]?.autoFilter ?? undefined).toBeUndefined();
  });
});

describe('the number of a row', () => {
  it.each(['csv', 'xlsx'])('is the one that a spreadsheet shows: %s', async (ending) => {
    const workbook = new ExcelJS.Workbook();
    workbook
      .addWorksheet('Leads')
      .addRows([['Leads of May'], [], ['email', 'ort'], ['a@x.example', 'Ulm']]);
    await (ending === 'csv'
      ? writeFile(at('list.csv'), 'Leads of May\n\nemail,ort\na@x.example,Ulm\n')
      : workbook.xlsx.writeFile(at('list.xlsx')));
    const reading = await fileSource(at(`list.${ending}`)).open({ wanted: () => [0] });
    const numbers: (number | undefined)[] = [];
    for await (const chunk of reading.chunks) numbers.push(chunk.number?.(0));
    expect([reading.header, numbers]).toEqual([['email', 'ort'], [4]]);
  });
});
