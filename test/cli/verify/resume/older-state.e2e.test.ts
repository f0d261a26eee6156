import { cp, mkdir, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { codedOf, eventsOf } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { verifyByTens } from './verify-by-tens.js';

const rows = 30;
let folder: string;
beforeEach(async () => {
  folder = await withFolder();
  await begin('first');
});

/** A machine: a folder with the list in it. */
async function begin(machine: string): Promise<void> {
  await mkdir(join(folder, machine));
  const lines = Array.from({ length: rows }, (_, index) => `good${index}@sluice.test\n`);
  await writeFile(join(folder, machine, 'list.csv'), ['email\n', ...lines].join(''));
}

const stateOf = (machine: string): string => join(folder, machine, 'out.csv.sluice');
const outputOf = (machine: string): string => join(folder, machine, 'out.csv');
const journalOf = (machine: string): string => join(stateOf(machine), 'journal');

async function sluice(machine: string, service: Service, ...args: string[]): Promise<EndedHere> {
  return runInProcess(args, { cwd: join(folder, machine), env: connectTo(service) });
}

async function verify(machine: string, service: Service, ...more: string[]): Promise<EndedHere> {
  return sluice(machine, service, ...verifyByTens, '--concurrency', '1', ...more);
}

/** Leaves two batches that are paid and one that is not on the first machine. */
async function leaveUnfinished(service: Service, ...more: string[]): Promise<void> {
  const ended = await verify('first', service, '--max-credits', '20', '--quiet', ...more);
  expect(ended.code, ended.stderr).toBe(5);
}

/** Ends of the entries in a journal, from its second on: the first says which run it is. */
async function cutsOf(machine: string): Promise<readonly number[]> {
  const bytes = await readFile(journalOf(machine));
  const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));
  return ends.slice(1);
}

async function expectPaid(service: Service, times: number): Promise<void> {
  const paid = (await chargesOf(service)).map(({ address }) => address);
  expect(new Set(paid).size).toBe(paid.length);
  expect(paid).toHaveLength(times);
}

async function output(machine: string): Promise<string> {
  return readFile(outputOf(machine), 'utf8');
}

describe('a state directory that is older than the service', () => {
  // Every moment is simulated, too: here are some of them over real sockets.
  it.each([
    ['batches', {}, 2],
    ['parts of batches', { maxFileSizeBytes: 120 }, 6],
  ])('is gone on with wherever its journal was cut: %s are paid once', async (_, options, step) => {
    const { service, wire } = await withService(options);
    await leaveUnfinished(service);
    const backup = join(folder, 'backup');
    await cp(stateOf('first'), backup, { recursive: true });
    const cuts = (await cutsOf('first')).filter((_cut, at) => at % step === 0);
    expect((await verify('first', service, '--quiet')).code).toBe(0);
    await expectPaid(service, rows);
    const whole = await output('first');
    const uploads = (await wire.get('/v1/batch')).list.length;
    for (const cut of cuts) {
      await rm(outputOf('first'));
      await cp(backup, stateOf('first'), { recursive: true });
      await truncate(journalOf('first'), cut);
      const ended = await verify('first', service);
      expect(ended.code, ended.stderr).toBe(0);
      const [older] = eventsOf(ended, 'older_state');
      expect(older).toMatchObject({ is_copied: true });
      expect(older?.['learned']).not.toEqual([]);
      expect(await output('first')).toBe(whole);
    }
    await expectPaid(service, rows);
    // Nobody has deleted what another has paid for.
    expect((await wire.get('/v1/batch')).list).toHaveLength(uploads);
  });

  it('is recognized by what is listed, too, where its journal was cut in its place', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const [afterPlan = 0] = (await cutsOf('first')).slice(2);
    await truncate(journalOf('first'), afterPlan);
    const ended = await verify('first', service);
    expect(ended.code, ended.stderr).toBe(0);
    const [older] = eventsOf(ended, 'older_state');
    expect(older).toMatchObject({ is_copied: false });
    expect(older?.['learned']).toContainEqual(
      expect.stringMatching(/^sluice-[0-9a-f]{16}-000001-1$/),
    );
    await expectPaid(service, rows);
  });

  it('counts what another process launched for --max-credits', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const [afterPlan = 0] = (await cutsOf('first')).slice(2);
    await truncate(journalOf('first'), afterPlan);
    expect((await verify('first', service, '--max-credits', '20')).code).toBe(5);
    await expectPaid(service, 20);
  });

  it('is not what a run is notified that only goes on: it reads the list, and says nothing', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const requests = countRequests(service);
    const ended = await verify('first', service);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.events.filter(({ severity }) => severity === 'warning')).toEqual([]);
    // A reading is two requests, the second for what may stand after the first page: one reading as
    // the run is taken up, and two before its only launch: is its upload its own, and is there another.
    expect(requests.slice(0, 2)).toEqual(Array(2).fill('GET /v1/batch'));
    expect(requests.filter((each) => each === 'GET /v1/batch')).toHaveLength(6);
    await expectPaid(service, rows);
  });

  it('abandoned, costs nobody a batch that is paid', async () => {
    const { service, wire } = await withService();
    await leaveUnfinished(service);
    const [afterPlan = 0] = (await cutsOf('first')).slice(2);
    await truncate(journalOf('first'), afterPlan);
    const ended = await sluice('first', service, 'abandon', 'out.csv.sluice', '--yes');
    expect(ended.code, ended.stderr).toBe(0);
    expect(eventsOf(ended, 'abandoned')).toMatchObject([{ batches: 1 }]);
    expect(eventsOf(ended, 'paid_uploads_kept')[0]?.['names']).toHaveLength(2);
    const left = (await wire.get('/v1/batch')).list;
    expect(left.map(({ status }) => status)).toEqual(Array(2).fill('verification_done'));
  });
});

describe('a run that deletes its batches, and has one deleted by somebody else', () => {
  it('ends by itself, and pays for the addresses only when a person asks', async () => {
    const { service, wire } = await withService();
    await leaveUnfinished(service, '--delete-batches');
    const [ready] = (await wire.get('/v1/batch')).list;
    expect((await wire.send('DELETE', `/v1/batch/${ready?.batch_uuid}`)).status).toBe(200);
    const ended = await verify('first', service, '--delete-batches');
    expect(ended.code, ended.stderr).toBe(3);
    expect((await output('first')).match(/,failed,batch_missing,/g)).toHaveLength(10);
    expect(codedOf(ended, 'retry_failed')).toMatchObject([{ addresses: 10, paid_twice: 10 }]);
    await expectPaid(service, 20);
    const again = await verify('first', service, '--delete-batches', '--retry-failed');
    expect(again.code, again.stderr).toBe(0);
    await expectPaid(service, rows);
    expect(await readdir(join(folder, 'first'))).toEqual(['list.csv', 'out.csv']);
  });
});

describe('a copy of a run that deletes its batches', () => {
  it('is refused before anything is sent, until --moved says that nobody else goes on', async () => {
    const { service } = await withService();
    await leaveUnfinished(service, '--delete-batches');
    await begin('copy');
    await cp(stateOf('first'), stateOf('copy'), { recursive: true });
    // Without the option, the journal tells.
    for (const more of [['--delete-batches'], []]) {
      const ended = await verify('copy', service, ...more);
      expect(ended.code).toBe(2);
      expect(eventsOf(ended, 'error')).toMatchObject([
        { code: 'state_mismatch', message: expect.stringContaining('--moved') },
      ]);
    }
    await expectPaid(service, 20);
    const ended = await verify('copy', service, '--delete-batches', '--moved');
    expect(ended.code, ended.stderr).toBe(0);
    expect(await readdir(join(folder, 'copy'))).toEqual(['list.csv', 'out.csv']);
    await expectPaid(service, rows);
  });

  it('is refused, too, when the first machine has finished and left no trace', async () => {
    const { service, wire } = await withService();
    await leaveUnfinished(service, '--delete-batches');
    await begin('copy');
    await cp(stateOf('first'), stateOf('copy'), { recursive: true });
    expect((await verify('first', service, '--delete-batches', '--quiet')).code).toBe(0);
    expect((await wire.get('/v1/batch')).list).toEqual([]);
    expect((await verify('copy', service, '--delete-batches')).code).toBe(2);
    await expectPaid(service, rows);
  });
});
