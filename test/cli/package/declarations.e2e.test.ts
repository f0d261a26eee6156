import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { projectRoot } from '../../../scripts/project.mjs';
import { withFolder } from '../../service/with-service.js';

it.each(['engine/runs/options/run-options', 'engine/history/history-options'])(
  'the declarations of %s have no option for the calls on the disk, which tests alone give',
  async (module) => {
    const declared = await readFile(join(projectRoot, 'dist', `${module}.d.ts`), 'utf8');
    expect(declared).toContain('@default');
    expect(declared).not.toMatch(/\bfiles\?:/);
  },
);

it('a project that declares what it exports can name every type that a function gives', async () => {
  const folder = await withFolder();
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  await symlink(projectRoot, join(folder, 'node_modules/sluice'));
  const types = 'node_modules/@types/node';
  await symlink(join(projectRoot, types), join(folder, types));
  const exported = [
    "verify({ client, email: ['email'], country: 'US' })",
    "verifyRows(rows, { client, email: ['email'], phone: ['mobile'], country: 'US', provenance: true })",
    "run({ source: rows, sink: 'x', client, email: ['email'], country: 'US' })",
    "streamRun({ source: rows, sink: 'x', client, email: ['email'], country: 'US' })",
    "estimateRun({ source: rows, email: ['email'], country: 'US' })",
    "mergeExports(rows, ['x'], { email: ['email'] })",
    "abandonRun({ stateDir: 'x', client })",
    "verifyAddress({ client, email: 'x', country: 'US' })",
    "client.exportBatch('x', { format: 'json' })",
    "client.verifyFile(Buffer.from(''), { type: 'email', target_country: 'US' })",
    "client.batchDetails('x')",
    'client.batches()',
    "new StreamPlan({ email: ['email'], country: 'US' })",
    'driveBatches({ client })',
    "History.open({ path: 'x' })",
    "readRunStatus('x')",
    "findColumns(fileSource('x'))",
  ];
  const lines = exported.map((call, at) => `export const call${at} = () => ${call};`);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'job.ts'),
    [
      'import { abandonRun, Client, driveBatches, estimateRun, fileSource, findColumns, History, mergeExports, readRunStatus, run, StreamPlan, streamRun, verify, verifyAddress, verifyRows } from "sluice";',
      'declare const client: Client;',
      'declare const rows: { id: number; email: string; mobile: string | null }[];',
      ...lines,
    ].join('\n'),
  );
  const tsc = join(projectRoot, 'node_modules/typescript-native/bin/tsc');
  const options =
    '--strict --noEmit --declaration --target es2022 --module nodenext --types node job.ts';
  const ended = await promisify(execFile)(process.execPath, [tsc, ...options.split(' ')], {
    cwd: folder,
  }).catch((error: unknown) => error as { readonly stdout: string });
  expect(ended.stdout).toBe('');
});
