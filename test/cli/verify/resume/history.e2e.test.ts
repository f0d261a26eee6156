import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { History } from '../../../../src/engine/history/history.js';
import {
  ServiceClock,
  withFolder,
  withService,
  paidAddresses,
  expectPaidOnce,
} from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { startFront } from '../../harness/front.js';
import { countRequests } from '../../harness/count-requests.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { startSluice } from '../../harness/run-sluice.js';
import { eventsOf } from '../../harness/logged-events.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

async function list(count: number, name = 'list.csv'): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => `${index},good${index}@sluice.test\n`);
  await writeFile(join(folder, name), `id,email\n${rows.join('')}`);
}

const command = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.csv'];
const quick = ['--batch-size', '10', '--poll-interval', '5', '--history', 'history'];

function verify(service: Service, ...more: string[]): Promise<EndedHere> {
  return runInProcess([...command, ...quick, ...more], inFolder(folder, service));
}

describe('--history', () => {
  it('spends nothing on the second night, and only on what is new on the third', async () => {
    const { service } = await withService();
    await list(30);
    expect((await verify(service)).code).toBe(0);
    expect(await chargesOf(service)).toHaveLength(30);
    const first = await readFile(join(folder, 'out.csv'), 'utf8');

    const requests = countRequests(service);
    expect((await verify(service, '--summary', 'summary.json')).code).toBe(0);
    expect(await chargesOf(service)).toHaveLength(30);
    // The balance is asked for, and nothing else.
    expect(new Set(requests)).toEqual(new Set(['GET /v1/account/credits']));
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toBe(first);
    const summary: unknown = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'));
    expect(summary).toMatchObject({
      email: { addresses: 30, from_history: 30, verdicts: { valid: 30 } },
      credits: { email: { spent: 0, net: 0 } },
      batches: [],
    });

    await list(33);
    const third = await verify(service);
    expect(third.code).toBe(0);
    expect((await chargesOf(service)).slice(30).map(({ address }) => address)).toEqual([
      'good30@sluice.test',
      'good31@sluice.test',
      'good32@sluice.test',
    ]);
    expect((await readdir(folder)).toSorted()).toEqual(
      ['history', 'history.key', 'list.csv', 'out.csv', 'summary.json'].toSorted(),
    );
  });

  it('says what it is for, and sends nothing, where it cannot be used', async () => {
    const { service } = await withService();
    await list(3);
    const requests = countRequests(service);
    const cases: [string[], RegExp][] = [
      [['--max-age', 'never'], /--max-age/],
      [['--max-age', 'good=3'], /--max-age/],
      [['--max-age', '-1'], /--max-age/],
      [['--wait-lock', 'x'], /--wait-lock/],
    ];
    for (const [options, message] of cases) {
      const { code, stderr } = await verify(service, ...options);
      expect(code, stderr).toBe(2);
      expect(stderr).toMatch(message);
    }
    const alone = await runInProcess([...command, '--max-age', '3'], inFolder(folder, service));
    expect(alone).toMatchObject({ code: 2 });
    expect(alone.stderr).toContain('--history');
    expect(requests).toEqual([]);
  });

  it('is refused with the local service in this process, unless that is meant', async () => {
    await list(3);
    const args = [...command, ...quick];
    const refused = await runInProcess(args, { cwd: folder });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/--local/);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv']);
    expect((await runInProcess([...args, '--local'], { cwd: folder })).code).toBe(0);
    const { service } = await withService();
    const mixed = await verify(service);
    expect(mixed.code).toBe(2);
    expect(eventsOf(mixed, 'error')).toMatchObject([
      { code: 'state_mismatch', file: 'history', fault: 'other_content' },
    ]);
    expect(await chargesOf(service)).toEqual([]);
  });

  it('is waited for while another run has it', async () => {
    const { service } = await withService();
    await list(3);
    const history = await History.open({
      path: join(folder, 'history'),
      service: service.baseUrl,
    });
    const busy = await verify(service);
    expect(busy.code).toBe(2);
    expect(eventsOf(busy, 'error')).toMatchObject([{ code: 'state_locked' }]);
    const waiting = verify(service, '--wait-lock', '60');
    await history.close();
    expect((await waiting).code).toBe(0);
  });

  it('pays once over kills at any request, and knows everything in the end', async () => {
    const { service } = await withService();
    await list(20);
    expect((await verify(service)).code).toBe(0);
    await list(60);
    const env = { ...connectTo(service) };
    let left = Infinity;
    let kill = (): unknown => undefined;
    countRequests(service, () => {
      left -= 1;
      if (left === 0) kill();
    });
    for (let kills = 0; ; kills += 1) {
      if (kills > 60) throw new Error('it comes to no end');
      // As a later request arrives each time, whatever it asks for.
      left = Math.ceil(2 * 1.7 ** kills);
      const running = startSluice([...command, ...quick, '--concurrency', '2'], {
        cwd: folder,
        env,
      });
      kill = () => running.child.kill('SIGKILL');
      const { code, stderr } = await running.ended;
      if (code === null) continue;
      expect(code, stderr).toBe(0);
      break;
    }
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(new Set(paid).size).toBe(paid.length);
    expect(paid).toHaveLength(60);
    left = Infinity;
    const again = await runInProcess([...command, ...quick], { cwd: folder, env });
    expect(again.code, again.stderr).toBe(0);
    expect(await chargesOf(service)).toHaveLength(60);
  });

  it('streams, too: rows that are known come out without being sent', async () => {
    const { service } = await withService();
    await list(20);
    expect((await verify(service)).code).toBe(0);
    const streamed = await runInProcess(
      ['verify', 'list.csv', '--email', 'email', '--country', 'US', ...quick],
      inFolder(folder, service),
    );
    expect(streamed.code, streamed.stderr).toBe(0);
    expect(streamed.stdout.toString()).toBe(await readFile(join(folder, 'out.csv'), 'utf8'));
    expect(await chargesOf(service)).toHaveLength(20);
  });
});

describe('what the run of another list has launched', () => {
  /** Another list, half of whose addresses are in `list.csv`, too. */
  function other(service: Parameters<typeof inFolder>[1], ...more: string[]): Promise<EndedHere> {
    const args = [
      'verify',
      'other.csv',
      '--email',
      'email',
      '--country',
      'US',
      '-o',
      'other.out.csv',
    ];
    return runInProcess([...args, ...quick, ...more], inFolder(folder, service));
  }
  async function twoLists(): Promise<void> {
    await list(40);
    const rows = Array.from({ length: 20 }, (_, at) => `good${at + 30}@sluice.test\n`);
    await writeFile(join(folder, 'other.csv'), `email\n${rows.join('')}`);
  }
  const found = (ended: EndedHere, code = 'launched_elsewhere'): readonly object[] =>
    eventsOf(ended, 'notice').filter((event) => event['code'] === code);

  it('is waited for, and not paid for again, after --detach', async () => {
    const { service } = await withService({ verifyDelayMs: 100 });
    await twoLists();
    expect((await verify(service, '--detach')).code).toBe(75);
    await expectPaidOnce(service, 40);
    const ended = await other(service, '--summary', 'other.json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(found(ended)).toMatchObject([
      { runs: [expect.stringContaining('out.csv.sluice')], addresses: 10 },
    ]);
    await expectPaidOnce(service, 50);
    const summary: unknown = JSON.parse(await readFile(join(folder, 'other.json'), 'utf8'));
    expect(summary).toMatchObject({
      email: { addresses: 20, from_history: 10, verdicts: { valid: 20 } },
      credits: { email: { spent: 10 } },
    });
    // The run that had launched them ends as ever.
    const collected = await verify(service);
    expect(collected.code, collected.stderr).toBe(0);
    expect((await readFile(join(folder, 'out.csv'), 'utf8')).match(/,true,/g)).toHaveLength(40);
    await expectPaidOnce(service, 50);
    const again = await other(service);
    expect(found(again)).toEqual([]);
    await expectPaidOnce(service, 50);
  });

  it('is known after kills at any request, whichever list comes next', async () => {
    const { service } = await withService({ verifyDelayMs: 20 });
    await twoLists();
    let left = Infinity;
    let kill = (): unknown => undefined;
    countRequests(service, () => {
      left -= 1;
      if (left === 0) kill();
    });
    for (const request of [4, 8, 12, 16]) {
      left = request;
      const running = startSluice(
        [...command, ...quick, '--concurrency', '2'],
        inFolder(folder, service),
      );
      kill = () => running.child.kill('SIGKILL');
      await running.ended;
      left = Infinity;
      const ended = await other(service);
      expect(ended.code, ended.stderr).toBe(0);
      const paid = (await chargesOf(service)).map(({ address }) => address);
      expect(new Set(paid).size).toBe(paid.length);
    }
    const resumed = await verify(service);
    expect(resumed.code, resumed.stderr).toBe(0);
    await expectPaidOnce(service, 50);
  });

  it.each(['before', 'after'] as const)(
    'is paid once where a kill took the answer to its launch, reset %s it was done',
    async (when) => {
      const lost = {
        operation: 'launchBatch',
        requests: [1],
        when,
        what: { reset: true },
      } as const;
      const { service } = await withService({ faults: { faults: [lost] } });
      await list(10);
      await writeFile(join(folder, 'other.csv'), await readFile(join(folder, 'list.csv')));
      let kill = (): unknown => undefined;
      countRequests(service, (request) => {
        if (/^POST .*\/batch\/./.test(request)) kill();
      });
      const running = startSluice([...command, ...quick], inFolder(folder, service));
      kill = () => running.child.kill('SIGKILL');
      expect((await running.ended).code).toBeNull();
      expect((await other(service)).code).toBe(0);
      const resumed = await verify(service, '--max-credits', '100');
      expect(resumed.code, resumed.stderr).toBe(0);
      await expectPaidOnce(service, 10);
    },
  );

  it('is paid once where its launch arrives after a kill, and once another run has looked', async () => {
    const { service } = await withService();
    await list(10);
    await writeFile(join(folder, 'other.csv'), await readFile(join(folder, 'list.csv')));
    let kill = (): unknown => undefined;
    let launched: string | undefined;
    let arrived: Promise<unknown> | undefined;
    const front = await startFront(service, (request) => {
      const [, method, uuid] = /^(\w+) .v1.batch.([^/]+)$/.exec(request) ?? [];
      if (method === 'POST' && launched === undefined) {
        launched = uuid;
        kill();
        return new Promise(() => undefined);
      }
      if (method !== 'GET' || uuid !== launched || arrived) return undefined;
      const url = `${service.baseUrl}/v1/batch/${launched ?? ''}`;
      const launch = { method: 'POST', headers: { 'X-Api-Key': service.apiKey } };
      return { change: (body) => ((arrived = fetch(url, launch)), body) };
    });
    const running = startSluice([...command, ...quick], inFolder(folder, front));
    kill = () => running.child.kill('SIGKILL');
    expect((await running.ended).code).toBeNull();
    // Its launch may be noted for long: one that had no answer was sent again.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    const ended = await other(front).finally(() => vi.useRealTimers());
    expect(ended.code, ended.stderr).toBe(0);
    expect(await arrived).toMatchObject({ ok: true });
    await expectPaidOnce(service, 10);
  });

  it.each([40, 39])(
    'is not waited for where the service refused it, and the run goes on with %i rows',
    async (rows) => {
      const refused = {
        operation: 'launchBatch',
        requests: [1],
        what: { answer: { status: 402 } },
      } as const;
      const { service } = await withService({ faults: { faults: [refused] } });
      await list(40);
      expect((await verify(service, '--concurrency', '1')).code).toBe(5);
      await list(rows);
      const resumed = await verify(service);
      expect(resumed.code, resumed.stderr).toBe(0);
      const codes = ['paid_since', 'launched_elsewhere', 'launched_elsewhere_lost'];
      expect(codes.flatMap((code) => found(resumed, code))).toEqual([]);
      await expectPaidOnce(service, rows);
    },
  );

  it('is not waited for where the list has none of it', async () => {
    const clock = new ServiceClock();
    const { service } = await withService({ clock, verifyDelayMs: 1000 });
    await twoLists();
    await list(30);
    expect((await verify(service, '--detach')).code).toBe(75);
    const ended = await other(service, '--detach');
    expect(ended.code, ended.stderr).toBe(75);
    expect(found(ended)).toEqual([]);
    await expectPaidOnce(service, 50);
    await clock.run();
    expect((await other(service)).code).toBe(0);
    expect((await verify(service)).code).toBe(0);
    await expectPaidOnce(service, 50);
  });

  it('is paid for again, with a warning, where a batch takes longer than it may, and no other', async () => {
    const { service } = await withService();
    let stuck = '';
    const front = await startFront(service, (request) =>
      stuck && request === `GET /v1/batch/${stuck}`
        ? { change: (body) => ({ ...(body as object), status: 'verification_ongoing' }) }
        : undefined,
    );
    await list(20);
    const there = inFolder(folder, front);
    expect((await runInProcess([...command, ...quick, '--detach'], there)).code).toBe(75);
    stuck = (await chargesOf(service))[0]?.batch_uuid ?? '';
    await list(20, 'other.csv');
    const late = await other(front, '--batch-deadline', '0.0005', '--concurrency', '1', '--detach');
    expect(late.code, late.stderr).toBe(75);
    expect(found(late, 'launched_elsewhere_lost')).toMatchObject([{ addresses: 10, why: 'late' }]);
    expect(await chargesOf(service)).toHaveLength(30);
  });

  it('is paid for again, with a warning, where it is gone from the service', async () => {
    const { service } = await withService();
    await twoLists();
    expect((await verify(service, '--detach')).code).toBe(75);
    const headers = { 'X-Api-Key': service.apiKey };
    const paid = new Set((await chargesOf(service)).map(({ batch_uuid: uuid }) => uuid));
    for (const uuid of paid) {
      const url = `${service.baseUrl}/v1/batch/${uuid ?? ''}`;
      expect((await fetch(url, { method: 'DELETE', headers })).ok).toBe(true);
    }
    const ended = await other(service);
    expect(ended.code, ended.stderr).toBe(0);
    expect(found(ended, 'launched_elsewhere_lost')).toMatchObject([{ addresses: 10, why: 'gone' }]);
    expect(await chargesOf(service)).toHaveLength(60);
  });

  it('is paid for again, with a warning, where the service failed it', async () => {
    const what = { batch: 'internal_error' } as const;
    const requests = [1, 2, 3, 4];
    const { service } = await withService({
      faults: { faults: [{ operation: 'launchBatch', requests, when: 'after', what }] },
    });
    await twoLists();
    // It may see them fail before it leaves.
    const first = await verify(service, '--detach');
    expect([3, 75], first.stderr).toContain(first.code);
    const ended = await other(service);
    expect(ended.code, ended.stderr).toBe(0);
    expect(found(ended, 'launched_elsewhere_lost')).toMatchObject([
      { addresses: 10, why: 'failed' },
    ]);
    expect(await chargesOf(service)).toHaveLength(60);
  });

  it('stays known where another account, which cannot see it, pays for some of it', async () => {
    const accounts = ['one', 'another'].map((key) => ({ name: key, key }));
    const { service } = await withService({ accounts });
    await list(40);
    const rows = Array.from({ length: 10 }, (_, at) => `good${at + 35}@sluice.test\n`);
    await writeFile(join(folder, 'other.csv'), `email\n${rows.join('')}`);
    const as = (key: string, ...args: string[]): Promise<EndedHere> => {
      const env = { ...connectTo(service), SLUICE_API_KEY: key };
      return runInProcess([...args, '--email', 'email', '--country', 'US', ...quick], {
        cwd: folder,
        env,
      });
    };
    const ends = (name: string): string[] => ['verify', `${name}.csv`];
    expect((await as('one', ...ends('list'), '--detach', '-o', 'out.csv')).code).toBe(75);
    const beside = await as('another', ...ends('other'), '-o', 'other.out.csv');
    expect(beside.code, beside.stderr).toBe(0);
    expect(found(beside, 'launched_elsewhere_lost')).toMatchObject([{ addresses: 5, why: 'gone' }]);
    const rest = await as('one', ...ends('list'), '-o', 'third.csv');
    expect(rest.code, rest.stderr).toBe(0);
    const paid = await paidAddresses(service);
    // The five that both accounts needed.
    expect(paid).toHaveLength(50);
    expect(new Set(paid).size).toBe(45);
  });

  it('is collected after its run was abandoned', async () => {
    const { service } = await withService();
    await twoLists();
    expect((await verify(service, '--detach')).code).toBe(75);
    const abandon = ['abandon', 'out.csv.sluice', '--yes'];
    const abandoned = await runInProcess(abandon, inFolder(folder, service));
    expect(abandoned.code, abandoned.stderr).toBe(0);
    expect((await verify(service)).code).toBe(0);
    await expectPaidOnce(service, 40);
  });

  it('leaves what was only prepared to its run', async () => {
    const { service } = await withService({ emailCredits: 25 });
    await twoLists();
    expect((await verify(service)).code).toBe(5);
    await expectPaidOnce(service, 20);
    const ended = await other(service);
    expect(ended.code, ended.stderr).toBe(5);
    expect(found(ended, 'launched_elsewhere_lost')).toEqual([]);
    expect(await chargesOf(service)).toHaveLength(20);
  });
});

describe('sluice history', () => {
  async function sluice(...args: string[]): Promise<EndedHere> {
    return runInProcess(['history', ...args], { cwd: folder });
  }

  it('counts, prunes, exports and forgets', async () => {
    const { service } = await withService();
    await list(12);
    await verify(service);
    const stats = await sluice('stats', 'history', '--json');
    expect(stats.code, stats.stderr).toBe(0);
    expect(JSON.parse(stats.stdout.toString())).toMatchObject({
      addresses: 12,
      usable: 12,
      verdicts: { valid: 12 },
      service: service.baseUrl,
    });
    expect((await sluice('stats', 'history')).stdout.toString()).toContain('12 valid');
    const lines = (await sluice('export', 'history')).stdout.toString().trim().split('\n');
    expect(lines).toHaveLength(13);
    expect(lines[1]).toMatch(/^[0-9a-f]{26},email,verified,true,false,false,20/);
    const objects = (await sluice('export', 'history', '--json')).stdout.toString().trim();
    expect(JSON.parse(objects.split('\n')[0] ?? '')).toMatchObject({
      type: 'email',
      quality: 'good',
    });
    const forgotten = await sluice('forget', 'history', 'GOOD3@sluice.test', 'x@sluice.test');
    expect(forgotten.stdout.toString()).toBe('forgot 1 result; 11 left\n');
    await verify(service);
    expect((await chargesOf(service)).slice(12).map(({ address }) => address)).toEqual([
      'good3@sluice.test',
    ]);
    const pruned = await sluice('prune', 'history', '--max-age', '0', '--json');
    expect(JSON.parse(pruned.stdout.toString())).toEqual({ dropped: 12, left: 0 });
  });

  it('refuses what it does not understand', async () => {
    for (const args of [[], ['stats'], ['burn', 'history'], ['forget', 'history']]) {
      expect((await sluice(...args)).code).toBe(2);
    }
    const missing = await sluice('stats', 'nowhere');
    expect(missing).toMatchObject({ code: 2 });
    expect(eventsOf(missing, 'error')).toMatchObject([{ file: 'nowhere', fault: 'missing' }]);
    expect(await readdir(folder)).toEqual([]);
  });
});
