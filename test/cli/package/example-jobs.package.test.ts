import { execFile } from 'node:child_process';
import { access, cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../docs/page.js';
import { csvRows } from '../harness/csv-cells.js';
import { withService, withFolder } from '../../service/with-service.js';
import { chargesOf } from '../harness/charges.js';
import { airflowTask, builtCommand, putCommand, starters } from '../verify/resume/starters.js';

const examples = join(projectRoot, 'examples');

interface JobEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with a command `sluice`, as an installed package has one, and a list. */
async function jobFolder(): Promise<string> {
  const folder = await withFolder();
  await putCommand(folder, builtCommand);
  await cp(join(examples, 'contacts.csv'), join(folder, 'contacts.csv'));
  return folder;
}

function runJob(
  folder: string,
  command: string,
  args: readonly string[],
  env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: folder },
): Promise<JobEnd> {
  return new Promise((resolve) => {
    execFile(command, [...args], { cwd: folder, env }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : 0;
      resolve({ code, stdout, stderr });
    });
  });
}

/** What a night says that went well: the output, and the verdict. */
const complete =
  'verified.csv is complete\nsluice: contacts.csv: 281 rows, 66 % of 276 emails valid\n';

it.each(['nightly.sh', 'psql-pipe.sh'])(
  'examples/%s says how it is used, and ends with 2',
  async (name) => {
    const ended = await runJob(await withFolder(), join(examples, name), []);
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(/^usage: .*\n$/) });
  },
);

describe('examples/nightly.sh', () => {
  it('verifies a list, knows it the next night, and tells by its exit code', async () => {
    const folder = await jobFolder();
    const nightly = join(examples, 'nightly.sh');
    const first = await runJob(folder, nightly, [folder, '--local']);
    expect(first).toEqual({ code: 0, stdout: complete, stderr: '' });
    const second = await runJob(folder, nightly, [folder, '--local']);
    expect(second).toMatchObject({ code: 0 });
    const summary = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as {
      readonly batches: readonly unknown[];
    };
    expect(summary.batches).toEqual([]);
    // Each night has a log of its own, and the one before is kept.
    for (const log of ['sluice.log', 'sluice.log.1']) {
      const [begins, ...rest] = (await readFile(join(folder, log), 'utf8')).split('\n');
      expect(rest.filter((line) => line === begins)).toEqual([]);
    }
  });

  it('finds the service, the key and the command in the bare environment of cron', async () => {
    const folder = await jobFolder();
    const { service } = await withService();
    const bin = join(folder, 'node_modules', '.bin');
    await mkdir(bin, { recursive: true });
    await rename(join(folder, 'sluice'), join(bin, 'sluice'));
    const environment = `SLUICE_BASE_URL=${service.baseUrl}\nSLUICE_API_KEY=${service.apiKey}\n`;
    await writeFile(join(folder, 'sluice.env'), environment, { mode: 0o600 });
    const env = { PATH: '/usr/bin:/bin', HOME: folder };
    const ended = await runJob(folder, join(examples, 'nightly.sh'), [folder], env);
    expect(ended).toMatchObject({ code: 0, stdout: `${complete.trimEnd()}, 245 credits\n` });
    expect((await chargesOf(service)).length).toBeGreaterThan(100);
  });

  it('leaves the output of a service as it is, once the environment is lost, without a history too', async () => {
    const folder = await jobFolder();
    const { service } = await withService();
    const nightly = join(folder, 'nightly.sh');
    const script = await readFile(join(examples, 'nightly.sh'), 'utf8');
    const options = ' --history=contacts.history --max-age=30';
    expect(script).toContain(options);
    await writeFile(nightly, script.replace(options, ''), { mode: 0o755 });
    await writeFile(join(folder, 'contacts.csv'), 'email\ngood@sluice.test\n');
    const environment = `SLUICE_BASE_URL=${service.baseUrl}\nSLUICE_API_KEY=${service.apiKey}\n`;
    await writeFile(join(folder, 'sluice.env'), environment, { mode: 0o600 });
    expect(await runJob(folder, nightly, [folder])).toMatchObject({ code: 0 });
    await rm(join(folder, 'sluice.env'));
    await rm(join(folder, 'verified.csv'));
    expect(await runJob(folder, nightly, [folder])).toMatchObject({ code: 2 });
    await expect(access(join(folder, 'verified.csv'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('mails its own warnings, also when the next night has begun', async () => {
    const folder = await jobFolder();
    const work =
      'mv sluice.log sluice.log.1; echo "the next night" > sluice.log; echo "warning: a" >&2';
    await writeFile(join(folder, 'sluice'), `#!/bin/sh\n${work}\necho "the verdict" >&2\n`);
    const ended = await runJob(folder, join(examples, 'nightly.sh'), [folder]);
    expect(ended.stdout).toBe('verified.csv is complete\nwarning: a\nthe verdict\n');
  });

  it('says of a night that failed first that this is over', async () => {
    const folder = await jobFolder();
    const first = 'touch tried; echo "sluice: warning: some rows failed" >&2; exit 3';
    const work = `[ -f tried ] || { ${first}; }\necho "the verdict" >&2`;
    await writeFile(join(folder, 'sluice'), `#!/bin/sh\n${work}\n`);
    const ended = await runJob(folder, join(examples, 'nightly.sh'), [folder]);
    expect(ended).toMatchObject({ code: 0 });
    const [outcome = '', ...rest] = ended.stdout.split('\n');
    expect(outcome).toMatch(/^verified\.csv is complete: .*sent again/);
    expect(rest).toEqual(['sluice: warning: some rows failed', 'the verdict', '']);
  });

  it('mails a night that is stopped from outside, and takes options in place of its own', async () => {
    const folder = await jobFolder();
    // The signal to the script alone, as a container sends it, ends sluice: which is reached but once.
    const work = 'trap "exit 143" TERM\necho "$@" >&2\nkill -TERM $PPID\nwhile :; do :; done';
    await writeFile(join(folder, 'sluice'), `#!/bin/sh\n${work}\n`);
    const given = ['--country', 'DE', '--max-age=7'];
    const ended = await runJob(folder, join(examples, 'nightly.sh'), [folder, ...given]);
    expect(ended).toMatchObject({ code: 143 });
    expect(ended.stdout).toMatch(
      /^stopped from outside.*\n.*\nverify contacts\.csv --email=email /,
    );
    expect(ended.stdout).toMatch(/ --no-progress --country DE --max-age=7\n$/);
    expect(ended.stdout).not.toMatch(/--country=US|--max-age=30/);
  });

  it('mails a night that was killed, and warnings that are events, too', async () => {
    const folder = await jobFolder();
    const warning = '{"time":"2026-01-01T00:00:00.000Z","severity":"warning","code":"history_cut"}';
    // Once, also where it is among the last lines.
    const lines = [warning, '{}', '{}', '{}', '{}', warning.replace('cut', 'last')];
    const work = `echo '${lines.join('\n')}' >&2\nkill -KILL $$`;
    await writeFile(join(folder, 'sluice'), `#!/bin/sh\n${work}\n`);
    const ended = await runJob(folder, join(examples, 'nightly.sh'), [folder, '--json-log']);
    expect(ended).toMatchObject({ code: 137 });
    const [outcome, ...rest] = ended.stdout.split('\n');
    expect(outcome).toMatch(/^killed/);
    expect(rest).toEqual([warning, 'sluice.log ends with:', ...lines.slice(1), '']);
  });

  it('says why nothing was sent, and leaves no summary of another night', async () => {
    const folder = await jobFolder();
    await writeFile(join(folder, 'summary.json'), '{"exit_code": 0}');
    const ended = await runJob(folder, join(examples, 'nightly.sh'), [folder, '--no-such-option']);
    await expect(access(join(folder, 'summary.json'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stdout).toMatch(/^nothing was sent: fix what the log says\n.*--no-such-option/s);
  });
});

describe.each([...starters, airflowTask('verify', 2)])('examples: $name', (starter) => {
  it('has a command that does what it says', async () => {
    const folder = await jobFolder();
    const night = await starter.start(folder, { env: {}, more: ['--local'] });
    expect(await night.ended).toMatchObject({ code: 0, verdict: 'done' });
    const rows = csvRows(await readFile(join(folder, 'verified.csv')));
    const given = csvRows(await readFile(join(folder, 'contacts.csv')));
    expect(rows).toHaveLength(given.length);
  });

  it('asks for a person where there is no command', async () => {
    const folder = await jobFolder();
    await rm(join(folder, 'sluice'));
    const night = await starter.start(folder, { env: {} });
    expect(await night.ended).toMatchObject({ code: 127, verdict: 'person' });
  });
});
