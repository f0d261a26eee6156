import { appendFile, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { codedOf, eventsOf, parseLog } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
  const rows = Array.from({ length: 25 }, (_, index) => `${index},good${index}@sluice.test\n`);
  await writeFile(
    join(folder, 'list.csv'),
    `id,email\n${rows.join('')}25,\n26,good1@sluice.test\n`,
  );
});

const command = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.csv'];
const quick = ['--batch-size', '10', '--poll-interval', '5'];

async function verify(service: Service, ...more: string[]): Promise<EndedHere> {
  return runInProcess([...command, ...quick, ...more], inFolder(folder, service));
}

function expectBeforeUploads({ events }: EndedHere, code: string): void {
  const at = events.findIndex((event) => event['code'] === code);
  expect(at).toBeLessThan(events.findIndex(({ stage }) => stage === 'uploading'));
}

describe('--dry-run', () => {
  it('counts what would be sent and what it would cost, and sends nothing but reads', async () => {
    const { service } = await withService({ emailCredits: 20 });
    const requests = countRequests(service);
    const ended = await verify(service, '--dry-run', '--quiet', '--summary', 'summary.json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(requests).toEqual(['GET /v1/account/credits']);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'summary.json']);
    const estimate = {
      dry_run: true,
      rows: 27,
      email: {
        addresses: 25,
        from_history: 0,
        duplicates: 1,
        not_submitted: { empty: 1 },
        groups: [{ country: 'US', addresses: 25, batches: 3 }],
        credits: 25,
      },
      balance: { email: 20 },
    };
    expect(JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'))).toMatchObject(
      estimate,
    );
    expect(eventsOf(ended, 'estimate')).toMatchObject([estimate]);
  });

  it('says where --max-credits is too little, as a run does before it sends anything', async () => {
    const { service } = await withService();
    const some = await verify(service, '--dry-run', '--max-credits', '20');
    expect(some.code).toBe(0);
    const short = { type: 'email', needed: 25, smallest: 5, largest: 10 };
    expect(codedOf(some, 'budget_short')).toMatchObject([{ ...short, allowed: 20, exit_code: 5 }]);
    const none = await verify(service, '--dry-run', '--max-credits', '4');
    expect(none.code).toBe(0);
    const hopeless = [{ ...short, allowed: 4 }];
    expect(codedOf(none, 'budget_short')).toMatchObject(hopeless);
    const stopped = await verify(service, '--max-credits', '4', '--verbose');
    expect(stopped.code).toBe(5);
    expect(codedOf(stopped, 'budget_short')).toMatchObject(hopeless);
    expectBeforeUploads(stopped, 'budget_short');
    expect(await chargesOf(service)).toEqual([]);
    const partial = ['--max-credits', '20', '--partial'];
    expect(codedOf(await verify(service, ...partial, '--dry-run'), 'budget_short')).toMatchObject([
      { ...short, exit_code: 3 },
    ]);
    expect((await verify(service, ...partial)).code).toBe(3);
    expect(await chargesOf(service)).toHaveLength(20);
    const part = await verify(service, '--max-credits', '20');
    expect(part.code).toBe(5);
    expect(eventsOf(part, 'error')).toMatchObject([{ code: 'budget_exhausted' }]);
    expect(await chargesOf(service)).toHaveLength(20);
  });
});

describe('an account with too few credits', () => {
  it.each<[number, boolean, number, readonly string[]]>([
    [20, true, 25, []],
    [4, false, 25, []],
    [9, true, 22, ['--max-credits', '22']],
    [20, true, 25, ['--max-credits', '1000']],
  ])(
    'of %i is reported once before anything is sent, and at the end in words',
    async (emailCredits, fits, needed, limit) => {
      const { service } = await withService({ emailCredits });
      const ended = await verify(service, '--concurrency', '1', '--verbose', ...limit);
      expect(ended.code).toBe(5);
      const types = [{ type: 'email', has: emailCredits, needed, fits }];
      expect(codedOf(ended, 'balance_short')).toMatchObject([{ types }]);
      expectBeforeUploads(ended, 'balance_short');
      expect(eventsOf(ended, 'error')).toMatchObject([
        { code: 'payment_required', cause: expect.stringContaining('402') },
      ]);
    },
  );

  it('is not reported where it is known or enough: for a budget, a preflight, a run that is resumed', async () => {
    const { service } = await withService({ emailCredits: 20 });
    const stopped = await verify(service, '--max-credits', '10');
    expect(codedOf(stopped, 'balance_short')).toEqual([]);
    const resumed = await verify(service);
    expect(resumed.code).toBe(5);
    expect(codedOf(resumed, 'balance_short')).toEqual([]);
    // What the service answered is for whoever looks closer.
    expect(resumed.stderr).not.toContain('402');
    const asked = await verify(service, '--fresh', '--yes', '--preflight');
    expect(codedOf(asked, 'balance_short')).toEqual([]);
    const logged = await verify(service, '--json-log');
    expect(parseLog(logged.stderr).find(({ event }) => event === 'error')).toHaveProperty('cause');
  });
});

describe('--preflight', () => {
  it('prepares everything, shows the counts and the price, and launches with --yes', async () => {
    const { service } = await withService();
    const requests = countRequests(service);
    const ended = await verify(service, '--preflight', '--yes');
    expect(ended.code, ended.stderr).toBe(0);
    expect(eventsOf(ended, 'prepared')).toMatchObject([{ email: { addresses: 25, batches: 3 } }]);
    const firstLaunch = requests.findIndex((request) => /^POST .*\/batch\/./.test(request));
    const prepares = requests.filter((request) => request.startsWith('PATCH '));
    const before = requests.slice(0, firstLaunch);
    expect(before.filter((request) => request.startsWith('PATCH '))).toEqual(prepares);
    expect(new Set(prepares).size).toBe(3);
    expect(await chargesOf(service)).toHaveLength(25);
  });

  it.each([
    ['what the service has not removed', [], 25],
    ['all that is sent, where it is to remove nothing', ['--no-remove-wrong-format'], 27],
  ])('names the price of %s', async (_, more, credits) => {
    const { service } = await withService();
    await appendFile(join(folder, 'list.csv'), '27,nobody\n28,no@body@sluice.test\n');
    const ended = await verify(service, '--preflight', '--yes', ...more);
    expect(ended.code, ended.stderr).toBe(0);
    const counts = { valid: 25, wrong: 2, duplicate: 0 };
    expect(eventsOf(ended, 'prepared')).toMatchObject([
      { email: { addresses: 27, counts, credits } },
    ]);
    expect(await chargesOf(service)).toHaveLength(credits);
  });

  it('is refused without a terminal and without --yes, before anything is sent', async () => {
    const { service } = await withService();
    const requests = countRequests(service);
    const ended = await runInProcess(
      [...command, ...quick, '--preflight'],
      inFolder(folder, service),
    );
    expect(ended.code, ended.stderr).toBe(2);
    expect(eventsOf(ended, 'error')).toMatchObject([{ option: '--yes', fault: 'missing' }]);
    expect(requests).toEqual([]);
  });
});

describe('--detach', () => {
  it('launches everything and leaves with 75; the same command collects', async () => {
    const { service } = await withService({ verifyDelayMs: 300 });
    const left = await verify(service, '--detach', '--concurrency', '1');
    expect(left.code, left.stderr).toBe(75);
    expect(eventsOf(left, 'error')).toMatchObject([{ code: 'detached' }]);
    expect(await chargesOf(service)).toHaveLength(25);
    expect(await readdir(folder)).toEqual(['list.csv', 'out.csv.sluice']);
    const requests = countRequests(service);
    const collected = await verify(service, '--detach');
    expect(collected.code, collected.stderr).toBe(0);
    expect(requests.filter((one) => /^POST .*\/batch\/./.test(one))).toEqual([]);
    expect(await chargesOf(service)).toHaveLength(25);
    expect((await readFile(join(folder, 'out.csv'), 'utf8')).trim().split('\n')).toHaveLength(28);
  });

  it('is 5, not 75, when the credits do not suffice for everything', async () => {
    const { service } = await withService({ verifyDelayMs: 200 });
    const ended = await verify(service, '--detach', '--max-credits', '10');
    expect(ended.code, ended.stderr).toBe(5);
    const rest = await verify(service, '--detach');
    expect(rest.code, rest.stderr).toBe(75);
    expect((await verify(service)).code).toBe(0);
    expect(await chargesOf(service)).toHaveLength(25);
  });
});
