import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import type { Source } from '../../../src/lists/rows/source.js';
import { debianProgram } from '../../servers/debian-program.js';
import { useTemporaryFolder } from '../files/temporary-folder.js';
import { addedColumnsOf } from '../rows/added-columns.js';
import { writeRows } from '../rows/read-rows.js';

const at = useTemporaryFolder();

/** Commas, double quotes and UTF-8, whatever the locale is. */
const csvFilter = 'Text - txt - csv (StarCalc):44,34,76';

async function convert(path: string, ...how: readonly string[]): Promise<void> {
  const profile = `-env:UserInstallation=file://${at('profile')}`;
  const program = debianProgram('soffice', 'libreoffice-calc-nogui');
  await promisify(execFile)(program, [profile, '--headless', ...how, '--outdir', at('.'), path]);
}

async function readRows(source: Source): Promise<unknown[][]> {
  const reading = await source.open({ wanted: () => [] });
  const rows: unknown[][] = [[...reading.header]];
  for await (const chunk of reading.chunks) {
    for (let row = 0; row < chunk.length; row += 1) {
      rows.push(reading.header.map((_, column) => chunk.value?.(row, column) ?? null));
    }
  }
  return rows;
}

const list =
  'id,email,since,note\n1,a@example.com,2024-02-29,"x, ""y"""\n2.5,b@example.com,2024-03-01,ümlaut\n';

describe('workbooks and LibreOffice', () => {
  it('reads what it writes, with types', async () => {
    await writeFile(at('list.csv'), list);
    await convert(at('list.csv'), `--infilter=${csvFilter},1`, '--convert-to', 'xlsx');
    expect(await readRows(fileSource(at('list.xlsx')))).toEqual([
      ['id', 'email', 'since', 'note'],
      [1, 'a@example.com', '2024-02-29', 'x, "y"'],
      [2.5, 'b@example.com', '2024-03-01', 'ümlaut'],
    ]);
  }, 120_000);

  it('writes what it reads', async () => {
    await writeFile(at('list.csv'), list);
    const reading = await fileSource(at('list.csv')).open({ wanted: () => [] });
    const cellsOf = () => ['=1+1', true];
    const opening = {
      reading,
      verified: [1],
      added: [addedColumnsOf('email', 'result', 'valid')],
      cellsOf,
    };
    await writeRows(fileSink(at('out.xlsx')), opening);
    await convert(at('out.xlsx'), '--convert-to', `csv:${csvFilter}`);
    expect(parse(await readFile(at('out.csv')))).toEqual([
      ['id', 'email', 'since', 'note', 'email_result', 'email_valid'],
      ['1', 'a@example.com', '2024-02-29', 'x, "y"', '=1+1', 'TRUE'],
      ['2.5', 'b@example.com', '2024-03-01', 'ümlaut', '=1+1', 'TRUE'],
    ]);
  }, 120_000);
});
