import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { estimateRun } from '../../../src/engine/runs/estimate.js';
import { run } from '../../../src/engine/runs/run.js';
import type { Estimate } from '../../../src/engine/summary/summary.js';
import { Client } from '../../../src/client/client.js';
import { isSeenAtWork, lockDirectory } from '../../../src/engine/stores/directory/folders.js';
import { systemFiles } from '../../../src/platform/files/file-system.js';
import type { Service } from '../../../src/service/index.js';
import { expectPaidOnce, withFolder, withService } from '../../service/with-service.js';
import { chargesOf } from '../harness/charges.js';
import { connectTo } from '../harness/connect-to.js';
import { countRequests } from '../harness/count-requests.js';
import { codedOf, eventsOf } from '../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../harness/run-in-process.js';
import { askSqlite } from '../../lists/sql/sqlite/ask-sqlite.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService({
    accounts: ['the-first-key', 'another-key'].map((key) => ({
      name: key,
      key,
      emailCredits: 100,
    })),
  }));
  await writeList(names(9));
});

function names(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, at) => `good${at + from}@sluice.test`);
}

async function writeList(mails: readonly string[]): Promise<void> {
  await writeFile(join(folder, 'list.csv'), `mail\n${mails.join('\n')}\n`);
}

interface Given {
  readonly from?: readonly string[];
  readonly input?: string;
  readonly apiKey?: string;
}

const settings = '--email mail --country US --batch-size 3 --concurrency 1 --poll-interval 5';

async function verify(
  more: readonly string[] = [],
  { from = ['list.csv'], input = '', apiKey = 'the-first-key' }: Given = {},
): Promise<EndedHere> {
  const output = more.includes('-o') ? [] : ['-o', 'out.csv'];
  const args = ['verify', ...from, ...settings.split(' '), ...output, ...more];
  return runInProcess(args, { cwd: folder, env: connectTo({ ...service, apiKey }), input });
}

/** Two of three batches are paid for. */
async function stopHalfway(more: readonly string[] = [], given: Given = {}): Promise<void> {
  const stopped = await verify([...more, '--max-credits', '6'], given);
  expect(stopped.code, stopped.stderr).toBe(5);
  expect(await chargesOf(service)).toHaveLength(6);
}

async function stateFiles(): Promise<Readonly<Record<string, string>>> {
  const path = join(folder, 'out.csv.sluice');
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  const files = found.filter((each) => each.isFile());
  const entries = files.map(async ({ parentPath, name }) => [
    join(parentPath, name),
    await readFile(join(parentPath, name), 'latin1'),
  ]);
  return Object.fromEntries(await Promise.all(entries)) as Record<string, string>;
}

/** What a dry run says, which changes nothing, and needs nothing that a process at work has. */
async function dryRun(
  more: readonly string[] = [],
  given: Given = {},
): Promise<Estimate & Pick<EndedHere, 'events'>> {
  const before = await stateFiles();
  const requests = countRequests(service);
  const lock = await lockDirectory(systemFiles, join(folder, 'out.csv.sluice'));
  const isSeen = await isSeenAtWork(join(folder, 'out.csv.sluice'));
  const ended = await verify([...more, '--dry-run', '--summary', 'dry.json'], given);
  await lock.release();
  expect(await isSeenAtWork(join(folder, 'out.csv.sluice'))).toBe(false);
  expect(ended.code, ended.stderr).toBe(0);
  expect(requests.filter((request) => !request.startsWith('GET '))).toEqual([]);
  expect(await stateFiles()).toEqual(before);
  const estimate = JSON.parse(await readFile(join(folder, 'dry.json'), 'utf8')) as Estimate;
  await rm(join(folder, 'dry.json'));
  const { unfinished, state_locked: isLocked = false } = estimate;
  expect(isLocked).toBe(isSeen);
  const { action, enough_credits, used_addresses } = unfinished ?? {};
  expect(eventsOf(ended, 'unfinished_run')).toMatchObject(
    unfinished ? [{ action, enough_credits, used_addresses }] : [],
  );
  return { ...estimate, events: ended.events };
}

/** Runs a command, and says what it has paid. */
async function paidBy(
  ...args: Parameters<typeof verify>
): Promise<EndedHere & { credits: number }> {
  const before = await chargesOf(service);
  const ended = await verify(...args);
  return { ...ended, credits: (await chargesOf(service)).length - before.length };
}

const paid = { paid: { email: 6, phone: 0 }, paid_addresses: 6 };

describe('a dry run beside an unfinished run', () => {
  it.each<[string, readonly string[], Given]>([
    ['of a file', [], {}],
    ['with a history', ['--history', 'kept'], {}],
    ['of the first rows', ['--limit', '8'], {}],
    ['with a list that is not sent', ['--suppress', 'stop.csv'], {}],
    ['of a pipe', [], { from: ['-'], input: `mail\n${names(9).join('\n')}\n` }],
    ['of a query', ['--query', 'SELECT mail FROM people'], { from: ['sqlite:crm.db'] }],
  ])('%s resumes it, as the run does', async (_, more, given) => {
    await writeFile(join(folder, 'stop.csv'), 'mail\ngood8@sluice.test\n');
    const rows = names(9).map((name) => `('${name}')`);
    askSqlite(
      join(folder, 'crm.db'),
      'CREATE TABLE people (mail TEXT)',
      `INSERT INTO people VALUES ${rows.join(', ')} RETURNING 1`,
    );
    // Results that an earlier run has, where there is a history.
    if (more.includes('--history')) {
      await writeList(names(2, 7));
      expect((await verify([...more, '-o', 'first.csv'])).code).toBe(0);
      await writeList(names(9));
      const stopped = await verify([...more, '--max-credits', '6']);
      expect(stopped.code, stopped.stderr).toBe(5);
    } else {
      await stopHalfway(more, given);
    }
    const { unfinished, email } = await dryRun(more, given);
    expect(unfinished).toMatchObject({ action: 'resume', why: null, ...paid, used_addresses: 6 });
    const resumed = await paidBy(more, given);
    expect(resumed.code, resumed.stderr).toBe(0);
    const { credits } = resumed;
    const groups = [{ country: 'US', addresses: credits, batches: 1 }];
    expect(email).toMatchObject({ credits, groups });
    expect(eventsOf(resumed, 'carried')).toEqual([]);
    expect(eventsOf(resumed, 'going_on')).toHaveLength(1);
  });

  it.each([
    ['more rows', names(11), [], 6],
    ['fewer rows of those that are paid for', names(8, 3), [], 3],
    ['other rows, and --on-change carry', names(5, 5), ['--on-change', 'carry'], 1],
  ])('of %s uses what was paid, as the run does', async (_, list, more, used) => {
    await stopHalfway();
    await writeList(list);
    const { unfinished, email } = await dryRun(more);
    expect(unfinished).toMatchObject({ action: 'carry', ...paid, used_addresses: used });
    const carried = await paidBy(more);
    expect(carried.code, carried.stderr).toBe(0);
    expect(email).toMatchObject({ addresses: list.length, credits: carried.credits });
    expect(carried.credits).toBe(list.length - used);
    expect(eventsOf(carried, 'carried')).toMatchObject([
      { change: unfinished?.why, paid_addresses: 6, used_addresses: used },
    ]);
  });

  it.each<[string, readonly string[], readonly string[], Given]>([
    ['too few of the paid rows', names(7, 4), [], {}],
    ['a changed list, and --on-change stop', names(10), ['--on-change', 'stop'], {}],
    ['another setting', names(9), ['--description', 'other'], {}],
    ['another country', names(9), ['--email-country', 'CA'], {}],
    ['another account', names(9), [], { apiKey: 'another-key' }],
  ])('of %s says that it stops, as the run does', async (_, list, more, given) => {
    await stopHalfway();
    await writeList(list);
    const { unfinished, email } = await dryRun(more, given);
    expect(unfinished).toMatchObject({ action: 'stop', paid: paid.paid, used_addresses: null });
    expect(email).toMatchObject({ credits: 0, groups: [] });
    const stopped = await verify(more, given);
    expect(stopped.code).toBe(2);
    expect(eventsOf(stopped, 'error')).toMatchObject([{ code: 'state_mismatch' }]);
    expect(await chargesOf(service)).toHaveLength(6);
  });

  it('of another list than the last two uses what both have paid', async () => {
    await stopHalfway();
    await writeList(names(11));
    expect((await paidBy(['--max-credits', '3'])).credits).toBe(3);
    await writeList(names(13));
    const { unfinished, email } = await dryRun();
    expect(unfinished).toMatchObject({ action: 'carry', paid: { email: 9 }, used_addresses: 9 });
    const groups = [{ country: 'US', addresses: 4, batches: 2 }];
    expect(email).toMatchObject({ addresses: 13, credits: 4, groups });
    expect(await paidBy()).toMatchObject({ code: 0, credits: 4 });
  });

  it('says that a budget stops it, and which is enough', async () => {
    await stopHalfway();
    const short = ['--max-credits', '8'];
    const { unfinished, email, events } = await dryRun(short);
    expect(unfinished).toMatchObject({ action: 'resume', enough_credits: 9 });
    expect(email).toMatchObject({ credits: 3 });
    expect(codedOf({ events }, 'budget_short')).toMatchObject([
      { needed: 3, allowed: 8, used: 6, smallest: 3 },
    ]);
    expect(await paidBy(short)).toMatchObject({ code: 5, credits: 0 });
    const enough = ['--max-credits', '9'];
    const dry = await dryRun(enough);
    expect(dry.unfinished).toMatchObject({ action: 'resume', enough_credits: null });
    expect(codedOf(dry, 'budget_short')).toEqual([]);
    expect(await paidBy(enough)).toMatchObject({ code: 0, credits: 3 });
  });

  it.each<[string, readonly string[], object]>([
    ['replaces it', [], { action: 'carry', left: 1, code: 0 }],
    ['has its budget', ['--max-credits', '7'], { action: 'carry', left: 1, code: 0 }],
    ['lacks its budget', ['--max-credits', '6'], { action: 'carry', left: 1, code: 5, used: 6 }],
    ['begins a budget', ['--max-credits', '1', '--on-change', 'carry'], { left: 1, code: 0 }],
    ['stops', ['--on-change', 'stop'], { action: 'stop', left: 0, code: 2 }],
  ])('leaves out what another list has paid for since, and %s', async (_, more, expected) => {
    const { action = 'carry', left, code, used } = expected as Record<string, number | string>;
    const kept = ['--history', 'kept'];
    await stopHalfway(kept);
    await writeFile(join(folder, 'other.csv'), 'mail\ngood6@sluice.test\ngood7@sluice.test\n');
    const other = { from: ['other.csv'] };
    expect((await verify([...kept, '-o', 'other.out.csv'], other)).code).toBe(0);
    const { unfinished, email, events } = await dryRun([...kept, ...more]);
    expect(unfinished).toMatchObject({ action });
    expect(email).toMatchObject({ credits: left });
    expect(codedOf({ events }, 'budget_short')).toMatchObject(code === 5 ? [{ used }] : []);
    const since = action === 'stop' ? [] : [{ addresses: 2 }];
    expect(codedOf({ events }, 'paid_since')).toMatchObject(since);
    const resumed = await paidBy([...kept, ...more]);
    expect(resumed).toMatchObject({ code, credits: code === 0 ? left : 0 });
    expect(codedOf(resumed, 'paid_since')).toMatchObject(since);
    if (code === 0) await expectPaidOnce(service, 9);
    if (code !== 5) return;
    // The run that has taken its place has what was paid before it in its budget.
    const again = await dryRun([...kept, ...more]);
    expect(again.unfinished).toMatchObject({ action: 'resume', enough_credits: 7 });
    expect(codedOf(again, 'budget_short')).toMatchObject([{ used, needed: 1 }]);
    expect((await dryRun([...kept, '--max-credits', '7'])).unfinished).toMatchObject({
      enough_credits: null,
    });
    expect(await paidBy([...kept, '--max-credits', '7'])).toMatchObject({ code: 0, credits: 1 });
    await expectPaidOnce(service, 9);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['whose batches are deleted', ['--delete-batches'], []],
    ['of a changed list', [], ['--limit', '8']],
    ['that another list has paid for since', ['--history', 'kept'], []],
  ])(
    'of a copy %s says that it stops, as the run does, and not once it was moved',
    async (_, kept, more) => {
      await stopHalfway(kept);
      if (kept.includes('--history')) {
        await writeFile(join(folder, 'other.csv'), 'mail\ngood6@sluice.test\n');
        expect((await verify([...kept, '-o', 'o.csv'], { from: ['other.csv'] })).code).toBe(0);
      }
      await rename(join(folder, 'out.csv.sluice'), join(folder, 'before'));
      await cp(join(folder, 'before'), join(folder, 'out.csv.sluice'), { recursive: true });
      const given = [...kept, ...more];
      expect((await dryRun(given)).unfinished).toMatchObject({ action: 'stop' });
      const stopped = await paidBy(given);
      expect(stopped).toMatchObject({ code: 2, credits: 0 });
      expect(eventsOf(stopped, 'error')).toMatchObject([
        { code: 'state_mismatch', option: '--moved' },
      ]);
      const { unfinished, email } = await dryRun([...given, '--moved']);
      expect(unfinished?.action).not.toBe('stop');
      const moved = await paidBy([...given, '--moved']);
      expect(moved).toMatchObject({ code: 0, credits: email?.credits });
    },
  );

  it('leaves out what another list has launched and not collected', async () => {
    const kept = ['--history', 'kept'];
    await writeFile(join(folder, 'other.csv'), 'mail\ngood7@sluice.test\ngood8@sluice.test\n');
    const other = { from: ['other.csv'] };
    expect((await verify([...kept, '-o', 'o.csv', '--detach'], other)).code).toBe(75);
    await mkdir(join(folder, 'out.csv.sluice'), { mode: 0o700 });
    await writeFile(join(folder, 'out.csv.sluice', 'lock'), '');
    const ofNew = await dryRun(kept);
    expect(ofNew).toMatchObject({ email: { credits: 7, from_history: 2 } });
    expect(codedOf(ofNew, 'launched_elsewhere')).toMatchObject([{ addresses: 2 }]);
    expect(await paidBy(kept)).toMatchObject({ code: 0, credits: 7 });
  });

  describe('with failed addresses', () => {
    const retry = ['--retry-failed'];
    beforeEach(async () => {
      const what = { batch: 'internal_error' } as const;
      const broken = { operation: 'exportBatch', requests: [1], what } as const;
      ({ service } = await withService({ apiKey: 'the-first-key', faults: { faults: [broken] } }));
    });

    it('and --retry-failed counts those that are sent again', async () => {
      expect((await verify()).code).toBe(3);
      const { unfinished, email } = await dryRun(retry);
      expect(unfinished).toMatchObject({ action: 'resume', paid: { email: 9 } });
      expect(email).toMatchObject({ addresses: 9, credits: 3 });
      expect(await paidBy(retry)).toMatchObject({ code: 0, credits: 3 });
    });

    it('and --retry-failed counts them before the run is finished, too', async () => {
      await stopHalfway();
      expect((await dryRun()).email).toMatchObject({ credits: 3 });
      const { unfinished, email } = await dryRun(retry);
      expect(unfinished).toMatchObject({ action: 'resume', paid: { email: 6 } });
      expect(email).toMatchObject({ addresses: 9, credits: 6 });
      expect(await paidBy(retry)).toMatchObject({ code: 0, credits: 6 });
    });

    it('and another list counts them only with --retry-failed', async () => {
      await stopHalfway();
      await writeList(names(11));
      const changed = await dryRun();
      expect(changed).toMatchObject({ unfinished: { action: 'carry' }, email: { credits: 5 } });
      expect(await paidBy()).toMatchObject({ code: 3, credits: 5 });
      const retried = await dryRun(retry);
      expect(retried).toMatchObject({ unfinished: { action: 'carry' }, email: { credits: 3 } });
      expect(await paidBy(retry)).toMatchObject({ code: 0, credits: 3 });
    });
  });

  it('with --fresh says what is dropped, as the run does', async () => {
    await stopHalfway();
    const { unfinished, email, events } = await dryRun(['--fresh']);
    expect(unfinished).toBeUndefined();
    const dropped = eventsOf({ events }, 'dropped');
    expect(dropped).toHaveLength(1);
    const again = await paidBy(['--fresh']);
    expect(again.code, again.stderr).toBe(0);
    expect(eventsOf(again, 'dropped')).toEqual(dropped);
    expect(email).toMatchObject({ credits: again.credits });
  });

  it('says nothing of a finished run', async () => {
    expect((await verify()).code).toBe(0);
    const after = await verify(['--dry-run']);
    for (const name of ['unfinished_run', 'dropped'] as const) {
      expect(eventsOf(after, name)).toEqual([]);
    }
  });
});

it('compares rows of a program, too, and nothing without a state directory', async () => {
  const client = new Client(service);
  const stateDir = join(folder, 'state');
  const rows = names(9).map((mail) => ({ mail }));
  const common = { client, email: ['mail'], country: 'US', batchSize: 3 } as const;
  try {
    const sink = join(folder, 'rows.csv');
    await expect(
      run({ ...common, source: rows, sink, stateDir, concurrency: 1, maxCredits: 6 }),
    ).rejects.toMatchObject({ code: 'budget_exhausted' });
    const estimate = await estimateRun({ ...common, source: rows, stateDir });
    expect(estimate.unfinished).toMatchObject({ action: 'resume', ...paid });
    const changed = await estimateRun({ ...common, source: rows.toReversed(), stateDir });
    expect(changed.unfinished).toMatchObject({ action: 'carry', ...paid, used_addresses: 6 });
    expect(await estimateRun({ ...common, source: rows })).not.toHaveProperty('unfinished');
  } finally {
    await client.close();
  }
});
