import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ExcelJS from 'exceljs';
import { beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../src/client/client.js';
import { catalogue } from '../../src/cli/messages/catalogue.js';
import { run } from '../../src/engine/runs/run.js';
import type { Service } from '../../src/service/index.js';
import { projectRoot } from '../docs/page.js';
import { askSqlite } from '../lists/sql/sqlite/ask-sqlite.js';
import { withFolder, withService } from '../service/with-service.js';
import { runAtTerminal } from './harness/at-terminal.js';
import { chargesOf } from './harness/charges.js';
import { connectTo, inFolder } from './harness/connect-to.js';
import { countRequests } from './harness/count-requests.js';
import { codedOf, eventsOf, parseLog } from './harness/logged-events.js';
import { answerInProcess, runInProcess } from './harness/run-in-process.js';
import type { Ended } from './harness/run-sluice.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

const noCountry = 'mail\ngood1@sluice.test\n';
const atStart = /Start\? \[Y\/n\]/;

const german = [
  'Kunde;E-Mail;Telefon;Telefax;Auftragsnr.',
  'Ada;good1@sluice.test;+49 30 1234567;+49 30 1234568;2025550101',
  'Bo;good2@sluice.test;030 1234569;;2025550102',
  '',
].join('\r\n');

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), text);
}

async function linesOf(name: string): Promise<number> {
  return (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n').length;
}

/** The command among what was said: the line that begins with its name. */
function commandIn(message: string): string {
  const lines = message.split('\n').filter((line) => line.startsWith('sluice verify '));
  expect(lines, message).toHaveLength(1);
  return lines[0] as string;
}

/** Runs a printed line as it is: a real shell takes it for words, with which the command runs here. */
async function paste(line: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const bin = await withFolder();
  const named = join(bin, 'sluice');
  await writeFile(named, `#!/bin/sh\nprintf '%s\\0' "$@"\n`);
  await chmod(named, 0o755);
  const { stdout } = await promisify(execFile)('sh', ['-c', line], {
    cwd: folder,
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: bin },
  });
  return runInProcess(stdout.split('\0').slice(0, -1), { cwd: folder, env });
}

async function paid(service: Service): Promise<number> {
  return (await chargesOf(service)).length;
}

describe('a list with several addresses in a cell', () => {
  const several =
    'fn,emails,tels,org\nAda,good1@sluice.test; good2@sluice.test,,Acme\nBo,Bo <good3@sluice.test>,+442079460999,\n';

  it('is split by the command that is proposed, which says so without showing cells to a log', async () => {
    const { service } = await withService();
    await write('list.csv', several);
    const env = connectTo(service);
    const ended = await runInProcess(['verify', 'list.csv'], { cwd: folder, env });
    expect(ended.code).toBe(2);
    expect(commandIn(ended.stderr)).toContain(' --email emails --phone tels --split-cells ');
    expect(ended.stderr).not.toContain('good2@');
    const pasted = await paste(commandIn(ended.stderr), env);
    expect(pasted.code, pasted.stderr).toBe(0);
    expect(await linesOf('list.verified.csv')).toBe(1 + 3);
    expect(await paid(service)).toBe(4);
  });

  it('is split where the cells are lists', async () => {
    const { service } = await withService();
    const rows = [
      { mails: ['good1@sluice.test', 'good2@sluice.test'] },
      { mails: ['good3@sluice.test'] },
    ];
    await write('list.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const env = { ...connectTo(service), LANG: 'en_US.UTF-8' };
    const ended = await runInProcess(['verify', 'list.jsonl'], { cwd: folder, env });
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'several_addresses')).toMatchObject([
      { cells: 1, bare: 0, lists: 1, of: 2 },
    ]);
    const pasted = await paste(commandIn(ended.stderr), env);
    expect(pasted.code, pasted.stderr).toBe(0);
    expect(await linesOf('list.verified.jsonl')).toBe(3);
    expect(await paid(service)).toBe(3);
  });

  it('is shown with its cells to a person', async () => {
    const { service } = await withService();
    await write('list.csv', several);
    const asked = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env: connectTo(service),
      answers: [[/Start\?/, 'n\r']],
    });
    expect(eventsOf(asked, 'several_addresses')).toMatchObject([
      { column: 'emails', cells: 1, bare: 1, of: 2 },
    ]);
    expect(asked.seen).toContain('good1@sluice.test; good2@sluice.test');
    expect(asked.seen).toContain(' --split-cells ');
    expect(await paid(service)).toBe(0);
  });
});

describe('a list with an unfinished run that has paid', () => {
  it('is resumed with the options of that run, whatever would be proposed now', async () => {
    const { service } = await withService();
    await write('list.csv', 'mail;note\ngood1@sluice.test;x\ngood2@sluice.test;x\n');
    const env = connectTo(service);
    const begun = ['--email', 'mail', '--country', 'US', '--batch-size', '1'];
    const stopped = await runInProcess(
      ['verify', 'list.csv', ...begun, '--max-credits', '1', '-o', 'list.verified.csv'],
      { cwd: folder, env },
    );
    expect(stopped.code).toBe(5);
    expect(await paid(service)).toBe(1);
    const resumed = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env,
      answers: [[/\[y\/N\]/, 'y\r']],
    });
    expect(resumed.code, resumed.seen).toBe(0);
    expect(eventsOf(resumed, 'going_on')).toHaveLength(1);
    expect(eventsOf(resumed, 'found_country')).toEqual([]);
    expect(await linesOf('list.verified.csv')).toBe(3);
    expect(await paid(service)).toBe(2);
  });

  it('is resumed where it was begun with another output, or paid for again after a yes', async () => {
    const { service } = await withService();
    await write('list.csv', 'mail;note\ngood1@sluice.test;x\ngood2@sluice.test;x\n');
    const env = connectTo(service);
    const begun = ['--email', 'mail', '--country', 'US', '--batch-size', '1'];
    const run = ['verify', 'list.csv', ...begun, '--max-credits', '1', '-o', 'first.csv'];
    expect((await runInProcess(run, { cwd: folder, env })).code).toBe(5);
    const declined = await answerInProcess(['verify', 'list.csv', '--country', 'US'], {
      cwd: folder,
      env,
      answers: [
        [/\[y\/N\]/, '\r'],
        [/\[y\/N\]/, '\r'],
      ],
    });
    expect(declined.code, declined.seen).toBe(2);
    expect(eventsOf(declined, 'paid_elsewhere')).toMatchObject([
      { output: 'first.csv', state: 'first.csv.sluice', paid: expect.stringMatching(/^1\b/) },
    ]);
    expect(await paid(service)).toBe(1);
    const resumed = await answerInProcess(['verify', 'list.csv', '-o', 'second.csv'], {
      cwd: folder,
      env,
      answers: [[/\[y\/N\]/, 'y\r']],
    });
    expect(resumed.code, resumed.seen).toBe(0);
    expect(await linesOf('first.csv')).toBe(3);
    expect(await readdir(folder)).not.toContain('second.csv');
    expect(await paid(service)).toBe(2);
  });

  it('ends without a question where the command cannot use what was paid', async () => {
    const { service } = await withService();
    await write(
      'list.csv',
      'mail;other\ngood1@sluice.test;good3@sluice.test\ngood2@sluice.test;\n',
    );
    const env = connectTo(service);
    const named = ['verify', 'list.csv', '--country', 'US', '-o', 'out.csv'];
    const begun = ['--email', 'mail', '--batch-size', '1', '--max-credits', '1'];
    expect((await runInProcess([...named, ...begun], { cwd: folder, env })).code).toBe(5);
    const stopped = await answerInProcess(
      ['verify', 'list.csv', '-o', 'out.csv', '--country', 'DE'],
      {
        cwd: folder,
        env,
        answers: [],
      },
    );
    expect(stopped.code, stopped.seen).toBe(2);
    expect(eventsOf(stopped, 'unfinished_run')).toMatchObject([
      { action: 'stop', why: expect.stringMatching(/--country.*\bUS\b.*\bDE\b/) },
    ]);
    expect(eventsOf(stopped, 'command')).toEqual([]);
    expect(stopped.seen).not.toMatch(/Start/);
  });

  it('is resumed with all that it was begun with, and says what it may still pay', async () => {
    const { service } = await withService();
    await write('list.csv', 'mail\ngood1@sluice.test; good2@sluice.test\nbad3@sluice.test\n');
    const env = connectTo(service);
    const sent = ['--no-global-cache', '--account-cache-days', '5', '--description', 'spring'];
    const written = ['--suggest', '--keep', 'valid', '--rejects', 'rest.csv'];
    const named = ['--email', 'mail', '--country', 'US', '--split-cells', '--batch-size', '2'];
    const begun = [
      ...named,
      ...sent,
      ...written,
      '--max-credits',
      '2',
      '-o',
      'list.verified.csv',
      '--concurrency',
      '1',
    ];
    const stopped = await runInProcess(['verify', 'list.csv', ...begun], { cwd: folder, env });
    expect(stopped.code, stopped.stderr).toBe(5);
    const resumed = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env,
      answers: [[/\b2\b.*--max-credits.*\b1\b.*\[y\/N\]/s, 'y\r']],
    });
    expect(resumed.code, resumed.seen).toBe(0);
    expect(await linesOf('list.verified.csv')).toBe(3);
    expect(await linesOf('rest.csv')).toBe(2);
    expect(await paid(service)).toBe(3);
  });
});

describe('the command that resumes a run', () => {
  it('is the one that began it, with every option as it was given', async () => {
    const { service } = await withService();
    await write(
      'list.csv',
      'mail,mobile\ngood1@sluice.test,\ngood1@sluice.test,\ngood2@sluice.test,\n',
    );
    await write('outs.csv', 'email\nout@sluice.test\n');
    await write('options.json', '{}');
    const env = connectTo(service);
    const ofProcess =
      '--yes --quiet --verbose --no-progress --json-log --wait-lock 1 --moved --fresh --config options.json';
    const options =
      '--email mail --phone mobile --country US --batch-size 1 ' +
      '--prefix mail=chk --columns valid,quality --unique=mail --keep ' +
      'mail=valid --rejects rest.csv --neutralize-formulas --summary sum.json --report page.html --suppress outs.csv --min-rows 2 --concurrency 1';
    const begun = options.split(' ');
    const limited = [...begun, '--max-credits', '1', '-o', 'out.csv', ...ofProcess.split(' ')];
    const stopped = await runInProcess(['verify', 'list.csv', ...limited], { cwd: folder, env });
    expect(stopped.code, stopped.stderr).toBe(5);
    const resumed = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env,
      answers: [[/\[y\/N\]/, 'y\r']],
    });
    expect(resumed.code, resumed.seen).toBe(0);
    const [shown] = eventsOf(resumed, 'command');
    expect(shown).toMatchObject({
      command: `sluice verify list.csv ${options} -o out.csv`,
    });
    const [header] = (await readFile(join(folder, 'out.csv'), 'utf8')).split('\n');
    expect(header).toBe('mail,mobile,chk_valid,chk_quality,mobile_valid');
    expect(await linesOf('rest.csv')).toBe(2);
    const summary: unknown = JSON.parse(await readFile(join(folder, 'sum.json'), 'utf8'));
    expect(summary).toMatchObject({ exit_code: 0 });
    expect(await paid(service)).toBe(2);
  });
});

describe('an unfinished run that the command would not resume', () => {
  it('names an option that is not kept, as it may hold a password', async () => {
    const { service } = await withService();
    await write('list.csv', 'mail\ngood1@sluice.test\ngood2@sluice.test\n');
    const env = connectTo(service);
    const { baseUrl, apiKey } = { baseUrl: service.baseUrl, apiKey: env['SLUICE_API_KEY'] ?? '' };
    const client = new Client({ baseUrl, apiKey });
    const began = run({
      source: join(folder, 'list.csv'),
      sink: join(folder, 'list.verified.csv'),
      client,
      email: ['mail'],
      country: 'US',
      batchSize: 1,
      maxCredits: 1,
      command: [['suppress', null]],
    });
    await expect(began).rejects.toMatchObject({ code: 'budget_exhausted' });
    await client.close();
    const asked = await answerInProcess(['verify', 'list.csv'], { cwd: folder, env, answers: [] });
    expect(asked.code, asked.seen).toBe(2);
    expect(await paid(service)).toBe(1);
  });

  it.each(['--base-url', '--env-file'])(
    'is offered where it alone named its service: %s',
    async (option) => {
      const { service } = await withService();
      await write('list.csv', 'mail\ngood1@sluice.test\ngood2@sluice.test\n');
      const { SLUICE_BASE_URL: url = '', SLUICE_API_KEY: key = '' } = connectTo(service);
      await write('service.env', `SLUICE_BASE_URL=${url}\nSLUICE_API_KEY=${key}\n`);
      const isFile = option === '--env-file';
      const named = [option, isFile ? 'service.env' : url];
      const env = isFile ? {} : { SLUICE_API_KEY: key };
      const begun = [
        '--email',
        'mail',
        '--country',
        'US',
        '--batch-size',
        '1',
        '--max-credits',
        '1',
      ];
      const run = ['verify', 'list.csv', ...begun, ...named, '-o', 'list.verified.csv'];
      expect((await runInProcess(run, { cwd: folder, env: { ...env } })).code).toBe(5);
      const declined = await answerInProcess(['verify', 'list.csv', '--country', 'US'], {
        cwd: folder,
        env: { ...env },
        // What was paid stops a command without its service.
        answers: [[/\[y\/N\]/, 'n\r']],
      });
      expect(declined.code, declined.seen).toBe(2);
      expect(await paid(service)).toBe(1);
      const resumed = await answerInProcess(['verify', 'list.csv'], {
        cwd: folder,
        env: { ...env },
        answers: [[/\[y\/N\]/, 'y\r']],
      });
      expect(resumed.code, resumed.seen).toBe(0);
      expect(await paid(service)).toBe(2);
    },
  );

  it('of a table is said to be paid for again where it is declined', async () => {
    const { service } = await withService();
    const rows =
      "INSERT INTO people VALUES ('good1@sluice.test'), ('good2@sluice.test') RETURNING 1";
    askSqlite(join(folder, 'crm.db'), 'CREATE TABLE people (mail TEXT)', rows);
    const env = connectTo(service);
    const query = ['--query', 'select * from "people"', '--batch-size', '1', '--max-credits', '1'];
    const begun = ['verify', 'sqlite:crm.db', ...query, '--email', 'mail', '--country', 'US'];
    expect((await runInProcess([...begun, '-o', 'first.csv'], { cwd: folder, env })).code).toBe(5);
    const declined = await answerInProcess(['verify', 'sqlite:crm.db', '--country', 'US'], {
      cwd: folder,
      env,
      answers: [
        [/\[y\/N\]/, 'n\r'],
        [/Start/, 'n\r'],
      ],
    });
    expect(eventsOf(declined, 'paid_elsewhere'), declined.seen).toMatchObject([
      { output: 'first.csv', paid: expect.stringMatching(/^1\b/) },
    ]);
  });

  it('names its service where none is given', async () => {
    const { service } = await withService();
    await write('list.csv', 'mail\ngood1@sluice.test\ngood2@sluice.test\n');
    const env = connectTo(service);
    const begun = ['--email', 'mail', '--country', 'US', '--batch-size', '1', '--max-credits', '1'];
    const run = ['verify', 'list.csv', ...begun, '-o', 'list.verified.csv'];
    expect((await runInProcess(run, { cwd: folder, env })).code).toBe(5);
    const forgotten = await answerInProcess(['verify', 'list.csv'], { cwd: folder, answers: [] });
    expect(forgotten.code, forgotten.seen).toBe(2);
    expect(eventsOf(forgotten, 'command')).toEqual([]);
    expect(eventsOf(forgotten, 'error')).toMatchObject([
      { message: expect.stringContaining(service.baseUrl) },
    ]);
    expect(await paid(service)).toBe(1);
  });

  it('is no question where --max-credits has no room for any batch', async () => {
    const { service } = await withService();
    await write('list.csv', 'mail\ngood1@sluice.test\ngood2@sluice.test\n');
    const ended = await answerInProcess(
      ['verify', 'list.csv', '--country', 'US', '--max-credits', '1'],
      {
        cwd: folder,
        env: connectTo(service),
        answers: [],
      },
    );
    expect(ended.code, ended.seen).toBe(2);
    expect(ended.seen).not.toMatch(/Start/);
  });
});

describe('an unfinished run of the list of the day before, which has another name', () => {
  it('is taken over by the run of today, which pays only for what is new', async () => {
    const { service } = await withService();
    const rows = Array.from({ length: 6 }, (_, at) => `good${at}@sluice.test\n`);
    await write('list-28.csv', `mail\n${rows.slice(0, 5).join('')}`);
    await write('list-29.csv', `mail\n${rows.slice(1).join('')}`);
    const env = connectTo(service);
    const begun = [
      '--email',
      'mail',
      '--country',
      'US',
      '--batch-size',
      '2',
      '--max-credits',
      '4',
      '--concurrency',
      '1',
    ];
    const run = ['verify', 'list-28.csv', ...begun, '-o', 'list-28.verified.csv'];
    expect((await runInProcess(run, { cwd: folder, env })).code).toBe(5);
    const today = ['verify', 'list-29.csv', '--country', 'US'];
    const asked = await answerInProcess(today, {
      cwd: folder,
      env,
      answers: [
        [/list-28\.csv .*\b4\b.*\b3\b.*\?/s, '\r'],
        [atStart, '\r'],
      ],
    });
    expect(asked.code, asked.seen).toBe(0);
    expect(asked.seen).toContain(' --state list-28.verified.csv.sluice');
    expect(await linesOf('list-29.verified.csv')).toBe(6);
    expect(await paid(service)).toBe(6);
  });
});

describe('an unfinished run with a limit', () => {
  it('is resumed with it where it is not used up', async () => {
    const { service } = await withService({ emailCredits: 1 });
    await write('list.csv', 'mail\ngood1@sluice.test\ngood2@sluice.test\n');
    const env = connectTo(service);
    const begun = ['--email', 'mail', '--country', 'US', '--batch-size', '1'];
    const stopped = await runInProcess(
      ['verify', 'list.csv', ...begun, '--max-credits', '2', '-o', 'list.verified.csv'],
      { cwd: folder, env },
    );
    expect(stopped.code, stopped.stderr).toBe(5);
    const resumed = await answerInProcess(['verify', 'list.csv', '--country', 'US'], {
      cwd: folder,
      env,
      answers: [
        [/--max-credits 2.*\[Y\/n\]/s, 'n\r'],
        [/Start/, 'n\r'],
      ],
    });
    expect(resumed.code, resumed.seen).toBe(2);
  });
});

describe('--keep over several columns', () => {
  const list = 'mail,phone\ngood1@sluice.test,+12025550143\ngood2@sluice.test,\n';
  const named = ['verify', 'list.csv', '--email', 'mail', '--phone', 'phone', '--country', 'US'];

  it('says before the question how many rows an empty cell leaves out', async () => {
    await write('list.csv', list);
    const asked = await answerInProcess(
      ['verify', 'list.csv', '--local', '--keep', 'valid', '--country', 'US'],
      {
        cwd: folder,
        answers: [[/phone[^]*Start\?/, 'n\r']],
      },
    );
    expect(eventsOf(asked, 'keep_needs_all')).toMatchObject([
      { keep: 'valid', columns: ['mail', 'phone'], empty: [{ column: 'phone', cells: 1 }] },
    ]);
  });

  it('says it to a person before anything is sent, and to --dry-run, where it matters', async () => {
    await write('list.csv', list);
    const run = [...named, '--local', '-o', 'out.csv', '--keep', 'valid'];
    const ran = await answerInProcess(run, { cwd: folder, answers: [] });
    expect(ran.events.findIndex(({ event }) => event === 'keep_needs_all')).toBe(0);
    const counted = async (...more: readonly string[]) =>
      eventsOf(
        await runInProcess([...named, '--local', '--dry-run', ...more], { cwd: folder }),
        'keep_needs_all',
      );
    expect(await counted('--keep', 'valid')).toHaveLength(1);
    expect(await counted('--keep', 'mail=valid')).toEqual([]);
    expect(await counted('--keep', 'valid,none')).toEqual([]);
    expect(await counted('--keep', 'valid', '--keep', 'phone=valid,none')).toEqual([]);
  });

  it('names the option for qualities', async () => {
    await write('list.csv', list);
    const refused = await runInProcess([...named, '--keep', 'good,risky'], { cwd: folder });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--keep-quality good,risky');
  });
});

describe('an unfinished run with a suppress list', () => {
  const begun = ['verify', 'list.csv', '--email', 'mail', '--country', 'US', '--batch-size', '1'];
  const rows = [1, 2, 3].map((id) => `good${id}@sluice.test;x\n`);

  async function stopAfterOne(...suppress: readonly string[]) {
    const { service } = await withService();
    await write('list.csv', `mail;note\n${rows.join('')}`);
    await write('outs.csv', 'name;gone\nx;good2@sluice.test\n');
    const env = connectTo(service);
    const stopped = await runInProcess(
      [...begun, '-o', 'list.verified.csv', '--max-credits', '1', ...suppress],
      { cwd: folder, env },
    );
    expect(stopped.code, stopped.stderr).toBe(5);
    return { service, env };
  }

  it.each(['outs.csv', 'outs.csv#gone'])('is resumed with it, named as %s', async (list) => {
    const { service, env } = await stopAfterOne('--suppress', list);
    const resumed = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env,
      answers: [[/\[y\/N\]/, 'y\r']],
    });
    expect(resumed.code, resumed.seen).toBe(0);
    const charged = (await chargesOf(service)).map(({ address }) => address);
    expect(charged.toSorted()).toEqual(['good1@sluice.test', 'good3@sluice.test']);
  });

  it('is not offered without the list where nobody knows its name', async () => {
    const { service } = await withService();
    await write('list.csv', `mail;note\n${rows.join('')}`);
    const begunInCode = run({
      source: join(folder, 'list.csv'),
      sink: join(folder, 'list.verified.csv'),
      suppress: [{ source: [{ gone: 'good2@sluice.test' }] }],
      client: new Client(service),
      email: ['mail'],
      country: 'US',
      batchSize: 1,
      maxCredits: 1,
    });
    await expect(begunInCode).rejects.toMatchObject({ code: 'budget_exhausted' });
    const asked = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env: connectTo(service),
      answers: [],
    });
    expect(asked.code, asked.seen).toBe(2);
    expect(eventsOf(asked, 'command')).toEqual([]);
    expect(await paid(service)).toBe(1);
  });

  it('is passed over where it was begun with another output', async () => {
    const { service } = await withService();
    await write('list.csv', `mail;note\n${rows.join('')}`);
    const begunInCode = run({
      source: join(folder, 'list.csv'),
      sink: join(folder, 'other.csv'),
      suppress: [{ source: [{ gone: 'good2@sluice.test' }] }],
      client: new Client(service),
      email: ['mail'],
      country: 'US',
      batchSize: 1,
      maxCredits: 1,
    });
    await expect(begunInCode).rejects.toMatchObject({ code: 'budget_exhausted' });
    const asked = await answerInProcess(['verify', 'list.csv', '--country', 'US'], {
      cwd: folder,
      env: connectTo(service),
      answers: [[/Start[^\n]*\?/, 'n\r']],
    });
    expect(asked.code, asked.seen).toBe(2);
    expect(eventsOf(asked, 'command')).toMatchObject([
      { command: expect.stringContaining('-o list.verified.csv') as string },
    ]);
    expect(await paid(service)).toBe(1);
  });
});

describe('a history beside the list', () => {
  it('is proposed where it knows most of the addresses, and a new one where none knows any', async () => {
    const { service } = await withService();
    const env = connectTo(service);
    const cells = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, at) => `good${from + at}@sluice.test\n`).join('');
    const verified = async (name: string, text: string): Promise<void> => {
      await write(`${name}.csv`, `mail\n${text}`);
      const ofColumn = ['--email', 'mail', '--country', 'US'];
      const kept = ['-o', `${name}.out.csv`, '--history', `${name}.history`];
      const { code } = await runInProcess(['verify', `${name}.csv`, ...ofColumn, ...kept], {
        cwd: folder,
        env,
      });
      expect(code).toBe(0);
    };
    await verified('all_2026-11-27', cells(0, 2));
    await verified('all_2026-11-28', cells(0, 5));
    await verified('others', cells(20, 23));
    await write('broken.history', 'of something else');
    await write('broken.history.key', 'no key');
    await write('all_2026-11-29.csv', `mail\n${cells(0, 6)}`);
    await write('new.csv', `mail\n${cells(40, 42)}`);
    const propose = async (list: string) =>
      runInProcess(['verify', list, '--country', 'US'], { cwd: folder, env });
    const tonight = await propose('all_2026-11-29.csv');
    expect(commandIn(tonight.stderr)).toMatch(/ --history all_2026-11-28\.history$/);
    expect(eventsOf(tonight, 'proposed_history')).toMatchObject([
      { known: 5, of: 6, is_other: true },
    ]);
    const fresh = await propose('new.csv');
    expect(eventsOf(fresh, 'proposed_history')).toMatchObject([
      { history: 'new.history', known: 0, is_other: false },
    ]);
    // Where no country is known, results for one count as well.
    for (const [list, history] of [
      ['new.csv', 'new.history'],
      ['all_2026-11-29.csv', 'all_2026-11-28.history'],
    ] as const) {
      const open = await runInProcess(['verify', list], { cwd: folder, env });
      expect(eventsOf(open, 'proposed_history'), list).toMatchObject([{ history }]);
    }
    // The nights of the examples go on with the history of contacts.csv.
    for (const job of ['nightly.sh', 'systemd/sluice-verify.service', 'github/verify.yml']) {
      const text = await readFile(join(projectRoot, 'examples', job), 'utf8');
      expect(text).toMatch(/--history[ =]contacts\.history\s/);
    }
    await write('all_2026-11-29.verified.csv', 'of another night');
    const asked = await answerInProcess(['verify', 'all_2026-11-29.csv', '--country', 'US'], {
      cwd: folder,
      env,
      answers: [[atStart, '\r']],
    });
    expect(asked.code, asked.seen).toBe(0);
    expect(eventsOf(asked, 'paid_again')).toEqual([]);
    expect(await paid(service)).toBe(11);
  });
});

describe('an unfinished run with a history', () => {
  const begun = ['verify', 'list.csv', '--email', 'mail', '--country', 'US', '--batch-size', '1'];
  const output = ['-o', 'list.verified.csv'];

  async function stopAfterOne() {
    const { service } = await withService();
    await write('list.csv', 'mail;note\ngood1@sluice.test;x\ngood2@sluice.test;x\n');
    const env = connectTo(service);
    const stopped = await runInProcess(
      [...begun, ...output, '--max-credits', '1', '--history', 'own.history'],
      { cwd: folder, env },
    );
    expect(stopped.code).toBe(5);
    return { service, env };
  }

  it('is resumed with it, so that the next run pays for nothing again', async () => {
    const { service, env } = await stopAfterOne();
    const resumed = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env,
      answers: [[/\[y\/N\]/, 'y\r']],
    });
    expect(resumed.code, resumed.seen).toBe(0);
    expect(codedOf(resumed, 'history_left_out')).toEqual([]);
    const next = await runInProcess([...begun, ...output, '--history', 'own.history'], {
      cwd: folder,
      env,
    });
    expect(next.code).toBe(0);
    expect(await paid(service)).toBe(2);
  });

  it('warns where the command that resumes it does not name it', async () => {
    const { env } = await stopAfterOne();
    const resumed = await runInProcess([...begun, ...output], { cwd: folder, env });
    expect(resumed.code).toBe(0);
    expect(codedOf(resumed, 'history_left_out')).toMatchObject([
      { severity: 'warning', history: expect.stringContaining('own.history') },
    ]);
  });
});

describe('sluice verify without a column, where nobody can be asked', () => {
  it('prints the whole command and ends with 2, and sends nothing', async () => {
    const { service } = await withService();
    const requests = countRequests(service);
    await write('list.csv', german);
    const ended = await runInProcess(['verify', 'list.csv'], inFolder(folder, service));
    expect(ended.code).toBe(2);
    expect(ended.stdout.toString()).toBe('');
    expect(commandIn(ended.stderr)).toBe(
      'sluice verify list.csv --email E-Mail --phone Telefon --country DE -o list.verified.csv --history list.history',
    );
    expect(eventsOf(ended, 'found_country')).toMatchObject([{ country: [['country', 'DE']] }]);
    expect(eventsOf(ended, 'left_out_column')).toMatchObject([{ column: 'Telefax', why: 'fax' }]);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'invalid_option', exit_code: 2 }]);
    // What is said may be a log: it holds no cell.
    expect(ended.stderr).not.toMatch(/good1|1234567/);
    expect(requests).toEqual([]);
    expect(await readdir(folder)).toEqual(['list.csv']);
  });

  it('says what a person reads above the question: footers, opt-outs, lists of them, countries', async () => {
    const rows = ['a@sluice.test,+4930123456,Germny,no', 'b@sluice.test,+43123456,Ausria,yes'];
    const list = ['mail,phone,Land,unsubscribed', ...rows, 'Grand Totals (2 records),,,', ''];
    await write('list.csv', list.join('\n'));
    await write('unsubscribed.csv', 'month,people\nMay,12\n');
    const alone = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(eventsOf(alone, 'notice')).toMatchObject([{ code: 'opted_out', rows: 1 }]);
    await write('opt-outs.csv', 'mail\na@sluice.test\n');
    const ended = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'footer_found')).toMatchObject([{ count: 1 }]);
    expect(eventsOf(ended, 'notice')).toMatchObject([
      { code: 'suppress_list', cells: 1 },
      { code: 'opted_out', rows: 1 },
    ]);
    const lists = [{ list: 'opt-outs.csv', cells: 1 }];
    expect(eventsOf(ended, 'proposed_suppress')).toMatchObject([{ lists }]);
    expect(eventsOf(ended, 'suppress_beside')).toMatchObject([{ lists: ['unsubscribed.csv'] }]);
    expect(commandIn(ended.stderr)).toContain('--suppress opt-outs.csv');
    expect(eventsOf(ended, 'left_out_column')).toMatchObject([
      { column: 'Land', meant: [{ code: 'DE' }, { code: 'AT' }] },
    ]);
    const named = ['verify', 'list.csv', '--suppress', 'opt-outs.csv', '--country', 'DE'];
    const suppressed = await runInProcess(named, { cwd: folder });
    for (const event of ['proposed_suppress', 'suppress_beside'] as const)
      expect(eventsOf(suppressed, event)).toEqual([]);
    expect(suppressed.code).toBe(2);
  });

  it('proposes of the lists of opt-outs those that have addresses of its rows', async () => {
    await write('list.csv', 'name,phone\nx,+1 202 555 0110\ny,+1 202 555 0111\n');
    await write('unsub.csv', 'mail\ngood1@sluice.test\ngood2@sluice.test\n');
    const unused = { lists: [{ list: 'unsub.csv', cells: 2 }] };
    // Also where no country is known yet: the list has no numbers.
    for (const country of [[], ['--country', 'US']]) {
      const ended = await runInProcess(['verify', 'list.csv', ...country], { cwd: folder });
      expect(commandIn(ended.stderr)).not.toContain('--suppress');
      expect(eventsOf(ended, 'suppress_unused')).toMatchObject([unused]);
      expect(eventsOf(ended, 'proposed_suppress')).toEqual([]);
      expect(codedOf(ended, 'nothing_suppressed')).toEqual([]);
    }
    await write('optout.csv', 'phone\n+1 202 555 0111\n+1 202 555 0112\n');
    const asked = await answerInProcess(['verify', 'list.csv', '--local', '--country', 'US'], {
      cwd: folder,
      answers: [[/Start \(1 cell left out by "optout.csv"\)\?/, 'n\r']],
    });
    expect(asked.code, asked.seen).toBe(2);
    expect(commandIn(asked.seen)).toContain('--suppress optout.csv');
    expect(commandIn(asked.seen)).not.toContain('unsub.csv');
    expect(eventsOf(asked, 'suppress_unused')).toMatchObject([unused]);
  });

  it('says which rows have no country that the proposed command would send', async () => {
    await write('list.csv', 'mail,country\na@sluice.test,US\nb@sluice.test,FR\nc@sluice.test,\n');
    const ended = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(eventsOf(ended, 'countries')).toMatchObject([{ countries: { missing: 1 } }]);
    expect(commandIn(ended.stderr)).toContain('--country XX');
  });

  it('prints the command also where the list cannot be read to its end', async () => {
    const rows = Array.from({ length: 30_000 }, (_, at) => `good${at}@sluice.test`);
    await write('list.csv', ['mail', ...rows, 'a,b,c', ''].join('\n'));
    const ended = await runInProcess(['verify', 'list.csv', '--country', 'US'], { cwd: folder });
    expect(eventsOf(ended, 'error')).toMatchObject([{ line: 30_002 }]);
    expect(commandIn(ended.stderr)).toContain('--email mail');
  });

  it('finds the encoding that programs on Windows write', async () => {
    await writeFile(
      join(folder, 'list.csv'),
      Buffer.from('Name;E-Mail;Land\r\nJörg;good@sluice.test;Österreich\r\n', 'latin1'),
    );
    const ended = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(eventsOf(ended, 'found_encoding')).toMatchObject([{ encoding: 'windows-1252' }]);
    expect(commandIn(ended.stderr)).toBe(
      'sluice verify list.csv --encoding windows-1252 --email E-Mail --country-column Land -o list.verified.csv',
    );
  });

  it('finds it by the names of columns alone, too', async () => {
    const rows = '\r\ngood@sluice.test;DE\r\n';
    await writeFile(join(folder, 'list.csv'), Buffer.from(`Schlüssel;Land${rows}`, 'latin1'));
    const ended = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(eventsOf(ended, 'found_encoding')).toMatchObject([{ encoding: 'windows-1252' }]);
    await write('list.csv', `Schl\ufffdssel;Land${rows}`);
    const broken = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(eventsOf(broken, 'found_encoding')).toMatchObject([{ encoding: null }]);
  });

  it.each([
    // Names, as Shift JIS, GB 18030 and windows-1251 have them.
    ['8e52 9363 91be 9859', '山田太郎', 'shift_jis'],
    ['d5c5 c0ad', '张拉', 'gb18030'],
    ['c8e2 e0ed', 'Иван', 'windows-1251'],
  ])('proposes no Western encoding for %s, which is %s', async (bytes, text, encoding) => {
    const name = Buffer.from(bytes.replaceAll(' ', ''), 'hex');
    const [head, tail] = [Buffer.from('Name;E-Mail\r\n'), Buffer.from(';good@sluice.test\r\n')];
    await writeFile(join(folder, 'list.csv'), Buffer.concat([head, name, tail]));
    const ended = await runInProcess(['verify', 'list.csv', '--country', 'JP'], { cwd: folder });
    expect(eventsOf(ended, 'found_encoding')).toMatchObject([{ encoding: null }]);
    expect(commandIn(ended.stderr)).not.toContain('--encoding');
    const named = ['--encoding', encoding, '--email', 'E-Mail', '--country', 'JP', '--local'];
    await runInProcess(['verify', 'list.csv', ...named, '-o', 'out.csv'], { cwd: folder });
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toContain(`\n${text};good@sluice.test`);
  });

  it('takes no list in a cell for text of another encoding', async () => {
    await write('list.jsonl', '{"name":"Jörg","email":"good@sluice.test","tags":["x"]}\n');
    const ended = await runInProcess(['verify', 'list.jsonl', '--country', 'DE'], { cwd: folder });
    expect(eventsOf(ended, 'found_encoding')).toEqual([]);
    expect(commandIn(ended.stderr)).toBe(
      'sluice verify list.jsonl --country DE --email email -o list.verified.jsonl',
    );
  });

  it('finds a column of emails that have names beside them', async () => {
    await write('list.csv', 'E-mail Address,Id\nAda <good@sluice.test>,1\n');
    const ended = await runInProcess(['verify', 'list.csv', '--country', 'US'], { cwd: folder });
    expect(commandIn(ended.stderr)).toContain("--email 'E-mail Address'");
  });

  it.each([
    ['list.csv', 'good1@sluice.test\ngood2@sluice.test\n', '--email #1'],
    ['list.csv', 'good1@sluice.test;Ada\ngood2@sluice.test;Bo\n', '--email #1'],
    ['list.csv', 'Ada,+49 30 1234567\nBo,+49 30 1234568\n', '--phone #2'],
    ['list.xlsx', 'good1@sluice.test\ngood2@sluice.test\n', '--email #1'],
  ])('reads the first row of %s as a row where it is no header: %j', async (name, text, column) => {
    if (name === 'list.csv') await write(name, text);
    else {
      const workbook = new ExcelJS.Workbook();
      workbook.addWorksheet('One').addRows(
        text
          .trim()
          .split('\n')
          .map((cell) => [cell]),
      );
      workbook.addWorksheet('Two').addRows([['Note'], ['none']]);
      await workbook.xlsx.writeFile(join(folder, name));
    }
    const args = ['verify', name, '--country', 'DE', '--local'];
    const ended = await runInProcess(args, { cwd: folder });
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'no_header')).toHaveLength(1);
    expect(ended.stderr).not.toMatch(/good1|1234567/);
    const line = commandIn(ended.stderr);
    expect(line.replaceAll("'", '')).toContain(`--local --no-header ${column} -o `);
    const pasted = await paste(line.replace(/-o .*/, '-o out.csv'));
    expect(pasted.code, pasted.stderr).toBe(0);
    expect(await linesOf('out.csv')).toBe(2);
    const written = await readFile(join(folder, 'out.csv'), 'utf8');
    expect(written.split('\n')[0]).toContain(text.split(/[;\n]/)[0] as string);
    // A column that is named finds no header either, and nothing is sent.
    const { service } = await withService();
    const requests = countRequests(service);
    const [at] = text.match(/^[^;,\n]+/) ?? [];
    const named = await runInProcess(
      ['verify', name, '--email', at as string, '--country', 'DE', '-o', 'named.csv'],
      inFolder(folder, service),
    );
    expect(named.code).toBe(2);
    expect(eventsOf(named, 'error')).toMatchObject([{ code: 'header_missing' }]);
    for (const expected of [name, '--no-header', '--skip-rows 0'])
      expect(named.stderr).toContain(expected);
    expect(requests).toEqual([]);
  });

  it('says that a list has no rows', async () => {
    await write('list.csv', 'email,name\n');
    const ended = await runInProcess(['verify', 'list.csv', '--country', 'US'], { cwd: folder });
    expect(eventsOf(ended, 'looked')).toMatchObject([{ rows: 0, is_whole: true }]);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'invalid_option' }]);
  });

  it('chooses no country that less than half of the numbers say', async () => {
    const numbers = ['0041 78 977 45 88', '+41 44 301 12 34', '030 1234567', '07577 523491', ''];
    const rows = [...numbers, '079 351 81 90'].map((number, at) => `a${at}@x.example,${number}`);
    await write('list.csv', `mail,phone\n${rows.join('\n')}\n`);
    const ended = await runInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env: { LANG: 'de_DE.UTF-8' },
    });
    expect(ended.code).toBe(2);
    expect(commandIn(ended.stderr)).toContain('--country XX');
    expect(eventsOf(ended, 'found_country')).toMatchObject([{ country: null }]);
    // Emails alone have nothing to do with it.
    await write('list.csv', `mail,Land\na@x.example,Schweiz\nb@x.example,\nc@x.example,\n`);
    const emails = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(commandIn(emails.stderr)).toContain('--country-column Land --country XX -o');
    const german = { cwd: folder, env: { LANG: 'de_DE.UTF-8' } };
    const others = await runInProcess(['verify', 'list.csv'], german);
    expect(commandIn(others.stderr)).toContain('--country-column Land --country DE -o');
    const given = await runInProcess(['verify', 'list.csv', '--country', 'AT'], german);
    expect(commandIn(given.stderr)).toContain('--country AT --email mail --country-column Land -o');
    // Rows without a number have no calling code, and their emails no country.
    await write('list.csv', 'mail,phone\na@x.example,+49 30 1234567\nb@x.example,\n');
    const coded = await runInProcess(['verify', 'list.csv'], { cwd: folder, env: { LANG: 'C' } });
    expect(commandIn(coded.stderr)).toContain('--phone phone --country DE -o');
    await write(
      'list.csv',
      'mail,phone\na@x.example,+49 30 1234567\nb@x.example,\nc@x.example,+33 1 47444546\n',
    );
    const mixed = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(commandIn(mixed.stderr)).toContain('--country-from phone --country XX -o');
    const offered = await runInProcess(['verify', 'list.csv'], german);
    expect(commandIn(offered.stderr)).toContain('--country-from phone --country DE -o');
    expect(eventsOf(offered, 'fallback_country')).toMatchObject([{ country: 'DE' }]);
    await write('list.csv', 'phone\n+49 30 1234567\n030 1234568\n030 1234569\n');
    const few = await runInProcess(['verify', 'list.csv'], german);
    expect(commandIn(few.stderr)).toContain('--phone phone --country DE -o');
  });

  const book = async (...sheets: readonly (readonly [string, unknown[][]])[]): Promise<void> => {
    const workbook = new ExcelJS.Workbook();
    for (const [name, rows] of sheets) workbook.addWorksheet(name).addRows(rows);
    await workbook.xlsx.writeFile(join(folder, 'book.xlsx'));
  };
  const guide = async (...more: readonly string[]): ReturnType<typeof runInProcess> => {
    const ended = await runInProcess(
      ['verify', 'book.xlsx', '--country', 'DE', '--local', ...more],
      {
        cwd: folder,
      },
    );
    expect(ended.code, ended.stderr).toBe(2);
    return ended;
  };
  const mails = [['Email'], ['good1@sluice.test'], ['good2@sluice.test']];

  it('takes the first sheet of a workbook that has addresses, into an output of its own', async () => {
    await book(['Cover', [['Our leads'], ['of', 'spring']]], ['Leads Q+2', mails]);
    const shown = await guide();
    expect(eventsOf(shown, 'sheets')).toMatchObject([
      {
        sheets: [
          { name: 'Cover', rows: null },
          { name: 'Leads Q+2', rows: 2 },
        ],
        more: 0,
      },
    ]);
    expect(eventsOf(shown, 'sheet')).toMatchObject([{ sheet: 'Leads Q+2', others: [] }]);
    expect(commandIn(shown.stderr)).toBe(
      "sluice verify book.xlsx --country DE --local --sheet 'Leads Q+2' --email Email -o book.Leads-Q-2.verified.xlsx",
    );
    const pasted = await paste(commandIn(shown.stderr));
    expect(pasted.code, pasted.stderr).toBe(0);
    expect(await readdir(folder)).toContain('book.Leads-Q-2.verified.xlsx');
  });

  it('names the other sheets that have addresses, and proposes another output for each', async () => {
    const apart = [['Mail'], ['good3@sluice.test']];
    await book(['One', mails], ['Empty', []], ['Two', mails], ['Staff', apart]);
    const one = await guide();
    expect(eventsOf(one, 'sheet')).toMatchObject([
      { sheet: 'One', others: ['Two'], apart: ['Staff'] },
    ]);
    expect(commandIn(one.stderr)).toContain('--sheet One --email Email -o book.One.verified.xlsx');
    const two = await guide('--sheet', 'Two');
    expect(eventsOf(two, 'sheets')).toEqual([]);
    expect(commandIn(two.stderr)).toContain('-o book.Two.verified.xlsx');
    expect(commandIn((await guide('--sheet', '3')).stderr)).toContain('-o book.3.verified.xlsx');
  });

  it('names the sheets of a workbook where none has addresses', async () => {
    await book(
      ['Cover', [['Our leads']]],
      [
        'Costs',
        [
          ['Item', 'Sum'],
          ['Stand', 12],
        ],
      ],
    );
    const shown = await guide();
    expect(eventsOf(shown, 'sheets')).toMatchObject([
      {
        sheets: [
          { name: 'Cover', rows: 0 },
          { name: 'Costs', rows: 1 },
        ],
      },
    ]);
    expect(eventsOf(shown, 'sheet')).toEqual([]);
  });

  it('keeps what else is given, and leaves out nothing that it needs', async () => {
    await write('liste.dat', german.replaceAll(';', '|'));
    await write('settings.json', '{"batch-size": 10}');
    const form = 'verify liste.dat --delimiter | --country AT --local --config settings.json';
    const named = ['-o', 'out file.csv', '--history', 'old results'];
    const ended = await runInProcess(
      [...form.split(' '), ...named, '--description', "it's 100 %", '--no-progress'],
      { cwd: folder },
    );
    expect(ended.code).toBe(2);
    expect(commandIn(ended.stderr)).toBe(
      "sluice verify liste.dat --delimiter '|' --country AT --local --config settings.json -o 'out file.csv' --history 'old results' --description 'it'\\''s 100 %' --no-progress --email E-Mail --phone Telefon",
    );
    const pasted = await paste(commandIn(ended.stderr));
    expect(pasted.code, pasted.stderr).toBe(0);
    expect(await readdir(folder)).toContain('out file.csv');
  });

  it.each([
    ["two  words 'and' $HOME `id`.csv", 'E "Mail"; rm -rf x'],
    ['line\nbreak \u001b[31m%s\\n\u202e.csv', 'mail\naddress'],
    ['-dash.csv', '--email'],
    ['ümläut 漢字.csv', 'メールアドレス'],
    ['#3.csv', '#7'],
  ])('prints what a shell takes for the file %j and the column %j', async (file, column) => {
    await write(file, `id,"${column.replaceAll('"', '""')}"\n1,good1@sluice.test\n`);
    const ended = await runInProcess(['verify', '--country', 'US', '--', file], { cwd: folder });
    expect(ended.code, ended.stderr).toBe(2);
    // One line, of nothing but what may be printed.
    expect(ended.stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    const pasted = await paste(commandIn(ended.stderr));
    expect(pasted.code, pasted.stderr).toBe(0);
    const output = file.replace('.csv', '.verified.csv');
    expect(await readFile(join(folder, output), 'utf8')).toContain('good1@sluice.test,verified');
  });

  it('leaves a country to be filled in where none can be known, and takes it from the locale', async () => {
    await write('list.csv', 'mail,phone\ngood1@sluice.test,030 1234567\n');
    const unknown = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(unknown.code).toBe(2);
    // Of an option that nobody gave nothing is said.
    expect(eventsOf(unknown, 'notice')).toEqual([]);
    expect(commandIn(unknown.stderr)).toContain('--country XX');
    expect(eventsOf(unknown, 'found_country')).toMatchObject([{ country: null }]);
    const known = await runInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env: { LANG: 'de_AT.UTF-8' },
    });
    expect(commandIn(known.stderr)).toContain('--country AT');
    expect(known.stderr).toContain('LANG=de_AT.UTF-8');
    const none = await runInProcess(['verify', 'list.csv'], { cwd: folder, env: { LANG: 'C' } });
    expect(commandIn(none.stderr)).toContain('--country XX');
  });

  it('takes the countries of a column of their own', async () => {
    await write('list.csv', 'mail,Land\ngood1@sluice.test,Österreich\ngood2@sluice.test,\n');
    const some = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(commandIn(some.stderr)).toContain('--country-column Land --country AT');
    await write('list.csv', 'mail,Land\ngood1@sluice.test,Österreich\ngood2@sluice.test,FR\n');
    const all = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(commandIn(all.stderr)).toMatch(/--country-column Land -o/);
  });

  it('gives the columns of a list that was verified before other names', async () => {
    await write('list.csv', 'E-Mail,mobile\ngood1@sluice.test,+12025550143\n');
    const args = ['--email', 'E-Mail', '--country', 'US', '-o', 'list.verified.csv', '--local'];
    const once = await runInProcess(['verify', 'list.csv', ...args], { cwd: folder });
    expect(once.code, once.stderr).toBe(0);
    const again = ['verify', 'list.verified.csv', '--country', 'US', '--local'];
    const ended = await runInProcess(again, { cwd: folder });
    expect(commandIn(ended.stderr)).toBe(
      'sluice verify list.verified.csv --country US --local --email E-Mail --phone mobile --prefix E-Mail=E-Mail_2 -o list.verified2.csv',
    );
    const pasted = await paste(commandIn(ended.stderr));
    expect(pasted.code, pasted.stderr).toBe(0);
    const header = (await readFile(join(folder, 'list.verified2.csv'), 'utf8')).split('\n')[0];
    expect(header).toContain('E-Mail_verification,');
    expect(header).toContain('E-Mail_2_verification,');
    const named = await runInProcess(['verify', 'list.verified.csv', ...args.with(5, 'x.csv')], {
      cwd: folder,
    });
    expect(named.code).toBe(2);
    for (const printed of ['"E-Mail_verification"', '--prefix E-Mail=E-Mail_2']) {
      expect(named.stderr).toContain(printed);
    }
  });

  it('gives columns of one name results of different names', async () => {
    await write('list.csv', 'Tel,Tel\n+49 171 1234567,+49 172 1234568\n');
    const ended = await runInProcess(['verify', 'list.csv', '--local'], { cwd: folder });
    const pasted = await paste(commandIn(ended.stderr));
    expect(pasted.code, pasted.stderr).toBe(0);
    const [header] = (await readFile(join(folder, 'list.verified.csv'), 'utf8')).split('\n');
    expect(header).toContain('Tel_verification,');
    expect(header).toContain('Tel_2_verification,');
  });

  it('shows the columns there are where none holds addresses', async () => {
    await write('list.csv', 'id,Order number\n1,2025550101\n');
    const ended = await runInProcess(['verify', 'list.csv', '--country', 'US'], { cwd: folder });
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'column')).toMatchObject([{ column: 'id' }, { column: 'Order number' }]);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'invalid_option' }]);
    expect(ended.stderr).toContain('--email <column>');
    expect(eventsOf(ended, 'command')).toEqual([]);
  });

  it.each([
    ['list.tsv', 'id\tmail\n1\tgood1@sluice.test\n', '--email mail', 'list.verified.tsv'],
    ['list.jsonl', '{"mail":"good1@sluice.test"}\n', '--email mail', 'list.verified.jsonl'],
    ['list.txt', 'good1@sluice.test\n', '--email value', 'list.verified.csv'],
    ['phones.txt', '+12025550123\n+12025550124\n', '--phone value', 'phones.verified.csv'],
    ['list', 'id,mail\n1,good1@sluice.test\n', '--email mail', 'list.verified.csv'],
  ])('reads %s', async (name, text, columns, output) => {
    await mkdir(join(folder, 'sub'));
    await write(join('sub', name), text);
    const path = join('sub', name);
    const ended = await runInProcess(['verify', path, '--country', 'US'], { cwd: folder });
    expect(ended.code).toBe(2);
    expect(commandIn(ended.stderr)).toBe(
      `sluice verify ${path} --country US ${columns} -o ${join('sub', output)}`,
    );
    const pasted = await paste(commandIn(ended.stderr));
    expect(pasted.code, pasted.stderr).toBe(0);
  });

  it('reads several lists, a pipe and a query, and prints no password', async () => {
    await write('a.csv', 'mail\ngood1@sluice.test\n');
    await write('b.csv', 'mail\ngood2@sluice.test\n');
    const several = await runInProcess(['verify', 'a.csv', '*.csv', '--country', 'US'], {
      cwd: folder,
    });
    expect(eventsOf(several, 'error')).toMatchObject([{ file: 'a.csv', fault: 'repeated' }]);
    const both = await runInProcess(['verify', '[ab].csv', '--country', 'US'], { cwd: folder });
    expect(commandIn(both.stderr)).toBe(
      "sluice verify '[ab].csv' --country US --email mail -o verified.csv",
    );
    const input = await readFile(join(folder, 'a.csv'));
    const piped = await runInProcess(['verify', '-', '--country', 'US'], { cwd: folder, input });
    expect(piped.code).toBe(2);
    expect(commandIn(piped.stderr)).toBe(
      'sluice verify - --country US --email mail -o verified.csv',
    );
    await write('a.db', '');
    const query = ['--query', "select 'good1@sluice.test' as mail"];
    const database = await runInProcess(['verify', 'sqlite:a.db', ...query, '--country', 'US'], {
      cwd: folder,
    });
    expect(database.code).toBe(2);
    expect(commandIn(database.stderr)).toBe(
      "sluice verify sqlite:a.db --query 'select '\\''good1@sluice.test'\\'' as mail' --country US --email mail -o verified.csv",
    );
    // The list beside it is not sent, and the table can be named.
    await write('optout.csv', 'mail\ngood1@sluice.test\n');
    const beside = await runInProcess(['verify', 'sqlite:a.db', ...query, '--country', 'US'], {
      cwd: folder,
    });
    expect(commandIn(beside.stderr)).toContain('--suppress optout.csv');
    expect(eventsOf(beside, 'proposed_output')).toMatchObject([{ database: 'sqlite:a.db' }]);
    // A table of it, read and written in place: one attempt, whatever is missing.
    const local = ['--country', 'US', '--local', '--columns', 'verification,valid'];
    const made = ['verify', 'a.csv', '--email', 'mail', '-o', 'sqlite:a.db', '--into', 'people'];
    const table = await runInProcess([...made, '--key', 'mail', ...local], { cwd: folder });
    expect(table.code, table.stderr).toBe(0);
    const bare = await runInProcess(['verify', 'sqlite:a.db'], { cwd: folder });
    expect(eventsOf(bare, 'command').map((event) => event['command'])).toEqual([
      `sluice verify sqlite:a.db --query 'select * from "people"' --email mail --prefix mail=mail_2 --suppress optout.csv --country XX -o verified.csv`,
      `sluice verify sqlite:a.db --query 'select "mail" from "people"' --email mail --suppress optout.csv --country XX -o sqlite:a.db --into people --key mail`,
    ]);
    const all = ['--query', 'select * from people where 1', '-o', 'sqlite:a.db'];
    // Without the marker of runs.
    expect(eventsOf(bare, 'found_table')).toMatchObject([{ table: 'people', others: [] }]);
    for (const given of [
      [...all, '--email', 'mail'],
      ['-o', 'sqlite:a.db'],
    ]) {
      const asked = await runInProcess(['verify', 'sqlite:a.db', ...given], { cwd: folder });
      expect(asked.code).toBe(2);
      const line = commandIn(asked.stderr).replace(' XX', ' US');
      const pasted = await paste(`${line} --local`);
      expect(pasted.code, pasted.stderr).toBe(0);
      expect(line.includes('where 1')).toBe(given.includes('--query'));
    }
    const toNew = await runInProcess(['verify', 'a.csv', '-o', 'sqlite:a.db'], { cwd: folder });
    expect(commandIn(toNew.stderr)).toContain(' --into a_verified');
    await runInProcess(['verify', 'a.csv', '-o', 'sqlite:other.db'], { cwd: folder });
    expect(await readdir(folder)).not.toContain('other.db');
    // A table that is there is another list's, or an earlier night's.
    const first = await paste(`${commandIn(toNew.stderr).replace(' XX', ' US')} --local`);
    expect(first.code, first.stderr).toBe(0);
    const again = await runInProcess(['verify', 'a.csv', '-o', 'sqlite:a.db'], { cwd: folder });
    expect(commandIn(again.stderr)).toContain(' --into a_verified2');
    const { service } = await withService();
    const secret = `${service.baseUrl.replace('://', '://user:pass@')}/x.csv?key=hidden`;
    const web = await runInProcess(['verify', secret, '--country', 'US'], { cwd: folder });
    expect(web.code).not.toBe(0);
    expect(web.stderr).not.toMatch(/pass|hidden/);
  });

  it('gives the query for another table of a database, and names the chosen one in the question', async () => {
    const mails = (table: string) => [
      `CREATE TABLE "${table}" (mail TEXT)`,
      `INSERT INTO "${table}" VALUES ('good1@sluice.test')`,
    ];
    const crm = join(folder, 'crm.db');
    askSqlite(crm, 'CREATE TABLE a (n)', ...mails('leads'), ...mails("what's new"), 'SELECT 1');
    const command = ['verify', 'sqlite:crm.db', '--country', 'US', '--local'];
    const asked = await answerInProcess(command, {
      cwd: folder,
      answers: [[/Start.*"leads".*\?/, 'n\r']],
    });
    expect(asked.code, asked.seen).toBe(2);
    const [{ query } = { query: '' }] = eventsOf(asked, 'found_table');
    expect(eventsOf(asked, 'found_table')).toMatchObject([
      { table: 'leads', others: ["what's new", 'a'], query: 'select * from "what\'s new"' },
    ]);
    const other = await runInProcess([...command, '--query', String(query)], { cwd: folder });
    const pasted = await paste(commandIn(other.stderr));
    expect(pasted.code, pasted.stderr).toBe(0);
  });

  it('puts no cell into a log or a summary', async () => {
    await write('list.csv', german);
    const args = ['verify', 'list.csv', '--json-log', '--summary', 'summary.json'];
    const ended = await answerInProcess(args, { cwd: folder, answers: [] });
    expect(ended.code).toBe(2);
    const events = parseLog(ended.seen);
    expect(eventsOf({ events }, 'found_column')).not.toEqual([]);
    expect(eventsOf({ events }, 'command')).toMatchObject([
      { command: expect.stringMatching(/^sluice verify list\.csv .*--email E-Mail/) as string },
    ]);
    expect(events.at(-1)).toMatchObject({ event: 'error', exit_code: 2 });
    const summary = await readFile(join(folder, 'summary.json'), 'utf8');
    expect(JSON.parse(summary)).toMatchObject({ stopped: true, exit_code: 2 });
    expect(ended.seen + summary).not.toMatch(/good1|1234567/);
  });
});

describe('sluice verify without a column, at a terminal', () => {
  it('verifies the first row of a list without a header', async () => {
    await write('list.csv', 'good1@sluice.test\ngood2@sluice.test\n');
    const ended = await answerInProcess(['verify', 'list.csv', '--country', 'US', '--local'], {
      cwd: folder,
      answers: [[/Start\?/, '\r']],
    });
    expect(ended.code, ended.seen).toBe(0);
    expect(eventsOf(ended, 'no_header')).toHaveLength(1);
    expect(await linesOf('list.verified.csv')).toBe(2);
  });

  it('finds the country where columns are named and none is', async () => {
    const { service } = await withService();
    await write('list.csv', 'Mail,Fax,Country\ngood1@sluice.test,+49 30 1,Germany\n');
    const ended = await answerInProcess(['verify', 'list.csv', '--email', 'Mail'], {
      cwd: folder,
      env: connectTo(service),
      answers: [[/Start\? \[Y\/n\]/, '\r']],
    });
    expect(ended.code, ended.seen).toBe(0);
    expect(eventsOf(ended, 'left_out_column')).toEqual([]);
    expect(commandIn(ended.seen)).toBe(
      'sluice verify list.csv --email Mail --country-column Country -o list.verified.csv --history list.history',
    );
    expect(await paid(service)).toBe(1);
  });

  it('shows what it found, asks, and runs the command that it printed', async () => {
    const { service } = await withService();
    await write('list.csv', german);
    const ended = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env: connectTo(service),
      answers: [[/Start\? \[Y\/n\]/, '\r']],
    });
    const { code, seen } = ended;
    expect(code, seen).toBe(0);
    expect(eventsOf(ended, 'found_column')).toMatchObject([
      { column: 'E-Mail', type: 'email', examples: ['good1@sluice.test', 'good2@sluice.test'] },
      { column: 'Telefon', type: 'phone', examples: ['+49 30 1234567', '030 1234569'] },
    ]);
    expect(eventsOf(ended, 'proposed_output')).toMatchObject([
      { output: 'list.verified.csv', exists: false },
    ]);
    expect(eventsOf(ended, 'cost')).toMatchObject([
      {
        email: { addresses: 2, credits: 2 },
        phone: { addresses: 2, credits: 2 },
        balance: { email: expect.any(Number) as number, phone: expect.any(Number) as number },
      },
    ]);
    expect(eventsOf(ended, 'estimate')).toEqual([]);
    expect(await paid(service)).toBe(4);
    expect(eventsOf(ended, 'proposed_history')).toHaveLength(1);
    const asked = await readFile(join(folder, 'list.verified.csv'));
    const other = await withService();
    // A history has the results of one service.
    await rm(join(folder, 'list.history'), { recursive: true });
    const pasted = await paste(commandIn(seen), connectTo(other.service));
    expect(pasted.code, pasted.stderr).toBe(0);
    expect((await readFile(join(folder, 'list.verified.csv'))).equals(asked)).toBe(true);
    expect(await paid(other.service)).toBe(4);
  });

  it.each([
    ['n', answerInProcess, 'n\r', 2, german, atStart],
    ['the end of what is typed', runAtTerminal, '\u0004', 2, german, atStart],
    ['Ctrl-C', runAtTerminal, '\u0003', 130, german, atStart],
    ['Ctrl-C in place of a country', runAtTerminal, '\u0003', 130, noCountry, /or Germany:/],
  ])('sends nothing after %s', async (_, run, keys, exitCode, list, question) => {
    const { service } = await withService();
    await write('list.csv', list);
    const { code, seen } = await run(['verify', 'list.csv'], {
      cwd: folder,
      env: connectTo(service),
      answers: [[question, keys]],
    });
    expect(code, seen).toBe(exitCode);
    const [, printed] = seen.split(question);
    expect(printed?.replaceAll(/\s+/g, ' ')).toContain(
      catalogue.not_started.sentence({ is_declined: exitCode !== 130 }),
    );
    expect(await paid(service)).toBe(0);
    expect(await readdir(folder)).toEqual(['list.csv']);
  });

  it('refuses a key without a URL before it asks anything', async () => {
    await write('list.csv', noCountry);
    const ended = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env: { SLUICE_API_KEY: 'key' },
      answers: [],
    });
    expect(ended.code, ended.seen).toBe(2);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'invalid_option' }]);
    expect(ended.seen).not.toContain('such as US');
  });

  it('asks for a country until it is one, and guesses', async () => {
    await write('list.csv', noCountry);
    const { code, seen } = await answerInProcess(['verify', 'list.csv', '--local'], {
      cwd: folder,
      answers: [
        [/such as US or Germany:/, '\r'],
        [/n: stop\), such as US or Germany:/, 'Germny\r'],
        [/\(Germany\)[^]*such as US or Germany:/, 'uk\r'],
        [/Start/, 'y\r'],
      ],
    });
    expect(code, seen).toBe(0);
    expect(commandIn(seen)).toContain('--country GB');
  });

  it('ends with 2 and the command where the answer to the question for a country is n', async () => {
    await write('list.csv', 'mail\ngood1@sluice.test\n');
    await write('unsubscribed.csv', 'mail\ngood1@sluice.test\nnobody@sluice.test\n');
    const ended = await answerInProcess(['verify', 'list.csv', '--local'], {
      cwd: folder,
      answers: [[/such as US or Germany: $/, 'n\r']],
    });
    expect(ended.code, ended.seen).toBe(2);
    expect(commandIn(ended.seen)).toContain('--suppress unsubscribed.csv --country XX');
    expect(eventsOf(ended, 'not_started')).toHaveLength(1);
    expect(eventsOf(ended, 'error')).toEqual([]);
    const known = await answerInProcess(['verify', 'list.csv', '--local', '--country', 'US'], {
      cwd: folder,
      answers: [[/Start \(1 cell left out by "unsubscribed.csv"\)\?/, 'n\r']],
    });
    expect(known.code, known.seen).toBe(2);
  });

  it('ends with 2 where the question for a country is left with Ctrl-D', async () => {
    await write('list.csv', 'mail\ngood1@sluice.test\n');
    const { code, seen } = await answerInProcess(['verify', 'list.csv', '--local'], {
      cwd: folder,
      answers: [[/such as US or Germany: $/, '\u0004']],
    });
    expect(code, seen).toBe(2);
    expect(seen).toMatch(/or Germany: *\nsluice: /);
  });

  it('proposes the country of those numbers that have one, where it is the same for all', async () => {
    const own = Array.from({ length: 10 }, (_, at) => `+1 202 555 01${at + 10}`);
    const others = Array.from({ length: 30 }, (_, at) => `(202) 555-01${at + 30}`);
    await write('list.csv', `phone\n${[...own, ...others].join('\n')}\n`);
    const { code, seen } = await answerInProcess(['verify', 'list.csv', '--local'], {
      cwd: folder,
      answers: [
        [/Enter: US, n: stop[^]*or Germany:/, '\r'],
        [/Start/, 'n\r'],
      ],
    });
    expect(code, seen).toBe(2);
    expect(commandIn(seen)).toContain('--country US');
  });

  it('asks for the country of numbers that hardly have one', async () => {
    const numbers = ['0041 78 977 45 88', '030 1234567', '030 1234568'];
    await write('list.csv', `phone\n${numbers.join('\n')}\n`);
    const { code, seen } = await answerInProcess(['verify', 'list.csv', '--local'], {
      cwd: folder,
      answers: [
        [/\bCH\b[^]*such as US or Germany:/, '\r'],
        [/such as US or Germany:/, 'no\r'],
        [/\bNorway\b[^]*such as US or Germany:/, 'DE\r'],
        [/Start/, 'n\r'],
      ],
    });
    expect(code, seen).toBe(2);
    expect(commandIn(seen)).toContain('--country DE');
  });

  it('names the countries that are not understood, and asks for one where rows have none', async () => {
    const rows = [
      ...Array.from({ length: 12 }, (_, at) => `good${at}@sluice.test,${at < 9 ? 'FR' : 'IT'}`),
      ...Array.from({ length: 3 }, (_, at) => `good3${at}@sluice.test,Germny`),
      ...Array.from({ length: 2 }, (_, at) => `good4${at}@sluice.test,`),
    ];
    const mixed = rows.map((row, at) => (at < 9 && at % 2 === 0 ? row.replace('FR', 'ES') : row));
    await write('list.csv', `mail,Land\n${mixed.join('\n')}\n`);
    const first = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      answers: [
        [/Country for these rows.*:/, 'Swedn\r'],
        [/\(Sweden\)[^]*Country for these rows.*:/, 'SE\r'],
        [/Start/, 'y\r'],
      ],
    });
    expect(first.code, first.seen).toBe(0);
    expect(eventsOf(first, 'countries')).toMatchObject([
      { countries: { not_understood: 3, missing: 2, values: [{ value: 'Germny', code: 'DE' }] } },
    ]);
    expect(eventsOf(first, 'cost')).toMatchObject([{ email: { credits: 14 }, service: 'local' }]);
    expect(commandIn(first.seen)).toContain(
      '--country-column Land -o list.verified.csv --country SE',
    );
    expect(eventsOf(first, 'local_service')).toHaveLength(1);
    const skipped = await answerInProcess(['verify', 'list.csv'], {
      cwd: folder,
      answers: [
        [/Country for these rows.*:/, '\r'],
        [/Start/, 'y\r'],
      ],
    });
    expect(skipped.code, skipped.seen).toBe(0);
    expect(commandIn(skipped.seen)).not.toContain('--country ');
    expect(skipped.seen).toMatch(/\n {2}country_missing \(no country\) +2\b/);
    expect(skipped.seen).toMatch(/\n {2}country_unsupported \(unknown country\) +3\b/);
    const advised = eventsOf(skipped, 'next').map(({ code }) => code);
    expect(advised).toEqual(
      expect.arrayContaining(['country_not_understood', 'no_country']) as unknown,
    );
  });

  it('offers to go by the calling codes before the trial, which is then of use', async () => {
    const { service } = await withService();
    const rows = Array.from(
      { length: 1200 },
      (_, at) => `good${at}@sluice.test,+49 1512 34${String(at).padStart(5, '0')}\n`,
    );
    await write('list.csv', `mail,phone\n${rows.join('')}`);
    const trial = await answerInProcess(['verify', 'list.csv', '--country', 'US'], {
      cwd: folder,
      env: connectTo(service),
      answers: [
        [/--country-from phone\)\? \[Y\/n\]/, '\r'],
        [/a trial of 100 rows.*\[Y\/a\/n\]/, 'y\r'],
      ],
    });
    expect(trial.code, trial.seen).toBe(0);
    expect(trial.seen).toContain('--country-from phone --history');
    const charges = await chargesOf(service);
    expect(charges).toHaveLength(200);
    const all = ['--email', 'mail', '--phone', 'phone', '--country-from', 'phone'];
    const kept = ['-o', 'list.verified.csv', '--history', 'list.history'];
    const counted = ['--dry-run', '--summary', '-'];
    const whole = ['verify', 'list.csv', '--country', 'US', ...all, ...kept, ...counted];
    const ended = await runInProcess(whole, inFolder(folder, service));
    expect(ended.code, ended.stderr).toBe(0);
    const left = { from_history: 100, credits: 1100 };
    expect(JSON.parse(ended.stdout.toString())).toMatchObject({ email: left, phone: left });
  });

  it('offers a trial first where a long list is paid for, and pays for it once', async () => {
    const { service } = await withService();
    const rows = Array.from({ length: 1200 }, (_, at) => `good${at}@sluice.test\n`);
    await write('list.csv', `mail\n${rows.join('')}`);
    const args = ['verify', 'list.csv', '--country', 'US'];
    const answer = (question: RegExp) =>
      answerInProcess(args, {
        cwd: folder,
        env: connectTo(service),
        answers: [[question, '\r']],
      });
    const trial = await answer(/trial of 100 rows \(100 credits[^]*all 1,200 \(1,200 credits/);
    expect(trial.code, trial.seen).toBe(0);
    const history = 'list.history';
    expect(eventsOf(trial, 'proposed_history')).toMatchObject([{ history }]);
    const [all, again] = trial.seen.split('\n').filter((line) => line.startsWith('sluice verify '));
    expect(all).toBe(
      'sluice verify list.csv --country US --email mail -o list.verified.csv --history list.history',
    );
    expect(again).toBe(all);
    expect(eventsOf(trial, 'limited')).toMatchObject([{ limit: 100, results: 'kept' }]);
    expect(await paid(service)).toBe(100);
    expect(await linesOf('list.verified.trial.csv')).toBe(101);
    const pasted = await paste(all ?? '', connectTo(service));
    expect(pasted.code, pasted.stderr).toBe(0);
    expect(await paid(service)).toBe(1200);
    expect(await linesOf('list.verified.csv')).toBe(1201);
    expect(await linesOf('list.verified.trial.csv')).toBe(101);
    const known = await answer(/Start\? \[Y\/n\]/);
    expect(known.code, known.seen).toBe(0);
    expect(eventsOf(known, 'proposed_output')).toMatchObject([{ exists: true }]);
    expect(eventsOf(known, 'cost')).toMatchObject([{ email: { from_history: 1200, credits: 0 } }]);
    expect(eventsOf(known, 'paid_again')).toEqual([]);
    expect(await paid(service)).toBe(1200);
  });

  it('offers a trial of a table, too, which leaves it as it is, and shows the whole command for it', async () => {
    const { service } = await withService();
    const rows = Array.from({ length: 1001 }, (_, at) => `(${at}, 'good${at}@sluice.test')`);
    const table = (...statements: readonly string[]) =>
      askSqlite(join(folder, 'crm.db'), ...statements);
    table(
      'create table contacts (id integer primary key, email text)',
      `insert into contacts values ${rows.join(', ')} returning 1`,
    );
    const places = inFolder(folder, service);
    const list = ['verify', 'sqlite:crm.db', '--country', 'US'];
    const inTable = ['-o', 'sqlite:crm.db', '--into', 'contacts', '--key', 'id'];
    const commandsOf = (ended: Parameters<typeof eventsOf>[0]) =>
      eventsOf(ended, 'command').map(({ command }) => String(command));
    const script = await runInProcess(list, places);
    const shown = await answerInProcess(list, { ...places, answers: [[/trial of 100/, 'n\r']] });
    expect(commandsOf(shown)).toEqual(commandsOf(script));
    expect(commandsOf(shown)).toMatchObject([
      expect.stringMatching(/-o verified\.csv --history verified\.history$/),
      expect.stringMatching(
        /select "id", "email" .* -o sqlite:crm\.db --into contacts --key id --history verified\.history$/,
      ),
    ]);
    expect(eventsOf(shown, 'proposed_output')).toMatchObject([{ database: null }]);
    // A table in place is not written with rows left out.
    const kept = await runInProcess([...list, '--keep', 'valid'], places);
    expect(commandsOf(kept)).toHaveLength(1);
    expect(eventsOf(kept, 'proposed_output')).toMatchObject([{ database: null }]);

    const trial = await answerInProcess([...list, ...inTable], {
      ...places,
      answers: [[/trial of 100 rows.*to contacts\.trial\.csv.*\[Y\/a\/n\]/, '\r']],
    });
    expect(trial.code, trial.seen).toBe(0);
    expect(await paid(service)).toBe(100);
    expect(await linesOf('contacts.trial.csv')).toBe(101);
    expect(table('select * from contacts limit 1')).toEqual([
      { id: 0, email: 'good0@sluice.test' },
    ]);
    expect(commandsOf(trial)[0]).toMatch(/ --history contacts\.history$/);
    const all = await answerInProcess([...list, ...inTable], {
      ...places,
      answers: [[/Start\? \[Y\/n\]/, '\r']],
    });
    expect(all.code, all.seen).toBe(0);
    expect(await paid(service)).toBe(1001);
    expect(table('select email_valid from contacts where id = 1000')).toEqual([{ email_valid: 1 }]);
  });

  it('asks for a yes before it pays for a finished run again', async () => {
    const { service } = await withService();
    await write('list.csv', german);
    await write('list.verified.csv', 'of the last run');
    const answer = (keys: string) =>
      answerInProcess(['verify', 'list.csv'], {
        cwd: folder,
        env: connectTo(service),
        answers: [[/\[y\/N\]/, keys]],
      });
    const stopped = await answer('\r');
    expect(stopped.code, stopped.seen).toBe(2);
    expect(await paid(service)).toBe(0);
    expect(await readFile(join(folder, 'list.verified.csv'), 'utf8')).toBe('of the last run');
    // No history is begun for it.
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'list.verified.csv']);
    const again = await answer('y\r');
    expect(again.code, again.seen).toBe(0);
    expect(eventsOf(again, 'paid_again')).toMatchObject([
      { output: 'list.verified.csv', is_kept: true },
    ]);
    expect(await paid(service)).toBe(4);
  });

  it('asks too where the finished command itself is run again', async () => {
    const { service } = await withService();
    await write('list.csv', german);
    await write('out.csv', 'of the last run');
    const named = ['--email', 'E-Mail', '--country', 'DE', '-o', 'out.csv', '--batch-size', '1'];
    const run = (answers: readonly (readonly [RegExp, string])[], ...more: readonly string[]) =>
      answerInProcess(['verify', 'list.csv', ...named, ...more], {
        cwd: folder,
        env: connectTo(service),
        answers,
      });
    const question = /out\.csv is there\. This is a new run: [\w, ]+\. Start it\? \[y\/N\]/;
    const stopped = await run([[question, '\r']]);
    expect(stopped.code, stopped.seen).toBe(2);
    expect(eventsOf(stopped, 'error')).toMatchObject([{ code: 'declined' }]);
    expect(await paid(service)).toBe(0);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toBe('of the last run');
    const again = await run([[question, 'y\r']]);
    expect(again.code, again.seen).toBe(0);
    expect(await paid(service)).toBe(2);
    const unasked = await run([], '--yes', '--max-credits', '1');
    expect(unasked.code, unasked.seen).toBe(5);
    expect(await paid(service)).toBe(2 + 1);
    // It resumes what was not finished: nothing is paid for that was paid before.
    const resumed = await run([]);
    expect(resumed.code, resumed.seen).toBe(0);
    expect(resumed.seen).not.toContain('Start it?');
  });

  it('proposes a file where columns are named and no output, in place of rows on the terminal', async () => {
    const { service } = await withService();
    await write('list.csv', german);
    const named = ['verify', 'list.csv', '--email', 'E-Mail', '--country', 'DE'];
    const answer = (keys: string) =>
      answerInProcess(named, {
        cwd: folder,
        env: connectTo(service),
        answers: [[/Start\? \[Y\/n\]/, keys]],
      });
    const none = await answer('n\r');
    expect(none.code, none.seen).toBe(2);
    expect(await readdir(folder)).toEqual(['list.csv']);
    const started = await answer('\r');
    expect(started.code, started.seen).toBe(0);
    expect(commandIn(started.seen)).toBe(
      'sluice verify list.csv --email E-Mail --country DE -o list.verified.csv --history list.history',
    );
    expect(eventsOf(started, 'cost')).toMatchObject([{ email: { credits: 2 }, phone: null }]);
    expect(started.seen).not.toMatch(/good1|streams/);
    expect(await paid(service)).toBe(2);
    expect(await linesOf('list.verified.csv')).toBe(3);
  });

  it('shows each warning once: what was above the question is not below it', async () => {
    const rows = Array.from({ length: 30 }, (_, at) => `good${at}@sluice.test,Ada ${at}\n`);
    await write('list.csv', `Our contacts\n\nmail,name\n${rows.join('')}\nTotal,30\n`);
    await write('list.verified.txt', 'of the last run');
    await chmod(join(folder, 'list.csv'), 0o600);
    await chmod(join(folder, 'list.verified.txt'), 0o644);
    const asked = await answerInProcess(
      ['verify', 'list.csv', '--country', 'US', '-o', 'list.verified.txt'],
      { cwd: folder, answers: [[/Start\?/, '\r']] },
    );
    expect(asked.code, asked.seen).toBe(0);
    const events = ['local_service', 'header_found', 'footer_found', 'hidden_results', 'kept_open'];
    for (const event of events as readonly Parameters<typeof eventsOf>[1][]) {
      expect(eventsOf(asked, event), event).toHaveLength(1);
    }
    expect(asked.seen).toContain('1 warning');
  });

  it('does not end with a doubt that was above the question', async () => {
    const numbers = Array.from({ length: 20 }, (_, at) => `41791234${500 + at}\n`);
    await write('list.csv', `phone\n${numbers.join('')}`);
    const args = ['verify', 'list.csv', '--country', 'DE', '--local'];
    const named = ['--phone', 'phone', '-o', 'out.csv'];
    for (const more of [[], named]) {
      const { code, seen, ...asked } = await answerInProcess([...args, ...more], {
        cwd: folder,
        answers: [[/all the same\? \[y\/N\]/, 'y\r']],
      });
      expect(code, seen).toBe(0);
      expect(eventsOf(asked, 'doubtful_column'), seen).toHaveLength(1);
      expect(codedOf(asked, 'missing_plus'), seen).toEqual([]);
      expect(seen).toContain('1 warning');
    }
  });

  it('does not start on Enter where most cells are no plain address', async () => {
    const named = Array.from({ length: 3 }, (_, at) => `ada@x.example <good${at}@sluice.test>\n`);
    await write('list.csv', `mail\n${named.join('')}good@sluice.test\n`);
    const { code, seen, events } = await answerInProcess(
      ['verify', 'list.csv', '--country', 'US', '--local'],
      { cwd: folder, answers: [[/all the same\? \[y\/N\]/, '\r']] },
    );
    expect(code, seen).toBe(2);
    expect(codedOf({ events }, 'not_one_address')).toHaveLength(1);
  });

  it('writes rows to the terminal where that is asked for', async () => {
    await write('list.csv', german);
    const args = ['--email', 'E-Mail', '--country', 'DE', '--local', '-o', '-'];
    const { code, seen } = await answerInProcess(['verify', 'list.csv', ...args], {
      cwd: folder,
      answers: [],
    });
    expect(code, seen).toBe(0);
    expect(seen).toContain('Ada;good1@sluice.test;');
    expect(await readdir(folder)).toEqual(['list.csv']);
  });

  it('makes what would steer the terminal visible', async () => {
    const mails = ['"good1\u202e@sluice.test"', 'good2@sluice.test', 'good3@sluice.test', ''];
    await write('list.csv', `mail\u001b[2J\n${mails.join('\n')}`);
    const { seen } = await answerInProcess(['verify', 'list.csv', '--country', 'US', '--local'], {
      cwd: folder,
      answers: [[/Start/, 'n\r']],
    });
    expect(seen).toContain('\\u001b[2J');
    // oxlint-disable-next-line no-control-regex
    expect(seen).not.toMatch(/\u202e|\u001b/);
    expect(commandIn(seen)).toContain("--email '#1'");
  });
});
