import { readFile, writeFile } from 'node:fs/promises';
import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { combinedSource, fileSink, fileSource } from '../../../src/index.js';
import { shownDigits } from '../../../src/lists/xlsx/number-format.js';
import { useTemporaryFolder } from '../files/temporary-folder.js';
import { carry } from '../sql/harness/carry.js';
import { unzip, zipOf } from './zip-entries.js';

const at = useTemporaryFolder();

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** What a workbook is made of; parts that are given take the place of the usual ones. */
interface Parts {
  /** The rows below the header `email`, `note`. */
  readonly rows: string;
  /** Columns of the header. @default the first two */
  readonly headIn?: readonly string[];
  readonly workbookPr?: string;
  /** What follows the sheets. */
  readonly extension?: string;
  readonly cellFormats?: string;
  /** The texts that cells share. */
  readonly shared?: readonly string[];
  /** How the archive names a part. @default as it is */
  readonly nameOf?: (name: string) => string;
  readonly encode?: (xml: string) => Buffer;
  /** The type of a sheet `Chart` in front of the others. */
  readonly before?: string;
}

async function workbook(parts: Parts): Promise<Buffer> {
  const { rows, workbookPr = '', extension = '', cellFormats = '', shared = [] } = parts;
  const { nameOf = (name) => name, encode = (xml) => Buffer.from(xml), before } = parts;
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`;
  const head = ['email', 'note']
    .map((name, index) => {
      const column = parts.headIn?.[index];
      const place = column === undefined ? '' : ` r="${column}1"`;
      return `<c${place} t="str"><v>${name}</v></c>`;
    })
    .join('');
  const entries = {
    '_rels/.rels': `<Relationships>${relation('a', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `<workbook ${main} xmlns:r="${office}">${workbookPr}<sheets>${before === undefined ? '' : '<sheet name="Chart" sheetId="2" r:id="e"/>'}<sheet name="S" sheetId="1" r:id="b"/></sheets>${extension}</workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${relation('b', 'worksheet', 'worksheets/sheet1.xml')}${relation('c', 'styles', 'styles.xml')}${relation('d', 'sharedStrings', 'sharedStrings.xml')}${before === undefined ? '' : relation('e', before, 'other/sheet1.xml')}</Relationships>`,
    'xl/worksheets/sheet1.xml': `<worksheet ${main}><sheetData><row>${head}</row>${rows}</sheetData></worksheet>`,
    'xl/styles.xml': `<styleSheet ${main}><numFmts count="1"><numFmt numFmtId="164" formatCode="0000000000"/></numFmts><cellXfs>${cellFormats}</cellXfs><dxfs><dxf><numFmt numFmtId="164" formatCode="yyyy"/></dxf></dxfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${main}>${shared.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
  };
  return zipOf(
    Object.entries(entries).map(([name, xml]) => [
      nameOf(name),
      encode(`<?xml version="1.0"?>${xml}`),
    ]),
  );
}

/** The rows below the header that the workbook becomes as CSV. */
async function asCsv(parts: Parts): Promise<string> {
  await writeFile(at('in.xlsx'), await workbook(parts));
  await carry(fileSource(at('in.xlsx')), fileSink(at('out.csv')));
  return (await readFile(at('out.csv'), 'utf8')).replace('\ufeffemail,note\n', '');
}

/** The cell in row 2, column 2 of the workbook that the workbook becomes, as another program reads it. */
async function asWorkbook(parts: Parts): Promise<ExcelJS.Cell> {
  await writeFile(at('in.xlsx'), await workbook(parts));
  await carry(fileSource(at('in.xlsx')), fileSink(at('out.xlsx')));
  const read = new ExcelJS.Workbook();
  await read.xlsx.readFile(at('out.xlsx'));
  const cell = read.worksheets[0]?.getCell(2, 2);
  if (!cell) throw new Error('there is no cell');
  return cell;
}

const row = (cell: string): string => `<row><c t="str"><v>a@x.example</v></c>${cell}</row>`;
const date = {
  cellFormats: '<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="20"/>',
};

describe('a sheet whose first columns are empty', () => {
  const headIn = ['XFC', 'XFD'];
  const far = (n: number): string =>
    `<row r="${n}"><c r="XFC${n}" t="str"><v>a${n}@x.example</v></c><c r="XFD${n}"><v>${n}</v></c></row>`;
  const many = Array.from({ length: 5000 }, (_, index) => far(index + 2));

  it('is read without them, where they are thousands', async () => {
    const lines = many.map((_, index) => `a${index + 2}@x.example,${index + 2}\n`);
    expect(await asCsv({ headIn, rows: many.join('') })).toBe(lines.join(''));
  });

  it('is refused where a later row has a value there', async () => {
    const late = '<row r="5002"><c r="A5002"><v>1</v></c></row>';
    const refused = asCsv({ headIn, rows: [...many, late].join('') });
    await expect(refused).rejects.toMatchObject({ code: 'input_malformed' });
  });

  it('keeps a margin', async () => {
    await writeFile(at('in.xlsx'), await workbook({ headIn: ['B', 'C'], rows: '' }));
    const reading = await fileSource(at('in.xlsx')).open({ wanted: () => [] });
    expect(reading.header).toEqual(['#1', 'email', 'note']);
    await reading.chunks[Symbol.asyncIterator]().return?.();
  });
});

describe('dates of a workbook', () => {
  // 2024-03-01 in the calendar from 1904, as openpyxl has it.
  const rows = row('<c s="1"><v>43890</v></c>');

  it.each([
    ['alone', ''],
    [
      'with an extension of the same name',
      '<extLst><ext uri="x"><x15:workbookPr chartTrackingRefBase="1"/></ext></extLst>',
    ],
    [
      'with an extension that says otherwise',
      '<extLst><ext><x15:workbookPr date1904="0"></x15:workbookPr></ext></extLst>',
    ],
  ])('are counted as the workbook itself says: %s', async (_, extension) => {
    const parts = { rows, extension, workbookPr: '<workbookPr date1904="1"/>', ...date };
    expect(await asCsv(parts)).toBe('a@x.example,2024-03-01\n');
  });

  it('are counted from 1900 where an extension alone says otherwise', async () => {
    const extension = '<extLst><ext><x15:workbookPr date1904="1"/></ext></extLst>';
    expect(await asCsv({ rows, extension, ...date })).toBe('a@x.example,2020-02-29\n');
  });

  it.each([
    ['a day', '<c s="1"><v>45352</v></c>', '2024-03-01'],
    ['a day and hours', '<c s="2"><v>45352</v></c>', '2024-03-01T00:00:00'],
    ['hours alone', '<c s="3"><v>45352</v></c>', '2024-03-01T00:00:00'],
    ['a day, with hours beside it', '<c s="1"><v>45352.5</v></c>', '2024-03-01T12:00:00'],
    ['a day, as text', '<c s="1" t="d"><v>2024-03-01T00:00:00.000Z</v></c>', '2024-03-01'],
    ['both, as text', '<c s="2" t="d"><v>2024-03-01T00:00:00</v></c>', '2024-03-01T00:00:00'],
  ])('are read at midnight as their format shows them: %s', async (_, cell, text) => {
    expect(await asCsv({ rows: row(cell), ...date })).toBe(`a@x.example,${text}\n`);
  });

  it('keep a format that every workbook has by its number', async () => {
    await asWorkbook({
      rows: row('<c s="1"><v>45352</v></c>') + row('<c s="2"><v>45352.5</v></c>'),
      ...date,
    });
    const styles = (await unzip(at('out.xlsx'))).get('xl/styles.xml') ?? '';
    const [, formats = ''] = /<cellXfs[^>]*>(.*)<\/cellXfs>/.exec(styles) ?? [];
    const numbers = [...formats.matchAll(/numFmtId="(\d+)"/g)].map(([, id]) => id);
    expect(numbers).toEqual(['0', '14', '22']);
  });
});

describe('a cell of a workbook', () => {
  it.each([
    [
      'a line break that is stored as CR LF',
      '<c t="str"><v>1 Mill\r\nYork</v></c>',
      '1 Mill\nYork',
    ],
    ['one as CR', '<c t="str"><v>1 Mill\rYork</v></c>', '1 Mill\nYork'],
    ['one in CDATA', '<c t="str"><v><![CDATA[1 Mill\r\nYork]]></v></c>', '1 Mill\nYork'],
    [
      'a carriage return in the form of the format',
      '<c t="str"><v>a_x000D_\r\nb</v></c>',
      'a\r\nb',
    ],
    ['a carriage return as an entity', '<c t="str"><v>a&#13;\nb</v></c>', 'a\r\nb'],
  ])('holds %s, and so does the output', async (_, cell, text) => {
    expect(await asCsv({ rows: row(cell) })).toBe(`a@x.example,"${text}"\n`);
    const written = (await asWorkbook({ rows: row(cell) })).value;
    expect(written).toBe(text.replace('\r', '_x000D_'));
  });

  it.each([
    ['a shared text without a number', '<c t="s"><v/></c>', ''],
    ['the same, written out', '<c t="s"><v></v></c>', ''],
    ['a flag without a value', '<c t="b"><v/></c>', ''],
    ['a date without a value', '<c t="d"><v/></c>', ''],
    ['a number without a value', '<c><v> </v></c>', ''],
    ['a value and a text of its own', '<c t="inlineStr"><v>7</v><is><t>own</t></is></c>', 'own'],
    ['the same with a shared text', '<c t="s"><v>0</v><is><t>own</t></is></c>', 'own'],
    ['a value alone', '<c t="inlineStr"><v>7</v></c>', '7'],
    ['a text in pieces', '<c t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r></is></c>', 'ab'],
  ])('is read where it has %s', async (_, cell, text) => {
    expect(await asCsv({ rows: row(cell), shared: ['first'] })).toBe(`a@x.example,${text}\n`);
  });

  it.each([
    ['it has no place of its own', '<c/><c><v>7</v></c>'],
    ['only the one before it has a place', '<c r="A2"/><c><v>7</v></c>'],
    ['its column is in lower case', '<c r="b2"><v>7</v></c>'],
  ])('stays in its column where %s', async (_, cells) => {
    expect(await asCsv({ rows: `<row>${cells}</row>` })).toBe(',7\n');
  });

  it('keeps its format where a conditional one has the same number', async () => {
    const cellFormats = '<xf numFmtId="0"/><xf numFmtId="164"/>';
    const parts = { rows: row('<c s="1"><v>612345678</v></c>'), cellFormats };
    expect(await asCsv(parts)).toBe('a@x.example,612345678\n');
    expect((await asWorkbook(parts)).numFmt).toBe('0000000000');
  });

  it('keeps all digits of a long identifier', async () => {
    const parts = {
      rows: ['12345678901234567891', '5e20', '9007199254740993']
        .map((number) => row(`<c s="1"><v>${number}</v></c>`))
        .join(''),
      cellFormats: '<xf numFmtId="0"/><xf numFmtId="1"/>',
    };
    const expected = ['12345678901234567891', '500000000000000000000', '9007199254740993']
      .map((number) => `a@x.example,${number}\n`)
      .join('');
    expect(await asCsv(parts)).toBe(expected);
    expect((await asWorkbook(parts)).value).toBe('12345678901234567891');
  });

  it('is sent as the digits that it shows', async () => {
    const cellFormats = '<xf numFmtId="0"/><xf numFmtId="164"/>';
    const rows = row('<c s="1"><v>612345678</v></c>') + row('<c><v>612345678</v></c>');
    await writeFile(at('in.xlsx'), await workbook({ rows, cellFormats }));
    const reading = await fileSource(at('in.xlsx')).open({ wanted: () => [1] });
    const texts: unknown[] = [];
    for await (const chunk of reading.chunks) {
      for (let at = 0; at < chunk.length; at += 1) texts.push(chunk.text(at, 1));
    }
    expect(texts).toEqual(['0612345678', '612345678']);
  });

  // As LibreOffice and Excel show them.
  it.each([
    [612345678, '0000000000', '0612345678'],
    [612345678, '000-000-0000', '061-234-5678'],
    [612345678, String.raw`\(000\)\ 000\-0000`, '(061) 234-5678'],
    [39612345678, '"+"0', '+39612345678'],
    [12, '#000', '012'],
    [12345, '0##', '12345'],
    [5, '#', '5'],
    [491701234567, '+#', '+491701234567'],
    [491701234567, '"+"General', '+491701234567'],
    [612345678, '[$-410]0000000000', '0612345678'],
    [612345678, '[Red]0000000000', '0612345678'],
    [612345678, String.raw`_-* 0000000000\ _-`, '0612345678 '],
    [612345678, '[$€-407]0000000000', undefined],
    [612345678, '[h]0000000000', undefined],
    [5, '0.00', undefined],
    [5, '#,##0', undefined],
    [5, '[<=9]0000;00', undefined],
    [5, 'yyyy', undefined],
    [-5, '0000', undefined],
    [0.5, '0000', undefined],
  ])('shows %s in the format %s as %s', (number, code, text) => {
    expect(shownDigits(number, code)).toBe(text);
  });
});

describe('workbooks that are one list', () => {
  it('keep the formats of their cells, in whatever column these are', async () => {
    const cellFormats = '<xf numFmtId="0"/><xf numFmtId="164"/>';
    const email = (column: string): string => `<c r="${column}2" t="str"><v>a@x.example</v></c>`;
    const note = (column: string): string => `<c r="${column}2" s="1"><v>601</v></c>`;
    const first = { cellFormats, rows: `<row>${email('A')}${note('B')}</row>` };
    const headIn = ['B', 'A'];
    const second = { cellFormats, headIn, rows: `<row>${note('A')}${email('B')}</row>` };
    await writeFile(at('1.xlsx'), await workbook(first));
    await writeFile(at('2.xlsx'), await workbook(second));
    const both = combinedSource([fileSource(at('1.xlsx')), fileSource(at('2.xlsx'))]);
    await carry(both, fileSink(at('out.xlsx')));
    const read = new ExcelJS.Workbook();
    await read.xlsx.readFile(at('out.xlsx'));
    const formats = [2, 3].map((at) => read.worksheets[0]?.getCell(at, 2).numFmt);
    expect(formats).toEqual(['0000000000', '0000000000']);
  });
});

describe('the parts of a workbook', () => {
  const rows = row('<c t="s"><v>0</v></c>');
  it.each<[string, Partial<Parts>]>([
    ['in other case', { nameOf: (name) => name.toUpperCase() }],
    ['with backslashes', { nameOf: (name) => name.replaceAll('/', '\\') }],
    ['with a slash in front', { nameOf: (name) => `/${name}` }],
    [
      'in no folder',
      {
        nameOf: (name) => name.replace(/^xl\//, ''),
        encode: (xml) => Buffer.from(xml.replace('"xl/', '"')),
      },
    ],
    ['in UTF-16', { encode: (xml) => Buffer.from(`\ufeff${xml}`, 'utf16le') }],
    ['in UTF-16, big-endian', { encode: (xml) => Buffer.from(`\ufeff${xml}`, 'utf16le').swap16() }],
    ['in UTF-16 without a mark', { encode: (xml) => Buffer.from(xml, 'utf16le') }],
  ])('may be %s', async (_, parts) => {
    expect(await asCsv({ rows, shared: ['schön'], ...parts })).toBe('a@x.example,schön\n');
  });
});

describe('a zip archive without a workbook', () => {
  it('is reported to be one to unpack', async () => {
    await writeFile(at('list.csv.zip'), await zipOf([['list.csv', 'mail\na@x.example\n']]));
    const opening = fileSource(at('list.csv.zip')).open({ wanted: () => [] });
    await expect(opening).rejects.toMatchObject({ code: 'input_malformed', fault: 'other_format' });
  });
});

// ECMA-376, part 1, 12.3 and [MS-OFFMACRO]: the sheets of a workbook that are no worksheets.
describe.each(['chartsheet', 'dialogsheet', 'xlMacrosheet', 'xlIntlMacrosheet'])(
  'a sheet of the type %s',
  (before) => {
    const rows = '<row><c t="str"><v>a@x.example</v></c></row>';

    it('is passed over', async () => {
      expect(await asCsv({ rows, before })).toBe('a@x.example,\n');
      const notices: unknown[] = [];
      const opening = { wanted: () => [0], onNotice: (notice: unknown) => notices.push(notice) };
      for (const sheet of [undefined, 'all', 2]) {
        const reading = await fileSource(at('in.xlsx'), { sheet }).open(opening);
        await reading.chunks[Symbol.asyncIterator]().return?.();
      }
      expect(notices).toEqual([]);
    });

    it.each(['Chart', 1, 'S,Chart'])('is refused as --sheet %s', async (sheet) => {
      await writeFile(at('in.xlsx'), await workbook({ rows, before }));
      const opened = fileSource(at('in.xlsx'), { sheet }).open({ wanted: () => [0] });
      await expect(opened).rejects.toMatchObject({
        code: 'invalid_option',
        option: 'sheet',
        message: expect.stringMatching(/\bChart\b.*: S$/) as string,
      });
    });
  },
);

it('a sheet is named in its own case where two differ in that alone', async () => {
  const encode = (xml: string): Buffer =>
    Buffer.from(xml.replace('"Chart"', '"ab"').replace('name="S"', 'name="AB"'));
  const rows = '<row><c t="str"><v>a@x.example</v></c></row>';
  await writeFile(at('in.xlsx'), await workbook({ rows, before: 'worksheet', encode }));
  const open = async (sheet: string) =>
    fileSource(at('in.xlsx'), { sheet }).open({ wanted: () => [0] });
  const { header, chunks } = await open('AB');
  await chunks[Symbol.asyncIterator]().return?.();
  expect(header).toEqual(['email', 'note']);
  await expect(open('Ab')).rejects.toMatchObject({ code: 'invalid_option', option: 'sheet' });
});

it.each([
  ['<c t="str"><f>A1</f></c>', 1],
  ['<c t="str"><f>A1</f><v></v></c>', 0],
  ['<c><f>A1</f><v></v></c>', 1],
  ['<c><f>A1</f></c>', 1],
  ['<c t="str"><f>A1</f><v>x</v></c>', 0],
  ['<c><f>A1</f><v>0</v></c>', 0],
  ['<c><f>A1</f><v>0</v></c>', 1, '<calcPr fullCalcOnLoad="1"/>'],
  ['<c><f>A1</f><v>2</v></c>', 0, '<calcPr fullCalcOnLoad="1"/>'],
])('the formula in %s has no result: %d', async (cell, formulas, more = '') => {
  await writeFile(at('in.xlsx'), await workbook({ rows: row(cell), extension: more }));
  const notices: unknown[] = [];
  const reading = await fileSource(at('in.xlsx')).open({
    wanted: () => [1],
    onNotice: (notice) => notices.push(notice),
  });
  for await (const chunk of reading.chunks) expect(chunk.length).toBe(1);
  const reported = { code: 'formulas_without_result', fields: { formulas } };
  expect(notices).toMatchObject(formulas === 0 ? [] : [reported]);
});
