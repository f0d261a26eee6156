import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Summary } from '../../src/index.js';
import { withFolder, withService } from '../service/with-service.js';
import { expectChargedOnce } from './charges.js';
import { connectTo } from './connect-to.js';
import { csvRows, expectInputKept } from './csv-cells.js';
import { runSluice } from './run-sluice.js';

const contacts = fileURLToPath(new URL('../../examples/contacts.csv', import.meta.url));
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

describe('sluice verify examples/contacts.csv', () => {
  it('verifies the sample list on a fresh machine', async () => {
    const folder = await withFolder();
    const output = join(folder, 'verified.csv');

    const ended = await runSluice([...main, '-o', output, '--summary', '-'], { cwd: folder });

    expect(ended.stderr).toContain('the local service verifies, offline and free of charge');
    expect(ended.code).toBe(0);
    await expectInputKept(contacts, output);
    expect(await readdir(folder)).toEqual(['verified.csv']);
    const umask = process.umask();
    expect((await stat(output)).mode & 0o777).toBe(0o666 & ~umask);

    const summary = JSON.parse(ended.stdout.toString()) as Summary;
    const rows = csvRows(await readFile(output));
    expect(summary).toMatchObject({ input: contacts, output, service: 'local', rows: rows.length });
    for (const [column, type] of [
      ['email', 'email'],
      ['mobile', 'phone'],
    ] as const) {
      const { buckets, reasons } = summary[type] ?? expect.fail(`no figures for ${type}`);
      const told = countsOf(rows, `${column}_verification`);
      expect(Object.values(buckets).reduce((sum, count) => sum + count)).toBe(rows.length);
      for (const [bucket, count] of Object.entries(buckets)) {
        expect([bucket, told.get(bucket) ?? 0]).toEqual([bucket, count]);
      }
      const said = countsOf(rows, `${column}_reason`);
      said.delete('');
      expect(Object.fromEntries(said)).toEqual(reasons);
      expect(buckets.failed).toBe(0);
    }
  });

  it('pays a service for each address once, and writes what the local one writes', async () => {
    const folder = await withFolder();
    const { service } = await withService();
    await mkdir(join(folder, 'local'));
    const [paid, free] = [join(folder, 'verified.csv'), join(folder, 'local', 'verified.csv')];

    const [ended, local] = await Promise.all([
      runSluice([...main, '-o', paid, '--summary', '-', '--poll-interval', '20'], {
        env: connectTo(service),
      }),
      runSluice([...main, '-o', free, '--local']),
    ]);

    expect([ended.code, local.code]).toEqual([0, 0]);
    expect(ended.stderr).not.toContain('local service');
    expect(local.stderr).not.toContain('local service');
    const summary = JSON.parse(ended.stdout.toString()) as Summary;
    const charges = await expectChargedOnce(service, summary);
    const spent = (summary.credits.email?.spent ?? 0) + (summary.credits.phone?.spent ?? 0);
    expect(charges).toHaveLength(spent);
    expect(summary.service).toBe(service.baseUrl);
    expect((await readFile(paid)).equals(await readFile(free))).toBe(true);
    expect((await readdir(folder)).toSorted()).toEqual(['local', 'verified.csv']);
  });

  it('takes the key from a file', async () => {
    const folder = await withFolder();
    const { service } = await withService();
    const list = join(folder, 'list.csv');
    await writeFile(list, 'email\ngood@sluice.test\n');
    await writeFile(join(folder, 'key'), `${service.apiKey}\n`);
    const { code, stdout } = await runSluice(
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
