import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { beforeEach, describe, expect, it } from 'vitest';
import { withFolder } from '../../../service/with-service.js';
import { csvCells, csvRows, expectCellsKept } from '../../harness/csv-cells.js';
import { codedOf } from '../../harness/logged-events.js';
import { runInProcess } from '../../harness/run-in-process.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

/** Verifies a list from file to file; gives the output's bytes. */
async function verify(list: string | Buffer, ...args: string[]): Promise<Buffer> {
  const [input, output] = [join(folder, 'list.csv'), join(folder, 'out.csv')];
  await writeFile(input, list);
  const ended = await runInProcess(
    ['verify', input, '-o', output, '--country', 'US', '--local', '--quiet', ...args],
    { cwd: folder },
  );
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return readFile(output);
}

describe('forms of CSV', () => {
  it('keeps line ends, a byte-order mark, quotes, breaks and a last line without its end', async () => {
    const list =
      '\ufeffid,"e ""mail""",note\r\n' +
      '1,good1@sluice.test,"two\r\nlines, ""quoted"""\r\n' +
      '2,"good2@sluice.test",\r\n' +
      '3,bad@sluice.test';
    const output = await verify(list, '--email', 'e "mail"');
    const text = output.toString();
    expect(text.startsWith('\ufeffid,"e ""mail""",note,"e ""mail""_verification",')).toBe(true);
    expect(text).toContain('1,good1@sluice.test,"two\r\nlines, ""quoted""",verified,,true,');
    expect(text).toContain('\r\n2,"good2@sluice.test",,verified,');
    // The row that lacked a cell is filled up; the last line still has no end.
    expect(text).toMatch(/\r\n3,bad@sluice\.test,,verified,[^\r\n]*$/);
    expectCellsKept(Buffer.from(list), output);
  });

  it('names columns by their position when there is no header', async () => {
    const list = '1,good@sluice.test,2025550143\n2,bad@sluice.test,\n';
    const output = await verify(list, '--no-header', '--email', '#2', '--phone', '#3');
    expect(csvCells(output)).toHaveLength(2);
    expectCellsKept(Buffer.from(list), output);
    const [first, second] = csvCells(output);
    expect(first?.slice(3, 7)).toEqual(['verified', '', 'true', 'false']);
    expect(second?.slice(15, 17)).toEqual(['not_submitted', 'empty']);
  });

  it('names the cure of bytes that are no text before the run and after it', async () => {
    const input = join(folder, 'list.csv');
    await writeFile(input, Buffer.from('Straße,email\nA,a@müller.example\n', 'latin1'));
    const command = ['verify', input, '--country', 'US', '--local'];
    const run = async (...args: string[]) => runInProcess([...command, ...args], { cwd: folder });
    const said = async (...args: string[]): Promise<string> => (await run(...args)).stderr;
    const file = join(folder, 'out.csv');
    for (const more of [['--dry-run'], []]) {
      const ended = await run('--email', 'email', '-o', file, ...more);
      expect(codedOf(ended, 'not_utf8')).toMatchObject([
        { severity: 'warning', column: 'email', cells: 1 },
      ]);
      expect(codedOf(ended, 'no_text')).toEqual([]);
      expect(codedOf(ended, 'damaged_names')).toMatchObject([{ columns: ['Stra\ufffde'] }]);
    }
    expect(await said('--email', 'Straße', '-o', file)).toMatch(/1/);
    expect(await said('--email', 'Straße', '-o', file, '--encoding', 'latin1')).not.toContain(
      'no column',
    );
  });

  it('says that a list in UTF-16 is read as such', async () => {
    const text = '\ufeffname,email\nZoë,good@sluice.test\n';
    await writeFile(join(folder, 'list.csv'), Buffer.from(text, 'utf16le'));
    const named = ['--email', 'email', '--country', 'US', '--local', '-o', join(folder, 'out.csv')];
    const ended = await runInProcess(['verify', join(folder, 'list.csv'), ...named], {
      cwd: folder,
    });
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'transcoded')).toMatchObject([
      { input: 'list.csv', encoding: 'utf-16le' },
    ]);
    const [row] = csvRows(await readFile(join(folder, 'out.csv')));
    expect(row).toMatchObject({ name: 'Zoë', email_verification: 'verified' });
  });

  it('passes bytes of another encoding through, and submits no cell that holds them', async () => {
    const latin1 = Buffer.from('Jos\xe9,good@sluice.test\nA,jos\xe9@sluice.test\n', 'latin1');
    const list = Buffer.concat([Buffer.from('name,email\n'), latin1]);
    const [input, file] = [join(folder, 'list.csv'), join(folder, 'out.csv')];
    await writeFile(input, list);
    const args = ['--email', 'email', '--country', 'US', '--local', '--quiet', '-o', file];
    const ended = await runInProcess(['verify', input, ...args], { cwd: folder });
    expect(ended.code).toBe(0);
    expect(codedOf(ended, 'not_utf8')).toMatchObject([{ severity: 'warning', cells: 1 }]);
    const output = await readFile(file);
    expectCellsKept(list, output);
    expect(csvCells(output).map((row) => row.slice(2, 4))).toEqual([
      ['email_verification', 'email_reason'],
      ['verified', ''],
      ['not_submitted', 'invalid_encoding'],
    ]);
  });

  it.each(['windows-1252', 'latin1', 'utf-16le'] as const)(
    'marks what was converted from %s as UTF-8, as spreadsheets need it',
    async (encoding) => {
      const list = 'Straße;email\r\nKönigstraße;good@sluice.test\r\n';
      const bytes = Buffer.from(list, encoding === 'utf-16le' ? 'utf16le' : 'latin1');
      const output = await verify(bytes, '--email', 'email', '--encoding', encoding);
      const text = output.toString();
      expect(text).toMatch(/^\ufeffStraße;email;email_verification;/);
      expect(text).toMatch(/\r\nKönigstraße;good@sluice\.test;verified;/);
      const unnamed = await verify(bytes, '--email', '#2', '--no-header', '--encoding', encoding);
      expect(unnamed.toString()).toMatch(/^\ufeffStraße;email;[^\ufeff]*$/);
    },
  );

  it('tells columns of one name apart by their position', async () => {
    const list = 'mail,mail,name\ngood@sluice.test,bad@sluice.test,A\n';
    const output = await verify(list, '--email', '#2');
    expect(csvCells(output)[1]?.slice(3, 6)).toEqual(['verified', '', 'false']);

    const ended = await runInProcess(
      ['verify', join(folder, 'list.csv'), '--email', 'mail', '--country', 'US', '--local'],
      { cwd: folder },
    );
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/"mail"/),
    });
  });

  it('takes a list of nothing but its header, and one of a single column', async () => {
    const none = await verify('id,email\n', '--email', 'email');
    expect(none.toString()).toMatch(/^id,email,email_verification,[^\n]*\n$/);
    const single = await verify('email\ngood@sluice.test\n\nbad@sluice.test\n', '--email', 'email');
    expect(csvRows(single).map((row) => row['email_verification'])).toEqual([
      'verified',
      'not_submitted',
      'verified',
    ]);
  });

  it('gives added columns another name where theirs is taken', async () => {
    const list = 'email,email_valid\ngood@sluice.test,yes\n';
    const output = await verify(list, '--email', 'email', '--prefix', 'email=checked');
    expectCellsKept(Buffer.from(list), output);
    expect(csvRows(output)).toMatchObject([{ email_valid: 'yes', checked_valid: 'true' }]);
  });
});

describe('files that were joined with their headers', () => {
  it('keep the second header as a row, which is said', async () => {
    const rows = 'email,mobile\ngood1@sluice.test,2025550143\n';
    await writeFile(join(folder, 'list.csv'), rows + rows);
    const columns = ['--email', 'email', '--phone', 'mobile', '--country', 'US'];
    const command = ['verify', 'list.csv', ...columns, '--local', '-o', 'out.csv'];
    const tried = await runInProcess([...command, '--dry-run'], { cwd: folder });
    const ended = await runInProcess(command, { cwd: folder });
    expect(ended.code, ended.stderr).toBe(0);
    const said = [
      { column: 'email', cells: 1 },
      { column: 'mobile', cells: 1 },
    ];
    expect(codedOf(tried, 'header_again')).toMatchObject(said);
    expect(codedOf(ended, 'header_again')).toMatchObject(said);
    expect(codedOf(ended, 'no_at')).toEqual([]);
    const countries = 'email,land\ngood1@sluice.test,US\n';
    await writeFile(join(folder, 'countries.csv'), countries + countries);
    const byRow = ['verify', 'countries.csv', '--email', 'email', '--country-column', 'land'];
    const apart = await runInProcess([...byRow, '--local', '-o', 'o.csv'], { cwd: folder });
    expect(codedOf(apart, 'header_again')).toMatchObject([{ column: 'email', cells: 1 }]);
    expect(codedOf(apart, 'country_not_understood')).toEqual([]);
    expect(csvRows(await readFile(join(folder, 'out.csv')))).toHaveLength(3);
  });
});

describe('a workbook of several sheets', () => {
  it('is said to be read, and written, by one of them alone', async () => {
    const workbook = new ExcelJS.Workbook();
    for (const name of ['Gäste 2024', 'Helfer', 'Alt']) {
      workbook.addWorksheet(name).addRows([['Email'], ['good1@sluice.test']]);
    }
    await workbook.xlsx.writeFile(join(folder, 'list.xlsx'));
    const said = async (...args: readonly string[]): Promise<readonly object[]> => {
      const command = ['verify', 'list.xlsx', '--email', 'Email', '--country', 'US', '--local'];
      const ended = await runInProcess([...command, ...args], { cwd: folder });
      expect(ended.code, ended.stderr).toBe(0);
      return codedOf(ended, 'sheets_left_out');
    };
    const notice = { input: 'list.xlsx', sheet: 'Gäste 2024', others: ['Helfer', 'Alt'] };
    expect(await said('-o', 'out.xlsx')).toMatchObject([notice]);
    expect(await said('-o', 'out.xlsx', '--dry-run')).toMatchObject([notice]);
    expect(await said('--output-format', 'csv')).toMatchObject([notice]);
    expect(await said('-o', 'out.xlsx', '--sheet', 'Helfer')).toEqual([]);
  });
});

describe('a workbook with hidden sheets', () => {
  it('is said to have them verified, where they are', async () => {
    const workbook = new ExcelJS.Workbook();
    for (const [name, state] of [
      ['Old', 'hidden'],
      ['Leads', 'visible'],
      ['Older', 'veryHidden'],
    ] as const) {
      workbook.addWorksheet(name, { state }).addRows([['Email'], ['good1@sluice.test']]);
    }
    await workbook.xlsx.writeFile(join(folder, 'list.xlsx'));
    const said = async (...args: readonly string[]): Promise<readonly object[]> => {
      const command = ['verify', 'list.xlsx', '--email', 'Email', '--country', 'US', '--local'];
      const ended = await runInProcess([...command, '-o', 'out.csv', ...args], { cwd: folder });
      expect(ended.code, ended.stderr).toBe(0);
      return codedOf(ended, 'sheets_hidden');
    };
    expect(await said()).toMatchObject([{ input: 'list.xlsx', sheets: ['Old'] }]);
    expect(await said('--dry-run')).toMatchObject([{ sheets: ['Old'] }]);
    expect(await said('--sheet', 'all')).toMatchObject([{ sheets: ['Old', 'Older'] }]);
    expect(await said('--sheet', 'Leads')).toEqual([]);
  });
});

describe('a workbook of several lists', () => {
  beforeEach(async () => {
    const workbook = new ExcelJS.Workbook();
    for (const [name, email] of [
      ['Leads', 'Email'],
      ['Kunden', 'E-Mail'],
      ['Old leads', 'Email'],
    ] as const) {
      workbook.addWorksheet(name).addRows([
        ['Name', email],
        ['Ann', 'good1@sluice.test'],
      ]);
    }
    await workbook.xlsx.writeFile(join(folder, 'list.xlsx'));
  });

  const run = async (...args: readonly string[]) =>
    runInProcess(['verify', 'list.xlsx', '--country', 'US', '--local', ...args], { cwd: folder });

  it('says which sheets are one list', async () => {
    const ended = await run('--email', 'Email', '--sheet', 'Leads,Old leads', '-o', 'out.xlsx');
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'sheets_joined')).toMatchObject([{ sheets: ['Leads', 'Old leads'] }]);
  });

  it('names sheets of one header where no sheet has all the columns', async () => {
    const ended = await run('--email', 'Email', '--email', 'E-Mail', '--sheet', 'all');
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("--sheet 'Leads,Old leads'");
  });
});

it('says how many rows of a workbook a filter hides: they are verified', async () => {
  const workbook = new ExcelJS.Workbook();
  const sheet = workbook.addWorksheet('Leads');
  sheet.addRows([['Email'], ['good1@sluice.test'], ['good2@sluice.test'], ['good3@sluice.test']]);
  for (const row of [1, 3]) sheet.getRow(row).hidden = true;
  await workbook.xlsx.writeFile(join(folder, 'list.xlsx'));
  const command = 'verify list.xlsx --email Email --country US --local -o out.csv'.split(' ');
  for (const more of [['--dry-run'], []]) {
    const ended = await runInProcess([...command, ...more], { cwd: folder });
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'rows_hidden')).toMatchObject([{ input: 'list.xlsx', rows: 1 }]);
  }
});

describe('a workbook whose formulas have no results', () => {
  it('is said to be saved by a program that calculates', async () => {
    const workbook = new ExcelJS.Workbook();
    workbook.addWorksheet('Leads').addRows([
      ['Email', 'Name'],
      [{ formula: 'LOWER(B2)' }, 'ADA'],
      [{ formula: 'B3', result: '' }, ''],
      [{ formula: 'B4', result: 'good@sluice.test' }, 'good@sluice.test'],
    ]);
    await workbook.xlsx.writeFile(join(folder, 'list.xlsx'));
    const command = ['verify', 'list.xlsx', '--email', 'Email', '--country', 'US', '--local'];
    for (const more of [['-o', 'out.csv'], ['--dry-run']]) {
      const ended = await runInProcess([...command, ...more], { cwd: folder });
      expect(ended.code, ended.stderr).toBe(0);
      expect(codedOf(ended, 'formulas_without_result')).toMatchObject([
        { input: 'list.xlsx', formulas: 1 },
      ]);
    }
  });
});
