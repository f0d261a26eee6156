import { mkdir, readFile, readdir, realpath, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { ParsedOptions } from '../../../../src/cli/command.js';
import { dropOldRun } from '../../../../src/cli/job/questions.js';
import { readRunStatus, type RunStatus } from '../../../../src/index.js';
import { besidePath } from '../../../../src/platform/files/file-system.js';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import type { Wire } from '../../../service/wire.js';
import { personAtTerminal, runAtTerminal } from '../../harness/at-terminal.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo } from '../../harness/connect-to.js';
import { Reporter } from '../../../../src/cli/terminal/reporter.js';
import { answerInProcess, runInProcess, type EndedHere } from '../../harness/run-in-process.js';
import { startSluice } from '../../harness/run-sluice.js';
import { verifyByTens } from './verify-by-tens.js';
import { eventsOf } from '../../harness/logged-events.js';

let folder: string;
let service: Service;
let wire: Wire;
beforeEach(async () => {
  folder = await withFolder();
  ({ service, wire } = await withService());
  const rows = Array.from({ length: 30 }, (_, index) => `good${index}@sluice.test\n`);
  await writeFile(join(folder, 'list.csv'), ['email\n', ...rows].join(''));
});

const command = [...verifyByTens, '--quiet'];

function sluice(args: readonly string[], env = connectTo(service)): Promise<EndedHere> {
  return runInProcess(args, { cwd: folder, env });
}

/** A run of three batches: two are paid, one is uploaded and prepared. */
async function leaveUnfinished(): Promise<void> {
  expect((await sluice([...command, '--max-credits', '20'])).code).toBe(5);
}

describe('sluice status', () => {
  it('wraps its lines at a terminal, between words, and only there', async () => {
    await leaveUnfinished();
    const whole = (await sluice(['status'], {})).stdout.toString();
    const longest = Math.max(...whole.split('\n').map(({ length }) => length));
    expect(longest).toBeGreaterThan(60);
    const shown = await answerInProcess(['status'], { cwd: folder, answers: [], columns: 60 });
    const lines = shown.seen.split(/\r?\n/);
    expect(lines.filter(({ length }) => length > 60)).toEqual([]);
    const words = (text: string) => text.split(/\s+/);
    expect(words(shown.seen)).toEqual(words(whole));
  });

  it('ends with 2 where there is no run, and names where it looked', async () => {
    const none = await sluice(['status', 'nothing.csv'], {});
    expect(none.code).toBe(2);
    expect(eventsOf(none, 'error')).toMatchObject([{ code: 'invalid_option' }]);
    expect(none.stderr).toContain('nothing.csv.sluice');
  });

  it('says which budget has stopped a run, and which is enough, until the run goes on', async () => {
    await leaveUnfinished();
    const stopped = await sluice(['status', 'out.csv'], {});
    expect(stopped.stdout.toString()).toMatch(/^stopped .* email /m);
    const listed = await sluice(['status'], {});
    for (const { stdout } of [stopped, listed]) {
      expect(stdout.toString()).toMatch(/--max-credits .*\b30\b/);
    }
    const budget = { code: 'budget_exhausted' };
    const stateDir = join(folder, 'out.csv.sluice');
    expect(await readRunStatus(stateDir)).toMatchObject({ stopped: budget });
    const unreachable = { ...connectTo(service), SLUICE_BASE_URL: 'http://127.0.0.1:1' };
    expect((await sluice([...command, '--give-up-after', '1'], unreachable)).code).not.toBe(0);
    expect(await readRunStatus(stateDir)).toMatchObject({ stopped: budget });
    const partial = await sluice([...command, '--max-credits', '20', '--partial']);
    expect(partial.code).toBe(3);
    expect(await readRunStatus(stateDir)).toMatchObject({ stopped: budget });
    expect((await sluice(command)).code).toBe(0);
    expect(await chargesOf(service)).toHaveLength(30);
  });

  it('shows an unfinished run, and asks nobody', async () => {
    await leaveUnfinished();
    const printed = await sluice(['status', 'out.csv.sluice'], {});
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    const byOutput = await sluice(['status', 'out.csv'], {});
    expect(byOutput.stdout.toString()).toBe(printed.stdout.toString());
    const json = await sluice(['status', 'out.csv.sluice', '--json'], {});
    expect(JSON.parse(json.stdout.toString()) as RunStatus).toMatchObject({
      input: 'list.csv',
      output: 'out.csv',
      service: service.baseUrl,
      rows: 30,
      batches: 3,
      uploads: 3,
      stages: { exported: 2, ready: 1 },
      launchedCredits: { email: 20, phone: 0 },
      isFinished: false,
    });
  });

  it('lists the unfinished runs of a folder', async () => {
    const none = await sluice(['status'], {});
    expect(none).toMatchObject({ code: 0 });
    expect(none.stdout.toString()).toMatch(/\S\n$/);
    expect((await sluice(['status', '--json'], {})).stdout.toString()).toBe('[]\n');

    await leaveUnfinished();
    const other = command.map((arg) => (arg === 'out.csv' ? 'other.csv' : arg));
    expect((await sluice([...other, '--state', 'named', '--max-credits', '10'])).code).toBe(5);
    // Of another program, and of no use.
    await mkdir(join(folder, 'journals'));
    await writeFile(join(folder, 'journals', 'journal'), 'dear diary\n');
    await mkdir(join(folder, 'broken.csv.sluice'));
    await writeFile(join(folder, 'broken.csv.sluice', 'journal'), 'dear diary\n');
    const listed = await sluice(['status'], {});
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    const blocks = listed.stdout.toString().trimEnd().split('\n\n');
    expect(blocks).toHaveLength(3);
    expect(blocks[0]).toMatch(/^broken\.csv\.sluice\n {2}.*\[/);
    expect(blocks[1]).toMatch(/^named, begun .*\n {2}list\.csv to other\.csv, by .*\n.*\n.*$/);
    expect(blocks[1]).toContain(service.baseUrl);
    expect(blocks[2]).toMatch(/^out\.csv\.sluice, begun/);
    const json = JSON.parse((await sluice(['status', '--json'], {})).stdout.toString()) as unknown;
    expect(json).toMatchObject([
      { stateDir: 'broken.csv.sluice', error: expect.any(String) as string },
      { stateDir: 'named', done: 1, batches: 3, openCredits: { email: 20 } },
      { stateDir: 'out.csv.sluice', done: 2, running: 0 },
    ]);
  });

  it('ends with 2 where there is no run', async () => {
    await mkdir(join(folder, 'empty'));
    for (const args of [
      ['status', 'empty'],
      ['status', 'missing'],
      ['status', 'list.csv'],
      ['status', 'one', 'two'],
    ]) {
      expect((await sluice(args)).code, args.join(' ')).toBe(2);
    }
    expect(eventsOf(await sluice(['status', 'list.csv']), 'error')).toMatchObject([
      { code: 'invalid_option', message: expect.stringContaining('list.csv.sluice') },
    ]);
    expect(await readdir(join(folder, 'empty'))).toEqual([]);
  });
});

describe('sluice abandon', () => {
  it('deletes what was never launched, and the state directory', async () => {
    await leaveUnfinished();
    const shown = await sluice(['abandon', 'out.csv.sluice', '--yes']);
    expect(shown.code).toBe(0);
    expect(eventsOf(shown, 'dropped')).toMatchObject([{ by: 'sluice abandon' }]);
    expect(eventsOf(shown, 'abandoned')).toMatchObject([{ batches: 1 }]);
    expect(await readdir(folder)).toEqual(['list.csv']);
    const list = (await wire.get('/v1/batch')).json as unknown as { readonly status: string }[];
    expect(list.map(({ status }) => status)).toEqual(Array(2).fill('verification_done'));
    expect(await chargesOf(service)).toHaveLength(20);
  });

  it('removes what a kill has left beside the output, and no other file', async () => {
    await leaveUnfinished();
    const output = await realpath(folder);
    const [partial, lock] = (['partial', 'lock'] as const).map((ending) =>
      besidePath(join(output, 'out.csv'), ending),
    );
    const others = besidePath(join(output, 'other.csv'), 'partial');
    for (const path of [partial, lock, others]) await writeFile(path as string, 'half');
    expect((await sluice(['abandon', 'out.csv.sluice', '--yes'])).code).toBe(0);
    expect((await readdir(folder)).toSorted()).toEqual([basename(others), 'list.csv']);
  });

  it('asks at a terminal where something was paid, and not with --yes', async () => {
    await leaveUnfinished();
    const abandon = ['abandon', 'out.csv.sluice'];
    const env = connectTo(service);
    const kept = await runAtTerminal(abandon, {
      cwd: folder,
      env,
      answers: [[/\b20\b.*\[y\/N\]/, 'n\r']],
    });
    expect(kept.code, kept.seen).toBe(2);
    expect(await readdir(folder)).toContain('out.csv.sluice');
    const dropped = await answerInProcess([...abandon, '--yes'], { cwd: folder, env, answers: [] });
    expect(dropped.code, dropped.seen).toBe(0);
    expect(await readdir(folder)).toEqual(['list.csv']);
  });

  it('refuses to drop what was paid where nobody can be asked, and names --yes', async () => {
    await leaveUnfinished();
    const text = await sluice(['abandon', 'out.csv.sluice']);
    expect(text.code).toBe(2);
    expect(text.stderr).toContain('--yes');
    const unnamed = await sluice(['abandon']);
    expect(unnamed.code).toBe(2);
    expect(unnamed.stdout.toString()).toContain('abandon out.csv.sluice');
    expect(await readdir(folder)).toContain('out.csv.sluice');
    expect((await wire.get('/v1/batch')).json).toHaveLength(3);
  });

  it('drops a run that cost nothing unasked: of the local service, or before its first launch', async () => {
    const unfinished = command.concat('--max-credits');
    for (const [credits, env] of [
      ['20', {}],
      ['5', connectTo(service)],
    ] as const) {
      expect((await sluice([...unfinished, credits], env)).code).toBe(5);
      const printed = await sluice(['abandon', 'out.csv.sluice'], env);
      expect(printed.code, printed.stderr).toBe(0);
      expect(eventsOf(printed, 'dropped')).toEqual([]);
      expect(await readdir(folder)).toEqual(['list.csv']);
    }
  });

  it('touches nothing while a run works there, or with the wrong service', async () => {
    await leaveUnfinished();
    const journal = await readFile(join(folder, 'out.csv.sluice', 'journal'));
    const other = await withService();
    expect((await sluice(['abandon', 'out.csv.sluice'], connectTo(other.service))).code).toBe(2);
    expect((await sluice(['abandon', 'out.csv.sluice'], {})).code).toBe(2);
    expect(await readFile(join(folder, 'out.csv.sluice', 'journal'))).toEqual(journal);

    const args = ['verify', '-', '--email', 'email', '--country', 'US', '-o', 'other.csv'];
    const running = startSluice([...args, '--state', 'busy'], { cwd: folder, keepInputOpen: true });
    const isBegun = async (): Promise<boolean> =>
      readRunStatus(join(folder, 'busy')).then(
        () => true,
        () => false,
      );
    while (!(await isBegun())) await wait(5);
    const refused = await sluice(['abandon', 'busy'], {});
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('[state_locked]') });
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
  });
});

describe('--fresh', () => {
  const fresh = command.filter((arg) => arg !== '--quiet').concat('--fresh');

  it('says what of the old run stays on the service', async () => {
    await leaveUnfinished();
    const printed = await sluice(fresh);
    expect(printed.code).toBe(0);
    expect(eventsOf(printed, 'uploads_kept')).toMatchObject([{ batches: 3, why: 'not_asked' }]);
    expect((await wire.get('/v1/batch')).json).toHaveLength(6);
    expect(await chargesOf(service)).toHaveLength(50);
  });

  it('deletes the batches of the old run with --delete-batches', async () => {
    await leaveUnfinished();
    const printed = await sluice([...fresh, '--delete-batches']);
    expect(printed.code).toBe(0);
    expect(eventsOf(printed, 'uploads_deleted')).toMatchObject([{ batches: 3 }]);
    expect((await wire.get('/v1/batch')).json).toEqual([]);
  });

  it.each([
    ['y', 0],
    ['n', 3],
    ['', 3],
  ])('asks the person at the terminal, who says "%s"', async (answer, left) => {
    await leaveUnfinished();
    const person = personAtTerminal(answer);
    await dropOldRun(join(folder, 'out.csv.sluice'), {
      target: { kind: 'service', baseUrl: service.baseUrl, apiKey: service.apiKey },
      options: new ParsedOptions(new Map([['yes', [true]]])),
      person,
      reporter: new Reporter(person.output, {
        isQuiet: false,
        isVerbose: false,
        clock: { now: () => 0, wallNow: () => 0 },
      }),
      signal: new AbortController().signal,
    });
    expect(person.received()).toContain('3 batches');
    expect((await wire.get('/v1/batch')).json).toHaveLength(left);
  });

  it('says at a terminal what was paid, and drops it only where that is agreed to', async () => {
    await leaveUnfinished();
    const env = connectTo(service);
    const asked = /\b20\b.*\[y\/N\]/;
    const kept = await answerInProcess(fresh, {
      cwd: folder,
      env,
      answers: [[asked, '\r']],
    });
    expect(kept.code, kept.seen).toBe(2);
    expect(await chargesOf(service)).toHaveLength(20);
    const resumed = await sluice(command);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(await chargesOf(service)).toHaveLength(30);
  });

  it('warns of what was paid where nobody can be asked, also when quiet', async () => {
    await leaveUnfinished();
    const printed = await sluice([...fresh, '--quiet']);
    expect(printed.code).toBe(0);
    expect(printed.events).toMatchObject([
      {
        event: 'dropped',
        severity: 'warning',
        by: '--fresh',
        paid: expect.stringMatching(/^20\b/),
      },
      { event: 'verdict' },
    ]);
  });

  it('leaves batches alone that are in another account, or on another service', async () => {
    await leaveUnfinished();
    const other = await withService();
    const printed = await sluice([...fresh, '--delete-batches'], connectTo(other.service));
    expect(printed.code, printed.stderr).toBe(0);
    expect(eventsOf(printed, 'uploads_kept')).toMatchObject([
      { service: service.baseUrl, why: 'other_service' },
    ]);
    expect((await wire.get('/v1/batch')).json).toHaveLength(3);
  });

  it('excludes --retry-failed', async () => {
    await leaveUnfinished();
    expect((await sluice([...fresh, '--retry-failed'])).code).toBe(2);
    expect(await readdir(folder)).toContain('out.csv.sluice');
  });
});

describe('--delete-batches', () => {
  it('leaves no batch on the service once its results are safe', async () => {
    expect((await sluice([...command, '--delete-batches'])).code).toBe(0);
    expect((await wire.get('/v1/batch')).json).toEqual([]);
    expect(await chargesOf(service)).toHaveLength(30);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });
});

describe('--retry-failed', () => {
  it('ends with 2 where nothing failed', async () => {
    const ended = await sluice([...command, '--retry-failed']);
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'error')).toMatchObject([
      { option: '--retry-failed', fault: 'missing' },
    ]);
    expect(await readdir(folder)).toEqual(['list.csv']);
    expect(await chargesOf(service)).toEqual([]);
  });
});
