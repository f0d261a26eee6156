import { readFile, writeFile } from 'node:fs/promises';
import ExcelJS from 'exceljs';
import { beforeEach, describe, expect, it } from 'vitest';
import { fileSink, fileSource, splitSink } from '../../../src/index.js';
import { useTemporaryFolder } from '../files/temporary-folder.js';
import { carry } from '../sql/harness/carry.js';
import { unzip, zipOf } from './zip-entries.js';

const at = useTemporaryFolder();

let book: ExcelJS.Workbook;
beforeEach(() => {
  book = new ExcelJS.Workbook();
});

const leads = [
  ['email', 'since'],
  ['a@x.example', new Date('2024-02-29')],
];

function sheet(name: string): ExcelJS.Worksheet {
  return book.getWorksheet(name) ?? book.addWorksheet(name);
}

/** What is reported of a workbook's other sheets before it is written with results. */
async function reportedOf(wanted?: string) {
  const sink = fileSink(at('out.xlsx'));
  const source = fileSource(at('in.xlsx'), { sheet: wanted });
  const reported: unknown[] = [];
  const reading = await source.open({ wanted: () => [0] });
  const columns = { verified: [0], added: [[]], samples: [[]] };
  await sink.validate?.(reading, { ...columns, onNotice: (notice) => reported.push(notice) });
  await reading.chunks[Symbol.asyncIterator]().return?.();
  await carry(source, sink);
  return reported;
}

async function written(): Promise<ExcelJS.Workbook> {
  const found = new ExcelJS.Workbook();
  await found.xlsx.readFile(at('out.xlsx'));
  return found;
}

/** Changes parts of the input, as a program that knows more would have written them. */
async function patch(change: (parts: Map<string, string>) => void): Promise<void> {
  const parts = await unzip(at('in.xlsx'));
  change(parts);
  await writeFile(at('in.xlsx'), await zipOf(parts));
}

function edit(parts: Map<string, string>, name: string, from: string, to: string): void {
  const xml = parts.get(name) ?? '';
  expect(xml).toContain(from);
  parts.set(name, xml.replace(from, to));
}

describe('the other sheets of a workbook', () => {
  it('stay as they are beside the sheet that was read', async () => {
    const notes = book.addWorksheet('Notes & more');
    book.addWorksheet('Leads').addRows(leads);
    book.addWorksheet('Old', { state: 'hidden' }).addRow(['x']);
    notes.addRow(['count', { formula: 'COUNTA(Leads!A:A)', result: 2 }]);
    notes.getCell('A1').font = { bold: true };
    notes.getCell('A2').value = new Date('2024-01-02');
    notes.getCell('A2').numFmt = 'dd.mm.yyyy';
    book.definedNames.add('Leads!$A$2:$A$2', 'mails');
    await book.xlsx.writeFile(at('in.xlsx'));
    expect(await reportedOf('Leads')).toMatchObject([
      { code: 'sheets_kept', fields: { sheets: ['Notes & more', 'Old'], lost: [], moved: [] } },
    ]);
    const found = await written();
    expect(found.worksheets.map(({ name, state }) => [name, state])).toEqual([
      ['Notes & more', 'visible'],
      ['Leads', 'visible'],
      ['Old', 'hidden'],
    ]);
    const [kept, list] = found.worksheets;
    expect(kept?.getCell('A1').font.bold).toBe(true);
    expect(kept?.getCell('B1').formula).toBe('COUNTA(Leads!A:A)');
    expect(kept?.getCell('A2')).toMatchObject({ numFmt: 'dd.mm.yyyy' });
    expect(list?.getCell('A2').text).toBe('a@x.example');
    expect(list?.getCell('B2')).toMatchObject({
      value: new Date('2024-02-29'),
      numFmt: 'mm-dd-yy',
    });
    expect(found.definedNames.getRanges('mails').ranges).toEqual(['Leads!$A$2']);
  });

  it('are in no new list, and an output without any has the parts that it always has', async () => {
    book.addWorksheet('Leads').addRows(leads);
    book.addWorksheet('Notes').addRow(['x']);
    await book.xlsx.writeFile(at('in.xlsx'));
    const kept = splitSink({ output: fileSink(at('out.xlsx')), keep: { verdicts: [] } });
    const reading = await fileSource(at('in.xlsx')).open({ wanted: () => [0] });
    const writing = await kept.open({ reading, verified: [0], added: [[]], cellsOf: () => [] });
    await writing.finish();
    await reading.chunks[Symbol.asyncIterator]().return?.();
    expect([...(await unzip(at('out.xlsx'))).keys()]).toEqual([
      '[Content_Types].xml',
      '_rels/.rels',
      'xl/workbook.xml',
      'xl/_rels/workbook.xml.rels',
      'xl/worksheets/sheet1.xml',
      'xl/styles.xml',
    ]);
  });

  it('lose what would be wrong beside the new sheet', async () => {
    const list = book.addWorksheet('Leads');
    list.addRows([['May'], [], ...leads]);
    list.getCell('A3').note = 'hello';
    list.pageSetup.printArea = 'A1:B2';
    book.addWorksheet('Notes').addRow(['x']);
    await book.xlsx.writeFile(at('in.xlsx'));
    const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
    await patch((parts) => {
      const relation = (type: string, target: string) =>
        `<Relationship Id="${type}" Type="${office}/${type}" Target="${target}"/></Relationships>`;
      for (const [type, target] of [
        ['calcChain', 'calcChain.xml'],
        ['vbaProject', 'vbaProject.bin'],
      ] as const) {
        parts.set(`xl/${target}`, '<calcChain/>');
        edit(parts, 'xl/_rels/workbook.xml.rels', '</Relationships>', relation(type, target));
      }
      edit(
        parts,
        '[Content_Types].xml',
        'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
        'application/vnd.ms-excel.sheet.macroEnabled.main+xml',
      );
    });
    expect(await reportedOf()).toMatchObject([
      { code: 'sheets_kept', fields: { lost: ['macros', 'comments'], moved: ['Leads'] } },
    ]);
    const parts = await unzip(at('out.xlsx'));
    expect([...parts.keys()].filter((name) => /calcChain|vba|comments|vml/i.test(name))).toEqual(
      [],
    );
    const all = [...parts.values()].join('');
    expect(all).not.toMatch(/macroEnabled|vbaProject|calcChain|Print_Area/);
    expect((await written()).worksheets.map(({ name }) => name)).toEqual(['Leads', 'Notes']);
  });

  it('count their places without sheets that were put into another one', async () => {
    book.addWorksheet('Leads').addRows(leads);
    book.addWorksheet('Customers').addRows(leads);
    const notes = book.addWorksheet('Notes');
    notes.addRow(['x']);
    notes.pageSetup.printArea = 'A1:A1';
    book.views = [{ activeTab: 2 } as ExcelJS.WorkbookView];
    await book.xlsx.writeFile(at('in.xlsx'));
    expect(await reportedOf('Leads,Customers')).toMatchObject([{ code: 'sheets_kept' }]);
    const parts = await unzip(at('out.xlsx'));
    expect(parts.get('xl/workbook.xml')).toMatch(/activeTab="1"/);
    expect(parts.get('xl/workbook.xml')).toMatch(/localSheetId="1"/);
    expect(parts.has('xl/worksheets/sheet2.xml')).toBe(false);
    const found = await written();
    expect(found.worksheets.map(({ name, rowCount }) => [name, rowCount])).toEqual([
      ['Leads', 3],
      ['Notes', 1],
    ]);
  });

  it.each([
    [
      'references',
      'Leads',
      () => {
        sheet('Leads').addTable({
          name: 'LeadTable',
          ref: 'D1',
          columns: [{ name: 'id' }],
          rows: [[1]],
        });
        sheet('Notes').getCell('A1').value = { formula: 'SUM(leadtable[id])' };
      },
    ],
    [
      'references',
      'Leads,Customers',
      () => {
        sheet('Notes').getCell('A1').value = { formula: "COUNTA('Customers'!A:A)" };
      },
    ],
    [
      'dates_1904',
      'Leads',
      () => {
        book.properties.date1904 = true;
      },
    ],
  ])('are not kept for %s, which is said', async (why, wanted, change) => {
    for (const name of ['Leads', 'Customers', 'Notes']) book.addWorksheet(name).addRows(leads);
    change();
    await book.xlsx.writeFile(at('in.xlsx'));
    expect(await reportedOf(wanted)).toMatchObject([{ code: 'sheets_not_kept', fields: { why } }]);
    expect((await written()).worksheets.map(({ name }) => name)).toEqual(['Leads']);
  });

  it('are not kept where the archive does not have all of them, which does not end the run', async () => {
    book.addWorksheet('Leads').addRows(leads);
    book.addWorksheet('Notes').addRow(['x']);
    const bytes = Buffer.from(await book.xlsx.writeBuffer());
    // Its own header, in front of the directory.
    bytes.write('??', bytes.indexOf('xl/worksheets/sheet2.xml') - 30);
    await writeFile(at('in.xlsx'), bytes);
    expect(await reportedOf()).toMatchObject([
      { code: 'sheets_not_kept', fields: { why: 'form' } },
    ]);
  });

  it('are not kept where a part is broken, which does not end the run', async () => {
    book.addWorksheet('Leads').addRows(leads);
    book.addWorksheet('Notes').addRow(['x']);
    await book.xlsx.writeFile(at('in.xlsx'));
    await patch((parts) => parts.delete('[Content_Types].xml'));
    expect(await reportedOf()).toMatchObject([
      { code: 'sheets_not_kept', fields: { why: 'form' } },
    ]);
    expect(await readFile(at('out.xlsx'))).not.toHaveLength(0);
  });
});
