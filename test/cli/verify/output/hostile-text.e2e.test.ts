import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Command } from '../../../../src/cli/command.js';
import { commands } from '../../../../src/cli/commands.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { inFolder } from '../../harness/connect-to.js';
import { startFront, type Front } from '../../harness/front.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { runSluice, type Ended } from '../../harness/run-sluice.js';

/** Colours, a bell, C1, both directions, isolates, separators, a byte-order mark, a tag, a newline. */
const hostile =
  'h\u0007\u001b[31m\u0085\u200e\u202egnp.\u2066\u2069\u2028\u2029\ufeff\u{e0041}\r\n\tforged';
/** What no file can be called. */
const hostileText = `${hostile}\ud800\u0000`;
const anyHostile = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const uuid = '0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10';
const group = ['--type', 'email', '--country', 'US'];

let folder: string;
let front: Front;
/** What the service answers in the place of its own. */
let answer: ((request: string) => { status: number; body: unknown } | undefined) | undefined;
beforeEach(async () => {
  folder = await withFolder();
  answer = undefined;
  const { service } = await withService();
  front = await startFront(service, (request) => answer?.(request));
  await writeFile(join(folder, 'lines.txt'), 'a@example.com\n');
});

/** Every byte that was printed is harmless, and no line is forged. */
function expectHarmless({ stdout, stderr }: Ended): string {
  const text = stdout.toString('utf8') + stderr;
  const found = anyHostile.exec(text);
  const around = JSON.stringify(text.slice(Math.max(0, (found?.index ?? 0) - 80)).slice(0, 160));
  expect(found, around).toBeNull();
  expect(text, around).not.toMatch(/^\s*forged/m);
  return text;
}

async function sluice(...args: string[]): Promise<Ended> {
  const ended = await runInProcess(args, inFolder(folder, front));
  expectHarmless(ended);
  return ended;
}

/** The text was printed, with all of it escaped. */
async function expectEscaped(...args: string[]): Promise<Ended> {
  const ended = await sluice(...args);
  expect(ended.stdout.toString() + ended.stderr, args.join(' ')).toContain('\\u202egnp.\\u2066');
  return ended;
}

/** Each command with names and answers that would steer a terminal. */
const attacks: Readonly<Record<string, () => Promise<void>>> = {
  async store() {
    await sluice('store', hostile);
    await sluice('store', 'create', '--store', hostile);
    const shared = ['--store', `env:${hostile}`, '--run', hostile];
    await expectEscaped('status', ...shared);
    await expectEscaped('abandon', ...shared);
  },

  async verify() {
    await writeFile(join(folder, hostile), `id,"${hostile}"\n1,good@sluice.test\n`);
    await expectEscaped('verify', `${hostile}-missing`, '--email', 'email', '--country', 'US');
    const column = ['--email', hostile, '--country', 'US'];
    expect((await expectEscaped('verify', hostile)).code).toBe(2);
    await expectEscaped('verify', hostile, '--email', 'email', '--country', 'US');
    await expectEscaped('verify', hostile, ...column, '-o', `${hostile}/out.csv`);
    await expectEscaped('verify', hostile, ...column, '--summary', hostile, '-o', 'out.csv');
    await sluice('verify', hostile, ...column, '-o', 'out.csv', '--dry-run');
    const form = ['--input-format', 'csv', '--poll-interval', '5', '--verbose'];
    const named = ['-o', 'out.csv', '--summary', '-'];
    const done = await expectEscaped('verify', hostile, ...column, ...named, ...form);
    expect(done.code).toBe(0);
    expect(JSON.parse(done.stdout.toString())).toMatchObject({ input: hostile });
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toContain('good@sluice.test');
    const log = await sluice('verify', hostile, ...column, '-o', 'log.csv', '--json-log');
    const lines = log.stderr.trimEnd().split('\n');
    const finished = lines.map((line) => JSON.parse(line) as { event: string; input?: string });
    expect(finished.find(({ event }) => event === 'finished')?.input).toBe(hostile);
    const failed = await sluice('verify', hostile, '--email', 'x', '--country', 'US', '--json-log');
    const error = JSON.parse(failed.stderr.trimEnd().split('\n').at(-1) ?? '') as object;
    expect(error).toMatchObject({ event: 'error', message: expect.stringContaining(hostile) });
  },
  async serve() {
    await expectEscaped('serve', hostile);
    await expectEscaped('serve', '--accounts', hostile);
    await expectEscaped('serve', '--host', hostile);
    await symlink(folder, join(folder, hostile));
    await expectEscaped('serve', '--data', hostile);
  },
  async status() {
    await expectEscaped('status', hostile);
    await leaveState();
    await expectEscaped('status', `${hostile}.sluice`);
    const { stdout } = await expectEscaped('status', `${hostile}.sluice`, '--json');
    expect(JSON.parse(stdout.toString())).toMatchObject({
      output: expect.stringContaining(hostile),
    });
    await expectEscaped('status');
    const listed = await expectEscaped('status', '--json');
    expect(JSON.parse(listed.stdout.toString())).toMatchObject([
      { stateDir: expect.stringContaining(hostile) },
    ]);
  },
  async doctor() {
    await expectEscaped('doctor', hostile);
    await expectEscaped('doctor', '--api-key-file', hostile);
    // It would ask again and again what a 500 answers.
    for (const status of [200, 401, 404]) {
      answer = () => ({ status, body: { message: hostileText, [hostileText]: hostileText } });
      expect((await sluice('doctor')).code).not.toBe(0);
      expect((await sluice('doctor', '--json')).code).not.toBe(0);
    }
  },
  async abandon() {
    await expectEscaped('abandon', hostile);
    await leaveState();
    await expectEscaped('abandon', `${hostile}.sluice`, '--json', '--yes');
    await leaveState();
    await expectEscaped('abandon', `${hostile}.sluice`, '--yes');
  },
  async history() {
    await writeFile(join(folder, 'list.csv'), 'email\ngood@sluice.test\n');
    const args = ['--email', 'email', '--country', 'US', '-o', 'out.csv', '--history', hostile];
    expect((await sluice('verify', 'list.csv', ...args)).code).toBe(0);
    await expectEscaped('history', 'stats', hostile);
    const { stdout } = await expectEscaped('history', 'stats', hostile, '--json');
    expect(JSON.parse(stdout.toString())).toMatchObject({ path: hostile });
    await sluice('history', 'export', hostile);
    await sluice('history', 'forget', hostile, hostile);
    await expectEscaped('history', 'stats', `${hostile}-missing`);
    await expectEscaped('history', 'prune', hostile, '--max-age', hostile);
  },
  async conformance() {
    await expectEscaped('conformance', hostile);
    answer = () => ({ status: 418, body: { message: hostileText, [hostileText]: hostileText } });
    for (const json of [[], ['--json']]) {
      expect((await sluice('conformance', '--patience', '1', ...json)).code).not.toBe(0);
    }
  },
  async credits() {
    await expectEscaped('credits', hostile);
    answer = () => ({
      status: 200,
      body: { email_credit: 1, phone_credit: 2, [hostileText]: hostileText },
    });
    const { stdout } = await expectEscaped('credits', '--json');
    expect(JSON.parse(stdout.toString())).toHaveProperty([hostileText], hostileText);
    for (const status of [400, 401, 403, 422, 500]) {
      answer = () => ({ status, body: { message: hostileText } });
      expect((await sluice('credits', '--give-up-after', '0')).code).not.toBe(0);
    }
  },
  async batch() {
    await expectEscaped('batch', hostile);
    const batch = { batch_uuid: uuid, name: hostileText, description: hostileText };
    const times = { created_at: hostileText, updated_at: hostileText };
    const known = { ...batch, ...times, status: hostileText, [hostileText]: { [hostileText]: 1 } };
    const one = (body: unknown): void => {
      answer = () => ({ status: 200, body });
    };
    const both = async (body: unknown, ...args: string[]): Promise<void> => {
      one(body);
      await expectEscaped('batch', ...args);
      const { stdout } = await expectEscaped('batch', ...args, '--json');
      expect(JSON.parse(stdout.toString())).toEqual(body);
    };
    await both([known], 'list');
    await both({ ...known, type: 'email', cost: {} }, 'status', uuid);
    await both({ ...known, type: 'email' }, 'details', uuid);
    await both({ status: hostileText }, 'prepare', uuid);
    await both({ status: hostileText }, 'launch', uuid);
    await both({ status: hostileText }, 'upload', 'lines.txt', ...group);
    one({ status: 'ok', [hostileText]: hostileText });
    await expectEscaped('batch', 'upload', 'lines.txt', ...group, '--name', hostile);
    await expectEscaped('batch', 'upload', 'lines.txt', ...group, '--json');
    await expectEscaped('batch', 'upload', `${hostile}.txt`, ...group);
    await sluice('batch', 'update', uuid, ...group, '--json');
    await sluice('batch', 'delete', uuid, '--json');
    const exported = { [hostileText]: [hostileText] };
    one(exported);
    const { stdout } = await expectEscaped('batch', 'export', uuid);
    expect(JSON.parse(stdout.toString())).toEqual(exported);
    // A file gets what the service gave, byte for byte.
    await sluice('batch', 'export', uuid, '-o', 'export.json');
    expect(await readFile(join(folder, 'export.json'), 'utf8')).toBe(JSON.stringify(exported));
    for (const command of ['status', 'details', 'prepare', 'launch', 'delete', 'export']) {
      await expectEscaped('batch', command, hostile);
    }
    answer = () => ({ status: 404, body: { message: hostileText } });
    for (const command of ['status', 'details', 'prepare', 'launch', 'delete', 'export']) {
      await sluice('batch', command, uuid);
    }
  },
  async check() {
    await expectEscaped('check', 'a@b.test', '--type', hostile);
    answer = () => ({ status: 200, body: { status: hostileText, [hostileText]: [hostileText] } });
    await expectEscaped('check', `${hostile}@b.test`, '--type', 'email');
    const { stdout } = await expectEscaped(
      'check',
      `${hostile}@b.test`,
      '--type',
      'email',
      '--json',
    );
    expect(JSON.parse(stdout.toString())).toHaveProperty('status', hostileText);
  },
  async format() {
    await expectEscaped('format', hostile, ...group);
    answer = () => ({ status: 200, body: { results: [{ input: hostile, formatted: hostile }] } });
    await expectEscaped('format', 'lines.txt', ...group);
    await expectEscaped('format', 'lines.txt', ...group, '--json');
    answer = () => ({ status: 200, body: { [hostileText]: hostileText } });
    await expectEscaped('format', 'lines.txt', ...group);
  },
  async 'load-statement'() {
    await writeFile(join(folder, 'list.csv'), `id,"${hostile}",email\n1,x,good@sluice.test\n`);
    const run = ['--email', 'email', '--country', 'US', '--part-size', '1MB'];
    expect((await sluice('verify', 'list.csv', ...run, '-o', 'parts')).code).toBe(0);
    for (const target of ['postgres', 'duckdb', 'clickhouse', 'snowflake', 'bigquery']) {
      const from = ['postgres', 'duckdb', 'clickhouse'].includes(target)
        ? []
        : ['--from', target === 'snowflake' ? '@stage' : 'gs://bucket/parts/'];
      const ended = await expectEscaped('load-statement', 'parts', '--for', target, ...from);
      expect(ended.code).toBe(2);
    }
    await expectEscaped('load-statement', hostile, '--for', 'postgres');
    await expectEscaped('load-statement', 'parts', '--for', hostile);
    await expectEscaped('load-statement', 'parts', '--for', 'postgres', '--table', hostile);
    await expectEscaped('load-statement', 'parts', '--for', 'postgres', '--key', hostile);
  },
  async targets() {
    await expectEscaped('targets', hostile);
  },
  async completion() {
    await expectEscaped('completion', hostile);
    for (const shell of ['bash', 'zsh', 'fish']) await sluice('completion', shell);
  },
};

/** Leaves an unfinished run whose output and state directory have the hostile name. */
async function leaveState(): Promise<void> {
  await writeFile(join(folder, 'list.csv'), 'email\ngood@sluice.test\n');
  const args = ['--email', 'email', '--country', 'US', '--detach', '-o', hostile];
  expect((await sluice('verify', 'list.csv', ...args)).code).toBe(75);
}

describe('what is printed', () => {
  it.each(commands.map(({ name }) => name))('steers no terminal: sluice %s', async (name) => {
    const attack = attacks[name];
    if (!attack) throw new Error(`no attack on sluice ${name}: write one`);
    await attack();
  });

  it('steers no terminal: what is no command, or has no such option', async () => {
    await expectEscaped(hostile);
    const all = (list: readonly Command[]): readonly Command[] =>
      list.flatMap((one) => [one, ...all(one.subcommands ?? [])]);
    for (const { name } of all(commands)) {
      await expectEscaped(...name.split(' '), `--${hostile}`);
      await sluice(...name.split(' '), '--help');
    }
  });

  it('steers no terminal from a process of its own, by its raw bytes', async () => {
    await mkdir(join(folder, hostile));
    const args = ['verify', hostile, '--email', hostile, '--country', 'US'];
    const ended = await runSluice(args, inFolder(folder, front));
    expect(expectHarmless(ended)).toContain('\\u202egnp.');
    // What happened, that nothing was sent, and the verdict.
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(3);
  });

  it('goes through one place', async () => {
    const root = new URL('../../../../src/cli/', import.meta.url);
    const names = await readdir(root, { recursive: true });
    for (const name of names.filter((found) => found.endsWith('.ts'))) {
      // Live lines hold numbers, and steer the terminal on purpose.
      if (name.endsWith('/print.ts') || name.endsWith('live-lines.ts')) continue;
      const source = await readFile(new URL(name, root), 'utf8');
      expect(source, name).not.toMatch(
        /(?:std(?:out|err)|\bout|person\.output)\.write\(|console\./,
      );
    }
  });
});
