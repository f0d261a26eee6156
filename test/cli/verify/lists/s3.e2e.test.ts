import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import ExcelJS from 'exceljs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { withS3, type S3Server } from '../../../servers/start-s3.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo } from '../../harness/connect-to.js';
import { csvRows } from '../../harness/csv-cells.js';
import { get, keys, put } from '../../../servers/bucket-objects.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { startSluice } from '../../harness/run-sluice.js';
import { eventsOf } from '../../harness/logged-events.js';

const settings =
  '--email email --country US --batch-size 10 --poll-interval 10 --concurrency 1'.split(' ');

/** The SDK takes its credentials from the environment of the process. */
async function withBucket(): Promise<S3Server> {
  const server = await withS3();
  for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  return server;
}

async function putLists(server: S3Server): Promise<void> {
  for (const [index, name] of ['a.csv', 'b.csv', 'c.csv'].entries()) {
    const ids = Array.from({ length: 10 }, (_, at) => 10 * index + at);
    const rows = ids.map((id) => `${id},good${id}@sluice.test\n`);
    await put(server, `in/${name}`, `id,email\n${rows.join('')}`);
  }
}

it('writes an output in a bucket for each header of several sheets', async () => {
  const [server, folder] = [await withBucket(), await withFolder()];
  const workbook = new ExcelJS.Workbook();
  workbook.addWorksheet('Leads').addRows([['email'], ['good1@sluice.test']]);
  workbook.addWorksheet('Kunden').addRows([
    ['Nr', 'email'],
    [7, 'bad1@sluice.test'],
  ]);
  await put(server, 'in/book.xlsx', Buffer.from(await workbook.xlsx.writeBuffer()));
  const args = ['--sheet', 'all', '--email', 'email', '--country', 'US', '--local'];
  for (const [list, output] of [
    ['s3://lists/in/book.xlsx', 's3://lists/out/verified.csv'],
    ['s3://lists/in/book.xlsx', 's3://lists/out/book.xlsx'],
  ] as const) {
    const ended = await runInProcess(['verify', list, '-o', output, ...args], {
      cwd: folder,
      env: server.env,
    });
    expect(ended.code, ended.stderr).toBe(0);
  }
  expect((await keys(server)).filter((key) => key.startsWith('out/'))).toEqual([
    'out/book.xlsx',
    'out/verified-Kunden.csv',
    'out/verified.csv',
  ]);
  const [customer] = csvRows(await get(server, 'out/verified-Kunden.csv'));
  expect(customer).toMatchObject({ Nr: '7', email_verification: 'verified' });
});

const thirty = Array.from({ length: 30 }, (_, at) => String(at));

describe('lists in a bucket', () => {
  it.each([
    ['one object', 's3://lists/out/verified.csv', [], 'verified.csv.sluice'],
    ['parts', 's3://lists/out/', ['--part-size', '1MB'], 'out.sluice'],
  ])('are verified into %s, and a killed run goes on', async (_, output, more, state) => {
    const [server, { service }, folder] = [
      await withBucket(),
      await withService(),
      await withFolder(),
    ];
    await putLists(server);
    const args = ['verify', 's3://lists/in/*.csv', ...settings, '-o', output, ...more];
    const options = { cwd: folder, env: { ...connectTo(service), ...server.env } };
    const killed = startSluice([...args, '--json-log'], options);
    await killed.reported('batch', { stage: 'verifying' });
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(await readdir(folder)).toEqual([state]);
    expect(await keys(server)).toEqual(['in/a.csv', 'in/b.csv', 'in/c.csv']);
    const ended = await runInProcess(args, options);
    expect(ended.code, ended.stderr).toBe(0);
    const written = (await keys(server)).filter((key) => key.startsWith('out/'));
    const [name = ''] = written.toSorted((one) => (one.includes('part-') ? -1 : 0));
    const bytes = await get(server, name);
    const rows = csvRows(name.endsWith('.gz') ? gunzipSync(bytes) : bytes);
    expect(rows.map(({ id }) => id)).toEqual(thirty);
    expect(rows.every((row) => row['email_verification'] === 'verified')).toBe(true);
    expect(written).toHaveLength(more.length > 0 ? 2 : 1);
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(paid).toHaveLength(30);
    expect(new Set(paid).size).toBe(30);
    expect(server.openUploads()).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['objects', 's3://lists/out'],
    ['files', 'out/'],
  ])('become %s by verdict, the same after a kill', async (_, output) => {
    const [server, { service }, folder] = [
      await withBucket(),
      await withService(),
      await withFolder(),
    ];
    await putLists(server);
    await put(server, 'in/d.csv', 'id,email\n30,bad@sluice.test\n31,\n32,unknown@sluice.test\n');
    const args = ['verify', 's3://lists/in/*.csv', ...settings, '-o', output];
    const options = { cwd: folder, env: { ...connectTo(service), ...server.env } };
    const killed = startSluice([...args, '--split-by', 'verdict', '--json-log'], options);
    await killed.reported('batch', { stage: 'verifying' });
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect((await keys(server)).filter((key) => key.startsWith('out/'))).toEqual([]);
    const ended = await runInProcess([...args, '--split-by', 'verdict'], options);
    expect(ended.code, ended.stderr).toBe(0);
    const idsOf = async (verdict: string) => {
      const name = `out/${verdict}.csv`;
      const isObject = output.startsWith('s3');
      const bytes = isObject ? await get(server, name) : await readFile(join(folder, name));
      return csvRows(bytes).map(({ id }) => id);
    };
    expect(await idsOf('valid')).toEqual(thirty);
    expect(await idsOf('wrong')).toEqual(['30']);
    expect(await idsOf('none')).toEqual(['31']);
    expect(await idsOf('unknown')).toEqual(['32']);
    expect(await chargesOf(service)).toHaveLength(32);
    expect(server.openUploads()).toEqual([]);
    expect(await readdir(folder)).toEqual(output.startsWith('s3') ? [] : ['out']);
  });

  it('are refused, and nothing is sent, where the bucket or the output is wrong', async () => {
    const [server, { service }, folder] = [
      await withBucket(),
      await withService(),
      await withFolder(),
    ];
    await putLists(server);
    const options = { cwd: folder, env: { ...connectTo(service), ...server.env } };
    const cases: [string, string, number, RegExp][] = [
      ['s3://none/a.csv', 'out.csv', 6, /s3:\/\/none\/a\.csv/],
      ['s3://lists/in/*.tsv', 'out.csv', 6, /s3:\/\/lists\/in\/\*\.tsv/],
      ['s3://lists/in/a.csv', 's3://lists/in/a.csv', 2, /s3:\/\/lists\/in\/a\.csv/],
      ['s3://lists/in/a.csv', 's3://none/out.csv', 6, /s3:\/\/none\/out\.csv/],
      ['s3://lists/in/a.csv', 's3://lists/out/', 2, /s3:\/\/lists\/out\//],
    ];
    for (const [input, output, code, message] of cases) {
      const ended = await runInProcess(['verify', input, ...settings, '-o', output], options);
      expect(ended.code, ended.stderr).toBe(code);
      expect(ended.stderr).toMatch(message);
    }
    expect(await chargesOf(service)).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    vi.stubEnv('HOME', folder);
    const ended = await runInProcess(['verify', 's3://lists/in/a.csv', ...settings], options);
    expect(ended.code, ended.stderr).toBe(2);
    expect(eventsOf(ended, 'error')).toMatchObject([
      { code: 'invalid_option', message: expect.stringContaining('AWS_ACCESS_KEY_ID') },
    ]);
  });
});

describe('a list that is split, in a bucket', () => {
  const list = (addresses: readonly string[]): string =>
    `id,email\n${addresses.map((address, id) => `${id},${address}@sluice.test\n`).join('')}`;
  const ids = async (server: S3Server, key: string): Promise<readonly (string | undefined)[]> =>
    csvRows(await get(server, key)).map(({ id }) => id);

  it('has its rejects in an object of its own', async () => {
    const [server, { service }, cwd] = [
      await withBucket(),
      await withService(),
      await withFolder(),
    ];
    await put(server, 'in.csv', list(['good1', 'bad1', 'good2', 'bad2']));
    const options = { cwd, env: { ...connectTo(service), ...server.env } };
    const args = ['verify', 's3://lists/in.csv', ...settings, '--keep', 'valid'];
    const split = ['-o', 's3://lists/good.csv', '--rejects', 's3://lists/bad.csv'];
    const ended = await runInProcess([...args, ...split], options);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await keys(server)).toEqual(['bad.csv', 'good.csv', 'in.csv']);
    expect(await ids(server, 'good.csv')).toEqual(['0', '2']);
    expect(await ids(server, 'bad.csv')).toEqual(['1', '3']);
    expect(server.openUploads()).toEqual([]);
    expect(await readdir(cwd)).toEqual([]);
  });

  it('is written beside its place when too many verdicts are unknown, until the next good run', async () => {
    const [server, { service }, cwd] = [
      await withBucket(),
      await withService(),
      await withFolder(),
    ];
    await put(server, 'in.csv', list(['good1', 'unknown1']));
    const options = { cwd, env: { ...connectTo(service), ...server.env } };
    const args = ['verify', 's3://lists/in.csv', ...settings, '-o', 's3://lists/out.csv'];
    const ended = await runInProcess([...args, '--max-unknown', '10'], options);
    expect(ended.code, ended.stderr).toBe(8);
    expect(ended.stderr).toContain('s3://lists/out.csv.suspect');
    expect(await keys(server)).toEqual(['in.csv', 'out.csv.suspect']);
    expect(await ids(server, 'out.csv.suspect')).toEqual(['0', '1']);
    await put(server, 'in.csv', list(['good1', 'good2']));
    const good = await runInProcess([...args, '--max-unknown', '10'], options);
    expect(good.code, good.stderr).toBe(0);
    expect(await keys(server)).toEqual(['in.csv', 'out.csv']);
  });

  it.each([
    ['is the output', ['--rejects', 's3://lists/out.csv'], 2, /s3:\/\/lists\/out\.csv/],
    ['is the input', ['--rejects', 's3://lists/in.csv'], 2, /s3:\/\/lists\/in\.csv/],
    ['has no bucket', ['--rejects', 's3://none/bad.csv'], 6, /s3:\/\/none\/bad\.csv/],
    ['is a folder', ['--rejects', 's3://lists/bad/'], 2, /s3:\/\/lists\/bad\//],
    ['is on a web server', ['--rejects', 'https://sluice.test/bad.csv'], 2, /--rejects/],
    ['is of parts', ['--rejects', 's3://lists/bad.csv', '--part-size', '1MB'], 2, /--part-size/],
  ] as const)('sends nothing where the place of the rejects %s', async (_, more, code, words) => {
    const [server, { service }, cwd] = [
      await withBucket(),
      await withService(),
      await withFolder(),
    ];
    await put(server, 'in.csv', list(['good1', 'bad1']));
    const options = { cwd, env: { ...connectTo(service), ...server.env } };
    const args = ['verify', 's3://lists/in.csv', ...settings, '-o', 's3://lists/out.csv'];
    const ended = await runInProcess([...args, '--keep', 'valid', ...more], options);
    expect(ended.code, ended.stderr).toBe(code);
    expect(ended.stderr).toMatch(words);
    expect(await chargesOf(service)).toEqual([]);
    expect(await keys(server)).toEqual(['in.csv']);
  });
});
