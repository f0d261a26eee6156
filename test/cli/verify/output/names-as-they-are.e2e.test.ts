import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { printableLine, shellQuote } from '../../../../src/platform/text/printable.js';
import { askSqlite } from '../../../lists/sql/sqlite/ask-sqlite.js';
import { formsOf } from '../../../platform/text/hostile-names.js';
import { withFolder } from '../../../service/with-service.js';
import { runInProcess } from '../../harness/run-in-process.js';

/** What texts say of options, in a program and on the command line, and what quotes and steers. */
const pieces = [
  '`email`',
  '`fresh`',
  '`prefix: {"a":"b"}`',
  "`onChange: 'carry'`",
  '`settings.description`',
  '--email',
  '--no-remove-wrong-format, --no-remove-wrong-format',
  '`',
  '"',
  "'",
  '&#39;',
  '\u0007',
  '\u001b[31m',
  '\u202egnp',
  'שלום',
  'a\u200bb',
  'x'.repeat(70),
  'a',
];

const name = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 })
  .map((each) => each.join(' '));

it('names of columns, files and folders appear as they are in log, summary and report', async () => {
  const folder = await withFolder();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(name, name, name, async (column, list, output) => {
      const cwd = join(folder, String((run += 1)));
      await mkdir(cwd);
      const [from, to] = [`${list}.csv`, `${output}.out.csv`];
      const header = `"${column.replaceAll('"', '""')}"`;
      // Half of them are no addresses, which is said of the column.
      await writeFile(join(cwd, from), `${header}\ngood1@sluice.test\nnone\n`);
      const form = ['--country', 'US', '-o', to, '--summary', 's.json', '--report', 'r.html'];
      const verify = ['verify', `./${from}`, `--email=${column}`, ...form, '--yes'];
      const { code, stderr } = await runInProcess([...verify, '--verbose'], { cwd });
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(printableLine(to));
      const summary = JSON.parse(await readFile(join(cwd, 's.json'), 'utf8')) as object;
      expect(summary).toMatchObject({ columns: [{ name: column }] });
      expect(JSON.stringify(summary)).toContain(JSON.stringify(to).slice(1, -1));
      const rows = await readFile(join(cwd, to), 'utf8');
      expect(rows).toContain(column.replaceAll('"', '""'));
      const missing = await runInProcess(
        ['verify', `./${from}`, `--email=${column}?`, ...form, '--json-log'],
        { cwd },
      );
      const error = JSON.parse(missing.stderr.trimEnd().split('\n').at(-1) ?? '') as object;
      expect(missing.code).toBe(2);
      expect(error).toMatchObject({
        column: `${column}?`,
        message: expect.stringContaining(JSON.stringify(`${column}?`)),
      });
    }),
    { numRuns: 12, seed: 1, endOnFailure: true },
  );
}, 60_000);

/** What was shown, with lines that were only broken for the width joined again. */
function expectNamed(shown: string, given: string): void {
  expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
  const text = shown.replaceAll(/\s+/g, ' ');
  expect(
    formsOf(given).some((form) => text.includes(form.replaceAll(/\s+/g, ' '))),
    `${JSON.stringify(given)} in ${shown}`,
  ).toBe(true);
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** What a workbook accepts. */
const sheetOf = (given: string): string =>
  given.replaceAll(/[\p{Cc}:\\/?*[\]']/gu, '').slice(0, 30);

it('names of columns, sheets and tables appear as they are in a dry run and a guide', async () => {
  const folder = await withFolder();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(name, async (given) => {
      const cwd = join(folder, String((run += 1)));
      await mkdir(cwd);
      const header = `"${given.replaceAll('"', '""')}"`;
      await writeFile(join(cwd, 'list.csv'), `${header}\n${'good1@gmial.com\n'.repeat(3)}`);
      const dry = ['verify', 'list.csv', `--email=${given}`, '--country', 'US', '--dry-run'];
      expectNamed((await runInProcess(dry, { cwd })).stderr, given);
      expectNamed((await runInProcess(['verify', 'list.csv'], { cwd })).stderr, given);

      const sheets = [`1${sheetOf(given)}`, `2${sheetOf(given)}`];
      const book = new ExcelJS.Workbook();
      for (const each of sheets)
        book.addWorksheet(each).addRows([['email'], ['good1@sluice.test']]);
      await book.xlsx.writeFile(join(cwd, 'book.xlsx'));
      const ofBook = ['verify', 'book.xlsx', '--email', 'email', '--country', 'US', '-o', 'o.csv'];
      for (const line of [ofBook, ['verify', 'book.xlsx']]) {
        const { stderr } = await runInProcess(line, { cwd });
        for (const each of sheets) expectNamed(stderr, each);
      }

      const table = quoted(given.replaceAll('\u0000', ''));
      const rows = `insert into ${table} values ('good1@sluice.test')`;
      askSqlite(join(cwd, 'd.sqlite'), `create table ${table} (${table} text)`, rows, 'select 1');
      const ofTable = await runInProcess(['verify', 'sqlite:d.sqlite', '--local'], { cwd });
      // As a shell gives it to the next run.
      const [, fromTable = '?'] = shellQuote(`from ${table}`).split('from ');
      expect(ofTable.stderr).toContain(`from ${fromTable}`);
    }),
    { numRuns: 4, seed: 1, endOnFailure: true },
  );
}, 60_000);
