import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withFolder, withService } from '../service/with-service.js';
import { connectTo } from './connect-to.js';
import { runSluice } from './run-sluice.js';

const key = 'canary-key-94c1e7';
const address = 'canary.88f0b2@sluice.test';
const columns = ['--email', 'email', '--country', 'US', '--poll-interval', '10', '--verbose'];

async function filesBelow(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

it('neither says nor leaves a key or an address, however the run ends', async () => {
  const folder = await withFolder();
  await mkdir(join(folder, 'tmp'));
  await writeFile(join(folder, 'list.csv'), `email\n${address}\na,"b\n`);
  await writeFile(join(folder, 'good.csv'), `email\n${address}\n`);
  const accounts = [{ name: 'canary', key, emailCredits: 0 }];
  const { service } = await withService({ accounts });
  const paid = { ...connectTo(service), TMPDIR: join(folder, 'tmp') };
  const ends = [
    // Malformed, out of credits, a wrong column, a refused key, a state directory that is another run's.
    { args: ['list.csv', '-o', 'out.csv'], env: paid, code: 6 },
    { args: ['good.csv', '-o', 'out.csv'], env: paid, code: 5 },
    { args: ['good.csv', '-o', 'out.csv', '--phone', 'x'], env: paid, code: 2 },
    { args: ['good.csv'], env: { ...paid, SLUICE_API_KEY: `${key}-not` }, code: 4 },
    // Done, with the local service: in a state directory, and in a temporary folder.
    { args: ['good.csv', '-o', 'free.csv'], env: { TMPDIR: join(folder, 'tmp') }, code: 0 },
    { args: ['good.csv', '-o', '/dev/null'], env: { TMPDIR: join(folder, 'tmp') }, code: 0 },
  ];
  for (const { args, env, code } of ends) {
    const ended = await runSluice(['verify', ...args, ...columns], { cwd: folder, env });
    expect(ended.code, ended.stderr).toBe(code);
    expect(ended.stderr + ended.stdout.toString()).not.toContain('canary');
  }
  for (const path of await filesBelow(folder)) {
    const bytes = await readFile(path);
    expect(bytes.includes(key), path).toBe(false);
    // Only what is sent is kept, and only as long as the run is not over.
    const mayHold = /(?:list|good|free)\.csv$|out\.csv\.sluice\/batches\/000001\.txt$/;
    if (!mayHold.test(path)) expect(bytes.includes('canary'), path).toBe(false);
  }
  expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  expect((await readdir(folder)).toSorted()).toEqual([
    'free.csv',
    'good.csv',
    'list.csv',
    'out.csv.sluice',
    'tmp',
  ]);
});
