import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it, test } from 'vitest';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { csvCells } from '../../harness/csv-cells.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { startSluice } from '../../harness/run-sluice.js';

const rows = 6000;
const addresses = 400;

const common = ['--email', 'email', '--country', 'US', '--batch-size', '150'];

/** Rows that hardly compress. */
async function withList(): Promise<string> {
  const folder = await withFolder();
  const lines = Array.from({ length: rows }, (_, index) => {
    const filling = ['a', 'b', 'c', 'd'].map((salt) =>
      createHash('sha512').update(`${salt}${index}`).digest('base64'),
    );
    return `${index},good${index % addresses}@sluice.test,${filling.join('')}`;
  });
  await writeFile(join(folder, 'list.csv'), `id,email,filling\n${lines.join('\n')}\n`);
  return folder;
}

it('leaves all of a folder of parts or nothing when it is killed, pays once and goes on', async () => {
  const cwd = await withList();
  const { service } = await withService();
  const options = inFolder(cwd, service);
  const args = [
    'verify',
    'list.csv',
    '-o',
    'parts/',
    '--part-size',
    '1MB',
    '--json-log',
    ...common,
  ];
  const moments = [
    ['batch', { stage: 'launching' }],
    ['batch', { stage: 'exported' }],
    ['finished', {}],
  ] as const;
  for (const [event, fields] of moments) {
    const running = startSluice(args, options);
    await running.reported(event, fields);
    running.child.kill('SIGKILL');
    await running.ended;
    const left = await readdir(cwd);
    if (left.includes('parts'))
      expect(await readdir(join(cwd, 'parts'))).toContain('manifest.json');
  }
  // One that was killed behind its very last act is not followed by another.
  const hasEnded = !(await readdir(join(cwd, 'parts.sluice')).catch((): string[] => [])).includes(
    'journal',
  );
  if (!hasEnded) expect(await runInProcess(args, options)).toMatchObject({ code: 0 });
  const manifest = JSON.parse(await readFile(join(cwd, 'parts', 'manifest.json'), 'utf8')) as {
    readonly rows: number;
    readonly parts: readonly { readonly name: string }[];
  };
  expect(manifest.rows).toBe(rows);
  expect(manifest.parts.length).toBeGreaterThan(1);
  const ids: (string | undefined)[] = [];
  for (const { name } of manifest.parts) {
    const [, ...found] = csvCells(gunzipSync(await readFile(join(cwd, 'parts', name))));
    ids.push(...found.map(([id]) => id));
  }
  expect(ids).toEqual(Array.from({ length: rows }, (_, index) => String(index)));
  const paid = (await chargesOf(service)).map(({ address }) => address);
  expect(paid).toHaveLength(addresses);
  expect(new Set(paid).size).toBe(addresses);
  if (!hasEnded) expect((await readdir(cwd)).toSorted()).toEqual(['list.csv', 'parts']);
});

test.each([
  ['a size that is none', ['-o', 'parts', '--part-size', 'large'], /256MB/],
  ['a size without a unit', ['-o', 'parts', '--part-size', '100'], /256MB/],
  ['parts that are too small', ['-o', 'parts', '--part-size', '10KB'], /1000000/],
  ['standard output', ['--part-size', '1MB'], /-o/],
  [
    'a format that is not split',
    ['-o', 'parts', '--part-size', '1MB', '--output-format', 'xlsx'],
    /xlsx/,
  ],
  ['a file', ['-o', 'list.csv', '--part-size', '1MB'], /list\.csv/],
  ['a database', ['-o', 'sqlite:crm.db', '--into', 't', '--part-size', '1MB'], /--part-size/],
])('ends with 2 for %s', async (_, args, words) => {
  const cwd = await withFolder();
  await writeFile(join(cwd, 'list.csv'), 'email\ngood@sluice.test\n');
  const ended = await runInProcess(['verify', 'list.csv', ...args, ...common, '--local'], { cwd });
  expect(ended.stderr).toMatch(words);
  expect(ended.code).toBe(2);
  expect(await readdir(cwd)).toEqual(['list.csv']);
});
