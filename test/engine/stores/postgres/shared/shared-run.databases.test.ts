import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { startCountingProxy } from '../../../../lists/sql/harness/counting-proxy.js';
import { codedOf, eventsOf, parseLog } from '../../../../cli/harness/logged-events.js';
import type { Ended, Running } from '../../../../cli/harness/run-sluice.js';
import { addresses, inStore, job, quick, SharedList } from './shared-list.js';

vi.setConfig({ testTimeout: 180_000 });

let place: SharedList;
beforeEach(async () => {
  place = await SharedList.make();
});

function work(...args: readonly string[]): Running {
  return place.work('--verbose', ...args);
}

const isLaunched = /verif(?:ying|ication)/i;

describe('sluice verify with a store in PostgreSQL', () => {
  it('shares a run among four processes, of which one is killed and one is frozen', async () => {
    const { letGo } = await place.hold();
    const [killed, frozen] = [work('--lease', '3'), work('--lease', '3')];
    await Promise.all([killed.printed(isLaunched), frozen.printed(isLaunched)]);
    killed.child.kill('SIGKILL');
    frozen.child.kill('SIGSTOP');
    letGo();
    const others = [work('--lease', '3'), work('--lease', '3', '--summary', '-')];
    const ended = await Promise.all(others.map(async (other) => other.ended));
    const output = await readFile(join(place.cwd, 'out.csv'));
    frozen.child.kill('SIGCONT');
    for (const { code, stderr } of [...ended, await frozen.ended]) {
      expect({ code, stderr }).toMatchObject({ code: 0 });
    }
    await place.expectPaidOnce();
    expect(JSON.parse(ended[1]?.stdout.toString() ?? '')).toMatchObject({
      rows: addresses + 1,
      email: { addresses },
    });
    expect(await readFile(join(place.cwd, 'out.csv'))).toEqual(output);

    const again = await work('--json-log').ended;
    expect(again).toMatchObject({ code: 0 });
    const log = { events: parseLog(again.stderr) };
    expect(eventsOf(log, 'already_finished')).toHaveLength(1);
    expect(eventsOf(log, 'finished')).toMatchObject([{ already_finished: true }]);
    const status = await place.call('status', ...inStore, '--run', place.run);
    expect(status.stdout.toString()).toMatch(
      new RegExp(`^batches +${addresses / 5} \\(all at their end\\)$`, 'm'),
    );
    await place.expectPaidOnce();
    await place.serve();
    expect(await place.call(...quick, '-o', 'alone.csv')).toMatchObject({ code: 0 });
    expect(await readFile(join(place.cwd, 'alone.csv'))).toEqual(output);
  });

  it('stops all with 4 when the key of one is refused, whatever they wait for', async () => {
    const faults = Array.from({ length: 40 }, (_, at) => ({
      operation: 'launchBatch' as const,
      requests: [at + 3],
      what: { answer: { status: 401 } },
    }));
    // The service goes on to take the key of the others, and would verify for an hour.
    await place.serve({ verifyDelayMs: 3_600_000, faults: { faults } });
    const { launches, letGo } = await place.hold();
    const one = ['--concurrency', '1', '--poll-interval', '20', '--verbose', '--lease', '600'];
    const next = (): Running =>
      place.start(...job, ...one, '-o', 'out.csv', ...inStore, '--run', place.run);
    const first = next();
    await first.printed(isLaunched);
    const second = next();
    await second.printed(isLaunched);
    const third = next();
    await expect.poll(launches).toBeGreaterThanOrEqual(3);
    letGo();
    const refused = await third.ended;
    const others = [await first.ended, await second.ended];
    for (const { stderr, ...end } of [...others, refused]) {
      expect({ ...end, stderr }).toMatchObject({ code: 4 });
      expect(stderr).toContain('unauthorized');
      expect(stderr).toContain('SLUICE_API_KEY');
    }
    expect(refused.stderr).not.toContain('another process');
    for (const { stderr } of others) {
      expect(stderr).toContain('another process of the run was stopped');
    }
  });

  it('goes on at once where a process was asked to end', async () => {
    const { letGo } = await place.hold();
    const asked = work('--lease', '600', '--json-log');
    await asked.printed(isLaunched);
    asked.child.kill('SIGTERM');
    letGo();
    const { code, stderr } = await asked.ended;
    expect({ code, stderr }).toMatchObject({ code: 143 });
    const log = { events: parseLog(stderr) };
    expect(eventsOf(log, 'so_far')).toMatchObject([{ batches: 12, email_credits: 5 }]);
    expect(eventsOf(log, 'resumable')).toHaveLength(1);
    expect(stderr).not.toContain(new URL(inject('postgresUrl')).password);
    expect(await work().ended).toMatchObject({ code: 0 });
    await place.expectPaidOnce();
  });

  it('pays once beside other lists with its history: while it works, and when it stopped', async () => {
    await place.serve();
    const { letGo } = await place.hold();
    // Five addresses of its first two batches, five of the others, five of its own.
    const others = [5, 6, 7, 8, 9, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64];
    const rows = others.map((at) => `good${at}@sluice.test\n`);
    await writeFile(join(place.cwd, 'other.csv'), `email\n${rows.join('')}`);
    const history = ['--history', 'history', '--json-log'];
    const other = ['verify', 'other.csv', ...quick.slice(2), ...history, '-o'];
    const first = place.work(...history, '--lease', '3', '--verbose');
    await expect.poll(async () => place.charges()).toHaveLength(10);

    const refused = await place.call(...other, 'refused.csv');
    expect(refused).toMatchObject({ code: 2 });
    expect(eventsOf({ events: parseLog(refused.stderr) }, 'error')).toMatchObject([
      { code: 'state_locked' },
    ]);
    const beside = place.start(
      ...other,
      'other.out.csv',
      ...inStore,
      '--run',
      `${place.run}-other`,
    );
    await beside.printed(/history_in_use/);
    expect(await place.charges()).toHaveLength(10);
    first.child.kill('SIGKILL');
    letGo();
    const { code, stderr } = await beside.ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    // What the first had launched was waited for.
    const paid = await place.charges();
    expect(new Set(paid).size).toBe(paid.length);
    expect(paid).toHaveLength(20);

    const resumed = await place.work(...history).ended;
    expect(resumed, resumed.stderr).toMatchObject({ code: 0 });
    expect(parseLog(resumed.stderr).filter(({ code: of }) => of === 'run_replaced')).toHaveLength(
      1,
    );
    const charges = await place.charges();
    expect(new Set(charges).size).toBe(charges.length);
    expect(charges).toHaveLength(addresses + 5);
  });

  it('is shown, and given up for all its processes', async () => {
    await place.serve({ verifyDelayMs: 3_600_000 });
    const shared = [...inStore, '--run', place.run];
    const working = work();
    await working.printed(isLaunched);
    const status = await place.call('status', ...shared, '--json');
    expect(JSON.parse(status.stdout.toString())).toMatchObject({
      rows: addresses + 1,
      batches: addresses / 5,
      isFinished: false,
    });
    expect(await place.call('abandon', ...shared, '--yes')).toMatchObject({ code: 0 });
    const ended = await working.ended;
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toContain('abandoned');
    expect((await place.charges()).length).toBeLessThan(addresses);
    expect(await place.call('status', ...shared)).toMatchObject({ code: 2 });
  });

  it('is found by a dry run, which says what it has paid and joins nothing', async () => {
    await place.serve();
    const dry = [...place.ofRun, '--dry-run', '--json-log'];
    const eventsOfDry = async (...more: string[]): Promise<ReturnType<typeof parseLog>> => {
      const { code, stderr } = await place.call(...dry, ...more);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      return parseLog(stderr).filter(({ event, code: of }) =>
        /^(?:shared_run|already_fin|estimate|notice budget_short)/.test(`${event} ${String(of)}`),
      );
    };
    const estimateOf = (credits: number) => ({ event: 'estimate', email: { addresses, credits } });
    expect(await eventsOfDry()).toMatchObject([estimateOf(addresses)]);
    expect(await place.call(...place.ofRun, '--max-credits', '10')).toMatchObject({ code: 5 });
    const left = addresses - 10;
    expect(await eventsOfDry('--max-credits', '20')).toMatchObject([
      { code: 'budget_short', needed: left, used: 10, allowed: 20 },
      estimateOf(left),
      { event: 'shared_run', email_credits: 10 },
    ]);
    expect(await place.charges()).toHaveLength(10);
    expect(await place.call(...place.ofRun, '--max-credits', '60')).toMatchObject({ code: 0 });
    expect(await eventsOfDry()).toMatchObject([estimateOf(0), { event: 'already_finished' }]);
    await place.expectPaidOnce();
  });

  it('ends with 7 when its database is frozen, and says what it has launched', async () => {
    await place.serve({ verifyDelayMs: 3_600_000 });
    const proxy = await startCountingProxy(inject('postgresUrl'));
    const frozen = { SLUICE_STORE: proxy.url };
    const args = ['--verbose', '--json-log', '--give-up-after'];
    // Long enough for a server that is only busy.
    const working = place.startWith(frozen, ...place.ofRun, ...args, '10');
    await expect.poll(async () => place.charges()).toHaveLength(10);
    proxy.freeze();
    const { code, stderr } = await working.ended;
    expect({ code, stderr }).toMatchObject({ code: 7 });
    const log = { events: parseLog(stderr) };
    expect(eventsOf(log, 'paid_in_vain')).toMatchObject([{ batches: 2, email_credits: 10 }]);
    expect(await place.charges()).toHaveLength(10);
    const { made } = proxy;
    const dry = await place.startWith(frozen, ...place.ofRun, ...args, '1', '--dry-run').ended;
    expect(dry).toMatchObject({ code: 0 });
    // It waits for it once, whatever it would say of the run.
    expect(proxy.made - made).toBe(1);
    expect(codedOf({ events: parseLog(dry.stderr) }, 'store_unread')).toHaveLength(1);
    // Whoever comes before it works again ends, too.
    expect(await place.startWith(frozen, ...place.ofRun, ...args, '1').ended).toMatchObject({
      code: 7,
    });
  });

  it('refuses with 2 what a shared run cannot do, and sends nothing', async () => {
    const toFile = ['-o', 'out.csv'];
    const refused: readonly (readonly [readonly string[], string])[] = [
      [[...toFile, ...inStore, '--run', ' '], '--run'],
      [[...toFile, ...inStore], '--run'],
      [[...toFile, '--run', 'x'], '--run'],
      [[...toFile, '--store', 'mysql://u@h/d', '--run', 'x'], '--store'],
      [[...toFile, ...inStore, '--run', 'x', '--fresh'], '--fresh'],
      [[...toFile, ...inStore, '--run', 'x', '--lease', '1'], '--lease'],
      [['-o', '-', ...inStore, '--run', 'x'], '--output'],
    ];
    const ends: [Ended, string][] = [];
    for (const [args, option] of refused) {
      ends.push([await place.call(...job, ...args, '--json-log'), option]);
    }
    for (const [{ code, stderr }, option] of ends) {
      expect(code).toBe(2);
      expect
        .soft(eventsOf({ events: parseLog(stderr) }, 'error'))
        .toMatchObject([{ code: 'invalid_option', option }]);
    }
    expect(await place.charges()).toEqual([]);
  });

  it('prints no name of a run that could steer a terminal, and refuses one that is too long', async () => {
    await place.serve();
    const hostile = `"'\\$(x)\u001b]0;x\u0007\u001b[31m\u202e\r\n${place.run}`;
    const named = [...inStore, '--run', hostile];
    const ends = [
      await place.call('status', ...named),
      await place.call(...quick, '-o', 'out.csv', ...named),
      await place.call('status', ...named),
      await place.call('status', ...inStore),
      await place.call('status', ...named, '--json'),
    ];
    expect(ends.map(({ code }) => code)).toEqual([2, 0, 0, 0, 0]);
    for (const { stdout, stderr } of ends) {
      expect(`${stdout.toString()}${stderr}`).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    }
    expect(ends[3]?.stdout.toString()).toContain(place.run);
    expect(JSON.parse(ends[4]?.stdout.toString() ?? '')).toMatchObject({ run: hostile });
    const long = await place.call(...job, '-o', 'out.csv', ...inStore, '--run', 'x'.repeat(10_000));
    expect(long).toMatchObject({ code: 2 });
    expect(long.stderr.length).toBeLessThan(300);
  });

  it('has its tables made beforehand, or says the SQL', async () => {
    const made = await place.call('store', 'create', ...inStore);
    expect(made).toMatchObject({ code: 0 });
    const printed = await place.call('store', 'create', '--print');
    expect(printed.stdout.toString()).toContain('create schema "sluice"');
  });
});
