import { appendFile, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { csvRows, expectCellsKept, expectInputKept } from '../../harness/csv-cells.js';
import { answerInProcess, runInProcess, type EndedHere } from '../../harness/run-in-process.js';
import { startSluice, type Ended, type Running } from '../../harness/run-sluice.js';
import { verifyByTens } from './verify-by-tens.js';
import { eventsOf, parseLog } from '../../harness/logged-events.js';

const rows = 30;
let folder: string;
let input: string;
let journal: string;
beforeEach(async () => {
  folder = await withFolder();
  input = join(folder, 'list.csv');
  journal = join(folder, 'out.csv.sluice', 'journal');
  await writeFile(input, listOf(rows));
});

function listOf(count: number): string {
  const lines = Array.from(
    { length: count },
    (_, index) => `${index},good${index}@sluice.test,US\n`,
  );
  return ['id,email,country\n', ...lines].join('');
}

/** Three batches of ten. */
const command = [...verifyByTens, '--concurrency', '1'];

function verify(service: Service | undefined, ...more: string[]): Promise<EndedHere> {
  return runInProcess([...command, ...more], {
    cwd: folder,
    env: service ? connectTo(service) : {},
  });
}

/** Leaves a run of which twenty addresses are paid and ten are not. */
async function leaveUnfinished(service: Service): Promise<void> {
  expect((await verify(service, '--max-credits', '20', '--quiet')).code).toBe(5);
  expect(await chargesOf(service)).toHaveLength(20);
}

async function expectDone(service: Service, ended: Ended): Promise<void> {
  expect(ended.code, ended.stderr).toBe(0);
  await expectInputKept(input, join(folder, 'out.csv'));
  expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  const paid = (await chargesOf(service)).map(({ address }) => address);
  expect(new Set(paid).size).toBe(paid.length);
  expect(paid).toHaveLength(rows);
}

describe('the same command again', () => {
  it('goes on with an input that was touched but not changed', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    await utimes(input, new Date(), new Date(Date.now() + 5000));
    await expectDone(service, await verify(service));
  });

  it('uses what is paid for when the list has changed, and says so first', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const before = await chargesOf(service);
    await writeFile(input, listOf(rows + 2).replace(/(0,.*\n)(1,.*\n)/, '$2'));
    const ended = await runInProcess(command, inFolder(folder, service));
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.events.slice(0, 2)).toMatchObject([
      { event: 'going_on' },
      {
        event: 'carried',
        paid_batches: 2,
        used_batches: 2,
        paid_addresses: 20,
        used_addresses: 19,
      },
    ]);
    await expectInputKept(input, join(folder, 'out.csv'));
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(new Set(paid).size).toBe(paid.length);
    expect(paid).toHaveLength(before.length + 12);
  });

  it('says what the nights of other lists have cost also where it stops', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    await writeFile(input, listOf(45));
    const ended = await verify(service, '--max-credits', '10', '--summary', 'summary.json');
    expect(ended.code, ended.stderr).toBe(5);
    const summary: unknown = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'));
    expect(summary).toMatchObject({
      stopped: true,
      credits: { email: { spent: 10 } },
      credits_before: { email: 20, phone: 0 },
    });
    expect(eventsOf(ended, 'credits_before')).toMatchObject([{ email: 20 }]);
    expect(await chargesOf(service)).toHaveLength(30);
    // Who is refused has not begun.
    await writeFile(input, listOf(44));
    const refused = await verify(service, '--on-change', 'stop');
    expect(refused.code, refused.stderr).toBe(2);
    expect(eventsOf(refused, 'credits_before')).toEqual([]);
  });

  it('asks at a terminal where an option has changed and paid results would be lost', async () => {
    const { service } = await withService();
    const countries = Array.from({ length: rows }, (_, at) => (at < 19 ? 'US' : ''));
    const lines = countries.map((country, at) => `${at},good${at}@sluice.test,${country}\n`);
    await writeFile(input, ['id,email,country\n', ...lines].join(''));
    const by = (country: string): readonly string[] =>
      command.with(command.indexOf('US'), country).concat('--country-column', 'country');
    const env = connectTo(service);
    const first = await runInProcess([...by('US'), '--max-credits', '20'], { cwd: folder, env });
    expect(first.code, first.stderr).toBe(5);
    const question = /--country[^]*1 .*\[y\/N\]/;
    const no = await answerInProcess(by('DE'), { cwd: folder, env, answers: [[question, 'n\r']] });
    expect(no.code, no.seen).toBe(2);
    expect(await chargesOf(service)).toHaveLength(20);
    const yes = await answerInProcess(by('DE'), { cwd: folder, env, answers: [[question, 'y\r']] });
    expect(yes.code, yes.seen).toBe(0);
    expect(eventsOf(yes, 'credits_before')).toMatchObject([{ email: 20 }]);
    expect(await chargesOf(service)).toHaveLength(31);
  });

  it('is refused, and sends nothing but reads, when the list would waste what was paid', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const list = await readFile(input, 'utf8');
    const requests = countRequests(service);
    const changes: [string, readonly string[], RegExp][] = [
      [listOf(9), [], /9.*30.*20.*9/],
      [list, command.with(command.indexOf('US'), 'DE'), /--country.*US.*DE/],
      [list, command.with(command.indexOf('email'), '#1'), /--email.*1/],
      [listOf(31), [...command, '--on-change', 'stop'], /31.*30/],
    ];
    for (const [changed, args, trouble] of changes) {
      await writeFile(input, changed);
      const ended = await runInProcess(args.length > 0 ? args : command, inFolder(folder, service));
      expect(ended.code, ended.stderr).toBe(2);
      expect(ended.stderr).toMatch(trouble);
      // What refuses is read first: nothing goes on.
      expect(eventsOf(ended, 'going_on')).toEqual([]);
      for (const way of ['--on-change carry', '--fresh']) {
        expect(ended.stderr).toContain(way);
      }
    }
    expect(new Set(requests)).toEqual(new Set(['GET /v1/batch']));
    await writeFile(input, list);
    await expectDone(service, await verify(service));
  });

  it('is refused, and sends nothing, on another service or with other settings for it', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const before = await readFile(journal);
    const requests = countRequests(service);
    const other = await withService();
    const otherRequests = countRequests(other.service);

    const changes: [string, readonly string[]][] = [
      ['--no-account-cache', ['--no-account-cache']],
      ['--description', ['--description', 'x']],
      ['--target-audience', ['--target-audience', '3', '--on-change', 'carry']],
    ];
    for (const [name, more] of changes) {
      const ended = await verify(service, ...more);
      expect(ended.code, name).toBe(2);
      expect(eventsOf(ended, 'error')).toMatchObject([
        { code: 'state_mismatch', message: expect.stringContaining(name) },
      ]);
    }
    for (const env of [connectTo(other.service), {}]) {
      const ended = await runInProcess(command, { cwd: folder, env });
      expect(ended.code).toBe(2);
      // The run's own service is named, and nothing says before that it goes on.
      const message = expect.stringContaining(`--base-url (${service.baseUrl} `) as string;
      expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'state_mismatch', message }]);
      expect(eventsOf(ended, 'going_on')).toEqual([]);
    }
    expect(requests).toEqual([]);
    expect(otherRequests).toEqual([]);
    expect(await readFile(journal)).toEqual(before);
    expect(await verify(service, '--on-change', 'never')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--on-change/),
    });
  });

  it('goes on when a path is written otherwise, and when only the output differs', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const args = command.with(1, input).with(command.indexOf('out.csv'), join(folder, 'out.csv'));
    const more = ['--prefix', 'email=x', '--provenance', '--on-change', 'stop'];
    const ended = await runInProcess([...args, ...more], inFolder(folder, service));
    expect(ended.stderr).not.toContain('has changed');
    await expectDone(service, ended);
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toContain('x_verification');
  });

  it('goes on when what does not decide the rows is another', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const more = [
      '--timeout',
      '9',
      '--give-up-after',
      '99',
      '--quiet',
      '--summary',
      'summary.json',
    ];
    const args = command.with(command.indexOf('--concurrency') + 1, '3');
    const ended = await runInProcess([...args, ...more], inFolder(folder, service));
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(await chargesOf(service)).toHaveLength(rows);
  });

  it('starts over when it is asked to', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    await writeFile(input, listOf(5));
    expect((await verify(service, '--fresh')).code).toBe(0);
    await expectInputKept(input, join(folder, 'out.csv'));
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
    expect(await chargesOf(service)).toHaveLength(20 + 5);
  });

  it('starts over with the local service in its own process', async () => {
    const killed = startSluice([...command, '--json-log'], { cwd: folder });
    await killed.reported('batch', { stage: 'verifying' });
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(await readdir(join(folder, 'out.csv.sluice'))).toContain('service');
    expect((await verify(undefined, '--fresh')).code).toBe(0);
    await expectInputKept(input, join(folder, 'out.csv'));
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });

  it('takes what is piped tonight for the list, and the list on disk where nothing is piped', async () => {
    const { service } = await withService();
    const args = command.with(1, '-');
    const options = inFolder(folder, service);
    const pipe = (list: string, ...more: string[]): Promise<EndedHere> =>
      runInProcess([...args, ...more], { ...options, input: list });
    expect((await pipe(listOf(rows), '--max-credits', '20')).code).toBe(5);
    expect(eventsOf(await pipe('', '--max-credits', '20'), 'carried')).toEqual([]);
    const another = await pipe(listOf(rows + 5), '--max-credits', '10');
    expect(another.code, another.stderr).toBe(5);
    const carried = { paid_addresses: 20, used_addresses: 20 };
    expect(eventsOf(another, 'carried')).toMatchObject([carried]);
    // The list on disk is the one that was piped last.
    const ended = await pipe('');
    expect(ended.code, ended.stderr).toBe(0);
    expectCellsKept(Buffer.from(listOf(rows + 5)), await readFile(join(folder, 'out.csv')));
    expect(await chargesOf(service)).toHaveLength(rows + 5);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });

  it('goes on with what is piped by now after a kill behind its output', async () => {
    const { service } = await withService();
    const args = command.with(1, '-');
    const options = inFolder(folder, service);
    const full = ['--summary', '/dev/full'];
    const untold = await runInProcess([...args, ...full], { ...options, input: listOf(rows) });
    expect(untold.code).toBe(6);
    const ended = await runInProcess(args, { ...options, input: listOf(rows + 1) });
    expect(ended.code, ended.stderr).toBe(0);
    expectCellsKept(Buffer.from(listOf(rows + 1)), await readFile(join(folder, 'out.csv')));
  });
});

describe('a journal that is not whole', () => {
  it('goes on behind a torn last line', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    await appendFile(journal, '01234567 {"entry":"batch","bat');
    await expectDone(service, await verify(service));
  });

  it('is refused when it is damaged in the middle, and nothing is sent', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const bytes = await readFile(journal);
    const at = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 20;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await writeFile(journal, bytes);
    const requests = countRequests(service);
    const ended = await verify(service);
    expect(ended.code).toBe(2);
    const damaged = { code: 'state_damaged', file: 'out.csv.sluice/journal', fault: 'damaged' };
    expect(eventsOf(ended, 'error')).toMatchObject([damaged]);
    expect(requests).toEqual([]);
    expect(await readFile(journal)).toEqual(bytes);
    expect((await verify(service, '--fresh')).code).toBe(0);
  });
});

describe('two processes', () => {
  it('do not work in one state directory', async () => {
    const { service } = await withService({ verifyDelayMs: 3_600_000 });
    const first = await begun(service);
    // One that does nothing for however long has it, too.
    first.child.kill('SIGSTOP');
    const second = await verify(service);
    expect(second).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[state_locked]'),
    });
    expect((await verify(service, '--fresh')).code).toBe(2);
    // The lock dies with its process, however that ends.
    first.child.kill('SIGKILL');
    await first.ended;
    const third = await begun(service);
    third.child.kill('SIGINT');
    expect((await third.ended).code).toBe(130);
    expect(await chargesOf(service)).toHaveLength(10);
  });

  it('do not either when each would have a local service of its own', async () => {
    const fifo = startSluice(command.with(1, '-'), { cwd: folder, keepInputOpen: true });
    await exists(join(folder, 'out.csv.sluice', 'journal'));
    const second = await verify(undefined);
    expect(second).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[state_locked]'),
    });
    fifo.child.stdin.end(listOf(rows));
    expect((await fifo.ended).code).toBe(0);
    expectCellsKept(Buffer.from(listOf(rows)), await readFile(join(folder, 'out.csv')));
  });
});

/** Starts the command and waits until its first batch is being verified. */
async function begun(service: Service): Promise<Running> {
  const running = startSluice([...command, '--json-log'], inFolder(folder, service));
  await running.reported('read', { rows });
  while ((await chargesOf(service)).length === 0) await wait(5);
  return running;
}

async function exists(path: string): Promise<void> {
  while (!(await stat(path).catch(() => undefined))) await wait(5);
}

describe('a list that changes over nights, each of which is killed', () => {
  it('is paid for once, and every row of the last list has its own result', async () => {
    const { service } = await withService({ verifyDelayMs: 200 });
    let list = listOf(rows);
    for (let night = 1; night <= 3; night += 1) {
      const running = startSluice([...command, '--json-log'], inFolder(folder, service));
      await running.reported('batch', { stage: 'verifying' });
      running.child.kill('SIGKILL');
      await running.ended;
      list = `${list.replace(new RegExp(`\n${night * 3},.*`), '')}${100 * night},bad${night}@sluice.test,US\n`;
      await writeFile(input, list);
    }
    const ended = await verify(service);
    expect(ended.code, ended.stderr).toBe(0);
    await expectInputKept(input, join(folder, 'out.csv'));
    for (const { email = '', email_valid } of csvRows(await readFile(join(folder, 'out.csv')))) {
      expect(email_valid, email).toBe(String(email.startsWith('good')));
    }
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(new Set(paid).size).toBe(paid.length);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });
});

describe('signals', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends the command with %i, and the next one goes on', async (signal, code) => {
    const { service } = await withService({ verifyDelayMs: 30 });
    const running = await begun(service);
    running.child.kill(signal);
    const ended = await running.ended;
    expect(ended).toMatchObject({ code, signal: null });
    const events = parseLog(ended.stderr);
    expect(eventsOf({ events }, 'error')).toMatchObject([
      { exit_code: code, message: expect.stringContaining(signal) },
    ]);
    expect(eventsOf({ events }, 'hint')).toMatchObject([{ state: 'out.csv.sluice' }]);
    await expectDone(service, await verify(service));
  });

  it('calls no credits spent whose launch had no answer', async () => {
    const hanging = { operation: 'launchBatch' as const, what: { hang: true as const } };
    const { service } = await withService({ faults: { faults: [hanging] } });
    const running = startSluice(
      [...command, '--json-log', '--summary', 'doubt.json'],
      inFolder(folder, service),
    );
    await running.reported('batch', { stage: 'launching' });
    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended;
    expect({ code, stderr }).toMatchObject({ code: 130 });
    expect(eventsOf({ events: parseLog(stderr) }, 'so_far')).toMatchObject([
      { done: 0, in_doubt: 1, email_credits: 10, doubtful_email_credits: 10 },
    ]);
    const summary: unknown = JSON.parse(await readFile(join(folder, 'doubt.json'), 'utf8'));
    expect(summary).toMatchObject({ credits: { email: { spent: 0, net: null, in_doubt: 10 } } });
    expect(await chargesOf(service)).toEqual([]);
  });

  it('leaves nothing when nothing was sent yet', async () => {
    const log = [...command.with(1, '-'), '--json-log'];
    const running = startSluice(log, { cwd: folder, keepInputOpen: true });
    await exists(journal);
    running.child.stdin.write(listOf(5));
    running.child.kill('SIGTERM');
    const { code, stderr } = await running.ended;
    expect({ code, stderr }).toMatchObject({ code: 143 });
    expect(eventsOf({ events: parseLog(stderr) }, 'not_started')).toHaveLength(1);
    expect(await readdir(folder)).toEqual(['list.csv']);
  });
});

it.each([
  ['when it is put back', () => listOf(rows)],
  ['with what it holds then', () => listOf(rows).replace('\n7,', '\n8,')],
])(
  'writes no output of an input that changes between its two readings, and goes on %s',
  async (_, later) => {
    const { service } = await withService({ verifyDelayMs: 50 });
    await writeFile(join(folder, 'out.csv'), 'old\n');
    const running = await begun(service);
    await writeFile(input, listOf(rows).replace('\n7,', '\n8,'));
    const ended = await running.ended;
    expect(ended.code).toBe(6);
    expect(eventsOf({ events: parseLog(ended.stderr) }, 'error')).toMatchObject([
      { code: 'input_changed' },
    ]);
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toBe('old\n');
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv', 'out.csv.sluice']);
    await writeFile(input, later());
    await expectDone(service, await verify(service));
  },
);
