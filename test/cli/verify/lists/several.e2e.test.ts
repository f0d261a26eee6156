import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { beforeEach, describe, expect, it } from 'vitest';
import { fileSink, fileSource } from '../../../../src/index.js';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { csvRows } from '../../harness/csv-cells.js';
import { eventsOf } from '../../harness/logged-events.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { startSluice } from '../../harness/run-sluice.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
  await mkdir(join(folder, 'lists'));
});

function inLists(name: string): string {
  return join(folder, 'lists', name);
}

/** Three files of ten rows each. */
async function writeLists(): Promise<void> {
  for (const [index, name] of ['a.csv', 'b.csv', 'c.csv'].entries()) {
    await writeFile(inLists(name), `id,email\n${rowsFrom(10 * index)}`);
  }
}

function numbered(from: number, to: number): string[][] {
  return thirty.slice(from, to).map((id) => [id, `good${id}@sluice.test`]);
}

function rowsFrom(first: number): string {
  return Array.from(
    { length: 10 },
    (_, at) => `${first + at},good${first + at}@sluice.test\n`,
  ).join('');
}

const settings = '--email email --country US --batch-size 10 --poll-interval 10 --concurrency 1';

function verify(
  service: Service | undefined,
  inputs: readonly string[],
  ...more: string[]
): ReturnType<typeof runInProcess> {
  const args = ['verify', ...inputs, ...settings.split(' '), '-o', 'out.csv', ...more];
  return runInProcess(args, { cwd: folder, env: service ? connectTo(service) : {} });
}

async function idsOfOutput(): Promise<readonly (string | undefined)[]> {
  const rows = csvRows(await readFile(join(folder, 'out.csv')));
  return rows.map(({ id }) => id);
}

const thirty = Array.from({ length: 30 }, (_, at) => String(at));

describe('several inputs', () => {
  it.each(['out.jsonl', 'out.csv'])(
    'line up columns whose names differ in their capitals alone, in %s',
    async (output) => {
      const { service } = await withService();
      await writeFile(inLists('a.jsonl'), '{"id":1,"Email":"good1@sluice.test"}\n');
      await writeFile(inLists('b.jsonl'), '{"EMAIL":"good2@sluice.test","id":2}\n');
      await writeFile(inLists('c.csv'), 'ID,email\n3,good1@sluice.test\n');
      const more = ['-o', output, '--columns', 'valid'];
      const args = ['verify', 'lists', ...settings.split(' '), ...more];
      const ended = await runInProcess(args, inFolder(folder, service));
      expect(ended.code, ended.stderr).toBe(0);
      const rows = (await readFile(join(folder, output), 'utf8')).trimEnd().split('\n');
      expect(rows).toEqual(
        output === 'out.csv'
          ? [
              'id,Email,Email_valid',
              '1,good1@sluice.test,true',
              '2,good2@sluice.test,true',
              '3,good1@sluice.test,true',
            ]
          : [
              '{"id":1,"Email":"good1@sluice.test","Email_valid":true}',
              '{"id":2,"Email":"good2@sluice.test","Email_valid":true}',
              '{"id":"3","Email":"good1@sluice.test","Email_valid":true}',
            ],
      );
      expect(await chargesOf(service)).toHaveLength(2);
    },
  );

  it.each([
    ['files', ['lists/a.csv', 'lists/b.csv', 'lists/c.csv']],
    ['a pattern', ['lists/*.csv']],
    ['a folder', ['lists']],
    ['a file and a pattern', ['lists/a.csv', 'lists/[bc].csv']],
  ])('are one list, in order: %s', async (_, inputs) => {
    await writeLists();
    const { service } = await withService();
    const ended = await verify(service, inputs, '--quiet');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(await idsOfOutput()).toEqual(thirty);
    expect(await chargesOf(service)).toHaveLength(30);
  });

  it('come out in the order in which they are named', async () => {
    await writeLists();
    expect(
      (await verify(undefined, ['lists/c.csv', 'lists/a.csv', 'lists/b.csv'], '--local')).code,
    ).toBe(0);
    expect(await idsOfOutput()).toEqual([...thirty.slice(20), ...thirty.slice(0, 20)]);
  });

  it('of several formats have one header, by name', async () => {
    await writeFile(inLists('1.csv'), '\ufeffid;email\r\n1;good1@sluice.test\r\n');
    await writeFile(inLists('2.jsonl'), '{"email":"good2@sluice.test","note":"a;b","id":2}\n');
    await writeFile(inLists('3.tsv'), 'note\temail\nx\tbad3@sluice.test\n');
    expect(await verify(undefined, ['lists'], '--local', '--quiet')).toMatchObject({
      code: 0,
      stderr: '',
    });
    const text = await readFile(join(folder, 'out.csv'), 'utf8');
    // The mark of the first file goes on, as its delimiter does.
    expect(text).toMatch(/^\ufeffid;email;note;email_verification;/);
    expect(text).toContain('\n1;good1@sluice.test;;verified;');
    expect(text).toContain('\n2;good2@sluice.test;"a;b";verified;');
    expect(text).toContain('\n;bad3@sluice.test;x;verified;');
  });

  it('may be sheets of one workbook, in which an address is paid for once', async () => {
    const { service } = await withService();
    const book = new ExcelJS.Workbook();
    book.addWorksheet('Leads').addRows([['id', 'email'], ...numbered(0, 10)]);
    book.addWorksheet('Customers').addRows([['id', 'email'], ...numbered(5, 15)]);
    book.addWorksheet('Empty');
    await book.xlsx.writeFile(inLists('book.xlsx'));
    const { code, stderr } = await verify(service, ['lists/book.xlsx'], '--sheet', 'all');
    expect(code, stderr).toBe(0);
    expect(await idsOfOutput()).toEqual([...thirty.slice(0, 10), ...thirty.slice(5, 15)]);
    expect(await chargesOf(service)).toHaveLength(15);
  });

  it('may be sheets of other headers, and become sheets of one workbook', async () => {
    const { service } = await withService();
    const book = new ExcelJS.Workbook();
    book.addWorksheet('Leads').addRows([['id', 'email'], ...numbered(0, 10)]);
    book
      .addWorksheet('Customers')
      .addRows([['id', 'Email', 'since'], ...numbered(5, 15).map((row) => [...row, '2024'])]);
    await book.xlsx.writeFile(inLists('book.xlsx'));
    const rest = ['--sheet', 'all', '--max-credits', '15', '-o', 'out.xlsx'];
    const args = ['verify', 'lists/book.xlsx', ...settings.split(' '), ...rest];
    const planned = await runInProcess([...args, '--dry-run'], inFolder(folder, service));
    expect(eventsOf(planned, 'estimate')).toMatchObject([{ email: { credits: 15 } }]);
    const { code, stderr } = await runInProcess(args, inFolder(folder, service));
    expect(code, stderr).toBe(0);
    expect(await chargesOf(service)).toHaveLength(15);
    const written = new ExcelJS.Workbook();
    await written.xlsx.readFile(join(folder, 'out.xlsx'));
    const sheets = written.worksheets.map((sheet) => [
      sheet.name,
      sheet.rowCount,
      sheet.getCell('C1').text,
      sheet.getCell('D1').text,
    ]);
    expect(sheets).toEqual([
      ['Leads', 11, 'email_verification', 'email_reason'],
      ['Customers', 11, 'since', 'email_verification'],
    ]);
  });

  it('may be sheets of other headers, and become a file for each header', async () => {
    const { service } = await withService();
    const book = new ExcelJS.Workbook();
    book.addWorksheet('Leads').addRows([['id', 'email'], ...numbered(0, 10)]);
    book.addWorksheet('Customers').addRows([['since', 'Email'], ...numbered(5, 15)]);
    await book.xlsx.writeFile(inLists('book.xlsx'));
    const list = ['lists/book.xlsx'];
    const rest = ['--sheet', 'all', '--keep', 'valid', '--rejects', 'rest.csv'];
    expect((await verify(service, list, ...rest, '--max-credits', '10')).code).toBe(5);
    const ended = await verify(service, list, ...rest);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await chargesOf(service)).toHaveLength(15);
    const names = ['out.csv', 'out-Customers.csv', 'rest.csv', 'rest-Customers.csv'];
    expect(eventsOf(ended, 'outputs')).toMatchObject([
      { outputs: names.map((name, at) => ({ name, rows: at < 2 ? 10 : 0 })) },
    ]);
    const text = await readFile(join(folder, 'out-Customers.csv'), 'utf8');
    expect(text).toMatch(/^\ufeffsince,Email,email_verification,/);
    expect(text).toContain('\n5,good5@sluice.test,verified,');
    // Rows of both files are those of the run before.
    for (const name of ['Leads', 'Customers']) book.getWorksheet(name)?.spliceRows(2, 5);
    await book.xlsx.writeFile(inLists('book.xlsx'));
    expect((await verify(service, list, ...rest, '--max-shrink', '40')).code).toBe(8);
  });

  it('may have other columns where only the first rows are asked for', async () => {
    await writeFile(inLists('1.csv'), 'id,email\n1,good1@sluice.test\n');
    await writeFile(inLists('2.csv'), 'email,note\ngood2@sluice.test,x\n');
    expect((await verify(undefined, ['lists'], '--local', '--limit', '2')).code).toBe(0);
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toContain(',good2@sluice.test,x,');
  });

  it('of one header keep their own bytes', async () => {
    await writeFile(inLists('1.csv'), 'id,email\r\n1,"good1@sluice.test"\r\n"2",good2@sluice.test');
    await writeFile(inLists('2.csv'), '\ufeffid,email\n"3",good3@sluice.test\n');
    expect((await verify(undefined, ['lists'], '--local')).code).toBe(0);
    const lines = (await readFile(join(folder, 'out.csv'), 'utf8')).split(/\r?\n/);
    expect(lines.slice(1).map((line) => line.split(',', 2).join())).toEqual([
      '1,"good1@sluice.test"',
      '"2",good2@sluice.test',
      '"3",good3@sluice.test',
      '',
    ]);
  });

  it('without a header have byte-order marks of their files in none of the rows', async () => {
    for (const name of ['1.csv', '2.csv']) {
      await writeFile(inLists(name), `\ufeff${name},good@sluice.test\n`);
    }
    const ended = await verify(undefined, ['lists'], '--local', '--no-header', '--email', '#2');
    // The last --email counts among those that are named.
    expect(ended.code).toBe(2);
    const args = ['verify', 'lists', '--no-header', '--email', '#2', '--country', 'US', '--local'];
    expect((await runInProcess([...args, '-o', 'out.csv'], { cwd: folder })).code).toBe(0);
    const text = await readFile(join(folder, 'out.csv'), 'utf8');
    expect(text.match(/\ufeff/g)).toHaveLength(1);
    expect(text).toMatch(/^\ufeff1\.csv,.*\n2\.csv,/);
  });

  it('keep rows of JSONL byte by byte, whatever their columns', async () => {
    await writeFile(inLists('1.jsonl'), '{ "email" : "good1@sluice.test", "n": 1.50 }\n');
    await writeFile(inLists('2.jsonl'), '{"tags":["x"],"email":"good2@sluice.test"}\n');
    const args = [
      'verify',
      'lists',
      '--email',
      'email',
      '--country',
      'US',
      '--local',
      '-o',
      'out.jsonl',
    ];
    expect((await runInProcess(args, { cwd: folder })).code).toBe(0);
    const text = await readFile(join(folder, 'out.jsonl'), 'utf8');
    expect(text).toContain(
      '{ "email" : "good1@sluice.test", "n": 1.50 ,"email_verification":"verified"',
    );
    expect(text).toContain(
      '{"tags":["x"],"email":"good2@sluice.test","email_verification":"verified"',
    );
  });

  it.each([
    ['copies values as they are stored where all store them alike', '2,007', ['INT64', 'UTF8']],
    ['makes a column of two kinds text', 'x7', [undefined, 'UTF8']],
  ])('of Parquet: %s', async (_, second, types) => {
    const toParquet = async (name: string, id: string): Promise<void> => {
      await writeFile(
        join(folder, 'one.jsonl'),
        `{"id":${id},"email":"good${name}@sluice.test"}\n`,
      );
      const source = fileSource(join(folder, 'one.jsonl'));
      const reading = await source.open({ wanted: () => [] });
      const sink = fileSink(inLists(`${name}.parquet`));
      const writing = await sink.open({ reading, verified: [], added: [], cellsOf: () => [] });
      for await (const chunk of reading.chunks) {
        const outcomes = new Uint32Array(0);
        await writing.write({ chunk, from: 0, to: chunk.length, outcomes, width: 0 });
      }
      await writing.finish();
    };
    await toParquet('1', '9007199254740991');
    await toParquet('2', second.includes(',') ? second.replace(',', '') : JSON.stringify(second));
    const args = ['verify', 'lists', '--email', 'email', '--country', 'US', '--local'];
    expect((await runInProcess([...args, '-o', 'out.parquet'], { cwd: folder })).code).toBe(0);
    const file = await asyncBufferFromFile(join(folder, 'out.parquet'));
    const { schema } = await parquetMetadataAsync(file);
    expect(schema[1]).toMatchObject(
      types[0] === undefined ? { converted_type: 'UTF8' } : { type: types[0] },
    );
    expect(await parquetReadObjects({ file, columns: ['id', 'email'] })).toEqual([
      { id: types[0] ? 9007199254740991n : '9007199254740991', email: 'good1@sluice.test' },
      { id: types[0] ? 2007n : 'x7', email: 'good2@sluice.test' },
    ]);
  });
});

describe('a bad file among several', () => {
  const bad: [string, string, RegExp][] = [
    ['an unreadable header', '', /b\.csv/],
    ['rows that are too long, at its end', `id,email\n${rowsFrom(0)}1,2,3\n`, /b\.csv.*\b12\b/],
    ['another list', 'sku,price\n1,2\n', /b\.csv/],
    ['a missing column', 'id\n1\n', /b\.csv.*"email"/],
  ];
  it.each(bad)('is named before anything is sent: %s', async (_, content, message) => {
    await writeLists();
    await writeFile(inLists('b.csv'), content);
    const { service } = await withService();
    const requests = countRequests(service);
    const ended = await verify(service, ['lists']);
    expect([2, 6]).toContain(ended.code);
    expect(ended.stderr).toMatch(message);
    expect(requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
    expect(await readdir(folder)).toEqual(['lists']);
  });

  it.each([
    ['a file that is not there', ['lists/a.csv', 'lists/none.csv'], 6, /lists\/none\.csv/],
    ['a pattern without a match', ['lists/*.tsv'], 6, /lists\/\*\.tsv/],
    ['a file that is named twice', ['lists', 'lists/a.csv'], 2, /lists\/a\.csv/],
    ['standard input', ['lists', '-'], 2, /^sluice: .*\[invalid_option\]\n/],
    ['a database', ['lists', 'sqlite:x.db'], 2, /^sluice: .*\[invalid_option\]\n/],
  ])('%s is refused', async (_, inputs, code, message) => {
    await writeLists();
    const ended = await verify(undefined, inputs, '--local');
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(message);
  });

  it('is the output itself, when that is written into the folder that is read', async () => {
    await writeLists();
    const args = ['verify', 'lists', ...settings.split(' '), '--local', '-o', 'lists/out.csv'];
    expect((await runInProcess(args, { cwd: folder })).code).toBe(0);
    const again = await runInProcess(args, { cwd: folder });
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/lists\/out\.csv/),
    });
  });
});

describe('a run over several inputs that was stopped', () => {
  it('by a kill goes on, and pays for no address twice', async () => {
    await writeLists();
    const { service } = await withService();
    const args = ['verify', 'lists/*.csv', ...settings.split(' '), '-o', 'out.csv'];
    const killed = startSluice(
      [...args, '--json-log', '--max-credits', '20'],
      inFolder(folder, service),
    );
    await killed.reported('batch', { stage: 'verifying' });
    killed.child.kill('SIGKILL');
    await killed.ended;
    const ended = await verify(service, ['lists/*.csv']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await idsOfOutput()).toEqual(thirty);
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(new Set(paid).size).toBe(30);
    expect(paid).toHaveLength(30);
  });

  it('has another list when the files are others', async () => {
    await writeLists();
    const { service } = await withService();
    expect((await verify(service, ['lists/*.csv', '--max-credits', '20'])).code).toBe(5);
    const requests = countRequests(service);
    const before = await readFile(inLists('b.csv'), 'utf8');
    const refuse = async (change: () => Promise<void>, back: () => Promise<void>) => {
      await change();
      const ended = await verify(service, ['lists/*.csv', '--on-change', 'stop']);
      expect(ended.code, ended.stderr).toBe(2);
      expect(eventsOf(ended, 'error')).toMatchObject([
        { code: 'state_mismatch', option: '--on-change', differs: ['source'] },
      ]);
      await back();
    };
    await refuse(
      () => writeFile(inLists('d.csv'), `id,email\n${rowsFrom(30)}`),
      () => rm(inLists('d.csv')),
    );
    await refuse(
      () => writeFile(inLists('b.csv'), before.replace('good15@', 'good51@')),
      () => writeFile(inLists('b.csv'), before),
    );
    await refuse(
      () => rename(inLists('b.csv'), inLists('e.csv')),
      () => rename(inLists('e.csv'), inLists('b.csv')),
    );
    expect(requests).toEqual([]);
    expect((await verify(service, ['lists/*.csv'])).code).toBe(0);
    expect(await chargesOf(service)).toHaveLength(30);
  });
});
