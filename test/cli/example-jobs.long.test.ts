import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { projectRoot } from '../docs/page.js';
import { csvRows } from './csv-cells.js';
import { builtCommand, putCommand, starters } from './nightly/starters.js';

const examples = join(projectRoot, 'examples');

interface JobEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with a command `sluice`, as an installed package has one, and a list. */
async function jobFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-job-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await putCommand(folder, builtCommand);
  await cp(join(examples, 'contacts.csv'), join(folder, 'contacts.csv'));
  return folder;
}

function runJob(folder: string, command: string, args: readonly string[]): Promise<JobEnd> {
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: folder };
  return new Promise((resolve) => {
    execFile(command, [...args], { cwd: folder, env }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : 0;
      resolve({ code, stdout, stderr });
    });
  });
}

describe('examples/nightly.sh', () => {
  it('verifies a list, knows it the next night, and tells by its exit code', async () => {
    const folder = await jobFolder();
    const nightly = join(examples, 'nightly.sh');
    const first = await runJob(folder, nightly, [folder, '--local']);
    expect(first).toEqual({ code: 0, stdout: 'verified.csv is complete\n', stderr: '' });
    const second = await runJob(folder, nightly, [folder, '--local']);
    expect(second).toMatchObject({ code: 0 });
    const summary = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as {
      readonly batches: readonly unknown[];
    };
    expect(summary.batches).toEqual([]);
    const log = await readFile(join(folder, 'sluice.log'), 'utf8');
    for (const line of log.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('event');
  });

  it('says what a wrong option ends with', async () => {
    const folder = await jobFolder();
    const ended = await runJob(folder, join(examples, 'nightly.sh'), [folder, '--no-such-option']);
    expect(ended).toMatchObject({ code: 2, stdout: 'nothing was sent: see sluice.log\n' });
  });
});

describe.each(starters)('examples: $name', (starter) => {
  it('has a command that does what it says', async () => {
    const folder = await jobFolder();
    const night = await starter.start(folder, { env: {}, more: ['--local'] });
    expect(await night.ended).toMatchObject({ code: 0, verdict: 'done' });
    const rows = csvRows(await readFile(join(folder, 'verified.csv')));
    const given = csvRows(await readFile(join(folder, 'contacts.csv')));
    expect(rows).toHaveLength(given.length);
  });
});
