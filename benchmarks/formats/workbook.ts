import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import exceljs from 'exceljs';
import { dataFolder } from '../data/cached-file.js';
import { contactColumns, contactRows, usualContacts } from '../data/contacts.js';
import { countRows } from '../harness/count-rows.js';
import type { Question, Scale } from '../harness/question.js';
import { runCommand } from '../harness/run-command.js';
import { withScratch } from '../harness/scratch.js';
import { verifyFile } from '../harness/verify-command.js';
import { localEmailColumn } from '../reference/local-service-results.js';

const rowsOf = ({ rows }: Scale): number => rows / 5;
const emailAt = contactColumns.indexOf('email');

async function input(scale: Scale): Promise<string> {
  const rows = rowsOf(scale);
  const path = join(dataFolder, `people-${rows}.xlsx`);
  if (existsSync(path)) return path;
  const workbook = new exceljs.stream.xlsx.WorkbookWriter({ filename: `${path}.part` });
  const sheet = workbook.addWorksheet('Contacts');
  sheet.addRow([...contactColumns]).commit();
  for (const cells of contactRows(usualContacts(rows))) sheet.addRow([...cells]).commit();
  await workbook.commit();
  await rename(`${path}.part`, path);
  return path;
}

/** The same workbook into another. */
export const workbooks: Question = {
  asks: 'What does a run from XLSX to XLSX take?',
  rounds: 3,
  async prepare(scale) {
    await input(scale);
  },
  tasks: {
    reference: {
      checkedAs: 'rows',
      isReference: true,
      async run(scale) {
        const hash = new RowsHash();
        hash.add([...contactColumns, ...localEmailColumn.added]);
        for (const cells of contactRows(usualContacts(rowsOf(scale)))) {
          hash.add([...cells, ...localEmailColumn.cellsOf(cells[emailAt] ?? '', 'US')]);
        }
        return { check: `${rowsOf(scale)} ${hash.digest()}`, values: {} };
      },
    },
    sluice: {
      checkedAs: 'rows',
      async run(scale) {
        const form = { ending: 'xlsx', hash: hashOfWorkbook };
        const { check, cpuSeconds } = await verifyFile(
          await input(scale),
          ['--email', 'email'],
          form,
        );
        return { check, values: { cpuSeconds } };
      },
    },
    'exceljs streaming a copy': {
      checkedAs: 'copy',
      run: async (scale) =>
        withScratch(async (folder) => {
          const output = join(folder, 'output.xlsx');
          const { cpuSeconds } = await runCommand(
            '../copy-workbook-command.js',
            [await input(scale), output],
            { folder },
          );
          return { check: await hashOfWorkbook(output), values: { cpuSeconds } };
        }),
    },
  },
  figures: (median, scale) => [
    {
      what: `the whole \`sluice verify\` of ${countRows(rowsOf(scale))} rows from XLSX to XLSX: processor time`,
      against: 'exceljs streaming a copy',
      value: median('sluice', 'cpuSeconds') / median('exceljs streaming a copy', 'cpuSeconds'),
      unit: 'times as long',
      target: { bound: 'at most', value: 1, aim: 0.6 },
    },
  ],
};

/** Of cells as texts, row by row. */
class RowsHash {
  readonly #hash = createHash('sha256');

  add(cells: readonly string[]): void {
    this.#hash.update(`${JSON.stringify(cells)}\n`);
  }

  digest(): string {
    return this.#hash.digest('hex');
  }
}

async function hashOfWorkbook(path: string): Promise<string> {
  const hash = new RowsHash();
  const reader = new exceljs.stream.xlsx.WorkbookReader(path, { sharedStrings: 'cache' });
  let columns = 0;
  for await (const sheet of reader) {
    for await (const row of sheet) {
      // The header is as long as rows are.
      columns ||= row.cellCount;
      hash.add(Array.from({ length: columns }, (_, at) => row.getCell(at + 1).text));
    }
  }
  return hash.digest();
}
