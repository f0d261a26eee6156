import { open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { systemFiles, type FileSystem } from '../../../src/platform/files/file-system.js';
import { History } from '../../../src/engine/history/history.js';
import { run } from '../../../src/engine/runs/run.js';
import { verify } from '../../../src/engine/streams/verify.js';
import { verifyRows } from '../../../src/engine/streams/verify-rows.js';
import { systemError, watchedFiles } from '../runs/watched-files.js';
import { daysLater, goodNames, Nights } from './nightly.js';

/** Dozens of nights need no lock, which takes a process each. */
const unlocked: FileSystem = { ...systemFiles, openLocked: async (name) => open(name, 'a', 0o600) };

describe('a history that is closed', () => {
  it('is refused before anything is read or sent', async () => {
    const nights = await Nights.begin();
    const history = await nights.open();
    await history.close();
    const refused = { code: 'invalid_option', option: 'openHistory' };
    const { client } = nights;
    const options = { client, history, email: ['email'], country: 'US' } as const;
    expect(() => verify(options)).toThrow(expect.objectContaining(refused));
    await expect(nights.runWith(goodNames(1), { history })).rejects.toMatchObject(refused);
    expect(await nights.charges()).toEqual([]);
  });
});

describe('a second night', () => {
  it('sends nothing and spends nothing on the same list, and writes the same', async () => {
    const nights = await Nights.begin();
    const list = [...goodNames(7), 'bad1@sluice.test', 'no address', '', 'GOOD1@sluice.test'];
    const first = await nights.night(list);
    const written = await nights.output();
    const paid = await nights.charges();
    const requests: string[] = [];
    const second = await nights.night(list, {
      onProgress: (progress) => requests.push(progress.stage),
    });
    expect(await nights.charges()).toEqual(paid);
    expect(await nights.output()).toBe(written);
    expect(second.batches).toEqual([]);
    expect(requests).not.toContain('batch');
    expect(first.email).toMatchObject({ addresses: 9, from_history: 0, duplicates: 1 });
    expect(second.email).toEqual({ ...first.email, from_history: 9 });
    expect(second.credits.email).toMatchObject({ spent: 0, net: 0 });
  });

  it('pays for new addresses and for those that are too old, and for no other', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(5));
    const before = (await nights.charges()).length;
    await nights.night(goodNames(7), { clock: daysLater(10) });
    expect((await nights.charges()).slice(before)).toEqual(goodNames(2, 5));
    // The first five are 31 days old, the last two 21.
    await nights.night(goodNames(7), { clock: daysLater(31) });
    expect((await nights.charges()).slice(before + 2)).toEqual(goodNames(5));
    await nights.night(goodNames(7), { clock: daysLater(31) });
    expect(await nights.charges()).toHaveLength(before + 7);
  });

  it('takes an age for each verdict', async () => {
    const nights = await Nights.begin();
    const list = ['good1@sluice.test', 'bad1@sluice.test', 'unknown1@sluice.test'];
    await nights.night(list);
    const clock = daysLater(2);
    await nights.night(list, { clock }, { maxAgeDays: { unknown: 1 } });
    expect((await nights.charges()).slice(3)).toEqual(['unknown1@sluice.test']);
    await nights.night(list, { clock }, { maxAgeDays: { wrong: 1, valid: 90 } });
    expect((await nights.charges()).slice(4)).toEqual(['bad1@sluice.test']);
    await nights.night(list, { clock }, { maxAgeDays: 0 });
    expect((await nights.charges()).slice(5)).toEqual(list);
  });

  it('keeps the countries and types of an address apart', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(2));
    await nights.night(goodNames(2), { country: 'DE' });
    expect(await nights.charges()).toHaveLength(4);
  });

  it('is the same for a stream, which shares the history with runs', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(4));
    const history = await nights.open();
    const rows: unknown[] = [];
    await pipeline(
      Readable.from(goodNames(6).map((email) => ({ email }))),
      verify({
        client: nights.client,
        history,
        email: ['email'],
        country: 'US',
        pollIntervalMs: 1,
        provenance: true,
      }),
      async function* collect(stream) {
        for await (const row of stream) rows.push(row);
        yield* [];
      },
    );
    await history.close();
    expect((await nights.charges()).slice(4)).toEqual(goodNames(2, 4));
    expect(rows).toMatchObject([
      ...goodNames(4).map((email) => ({ email, email_valid: true, email_source: 'history' })),
      ...goodNames(2, 4).map((email) => ({ email, email_valid: true, email_source: 'service' })),
    ]);
    await nights.night(goodNames(6));
    expect(await nights.charges()).toHaveLength(6);
  });
});

describe('calls at the same time with one history', () => {
  const listed = goodNames(20);
  const rows = listed.map((email) => ({ email }));
  const all = async (stream: AsyncIterable<unknown>): Promise<number> => {
    let count = 0;
    for await (const row of stream) if (row !== undefined) count += 1;
    return count;
  };

  it.each(['run', 'verifyRows'] as const)('launch no address twice: %s()', async (name) => {
    const nights = await Nights.begin({ verifyDelayMs: 100 });
    const history = await nights.open();
    const { client } = nights;
    const options = {
      client,
      history,
      email: ['email'],
      country: 'US',
      pollIntervalMs: 5,
    } as const;
    const call = async (number: number): Promise<number> => {
      if (name === 'verifyRows') return all(verifyRows(rows, options));
      const sink = join(nights.folder, `${number}.csv`);
      return (await run({ ...options, source: rows, sink })).rows;
    };
    const ends = await Promise.allSettled([call(1), call(2), call(3)]);
    const refused = ends.flatMap((end) =>
      end.status === 'rejected' ? [end.reason as unknown] : [],
    );
    for (const error of refused) expect(error).toMatchObject({ code: 'state_locked' });
    expect(refused.length).toBeLessThan(3);
    expect((await nights.charges()).toSorted()).toEqual(listed.toSorted());
    expect(await Promise.all([call(1), call(2), call(3)])).toEqual([20, 20, 20]);
    expect(await nights.charges()).toHaveLength(20);
    await history.close();
  });

  it('launch nothing that another has verified since their rows were read', async () => {
    const nights = await Nights.begin();
    const history = await nights.open();
    const { client } = nights;
    const options = {
      client,
      history,
      email: ['email'],
      country: 'US',
      pollIntervalMs: 5,
    } as const;
    const slowly = async function* () {
      yield* rows;
      expect(await all(verifyRows(rows, options))).toBe(20);
    };
    await expect(all(verifyRows(slowly(), options))).rejects.toMatchObject({
      code: 'state_locked',
      retryable: true,
    });
    expect(await nights.charges()).toHaveLength(20);
    expect(await all(verifyRows(slowly(), options))).toBe(20);
    expect(await nights.charges()).toHaveLength(20);
    await history.close();
  });
});

describe('a history', () => {
  it('holds no address, and its key is in a file of its own', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(3));
    expect((await readdir(nights.folder)).toSorted()).toEqual([
      'history',
      'history.key',
      'list.csv',
      'out.csv',
    ]);
    const bytes = await readFile(nights.historyPath);
    expect(bytes.includes('good1')).toBe(false);
    expect(bytes.includes('sluice.test')).toBe(false);
    const key = await readFile(`${nights.historyPath}.key`, 'utf8');
    expect(bytes.includes(key.trim())).toBe(false);
  });

  it('is one process at a time', async () => {
    const nights = await Nights.begin();
    const history = await nights.open();
    await expect(nights.open()).rejects.toMatchObject({ code: 'state_locked' });
    const waiting = nights.open({ waitLockMs: 60_000 });
    await history.close();
    await (await waiting).close();
  });

  it('is of one service', async () => {
    const nights = await Nights.begin();
    await (await nights.open()).close();
    await expect(nights.open({ service: 'https://other.test' })).rejects.toMatchObject({
      code: 'state_mismatch',
      message: expect.stringContaining('https://other.test') as string,
    });
    const history = await History.open({ path: join(nights.folder, 'other'), service: 'local' });
    await expect(nights.runWith(goodNames(1), { history })).rejects.toMatchObject({
      code: 'invalid_option',
    });
    await history.close();
    expect(await nights.charges()).toEqual([]);
  });

  it('takes what was paid for before a run was stopped and thrown away', async () => {
    const nights = await Nights.begin();
    await expect(nights.night(goodNames(9), { maxCredits: 6 })).rejects.toMatchObject({
      code: 'budget_exhausted',
    });
    await rm(join(nights.folder, 'run'), { recursive: true });
    await nights.night(goodNames(9));
    expect((await nights.charges()).toSorted()).toEqual(goodNames(9));
  });

  it('decides once: a run that goes on sends what it began with, and nothing twice', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(4));
    await expect(nights.night(goodNames(9), { maxCredits: 3 })).rejects.toMatchObject({
      code: 'budget_exhausted',
    });
    // By now it holds what the run itself was notified, the first four are too old, and it may be gone.
    const clock = daysLater(40);
    await expect(nights.night(goodNames(9), { maxCredits: 4, clock })).rejects.toMatchObject({
      code: 'budget_exhausted',
    });
    await rm(nights.historyPath);
    await rm(`${nights.historyPath}.key`);
    const summary = await nights.night(goodNames(9), { clock });
    expect(summary.email).toMatchObject({ addresses: 9, from_history: 4 });
    expect((await nights.charges()).toSorted()).toEqual(goodNames(9));
    // The new history knows what this run was notified, of which the first batch is 40 days old by now, and
    // not what the old one knew.
    await nights.night(goodNames(9), { clock });
    expect((await nights.charges()).slice(9).toSorted()).toEqual(goodNames(7));
  });

  it('refuses to go on with a note of the results used that is damaged', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(4));
    await nights.night(goodNames(9), { maxCredits: 3 }).catch(() => undefined);
    await rm(join(nights.folder, 'run', 'recalled'));
    await expect(nights.night(goodNames(9))).rejects.toMatchObject({ code: 'output_failed' });
    expect(await nights.charges()).toHaveLength(7);
  });

  it('that cannot be written stops the run, which goes on without paying again', async () => {
    const nights = await Nights.begin();
    let isFull = true;
    const files = watchedFiles((call) => {
      if (isFull && call === 'datasync history') throw systemError('ENOSPC');
    });
    // Its head is there already.
    await (await nights.open()).close();
    await expect(nights.night(goodNames(5), { files })).rejects.toMatchObject({
      code: 'output_failed',
    });
    isFull = false;
    await nights.night(goodNames(5), { files });
    expect((await nights.charges()).toSorted()).toEqual(goodNames(5));
    await nights.night(goodNames(5), { files });
    expect(await nights.charges()).toHaveLength(5);
    expect(files.openFiles).toEqual([]);
  });

  it('costs nothing twice, whichever call on it or on the note fails, and the process with it', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(4), { files: unlocked });
    const before = await readFile(nights.historyPath);
    for (let nth = 1; nth < 80; nth += 2) {
      await writeFile(nights.historyPath, before, { mode: 0o600 });
      const paid = (await nights.charges()).length;
      let calls = 0;
      const files = watchedFiles((call) => {
        if (!/ (?:history(?:\.\w+)?|recalled)$/.test(call) && calls < nth) return;
        calls += 1;
        // From then on the disk is gone, as it is for a process that dies.
        if (calls >= nth) throw systemError('EIO');
      });
      const died = await nights.night(goodNames(7), { files }).then(
        () => false,
        () => true,
      );
      if (!died) {
        expect(nth).toBeGreaterThan(10);
        return;
      }
      const summary = await nights.night(goodNames(7), { files: unlocked });
      expect(summary.email).toMatchObject({ verdicts: { valid: 7 } });
      expect((await nights.charges()).slice(paid).toSorted()).toEqual(goodNames(3, 4));
    }
    throw new Error('there is no end to the calls');
  });

  it('takes the parts of batches that were too large', async () => {
    const nights = await Nights.begin({ maxFileSizeBytes: 50 });
    await nights.night(goodNames(9), { batchSize: 9 });
    const summary = await nights.night(goodNames(9), { batchSize: 9 });
    expect(summary.email).toMatchObject({ from_history: 9, verdicts: { valid: 9 } });
    expect((await nights.charges()).toSorted()).toEqual(goodNames(9));
  });
});
