import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { SharedRunStatus } from '../../../../../src/engine/stores/shared/shared-status.js';
import { eventsOf, parseLog } from '../../../../cli/harness/logged-events.js';
import type { Running } from '../../../../cli/harness/run-sluice.js';
import { askPostgres } from '../../../../lists/sql/postgres/ask-postgres.js';
import { addresses, inStore, quick, SharedList } from './shared-list.js';

vi.setConfig({ testTimeout: 180_000 });

let place: SharedList;
beforeEach(async () => {
  place = await SharedList.make();
});

function work(...args: readonly string[]): Running {
  return place.work('--workers', '3', ...args);
}

async function status(): Promise<SharedRunStatus> {
  const ended = await place.call('status', ...inStore, '--run', place.run, '--json');
  return JSON.parse(ended.stdout.toString() || '{"workers":[]}') as SharedRunStatus;
}

/** The numbers of all three processes, once each has a batch. */
async function pidsAtWork(): Promise<readonly number[]> {
  const look = async (): Promise<readonly number[]> => {
    const atWork = await askPostgres(
      `SELECT DISTINCT pid FROM sluice.worker
       JOIN sluice.batch ON batch.run = worker.run AND owner = worker AND NOT ended
       WHERE worker.run = $1`,
      [place.run],
    );
    expect(atWork).toHaveLength(3);
    return atWork.map(({ pid }) => Number(pid));
  };
  return vi.waitFor(look, { timeout: 150_000, interval: 20 });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function expectAllReleased(): Promise<void> {
  const [held] = await askPostgres(
    'SELECT count(*)::int AS held FROM sluice.batch WHERE run = $1 AND owner IS NOT NULL AND NOT ended',
    [place.run],
  );
  expect(held).toEqual({ held: 0 });
}

describe('sluice verify --workers', () => {
  it('works in three processes, and goes on alone when the others are killed, with one summary', async () => {
    const { letGo } = await place.hold();
    const working = work('--lease', '3', '--summary', '-', '--json-log');
    const pids = await pidsAtWork();
    const [one = 0, another = 0] = pids.filter((pid) => pid !== working.child.pid);
    process.kill(one, 'SIGKILL');
    await working.reported('worker_ended');
    process.kill(another, 'SIGKILL');
    letGo();
    const { code, stderr, stdout } = await working.ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const log = { events: parseLog(stderr) };
    expect(eventsOf(log, 'worker_ended')).toMatchObject([
      { workers: 3, left: 2 },
      { workers: 3, left: 1 },
    ]);
    expect(eventsOf(log, 'written')).toMatchObject([{ rows: addresses + 1 }]);
    expect(JSON.parse(stdout.toString())).toMatchObject({ rows: addresses + 1 });
    await place.expectPaidOnce();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await status()).toMatchObject({ state: 'finished', rows: addresses + 1 });
    const output = await readFile(join(place.cwd, 'out.csv'));
    await place.serve();
    expect(await place.call(...quick, '-o', 'alone.csv')).toMatchObject({ code: 0 });
    expect(await readFile(join(place.cwd, 'alone.csv'))).toEqual(output);
  });

  it('has no secret on a command line, lists its processes, ends all of them at a signal, and lets go of their batches', async () => {
    const url = inject('postgresUrl');
    const secret = decodeURIComponent(new URL(url).password);
    const shared = ['--store', url, '--run', place.run, '--workers', '3', '--lease', '600'];
    const { letGo } = await place.hold();
    const working = place.start(...quick, '-o', 'out.csv', ...shared);
    const pids = await pidsAtWork();
    for (const pid of pids) {
      if (pid === working.child.pid) continue;
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8');
      expect(decodeURIComponent(line)).not.toContain(secret);
      expect(line).toContain('worker');
    }
    const listed = await place.call('status', ...inStore);
    expect(listed.stdout.toString()).toContain(`${place.run}, begun `);
    expect(listed.stdout.toString()).toContain('3 processes alive');
    const shown = await place.call('status', ...inStore, '--run', place.run);
    expect(shown.stdout.toString()).toMatch(
      /workers {2}3 processes alive\n(?: {2}.* \d+: last sign of life \d+ s ago, .*\n){3}/,
    );
    working.child.kill('SIGINT');
    letGo();
    const ended = await working.ended;
    expect(ended).toMatchObject({ code: 130 });
    expect(ended.stderr).not.toMatch(/worker \d/);
    expect(pids.filter(isAlive)).toEqual([]);
    await expectAllReleased();
    expect(await place.work().ended).toMatchObject({ code: 0 });
    await place.expectPaidOnce();
  });

  it('leaves no process when the first is killed', async () => {
    await place.hold();
    const working = work('--lease', '600');
    const pids = await pidsAtWork();
    working.child.kill('SIGKILL');
    await working.ended;
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  it('stops all when the credits are used up, and says so once', async () => {
    const working = work('--max-credits', '20', '--summary', '-', '--json-log');
    const { code, stderr, stdout } = await working.ended;
    expect({ code, stderr }).toMatchObject({ code: 5 });
    expect(eventsOf({ events: parseLog(stderr) }, 'so_far')).toMatchObject([
      { done: 4, running: 0, email_credits: 20 },
    ]);
    expect(JSON.parse(stdout.toString())).toMatchObject({
      exit_code: 5,
      rows: addresses + 1,
      credits: { email: { net: 20, source: 'cost_objects' } },
    });
    expect(stderr).not.toMatch(/worker \d/);
    expect(await place.charges()).toHaveLength(20);
  });

  it.each([
    [['--workers', '2'], /--workers .*--store <url>/],
    [['--workers', '0', ...inStore, '--run', 'x'], /--workers .*\b0\b/],
  ])('refuses %j with 2', async (args, named) => {
    const { code, stderr } = await place.call(...quick, '-o', 'out.csv', ...args);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(named) as string,
    });
  });

  it('is no command of its own to anybody', async () => {
    expect((await place.start('worker').ended).code).toBe(2);
  });
});
