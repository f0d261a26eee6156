import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../src/service/index.js';
import { withFolder, withService } from '../service/with-service.js';
import { runAtTerminal } from './at-terminal.js';
import { chargesOf } from './charges.js';
import { connectTo } from './connect-to.js';
import { countRequests } from './count-requests.js';
import { runInProcess } from './run-in-process.js';
import { runShell } from './run-sluice.js';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

const german = [
  'Kunde;E-Mail;Telefon;Telefax;Auftragsnr.',
  'Ada;good1@sluice.test;+49 30 1234567;+49 30 1234568;2025550101',
  'Bo;good2@sluice.test;030 1234569;;2025550102',
  '',
].join('\r\n');

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), text);
}

/** The command among what was said: the line that begins with its name. */
function commandIn(said: string): string {
  const lines = said.split('\n').filter((line) => line.startsWith('sluice verify '));
  expect(lines, said).toHaveLength(1);
  return lines[0] as string;
}

/** Runs a printed line as it is, in a real shell that knows the command by its name. */
async function paste(
  line: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const bin = await withFolder();
  const named = join(bin, 'sluice');
  await writeFile(named, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(named, 0o755);
  const child = spawn('sh', ['-c', line], {
    cwd: folder,
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: bin, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, stderr }));
  });
}

async function paid(service: Service): Promise<number> {
  return (await chargesOf(service)).length;
}

describe('sluice verify without a column, where nobody can be asked', () => {
  it('prints the whole command and ends with 2, and sends nothing', async () => {
    const { service } = await withService();
    const requests = countRequests(service);
    await write('list.csv', german);
    const ended = await runInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env: connectTo(service),
    });
    expect(ended.code).toBe(2);
    expect(ended.stdout.toString()).toBe('');
    expect(commandIn(ended.stderr)).toBe(
      'sluice verify list.csv --email E-Mail --phone Telefon --country DE -o list.verified.csv',
    );
    expect(ended.stderr).toContain('DE, as most phone numbers have its calling code');
    expect(ended.stderr).toContain('the service wants a country for every address');
    expect(ended.stderr).toContain('left out: column "Telefax" (fax numbers');
    expect(ended.stderr).toContain('nobody can be asked');
    // What is said may be a log: it holds no cell.
    expect(ended.stderr).not.toMatch(/good1|1234567/);
    expect(requests).toEqual([]);
    expect(await readdir(folder)).toEqual(['list.csv']);
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
    await write('list.csv', 'mail\ngood1@sluice.test\n');
    const unknown = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(unknown.code).toBe(2);
    expect(commandIn(unknown.stderr)).toContain('--country <CC>');
    expect(unknown.stderr).toContain('country: not known');
    expect(unknown.stderr).toContain('with a country for <CC> such as US');
    const known = await runInProcess(['verify', 'list.csv'], {
      cwd: folder,
      env: { LANG: 'de_AT.UTF-8' },
    });
    expect(commandIn(known.stderr)).toContain('--country AT');
    expect(known.stderr).toContain('from your locale (LANG=de_AT.UTF-8)');
    const none = await runInProcess(['verify', 'list.csv'], { cwd: folder, env: { LANG: 'C' } });
    expect(commandIn(none.stderr)).toContain('--country <CC>');
  });

  it('takes the countries of a column of their own', async () => {
    await write('list.csv', 'mail,Land\ngood1@sluice.test,Österreich\ngood2@sluice.test,\n');
    const some = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(commandIn(some.stderr)).toContain('--country-column Land --country AT');
    await write('list.csv', 'mail,Land\ngood1@sluice.test,Österreich\ngood2@sluice.test,FR\n');
    const all = await runInProcess(['verify', 'list.csv'], { cwd: folder });
    expect(commandIn(all.stderr)).toMatch(/--country-column Land -o/);
  });

  it('shows the columns there are where none holds addresses', async () => {
    await write('list.csv', 'id,Order number\n1,2025550101\n');
    const ended = await runInProcess(['verify', 'list.csv', '--country', 'US'], { cwd: folder });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('column "Order number"');
    expect(ended.stderr).toContain('no column of list.csv looks like email addresses or phone');
    expect(ended.stderr).toContain('--email <column>');
    expect(ended.stderr).not.toContain('sluice verify list.csv');
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
    expect(several.stderr).toContain('named twice');
    const both = await runInProcess(['verify', '[ab].csv', '--country', 'US'], { cwd: folder });
    expect(commandIn(both.stderr)).toBe(
      "sluice verify '[ab].csv' --country US --email mail -o verified.csv",
    );
    const piped = await runShell('cat a.csv | sluice verify - --country US', { cwd: folder });
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
    const { service } = await withService();
    const secret = `${service.baseUrl.replace('://', '://user:pass@')}/x.csv?key=hidden`;
    const web = await runInProcess(['verify', secret, '--country', 'US'], { cwd: folder });
    expect(web.code).not.toBe(0);
    expect(web.stderr).not.toMatch(/pass|hidden/);
  });

  it('puts no cell into a log or a summary', async () => {
    await write('list.csv', german);
    const args = ['verify', 'list.csv', '--json-log', '--summary', 'summary.json'];
    const ended = await runAtTerminal(args, { cwd: folder, answers: [] });
    expect(ended.code).toBe(2);
    const lines = ended.seen.trimEnd().split('\n');
    const events = lines.map((line) => JSON.parse(line) as { event: string; command?: string });
    expect(events.map(({ event }) => event)).toContain('found_column');
    expect(events.find(({ event }) => event === 'command')?.command).toMatch(
      /^sluice verify list\.csv .*--email E-Mail/,
    );
    expect(events.at(-1)).toMatchObject({ event: 'error', exit_code: 2 });
    const summary = await readFile(join(folder, 'summary.json'), 'utf8');
    expect(JSON.parse(summary)).toMatchObject({ stopped: true, exit_code: 2 });
    expect(ended.seen + summary).not.toMatch(/good1|1234567/);
  });
});

describe('sluice verify without a column, at a terminal', () => {
  it('shows what it found, asks, and runs the command that it printed', async () => {
    const { service } = await withService();
    await write('list.csv', german);
    const { code, seen } = await runAtTerminal(['verify', 'list.csv'], {
      cwd: folder,
      env: connectTo(service),
      answers: [[/Start\? \[Y\/n\]/, '\r']],
    });
    expect(code, seen).toBe(0);
    expect(seen).toContain('email column "E-Mail": "good1@sluice.test", "good2@sluice.test"');
    expect(seen).toContain('phone column "Telefon": "+49 30 1234567", "030 1234569"');
    expect(seen).toContain('output: list.verified.csv\n');
    expect(seen).toContain('phone credits: 2 needed at most, before refunds; the account has');
    expect(await paid(service)).toBe(4);
    const asked = await readFile(join(folder, 'list.verified.csv'));
    const other = await withService();
    const pasted = await paste(commandIn(seen), connectTo(other.service));
    expect(pasted.code, pasted.stderr).toBe(0);
    expect((await readFile(join(folder, 'list.verified.csv'))).equals(asked)).toBe(true);
    expect(await paid(other.service)).toBe(4);
  });

  it.each([
    ['n', 'n\r', 2, 'stopped; nothing was sent'],
    ['the end of what is typed', '\u0004', 2, 'stopped; nothing was sent'],
    ['Ctrl-C', '\u0003', 130, 'stopped by SIGINT'],
  ])('sends nothing after %s', async (_, keys, exitCode, said) => {
    const { service } = await withService();
    await write('list.csv', german);
    const { code, seen } = await runAtTerminal(['verify', 'list.csv'], {
      cwd: folder,
      env: connectTo(service),
      answers: [[/Start\? \[Y\/n\]/, keys]],
    });
    expect(seen).toContain(said);
    expect(code, seen).toBe(exitCode);
    expect(await paid(service)).toBe(0);
    expect(await readdir(folder)).toEqual(['list.csv']);
  });

  it('asks for a country until it is one, and guesses', async () => {
    await write('list.csv', 'mail\ngood1@sluice.test\n');
    const { code, seen } = await runAtTerminal(['verify', 'list.csv', '--local'], {
      cwd: folder,
      answers: [
        [/such as DE or Germany:/, 'Germny\r'],
        [/did you mean DE \(Germany\)\?[^]*Germany:/, 'uk\r'],
        [/Start/, 'y\r'],
      ],
    });
    expect(code, seen).toBe(0);
    expect(commandIn(seen)).toContain('--country GB');
  });

  it('offers a trial first where a long list is paid for', async () => {
    const { service } = await withService();
    const rows = Array.from({ length: 1200 }, (_, at) => `good${at}@sluice.test\n`);
    await write('list.csv', `mail\n${rows.join('')}`);
    const args = ['verify', 'list.csv', '--country', 'US', '--history', 'results'];
    const answer = (keys: string) =>
      runAtTerminal(args, {
        cwd: folder,
        env: connectTo(service),
        answers: [[/trial of the first 100 rows\?/, keys]],
      });
    const trial = await answer('\r');
    expect(trial.code, trial.seen).toBe(0);
    expect(trial.seen).toMatch(/sluice verify list\.csv .* -o list\.verified\.csv --limit 100/);
    expect(trial.seen).toContain('the first 100 rows only; leave out --limit for the rest');
    expect(await paid(service)).toBe(100);
    const all = await answer('a\r');
    expect(all.code, all.seen).toBe(0);
    expect(all.seen).toContain('output: list.verified.csv, which exists: it is replaced');
    expect(await paid(service)).toBe(1200);
    const output = await readFile(join(folder, 'list.verified.csv'), 'utf8');
    expect(output.trimEnd().split('\n')).toHaveLength(1201);
  });

  it('makes what would steer the terminal visible', async () => {
    const cell = '"good1\u202e@sluice.test"';
    await write('list.csv', `mail\u001b[2J\n${cell}\ngood2@sluice.test\ngood3@sluice.test\n`);
    const { seen } = await runAtTerminal(['verify', 'list.csv', '--country', 'US', '--local'], {
      cwd: folder,
      answers: [[/Start/, 'n\r']],
    });
    expect(seen).toContain('\\u001b[2J');
    expect(seen).toContain('good1\\u202e@sluice.test');
    // oxlint-disable-next-line no-control-regex
    expect(seen).not.toMatch(/\u202e|\u001b/);
    expect(commandIn(seen)).toContain("--email '#1'");
  });
});
