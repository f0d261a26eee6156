import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { beforeEach, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { otherPrograms } from '../../../lists/files/other-programs.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { codedOf, parseLog } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService());
});

const command =
  'verify list.csv --email email --phone tel --country US --columns valid --split-cells --poll-interval 5';

async function verify(...args: string[]): Promise<EndedHere> {
  return runInProcess([...command.split(' '), ...args], inFolder(folder, service));
}

/** Neither quotes nor bytes of rows that are not split change. */
const list = [
  'id,"email",tel,note',
  '1,"a@sluice.test; b@sluice.test",+12025550143,"x; y"',
  '2,"c@sluice.test",,M\xfcller',
  '3,d@sluice.test ::: e@sluice.test,(202) 555-0144 / +1 202 555 0145 / 202-555-0146,',
  '4,"f@sluice.test,\r\ng@sluice.test",,"q"',
  '5,h@sluice.test; none,"030/1234567",',
  '6,i@sluice.test;,,',
  '7,"[""j@sluice.test"", ""k@sluice.test""]","{+12025550147,+12025550148}",',
  '8,"Doe, Jo <l@sluice.test>",tel:202-555-0149 / 202-555-0150,',
  '',
].join('\n');

const expected = [
  'id,"email",tel,note,email_valid,tel_valid',
  '1,a@sluice.test,+12025550143,x; y,@,#',
  '1,b@sluice.test,+12025550143,x; y,@,#',
  '2,"c@sluice.test",,M\xfcller,@,#',
  '3,d@sluice.test,(202) 555-0144,,@,#',
  '3,e@sluice.test,+1 202 555 0145,,@,#',
  '3,,202-555-0146,,@,#',
  '4,f@sluice.test,,q,@,#',
  '4,g@sluice.test,,q,@,#',
  '5,h@sluice.test; none,"030/1234567",,@,#',
  '6,i@sluice.test,,,@,#',
  '7,j@sluice.test,+12025550147,,@,#',
  '7,k@sluice.test,+12025550148,,@,#',
  '8,l@sluice.test,202-555-0149,,@,#',
  '8,l@sluice.test,202-555-0150,,@,#',
  '',
];

/** Without what was found out. */
function columnsOf(text: string): readonly string[] {
  return text.split('\n').map((line) => line.replace(/,(?:true|false)?,(?:true|false)?$/, ',@,#'));
}

it('--split-cells writes a row for each address of a cell, and pays for each once', async () => {
  await writeFile(join(folder, 'list.csv'), list, 'latin1');
  const dry = await verify('--dry-run', '--summary', 'dry.json');
  expect(dry.code, dry.stderr).toBe(0);
  expect(JSON.parse(await readFile(join(folder, 'dry.json'), 'utf8'))).toMatchObject({ rows: 14 });
  const ended = await verify('-o', 'out.csv', '--summary', 'run.json');
  expect(ended.code, ended.stderr).toBe(0);
  const counts = { rows: 5, more: 6, bare: 1, type: null };
  expect(codedOf(ended, 'split_rows')).toMatchObject([counts]);
  expect(JSON.parse(await readFile(join(folder, 'run.json'), 'utf8'))).toMatchObject({
    rows: 14,
    rows_split_off: 6,
    reachable_rows: 7,
  });
  expect(columnsOf(await readFile(join(folder, 'out.csv'), 'latin1'))).toEqual(expected);
  const emails = (await chargesOf(service)).flatMap(({ type, address }) =>
    type === 'email' ? [address] : [],
  );
  expect(emails.toSorted()).toEqual(Array.from('abcdefgijkl', (name) => `${name}@sluice.test`));
  const streamed = await verify();
  expect(columnsOf(streamed.stdout.toString('latin1'))).toEqual(expected);
  expect((await verify('-o', 'two.csv', '--limit', '2')).code).toBe(0);
  expect(columnsOf(await readFile(join(folder, 'two.csv'), 'latin1'))).toEqual([
    ...expected.slice(0, 3),
    '',
  ]);
});

it.each([
  ['+12025550144 / +12025550145', 'a@sluice.test', 'phone'],
  ['+12025550144', 'a@sluice.test b@sluice.test', 'email'],
])('--split-cells says of what it has split %s and %s', async (tel, email, type) => {
  await writeFile(join(folder, 'list.csv'), `email,tel\n${email},${tel}\n`);
  const { stderr } = await verify('-o', 'out.csv', '--json-log');
  expect(codedOf({ events: parseLog(stderr) }, 'split_rows')).toMatchObject([{ type }]);
});

it.each(['jsonl', 'parquet'] as const)(
  '--split-cells reads lists of values in %s',
  async (format) => {
    const { read, write } = otherPrograms[format];
    const tags = ['x', 'y'];
    const rows = [
      { id: 1, tags, mails: ['a@sluice.test', null, 'b@sluice.test'] },
      { id: 2, tags, mails: [] },
      { id: 3, tags, mails: null },
      { id: 4, tags, mails: ['c@sluice.test'] },
    ];
    await writeFile(join(folder, 'lists'), await write(rows));
    const command = `verify lists --email mails --country US --columns valid --split-cells --poll-interval 5 --input-format ${format} -o out.${format}`;
    const surroundings = inFolder(folder, service);
    const ended = await runInProcess([...command.split(' '), '--split-cells'], surroundings);
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'split_rows')).toMatchObject([{ rows: 1, more: 1, bare: 0, lists: 1 }]);
    const written = await read(await readFile(join(folder, `out.${format}`)));
    const verdicts = { mails_valid: true };
    expect(written.map((row) => ({ ...row, mails: row['mails'] ?? '' }))).toMatchObject([
      { id: 1, tags, mails: 'a@sluice.test', ...verdicts },
      { id: 1, tags, mails: 'b@sluice.test', ...verdicts },
      { id: 2, tags, mails: '' },
      { id: 3, tags, mails: '' },
      { id: 4, tags, mails: 'c@sluice.test', ...verdicts },
    ]);
  },
);

it('--split-cells keeps the objects of JSON lines', async () => {
  const lines = [
    '{"id":1.50,"person":{"name":"A","mail":["a@sluice.test","b@sluice.test"],"none":{}}}',
    '{"id":2,"person":{"mail":"c@sluice.test"},"a.b":null}',
    '{"person":{"mail":"d@sluice.test; e@sluice.test"},"a.b":"x"}',
  ];
  await writeFile(join(folder, 'list.jsonl'), lines.map((line) => `${line}\n`).join(''));
  const command = `verify list.jsonl --email person.mail --country US --columns valid --split-cells --poll-interval 5 -o out.jsonl`;
  const surroundings = inFolder(folder, service);
  const ended = await runInProcess(command.split(' '), surroundings);
  expect(ended.code, ended.stderr).toBe(0);
  const valid = '"person.mail_valid":true';
  expect((await readFile(join(folder, 'out.jsonl'), 'utf8')).trimEnd().split('\n')).toEqual([
    `{"id":1.50,"person":{"name":"A","mail":"a@sluice.test","none":{}},${valid}}`,
    `{"id":1.50,"person":{"name":"A","mail":"b@sluice.test","none":{}},${valid}}`,
    `{"id":2,"person":{"mail":"c@sluice.test"},"a.b":null,${valid}}`,
    `{"person":{"mail":"d@sluice.test"},"a.b":"x",${valid}}`,
    `{"person":{"mail":"e@sluice.test"},"a.b":"x",${valid}}`,
  ]);
});

it('--split-cells keeps the dates and formats of a workbook', async () => {
  const day = new Date('2024-03-01T00:00:00Z');
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('List');
  sheet.addRows([
    ['email', 'day', 'zip'],
    ['a@sluice.test; b@sluice.test', day, 601],
    ['c@sluice.test', day, 601],
  ]);
  sheet.getColumn(2).numFmt = 'dd.mm.yyyy';
  sheet.getColumn(3).numFmt = '00000';
  await book.xlsx.writeFile(join(folder, 'list.xlsx'));
  const command = `verify list.xlsx --email email --country US --columns valid --split-cells --poll-interval 5`;
  const verified = await runInProcess(
    [...command.split(' '), '-o', 'out.xlsx'],
    inFolder(folder, service),
  );
  expect(verified.code, verified.stderr).toBe(0);
  const read = new ExcelJS.Workbook();
  await read.xlsx.readFile(join(folder, 'out.xlsx'));
  const cells = [2, 3, 4].map((row) =>
    [2, 3].map((column) => {
      const { value, numFmt } = read.worksheets[0]?.getCell(row, column) ?? {};
      return [value, numFmt];
    }),
  );
  const same = [
    [day, 'dd.mm.yyyy'],
    [601, '00000'],
  ];
  expect(cells).toEqual([same, same, same]);
});
