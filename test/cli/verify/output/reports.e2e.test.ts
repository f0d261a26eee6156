import { existsSync, rmSync } from 'node:fs';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { summaryFileSchema } from '../../../../src/index.js';
import type { Service } from '../../../../src/service/index.js';
import { askSqlite } from '../../../lists/sql/sqlite/ask-sqlite.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { startFront } from '../../harness/front.js';
import { codedOf, eventsOf } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { startSluice } from '../../harness/run-sluice.js';
import { verifyByTens } from '../resume/verify-by-tens.js';
import { runSentences } from '../../../../src/report/sentences/run-sentences.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService());
  const rows = Array.from({ length: 30 }, (_, index) => `good${index}@sluice.test\n`);
  await writeFile(join(folder, 'list.csv'), ['email\n', ...rows].join(''));
  // Of another night.
  await writeFile(join(folder, 'summary.json'), '{"exit_code": 0}\n');
  await writeFile(join(folder, 'report.html'), 'of another night');
});

const reports = ['--summary', 'summary.json', '--report', 'report.html'];
const command = [...verifyByTens, '--no-progress', ...reports];
const startsOver = runSentences.starts_over.sentence({});

function verify(
  options: readonly string[] = [],
  to: { readonly baseUrl: string; readonly apiKey: string } = service,
): Promise<EndedHere> {
  return runInProcess([...command, ...options], inFolder(folder, to));
}

/** What the summary says, which has the published form, and the report without its tags. */
async function written() {
  const summary = summaryFileSchema.parse(
    JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')),
  );
  const report = await readFile(join(folder, 'report.html'), 'utf8');
  if ('dry_run' in summary) throw new Error('no dry run was asked for');
  return {
    summary,
    report: report
      .replaceAll(/<\/?code>/g, '')
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' '),
  };
}

describe('a run that stops', () => {
  it('leaves reports that say why, what was paid, and what comes next', async () => {
    const ended = await verify(['--max-credits', '20']);
    expect(ended.code).toBe(5);
    const { summary, report } = await written();
    expect(summary).toMatchObject({
      stopped: true,
      input: 'list.csv',
      output: 'out.csv',
      service: service.baseUrl,
      rows: 30,
      exit_code: 5,
      reason: 'budget_exhausted',
      credits: { email: { spent: 20, refunded: 0, net: 20, source: 'cost_objects' }, phone: null },
    });
    expect(summary.batches.map(({ stage }) => stage).toSorted()).toEqual([
      'exported',
      'exported',
      'ready',
    ]);
    expect(await chargesOf(service)).toHaveLength(20);
    expect(report).toContain(' list.csv, ');
    expect(report).toMatch(/\b5: /);
    const last = ['error', 'so_far', 'resumable', 'stopped_verdict'];
    expect(ended.events.slice(-4).map(({ event }) => event)).toEqual(last);
    const [soFar] = eventsOf(ended, 'so_far');
    expect(soFar).toMatchObject({ batches: 3, done: 2, email_credits: 20 });
    expect(report).toContain(soFar?.['so_far']);
    expect(eventsOf(ended, 'resumable')).toMatchObject([{ message: summary.next }]);
  });

  it('names the table that it verifies', async () => {
    askSqlite(
      join(folder, 'crm.db'),
      'CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT)',
      "INSERT INTO people VALUES (1, 'good1@sluice.test') RETURNING 1",
    );
    const into = ['-o', 'sqlite:crm.db', '--into', 'people', '--key', 'id', '--max-credits', '0'];
    const query = ['sqlite:crm.db', '--query', 'SELECT id, email FROM people'];
    const line = ['verify', ...query, '--email', 'email', '--country', 'US', ...into];
    const ended = await runInProcess(line, inFolder(folder, service));
    expect(ended.code, ended.stderr).toBe(5);
    expect(eventsOf(ended, 'stopped_verdict')).toMatchObject([
      { input: 'people in sqlite:crm.db' },
    ]);
  });

  it('says what it goes on with before anything else, and replaces those reports', async () => {
    await verify(['--max-credits', '20']);
    const ended = await verify();
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.events[0]).toMatchObject({
      event: 'going_on',
      batches: 3,
      done: 2,
      email_credits: 20,
    });
    const { summary, report } = await written();
    expect(summary).toMatchObject({ exit_code: 0, reason: null, next: null, rows: 30 });
    expect(summary).not.toHaveProperty('stopped');
    expect(report).not.toContain('Exit code');
  });

  it('says that nothing was paid where nothing was there to send', async () => {
    const absent = command.with(1, 'absent.csv');
    const ended = await runInProcess(absent, inFolder(folder, service));
    expect(ended.code).toBe(6);
    const { summary } = await written();
    expect(summary.credits.email).toMatchObject({ spent: 0, net: 0 });
    // The next night has it to go by, if its environment is lost.
    expect(summary).toMatchObject({ service: service.baseUrl });
  });

  it.each([
    ['unauthorized', 4, 'accepted_key'],
    ['service_unavailable', 7, 'working_service'],
  ] as const)('for %s ends with %i, and says so', async (reason, code, condition) => {
    let isDown = false;
    const front = await startFront(service, (request) => {
      isDown ||= request.startsWith('POST /v1/batch/');
      return isDown ? { status: code === 4 ? 401 : 503, body: { message: 'no' } } : undefined;
    });
    const ended = await verify(['--give-up-after', '0.2'], front);
    expect(ended.code, ended.stderr).toBe(code);
    const { summary } = await written();
    expect(summary).toMatchObject({ stopped: true, exit_code: code, credits: { email: {} } });
    expect(summary.next).toContain(
      runSentences.repeat.sentence({ condition, enough: null, next: '' }),
    );
    expect(summary.reason).toBe(reason);
    expect(await chargesOf(service)).toEqual([]);
  });

  it('has reports when it is detached, its input is missing, or the service is another', async () => {
    expect((await verify(['--detach'])).code).toBe(75);
    expect((await written()).summary).toMatchObject({
      exit_code: 75,
      reason: 'detached',
      credits: { email: { spent: 30 } },
    });
    // What was paid is known, even where this night has come to nothing.
    const missing = command.with(1, 'missing.csv');
    const ended = await runInProcess(missing, inFolder(folder, service));
    expect(ended.code).toBe(6);
    expect((await written()).summary).toMatchObject({
      exit_code: 6,
      reason: 'input_unreadable',
      credits: { email: { spent: 30 } },
    });
    const other = await verify([], (await withService()).service);
    expect(other.code).toBe(2);
    expect((await written()).summary).toMatchObject({
      exit_code: 2,
      reason: 'state_mismatch',
      credits: { email: { spent: 30 } },
    });
  });

  it('has none of another night when it is killed', async () => {
    const slow = (await withService({ verifyDelayMs: 3_600_000 })).service;
    const running = startSluice([...command, '--json-log'], inFolder(folder, slow));
    await running.reported('batch', { stage: 'verifying' });
    expect(existsSync(join(folder, 'summary.json'))).toBe(false);
    expect(existsSync(join(folder, 'report.html'))).toBe(false);
    running.child.kill('SIGKILL');
    await running.ended;

    const again = startSluice([...command, '--json-log'], inFolder(folder, slow));
    await again.reported('going_on');
    // Another process has nothing to write about this run as long as it goes on.
    const locked = await runInProcess(command, inFolder(folder, slow));
    expect(locked.code).toBe(2);
    expect(locked.stderr).toContain('[state_locked]');
    again.child.kill('SIGTERM');
    expect((await again.ended).code).toBe(143);
    const { summary, report } = await written();
    expect(summary).toMatchObject({
      exit_code: 143,
      reason: 'terminated',
      message: 'stopped by SIGTERM',
    });
    expect(report).toContain('stopped by SIGTERM');
    expect(summary.batches.map(({ stage }) => stage)).toContain('verifying');
  });

  it('leaves the reports of a process that is about to end, and not those of another night', async () => {
    const slow = (await withService({ verifyDelayMs: 3_600_000 })).service;
    const holder = startSluice([...verifyByTens, '--json-log'], inFolder(folder, slow));
    await holder.reported('batch', { stage: 'verifying' });
    const refused = async (): Promise<unknown> => {
      const { code } = await verify([], slow);
      expect(code).toBe(2);
      return JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'));
    };
    expect(await refused()).toEqual({ exit_code: 0 });
    const past = new Date(Date.now() - 3_600_000);
    const names = ['summary.json', 'report.html'];
    for (const name of names) await utimes(join(folder, name), past, past);
    expect(await refused()).toMatchObject({ exit_code: 2, reason: 'state_locked' });
    // A kill in the time that one waits for its turn leaves none of another night either.
    for (const name of names) await utimes(join(folder, name), past, past);
    const waiting = startSluice([...command, '--wait-lock', '60'], inFolder(folder, slow));
    const left = () => names.filter((name) => existsSync(join(folder, name)));
    await expect.poll(left).toEqual([]);
    waiting.child.kill('SIGKILL');
    holder.child.kill('SIGTERM');
    await holder.ended;
  });

  it('leaves the reports to the process that has the history', async () => {
    const slow = (await withService({ verifyDelayMs: 3_600_000 })).service;
    const history = ['--history', 'all.history'];
    const holder = startSluice([...command, ...history, '--json-log'], inFolder(folder, slow));
    await holder.reported('batch', { stage: 'verifying' });
    expect((await verify(history, slow)).stderr).toContain('[state_locked]');
    expect(existsSync(join(folder, 'summary.json'))).toBe(false);
    // The reports of another list are its own.
    const other = ['verify', 'list.csv', '--email', 'email', '--country', 'DE', '-o', 'other.csv'];
    const args = [...other, ...history, '--summary', 'other.json'];
    const refused = await runInProcess(args, inFolder(folder, slow));
    expect(refused.code).toBe(2);
    expect(JSON.parse(await readFile(join(folder, 'other.json'), 'utf8'))).toMatchObject({
      reason: 'state_locked',
      next: expect.stringContaining('--wait-lock') as string,
      batches: [],
    });
    holder.child.kill('SIGTERM');
    await holder.ended;
  });

  it('replaces no file that the command names, whatever ends it', async () => {
    const named = ['night.history', 'night.history.key', 'no.csv', 'night.json', 'night.env'];
    for (const name of [...named, 'crm.db']) await writeFile(join(folder, name), 'A=1');
    await writeFile(join(folder, 'night.json'), '{"country": "US"}');
    const options = ['--history', 'night.history', '--suppress', 'no.csv#email'];
    const files = ['--config', 'night.json', '--env-file', 'night.env'];
    const cases = [
      ...named.map((name) => ['list.csv', '--summary', name]),
      ['sqlite:crm.db', '--report', 'crm.db'],
      ['l*.csv', '--summary', 'list.csv'],
    ];
    for (const [list = '', option = '', name = ''] of cases) {
      const content = await readFile(join(folder, name));
      const args = ['verify', list, '--email', 'none', ...options, ...files, option, name];
      const ended = await runInProcess(args, { cwd: folder });
      expect(ended.code, ended.stderr).toBe(2);
      expect(eventsOf(ended, 'error')).toMatchObject([{ option, fault: 'exists', file: name }]);
      expect(await readFile(join(folder, name))).toEqual(content);
    }
  });

  it('says what was paid where its summary cannot be written', async () => {
    const apart = join(folder, 'reports');
    await mkdir(apart);
    const front = await startFront(service, (request) => {
      if (request.startsWith('POST /v1/batch/')) rmSync(apart, { recursive: true, force: true });
      return undefined;
    });
    const args = [...verifyByTens, '--summary', join(apart, 's.json'), '--max-credits', '20'];
    const ended = await runInProcess(args, inFolder(folder, front));
    expect(ended.code).toBe(5);
    expect(ended.stderr).toContain('reports');
    expect(eventsOf(ended, 'so_far')).toMatchObject([{ done: 2, batches: 3, email_credits: 20 }]);
    expect(eventsOf(ended, 'resumable')).toHaveLength(1);
  });

  it.each([401, 500])('that has sent nothing for a %i says that it starts over', async (status) => {
    const front = await startFront(service, (request) =>
      request.startsWith('GET') ? { status, body: { message: 'no' } } : undefined,
    );
    const ended = await verify(['--give-up-after', '0.2'], front);
    expect(eventsOf(ended, 'so_far')).toEqual([]);
    expect(existsSync(join(folder, 'out.csv.sluice'))).toBe(false);
    expect((await written()).summary.next).toContain(startsOver);
  });

  it('says in one line what all of its batches failed for', async () => {
    const front = await startFront(service, (request) =>
      request === 'POST /v1/batch' ? { status: 413, body: { message: 'no' } } : undefined,
    );
    const ended = await verify([], front);
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'batches_failed')).toMatchObject([{ reason: 'too_large' }]);
    expect(ended.stderr.match(/too_large/g)).toHaveLength(1);
  });

  it('does not send elsewhere what is paid, where the key is missing', async () => {
    await verify(['--max-credits', '20']);
    const env = { SLUICE_BASE_URL: service.baseUrl };
    const ended = await runInProcess(command, { cwd: folder, env });
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'results_kept')).toEqual([]);
  });

  it('that streams says what it has launched', async () => {
    const { service: slow } = await withService({ verifyDelayMs: 3_600_000 });
    const args = ['verify', '-', '--email', 'email', '--country', 'US', '--json-log', ...reports];
    const running = startSluice(args, {
      cwd: folder,
      env: connectTo(slow),
      input: 'email\ngood@sluice.test\nbad@sluice.test\n',
    });
    await running.reported('batch', { stage: 'verifying' });
    running.child.kill('SIGTERM');
    await running.ended;
    expect((await written()).summary).toMatchObject({
      exit_code: 143,
      credits: { email: { spent: 2, source: 'launched' } },
      next: runSentences.repeat.sentence({ condition: null, enough: null, next: startsOver }),
    });
  });
});

describe('a run that goes to its end', () => {
  it('says in its reports that rows failed', async () => {
    const gone = new Set<string>();
    const front = await startFront(service, (request) => {
      const [, uuid = '', rest = ''] = /\/batch\/([^/]+)(.*)$/.exec(request) ?? [];
      if (rest === '/export') gone.add(uuid);
      return gone.has(uuid) ? { status: 404, body: { message: 'gone' } } : undefined;
    });
    const ended = await verify([], front);
    expect(ended.code, ended.stderr).toBe(3);
    const { summary, report } = await written();
    expect(summary).toMatchObject({ exit_code: 3, reason: 'rows_failed', rows: 30 });
    const [advice] = codedOf(ended, 'retry_failed');
    expect(advice).toMatchObject({ addresses: 30, paid_twice: 30 });
    expect(report).toContain(advice?.['message']);
  });

  it('or that it was only tried', async () => {
    expect((await verify(['--dry-run'])).code).toBe(0);
    const summary: unknown = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'));
    expect(summaryFileSchema.parse(summary)).toMatchObject({ dry_run: true, exit_code: 0 });
    expect(await readFile(join(folder, 'report.html'), 'utf8')).toBe('of another night');
  });
});
