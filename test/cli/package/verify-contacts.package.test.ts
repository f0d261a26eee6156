import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Summary } from '../../../src/index.js';
import { withFolder, withService } from '../../service/with-service.js';
import { expectChargedOnce } from '../harness/charges.js';
import { connectTo } from '../harness/connect-to.js';
import { csvRows, expectInputKept } from '../harness/csv-cells.js';
import { runInProcess } from '../harness/run-in-process.js';

const contacts = fileURLToPath(new URL('../../../examples/contacts.csv', import.meta.url));
const columns = ['--email', 'email', '--phone', 'mobile', '--country-column', 'country'];
const main = ['verify', contacts, ...columns, '--country', 'US'];

function countsOf(rows: readonly Record<string, string>[], column: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const cell = row[column] ?? 'no such column';
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  return counts;
}

/** Holds the figures that a run tells against the rows it has written. */
function expectFigures(summary: Summary, rows: readonly Record<string, string>[]): void {
  expect(summary.rows).toBe(rows.length);
  for (const [column, type] of [
    ['email', 'email'],
    ['mobile', 'phone'],
  ] as const) {
    const { buckets, reasons } = summary[type] ?? expect.fail(`no figures for ${type}`);
    const reported = countsOf(rows, `${column}_verification`);
    expect(Object.values(buckets).reduce((sum, count) => sum + count)).toBe(rows.length);
    for (const [bucket, count] of Object.entries(buckets)) {
      expect([bucket, reported.get(bucket) ?? 0]).toEqual([bucket, count]);
    }
    const printed = countsOf(rows, `${column}_reason`);
    printed.delete('');
    expect(Object.fromEntries(printed)).toEqual(reasons);
    expect(buckets.failed).toBe(0);
  }
}

describe('sluice verify examples/contacts.csv', () => {
  it('verifies its beginning on a fresh machine, and pays a service for each address of the list once', async () => {
    const folder = await withFolder();
    const { service } = await withService();
    for (const name of ['local', 'paid']) await mkdir(join(folder, name));
    const [free, paid] = [join(folder, 'local', 'out.csv'), join(folder, 'paid', 'out.csv')];
    const reports = ['--summary', '-', '--poll-interval', '20'];
    // Its beginning: the list has dozens of countries, and so seconds of batches.
    const few = join(folder, 'few.csv');
    const lines = (await readFile(contacts, 'utf8')).split('\n');
    await writeFile(few, `${lines.slice(0, 60).join('\n')}\n`);
    const local = await runInProcess([...main.with(1, few), '-o', free, ...reports]);
    const ended = await runInProcess([...main, '-o', paid, ...reports], {
      env: connectTo(service),
    });

    expect(local.stderr).toContain('the local service verifies, offline and free of charge');
    expect(local.code).toBe(0);
    await expectInputKept(few, free);
    expect(await readdir(join(folder, 'local'))).toEqual(['out.csv']);
    await writeFile(join(folder, 'fresh'), '');
    expect((await stat(free)).mode).toBe((await stat(join(folder, 'fresh'))).mode);
    const rows = csvRows(await readFile(free));
    const summary = JSON.parse(local.stdout.toString()) as Summary;
    expect(summary).toMatchObject({ input: few, output: free, service: 'local' });
    expectFigures(summary, rows);

    expect(ended.code).toBe(0);
    expect(ended.stderr).not.toContain('local service');
    expect(await readdir(join(folder, 'paid'))).toEqual(['out.csv']);
    await expectInputKept(contacts, paid);
    const paidRows = csvRows(await readFile(paid));
    expect(paidRows.slice(0, rows.length)).toEqual(rows);
    const paidSummary = JSON.parse(ended.stdout.toString()) as Summary;
    expect(paidSummary.service).toBe(service.baseUrl);
    expectFigures(paidSummary, paidRows);
    const charges = await expectChargedOnce(service, paidSummary);
    const { email, phone } = paidSummary.credits;
    expect(charges).toHaveLength((email?.spent ?? 0) + (phone?.spent ?? 0));
  });

  it('takes the key from a file', async () => {
    const folder = await withFolder();
    const { service } = await withService();
    const list = join(folder, 'list.csv');
    await writeFile(list, 'email\ngood@sluice.test\n');
    await writeFile(join(folder, 'key'), `${service.apiKey}\n`);
    const { code, stdout } = await runInProcess(
      ['verify', list, '--email', 'email', '--country', 'US', '--poll-interval', '20'].concat([
        '--base-url',
        service.baseUrl,
        '--api-key-file',
        'key',
      ]),
      { cwd: folder },
    );
    expect(code).toBe(0);
    expect(csvRows(stdout)).toMatchObject([{ email_verification: 'verified' }]);
  });
});
