import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { eventsOf } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { startSluice } from '../../harness/run-sluice.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

/** Rows whose quotes, spaces and line ends an output has to keep. */
function listOf(rows: number, from = 0): string {
  const lines = Array.from({ length: rows }, (_, index) => {
    const at = from + index;
    return `"${at}", note ${at},good${at}@sluice.test\r\n`;
  });
  return `id,note,email\r\n${lines.join('')}`;
}

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), text);
}

async function read(name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8');
}

const columns = ['--email', 'email', '--country', 'US'];
const quick = ['--batch-size', '10', '--poll-interval', '5', '--concurrency', '1'];

function verify(service: Service, ...args: string[]): Promise<EndedHere> {
  return runInProcess(['verify', ...args, ...columns, ...quick], inFolder(folder, service));
}

async function addressesPaid(service: Service): Promise<readonly string[]> {
  const paid = (await chargesOf(service)).map(({ address }) => address);
  expect(new Set(paid).size, 'an address was paid for twice').toBe(paid.length);
  return paid;
}

describe('--limit', () => {
  it('writes what a list of its first rows alone gives, and pays for no other', async () => {
    await write('list.csv', listOf(300));
    await write('short.csv', listOf(25));
    const { service } = await withService();
    const trial = await verify(
      service,
      'list.csv',
      '-o',
      'trial.csv',
      '--limit',
      '25',
      '--summary',
      'summary.json',
    );
    expect(trial.code, trial.stderr).toBe(0);
    expect(await addressesPaid(service)).toHaveLength(25);
    const lost = { rows: 25, limit: 25, results: 'lost' };
    expect(eventsOf(trial, 'limited')).toMatchObject([lost]);
    expect(JSON.parse(await read('summary.json'))).toMatchObject({ rows: 25, limit: 25 });
    const other = await withService();
    expect((await verify(other.service, 'short.csv', '-o', 'whole.csv')).code).toBe(0);
    expect(await read('trial.csv')).toBe(await read('whole.csv'));
    // Rows that stream to standard output are the same.
    const streamed = await verify(other.service, 'list.csv', '-n', '25');
    expect(streamed.stdout.toString()).toBe(await read('whole.csv'));
    expect((await readdir(folder)).toSorted()).toEqual(
      ['list.csv', 'short.csv', 'summary.json', 'trial.csv', 'whole.csv'].toSorted(),
    );
  });

  it('says before anything is sent that the rows are paid for again', async () => {
    await write('list.csv', listOf(40));
    const { service } = await withService();
    const reported = [{ rows: 20, limit: 20 }];
    const trial = ['list.csv', '-o', 'o.csv', '-n', '20'];
    const stopped = await verify(service, ...trial, '--max-credits', '1');
    expect(stopped.code, stopped.stderr).toBe(5);
    expect(eventsOf(stopped, 'trial')).toMatchObject(reported);
    expect(await addressesPaid(service)).toEqual([]);
    const counted = await verify(service, 'list.csv', '--dry-run', '-n', '20');
    expect(eventsOf(counted, 'trial')).toMatchObject(reported);
    const streamed = await verify(service, 'list.csv', '-n', '20');
    expect(eventsOf(streamed, 'trial')).toMatchObject(reported);
    const kept = await verify(service, 'list.csv', '-o', 'kept.csv', '-n', '20', '--history', 'h');
    expect(eventsOf(kept, 'trial')).toEqual([]);
  });

  it('says nothing of a rest where the list has fewer rows', async () => {
    await write('list.csv', listOf(5));
    const { service } = await withService();
    const ended = await verify(service, 'list.csv', '-o', 'out.csv', '-n', '100');
    expect(ended.code, ended.stderr).toBe(0);
    expect([...eventsOf(ended, 'trial'), ...eventsOf(ended, 'limited')]).toEqual([]);
    expect(await addressesPaid(service)).toHaveLength(5);
  });

  it('is counted by --dry-run, and refused where it is no number of rows', async () => {
    await write('list.csv', listOf(300));
    const { service } = await withService();
    const requests = countRequests(service);
    const counted = await verify(service, 'list.csv', '--dry-run', '-n', '25');
    expect(counted.code, counted.stderr).toBe(0);
    expect(eventsOf(counted, 'estimate')).toMatchObject([
      { rows: 25, limit: 25, email: { credits: 25 } },
    ]);
    expect(eventsOf(counted, 'trial')).toHaveLength(1);
    const kept = await verify(service, 'list.csv', '--dry-run', '-n', '25', '--history', 'h');
    expect(eventsOf(kept, 'trial')).toEqual([]);
    for (const wrong of ['0', '-5', '1.5', 'ten']) {
      const refused = await verify(service, 'list.csv', '-o', 'out.csv', '-n', wrong);
      expect(refused.code).toBe(2);
      expect(eventsOf(refused, 'error')).toMatchObject([
        { code: 'invalid_option', message: expect.stringContaining('--limit') },
      ]);
    }
    expect(new Set(requests)).toEqual(new Set(['GET /v1/account/credits']));
  });

  it('leaves a history from which the whole list is then paid for the rest alone', async () => {
    await write('list.csv', listOf(60));
    const { service } = await withService();
    const args = ['list.csv', '-o', 'out.csv', '--history', 'results'];
    const trial = await verify(service, ...args, '-n', '25');
    expect(trial.code, trial.stderr).toBe(0);
    expect(eventsOf(trial, 'limited')).toMatchObject([{ results: 'kept' }]);
    const whole = await verify(service, ...args, '--summary', 'summary.json');
    expect(whole.code, whole.stderr).toBe(0);
    expect(await addressesPaid(service)).toHaveLength(60);
    const summary = JSON.parse(await read('summary.json')) as Record<string, unknown>;
    expect(summary).toMatchObject({ rows: 60, email: { from_history: 25 } });
    // A trial is no night of the list, which later ones are compared with.
    expect(summary).toMatchObject({ compared: { previous: null } });
    expect(summary).not.toHaveProperty('limit');
  });

  it('goes on after a stop with what is paid, and with the same rows', async () => {
    await write('list.csv', listOf(300));
    const { service } = await withService();
    const args = ['list.csv', '-o', 'out.csv', '-n', '25'];
    expect((await verify(service, ...args, '--max-credits', '10')).code).toBe(5);
    expect(await addressesPaid(service)).toHaveLength(10);
    // What is far after the first rows may change, and be anything: it is not read.
    await write('list.csv', `${listOf(25)}${'x,y,z\r\n'.repeat(100_000)}anything "else\r\n`);
    const done = await verify(service, ...args);
    expect(done.code, done.stderr).toBe(0);
    expect(eventsOf(done, 'going_on')).toHaveLength(1);
    expect(eventsOf(done, 'carried')).toEqual([]);
    expect(await addressesPaid(service)).toHaveLength(25);
  });

  it('tells a log what is left before it says that the run is over', async () => {
    await write('list.csv', listOf(12));
    const { service } = await withService();
    const { events } = await verify(service, 'list.csv', '-o', 'o.csv', '-n', '5', '--json-log');
    expect(events.slice(-2).map(({ event }) => event)).toEqual(['limited', 'finished']);
  });

  it('goes on after a kill, and pays for nothing twice', async () => {
    await write('list.csv', listOf(300));
    const { service } = await withService({ verifyDelayMs: 300 });
    const args = ['list.csv', '-o', 'out.csv', '-n', '25'];
    const running = startSluice(
      ['verify', ...args, ...columns, ...quick, '--json-log'],
      inFolder(folder, service),
    );
    await running.reported('batch', { stage: 'verifying' });
    running.child.kill('SIGKILL');
    expect(await running.ended).toMatchObject({ signal: 'SIGKILL' });
    const done = await verify(service, ...args);
    expect(done.code, done.stderr).toBe(0);
    expect(await addressesPaid(service)).toHaveLength(25);
    expect((await read('out.csv')).trimEnd().split('\r\n')).toHaveLength(26);
  });

  it('is another list with another limit: what was paid is used, or the run refused', async () => {
    await write('list.csv', listOf(40));
    const { service } = await withService();
    const args = ['list.csv', '-o', 'out.csv'];
    expect((await verify(service, ...args, '-n', '25', '--max-credits', '10')).code).toBe(5);
    const refused = await verify(service, ...args, '--on-change', 'stop');
    expect(refused.code).toBe(2);
    expect(eventsOf(refused, 'error')).toMatchObject([
      { code: 'state_mismatch', message: expect.stringContaining('--limit') },
    ]);
    const done = await verify(service, ...args);
    expect(done.code, done.stderr).toBe(0);
    expect(eventsOf(done, 'carried')).toMatchObject([{ paid_addresses: 10, used_addresses: 10 }]);
    expect(await addressesPaid(service)).toHaveLength(40);
  });

  it('is refused beside an unfinished run that paid for more, with the price of each way on', async () => {
    await write('list.csv', listOf(40));
    const { service } = await withService();
    const args = ['list.csv', '-o', 'out.csv'];
    expect((await verify(service, ...args, '--max-credits', '20')).code).toBe(5);
    const before = await addressesPaid(service);
    const refused = await verify(service, ...args, '-n', '5');
    expect(refused.code).toBe(2);
    expect(eventsOf(refused, 'error')).toMatchObject([
      {
        code: 'state_mismatch',
        message: expect.stringMatching(/--on-change carry.*\b1\d\b.*--fresh/),
      },
    ]);
    expect(await addressesPaid(service)).toEqual(before);
  });

  it('notices rows that changed places between the two readings', async () => {
    await write('list.csv', listOf(30));
    const { service } = await withService();
    const args = ['list.csv', '-o', 'out.csv', '-n', '20'];
    expect((await verify(service, ...args, '--max-credits', '10')).code).toBe(5);
    const [head = '', first = '', second = '', ...rest] = listOf(30).split(/(?<=\n)/);
    // The same addresses in the same batch, and other cells beside them.
    const other = first.replace('note 0', 'note 1');
    await write('list.csv', [head, other, second, ...rest].join(''));
    const done = await verify(service, ...args);
    expect(done.code, done.stderr).toBe(0);
    expect(eventsOf(done, 'carried')).toHaveLength(1);
    expect(await read('out.csv')).toContain(other.trimEnd());
    expect(await addressesPaid(service)).toHaveLength(20);
  });

  it('reads of several lists only those that it needs', async () => {
    await write('a.csv', listOf(10));
    await write('b.csv', listOf(10, 10));
    await write('c.csv', `${listOf(5, 20)}"never closed`);
    const { service } = await withService();
    const ended = await verify(service, 'a.csv', 'b.csv', 'c.csv', '-o', 'out.csv', '-n', '15');
    expect(ended.code, ended.stderr).toBe(0);
    expect(await addressesPaid(service)).toHaveLength(15);
    const rows = (await read('out.csv')).trimEnd().split('\r\n');
    expect(rows).toHaveLength(16);
    expect(rows[15]).toContain('good14@sluice.test');
  });

  it('takes the columns of a JSONL list from its first rows alone', async () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `{"email":"good${at}@sluice.test"}\n`);
    await write('list.jsonl', `${lines.join('')}{"late":1}\nnot json\n`);
    const { service } = await withService();
    const ended = await verify(service, 'list.jsonl', '-o', 'out.csv', '-n', '5');
    expect(ended.code, ended.stderr).toBe(0);
    expect(await read('out.csv')).toMatch(/^email,email_verification,/);
    expect(await addressesPaid(service)).toHaveLength(5);
  });

  it.each([
    ['into a file', ['-o', 'out.csv']],
    ['to standard output', []],
  ])('ends with a pipe that never does, %s', async (_, to) => {
    const { service } = await withService();
    const args = ['verify', '-', ...to, ...columns, ...quick, '--limit', '25'];
    const running = startSluice(args, {
      cwd: folder,
      env: connectTo(service),
      keepInputOpen: true,
    });
    running.child.stdin.write(listOf(40));
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const rows = to.length > 0 ? await read('out.csv') : ended.stdout.toString();
    expect(rows.trimEnd().split('\r\n')).toHaveLength(26);
    expect(await addressesPaid(service)).toHaveLength(25);
  });

  it('goes on with a pipe whose first rows are the same', async () => {
    const { service } = await withService();
    const piped = async (input: string, ...more: string[]): Promise<EndedHere> =>
      runInProcess(['verify', '-', '-o', 'out.csv', ...columns, ...quick, '-n', '25', ...more], {
        cwd: folder,
        env: connectTo(service),
        input,
      });
    expect((await piped(listOf(40), '--max-credits', '10')).code).toBe(5);
    const done = await piped(listOf(1000));
    expect(done.code, done.stderr).toBe(0);
    expect(eventsOf(done, 'carried')).toEqual([]);
    expect((await read('out.csv')).trimEnd().split('\r\n')).toHaveLength(26);
    expect(await addressesPaid(service)).toHaveLength(25);
    // An empty pipe is none: the first reading was whole.
    expect((await piped('')).code).not.toBe(0);
  });

  it('asks a database for no more rows than it takes', async () => {
    const { service } = await withService();
    await write('empty.db', '');
    const endless =
      "with recursive n(x) as (select 0 union all select x + 1 from n) select 'good' || x || '@sluice.test' as email from n";
    const ended = await verify(
      service,
      'sqlite:empty.db',
      '--query',
      endless,
      '-o',
      'out.csv',
      '-n',
      '25',
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect((await read('out.csv')).trimEnd().split('\n')).toHaveLength(26);
    expect(await addressesPaid(service)).toHaveLength(25);
  });
});
