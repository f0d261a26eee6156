import { appendFile, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../src/service/index.js';
import { withFolder, withService } from '../service/with-service.js';
import { chargesOf } from './charges.js';
import { connectTo } from './connect-to.js';
import { countRequests } from './count-requests.js';
import { expectCellsKept, expectInputKept } from './csv-cells.js';
import { runInProcess } from './run-in-process.js';
import { startSluice, type Ended, type Running } from './run-sluice.js';
import { verifyByTens } from './verify-by-tens.js';

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

function verify(service: Service | undefined, ...more: string[]): Promise<Ended> {
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

  it('is refused, and sends nothing, when the input has changed', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const list = await readFile(input, 'utf8');
    const requests = countRequests(service);
    const changes: [string, string, string][] = [
      ['edited', list.replace('good7@', 'good70@'), 'its content differs'],
      ['edited where nobody looks', list.replace('\n7,', '\n8,'), 'its content differs'],
      ['longer', `${list}30,good30@sluice.test,US\n`, 'it has 31 rows now and had 30'],
      ['shorter', listOf(29), 'it has 29 rows now and had 30'],
      ['reordered', list.replace(/(0,.*\n)(1,.*\n)/, '$2$1'), 'its content differs'],
    ];
    for (const [how, changed, trouble] of changes) {
      await writeFile(input, changed);
      const ended = await runInProcess(command, { cwd: folder, env: connectTo(service) });
      expect(ended.code, how).toBe(2);
      expect(ended.stderr).toContain(trouble);
      expect(ended.stderr).toContain('Put back what it held to go on, or start over with --fresh');
    }
    expect(requests).toEqual([]);
    expect((await verify(service)).code).toBe(2);

    await writeFile(input, list);
    await expectDone(service, await verify(service));
  });

  it('is refused, and sends nothing, when what decides the rows is another', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const before = await readFile(journal);
    const requests = countRequests(service);
    const other = await withService();
    const otherRequests = countRequests(other.service);

    const changes: [string, readonly string[]][] = [
      ['country', command.with(command.indexOf('US'), 'DE')],
      ['batch-size', command.with(command.indexOf('10'), '11')],
      ['email', command.with(command.indexOf('email'), '#2')],
      ['phone', [...command, '--phone', 'id']],
      ['country-column', [...command, '--country-column', 'country']],
      ['prefix', [...command, '--prefix', 'email=x']],
      ['header', [...command.with(command.indexOf('email'), '#2'), '--no-header']],
      ['settings', [...command, '--no-account-cache']],
      ['settings', [...command, '--description', 'x']],
      ['settings', [...command, '--target-audience', '3']],
    ];
    for (const [name, args] of changes) {
      const ended = await runInProcess(args, { cwd: folder, env: connectTo(service) });
      expect(ended.code, name).toBe(2);
      expect(ended.stderr).toMatch(new RegExp(`these differ: (\\S+, )*${name}[,.]`));
      expect(ended.stderr).toContain('start over with --fresh');
    }
    for (const env of [connectTo(other.service), {}]) {
      const ended = await runInProcess(command, { cwd: folder, env });
      expect(ended.code).toBe(2);
      expect(ended.stderr).toContain('these differ: base-url');
    }
    expect(requests).toEqual([]);
    expect(otherRequests).toEqual([]);
    expect(await readFile(journal)).toEqual(before);
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
    const ended = await runInProcess([...args, ...more], { cwd: folder, env: connectTo(service) });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(await chargesOf(service)).toHaveLength(rows);
  });

  it('starts over when it is told to', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    await writeFile(input, listOf(5));
    expect((await verify(service, '--fresh')).code).toBe(0);
    await expectInputKept(input, join(folder, 'out.csv'));
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
    expect(await chargesOf(service)).toHaveLength(20 + 5);
  });

  it('starts over with the local service in its own process', async () => {
    const killed = startSluice([...command, '--verbose'], { cwd: folder });
    await killed.said(/: verifying/);
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(await readdir(join(folder, 'out.csv.sluice'))).toContain('service');
    expect((await verify(undefined, '--fresh')).code).toBe(0);
    await expectInputKept(input, join(folder, 'out.csv'));
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });

  it('needs its standard input no more once that was read whole, and refuses another', async () => {
    const { service } = await withService();
    const args = command.with(1, '-');
    const options = { cwd: folder, env: connectTo(service) };
    const stopped = await runInProcess([...args, '--max-credits', '20'], {
      ...options,
      input: listOf(rows),
    });
    expect(stopped.code).toBe(5);
    const other = await runInProcess(args, { ...options, input: listOf(rows + 1) });
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('standard input gives something else'),
    });
    await expectDone(service, await runInProcess(args, options));
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
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('is damaged at byte') });
    expect(requests).toEqual([]);
    expect(await readFile(journal)).toEqual(bytes);
    expect((await verify(service, '--fresh')).code).toBe(0);
  });
});

describe('two processes', () => {
  it('do not work in one state directory', async () => {
    const { service } = await withService({ verifyDelayMs: 3_600_000 });
    const first = await begun(service);
    const second = await verify(service);
    expect(second).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'another process is working in the state directory out.csv.sluice',
      ),
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
    await isThere(join(folder, 'out.csv.sluice', 'journal'));
    const second = await verify(undefined);
    expect(second).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('another process is working in the state directory'),
    });
    fifo.child.stdin.end(listOf(rows));
    expect((await fifo.ended).code).toBe(0);
    expectCellsKept(Buffer.from(listOf(rows)), await readFile(join(folder, 'out.csv')));
  });
});

/** Starts the command and waits until its first batch is being verified. */
async function begun(service: Service): Promise<Running> {
  const running = startSluice([...command, '--verbose'], {
    cwd: folder,
    env: connectTo(service),
  });
  await running.said(/read 30 rows/);
  while ((await chargesOf(service)).length === 0) await pause();
  return running;
}

async function isThere(path: string): Promise<void> {
  while (!(await stat(path).catch(() => undefined))) await pause();
}

async function pause(): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
}

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
    expect(ended.stderr.split('\n').slice(-5)).toEqual([
      `sluice: stopped by ${signal}`,
      expect.stringMatching(
        /^sluice: so far: \d of 3 batches done, (?:1 being verified, )?10 email credits spent$/,
      ),
      expect.stringMatching(
        /^sluice: run the same command again: it goes on, .*launches 2 more \(at most 20 email credits\)$/,
      ),
      'sluice: sluice status out.csv.sluice shows the run, sluice abandon out.csv.sluice gives it up',
      '',
    ]);
    await expectDone(service, await verify(service));
  });

  it('leaves nothing when nothing was sent yet', async () => {
    const running = startSluice(command.with(1, '-'), { cwd: folder, keepInputOpen: true });
    await isThere(journal);
    running.child.stdin.write(listOf(5));
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
    expect(await readdir(folder)).toEqual(['list.csv']);
  });
});

it('writes no output of an input that changes between its two readings, and goes on when it is put back', async () => {
  const { service } = await withService({ verifyDelayMs: 50 });
  await writeFile(join(folder, 'out.csv'), 'old\n');
  const running = await begun(service);
  await writeFile(input, listOf(rows).replace('\n7,', '\n8,'));
  const ended = await running.ended;
  expect(ended).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('has changed since the run read it'),
  });
  expect(await readFile(join(folder, 'out.csv'), 'utf8')).toBe('old\n');
  expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv', 'out.csv.sluice']);
  await writeFile(input, listOf(rows));
  await expectDone(service, await verify(service));
});
