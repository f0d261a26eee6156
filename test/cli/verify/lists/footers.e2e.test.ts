import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { eventsOf } from '../../harness/logged-events.js';
import { runInProcess } from '../../harness/run-in-process.js';

const table =
  'Name,Email,City\r\n' +
  Array.from({ length: 20 }, (_, row) => `Ann,ann${row}@sluice.test,Rome\r\n`).join('');
const footer = '\r\n"Grand Totals (20 records)"\r\n\r\n"Copyright (c) 2026 Acme, Inc."\r\n"Acme"';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
  await writeFile(join(folder, 'list.csv'), table + footer);
});

function verify(service: Service, ...more: string[]): ReturnType<typeof runInProcess> {
  const command = ['verify', 'list.csv', '--email', 'Email', '--country', 'US'];
  const quick = ['--batch-size', '10', '--concurrency', '1', '--poll-interval', '5', '--json-log'];
  const output = more.includes('-o') ? [] : ['-o', 'out.csv'];
  return runInProcess([...command, ...output, ...quick, ...more], inFolder(folder, service));
}

function text(name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8');
}

describe('a list with a footer', () => {
  it('pays for its rows alone, says what the others are, and keeps them where the list is the same', async () => {
    const { service } = await withService();
    const ended = await verify(service, '--summary', 'summary.json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(eventsOf(ended, 'footer_found')).toMatchObject([{ unit: 'line', count: 5 }]);
    expect(await chargesOf(service)).toHaveLength(20);
    expect(JSON.parse(await text('summary.json'))).toMatchObject({ rows: 20 });
    const output = await text('out.csv');
    expect(output.endsWith(`\r\n${footer}`)).toBe(true);
    expect(output.split('\n')).toHaveLength(1 + 20 + 5);
    expect(output.split('\n')[20]).toMatch(/^Ann,ann19@sluice.test,Rome,verified,/);
  });

  it('is left out of new lists', async () => {
    const { service } = await withService();
    for (const more of [
      ['--keep', 'valid,wrong,unknown,none', '--rejects', 'rest.csv', '-o', 'out.csv'],
      ['--unique', '-o', 'out.csv'],
      ['--split-by', 'verdict', '-o', 'parts'],
      ['-o', 'out.tsv'],
    ]) {
      const ended = await verify(service, ...more);
      expect(ended.code, ended.stderr).toBe(0);
    }
    const parts = (await readdir(join(folder, 'parts'))).map((name) => `parts/${name}`);
    for (const name of ['out.csv', 'rest.csv', 'out.tsv', ...parts]) {
      expect(await text(name)).not.toContain('Totals');
    }
  });

  it('comes out the same, and is paid once, when a run stops and goes on', async () => {
    const { service } = await withService();
    expect((await verify(service, '-o', 'whole.csv')).code).toBe(0);
    const paid = (await chargesOf(service)).length;
    expect((await verify(service, '--max-credits', '10')).code).toBe(5);
    const ended = await verify(service);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await text('out.csv')).toBe(await text('whole.csv'));
    expect(await chargesOf(service)).toHaveLength(2 * paid);
  });

  it('is rows with --skip-footer 0, and as many lines as --skip-footer says', async () => {
    const { service } = await withService();
    const rows = await verify(service, '--skip-footer', '0', '--summary', 'summary.json');
    expect(rows.code, rows.stderr).toBe(0);
    expect(eventsOf(rows, 'footer_found')).toEqual([]);
    expect(JSON.parse(await text('summary.json'))).toMatchObject({ rows: 25 });
    const named = await verify(service, '--skip-footer', '5', '--summary', 'summary.json');
    expect(named.code, named.stderr).toBe(0);
    expect(eventsOf(named, 'footer_found')).toEqual([]);
    expect(JSON.parse(await text('summary.json'))).toMatchObject({ rows: 20 });
    expect(await chargesOf(service)).toHaveLength(40);
  });

  it('is not skipped with a contact in it: nothing is sent', async () => {
    const { service } = await withService();
    const ended = await verify(service, '--skip-footer', '6');
    expect(ended.code, ended.stderr).toBe(6);
    expect(await chargesOf(service)).toEqual([]);
  });

  it('is found in a stream, and written at its end', async () => {
    const { service } = await withService();
    const args = ['verify', '-', '--email', 'Email', '--country', 'US', '--json-log'];
    const ended = await runInProcess(args, { env: connectTo(service), input: table + footer });
    expect(ended.code, ended.stderr).toBe(0);
    expect(eventsOf(ended, 'footer_found')).toMatchObject([{ count: 5 }]);
    expect(ended.stdout.toString().endsWith(`\r\n${footer}`)).toBe(true);
    expect(await chargesOf(service)).toHaveLength(20);
  });
});
