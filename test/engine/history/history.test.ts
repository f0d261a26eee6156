import {
  appendFile,
  copyFile,
  open as openFile,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { emailLine } from '../../../src/engine/addresses/email.js';
import { hashWords, KeyHash } from '../../../src/platform/hashing/key-hash.js';
import { groupNumber } from '../../../src/engine/addresses/address.js';
import { phoneLine } from '../../../src/engine/addresses/phone/phone-line.js';
import { systemClock } from '../../../src/platform/waiting/clock.js';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import { systemFiles, type FileSystem } from '../../../src/platform/files/file-system.js';
import { History } from '../../../src/engine/history/history.js';
import type { VerificationService } from '../../../src/client/client.js';
import {
  isAtWork,
  joinAtWork,
  joinThoseAtWork,
  noteStopped,
} from '../../../src/engine/history/planned-elsewhere.js';
import { isListedLocked } from '../../../src/platform/files/flock.js';
import { HistoryPresence, notePlan } from '../../../src/engine/runs/resume/history-presence.js';
import type { Batch } from '../../../src/engine/batches/batch.js';
import { lineHashes } from '../../../src/engine/plan/line-hashes.js';
import { runEntry } from '../stores/example-entries.js';
import type { HistoryOptions } from '../../../src/engine/history/history-options.js';
import { withFolder } from '../../service/with-service.js';
import { systemError, watchedFiles } from '../runs/watched-files.js';
import { daysLater } from './nightly.js';

let path: string;
beforeEach(async () => {
  path = join(await withFolder(), 'history');
});

const record = {
  valid: { valid: true, wrong: false, unknown: false, quality: 'good' },
  wrong: { valid: false, wrong: true, unknown: false, quality: 'bad' },
  unknown: { valid: false, wrong: false, unknown: true, quality: 'unknown' },
} as const;
type Reported = keyof typeof record | 'no_result' | 'failed';

async function open(options: Partial<HistoryOptions> = {}): Promise<History> {
  const history = await History.open({ path, service: 'https://one.test', ...options });
  onTestFinished(async () => history.close());
  return history;
}

/** Hundreds of openings need no lock, which takes a process each. */
const files: FileSystem = {
  ...systemFiles,
  openLocked: async (name) => openFile(name, 'a', 0o600),
};

const group = groupNumber({ type: 'email', country: 'US' });

async function copyOf(file: string): Promise<string> {
  await copyFile(file, `${file}.copy`);
  return `${file}.copy`;
}

/** Has a history keep a batch. */
async function keep(
  history: History,
  batchUuid: string,
  reported: Readonly<Record<string, Reported>>,
  atMs = Date.now(),
): Promise<void> {
  const outcomes = new OutcomeTable();
  const found = Object.values(reported).map((what) =>
    what === 'no_result' || what === 'failed'
      ? outcomes.idOf(what, what === 'failed' ? 'internal_error' : 'no_record')
      : outcomes.idOfRecord('email', record[what]),
  );
  await history.keep({
    batchUuid,
    atMs,
    type: 'email',
    charge: undefined,
    addresses: found.length,
    outcomes,
    hashes: hashesOf(
      history,
      Object.keys(reported).map((key) => [group, key]),
    ),
    outcomeOf: (place) => found[place] as number,
  });
}

async function* hashesOf(
  { seed }: History,
  addresses: readonly (readonly [group: number, key: string])[],
): AsyncGenerator<Int32Array> {
  const hash = new KeyHash(seed);
  const hashes = new Int32Array(addresses.length * hashWords);
  for (const [place, [ofGroup, key]] of addresses.entries()) {
    hash.hash(ofGroup, key);
    hash.keep(hashes, place);
  }
  yield hashes;
}

/** What a history says of addresses. */
function ask(history: History, keys: readonly string[]): Readonly<Record<string, unknown>> {
  const outcomes = new OutcomeTable();
  const recall = history.recall(outcomes, false);
  const hash = new KeyHash(history.seed);
  return Object.fromEntries(
    keys.map((key) => {
      hash.hash(group, key);
      const id = recall.outcomeOf(hash);
      if (id === -1) return [key, undefined];
      const { verification, values } = outcomes.get(id);
      return [key, values?.[3] ?? verification];
    }),
  );
}

describe('a history', () => {
  it('gives back what it was notified last, over any number of openings', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.dictionary(
            fc.stringMatching(/^[a-e]{1,2}$/),
            fc.constantFrom('valid' as const, 'wrong' as const, 'unknown' as const),
            { minKeys: 1 },
          ),
          { minLength: 1, maxLength: 6 },
        ),
        async (nights) => {
          await rm(path, { force: true });
          const expected: Record<string, unknown> = {};
          for (const [night, reports] of nights.entries()) {
            const history = await History.open({ path, service: 's', files });
            await keep(history, `uuid-${night}`, reports);
            await history.close();
            for (const [key, what] of Object.entries(reports)) expected[key] = record[what].quality;
          }
          const history = await History.open({ path, service: 's', files });
          expect(ask(history, Object.keys(expected))).toEqual(expected);
          expect(history.size).toBe(Object.keys(expected).length);
          expect(ask(history, ['zz'])).toEqual({ zz: undefined });
          await history.close();
        },
      ),
      { numRuns: 20 },
    );
  });

  it('keeps what had no record, and nothing that failed', async () => {
    const history = await open();
    await keep(history, 'u', { a: 'valid', b: 'no_result', c: 'failed' });
    expect(ask(history, ['a', 'b', 'c'])).toEqual({ a: 'good', b: 'no_result', c: undefined });
  });

  it('takes a batch once, whoever hands it over again', async () => {
    const history = await open();
    await keep(history, 'u', { a: 'valid', b: 'wrong' });
    const { bytes } = await history.stats();
    await keep(history, 'u', { a: 'valid', b: 'wrong' });
    expect((await history.stats()).bytes).toBe(bytes);
  });

  it('counts what it holds, and drops what is too old', async () => {
    const now = Date.now();
    const history = await open({ maxAgeDays: { valid: 60, none: 1 } });
    await keep(history, 'old', { a: 'valid', b: 'wrong', c: 'no_result' }, now - 40 * 86_400_000);
    await keep(history, 'new', { d: 'unknown' }, now - 1000);
    expect(await history.stats()).toMatchObject({
      service: 'https://one.test',
      addresses: 4,
      verdicts: { valid: 1, wrong: 1, unknown: 1, none: 1 },
      usable: 2,
      batches: 2,
      oldest: new Date(now - 40 * 86_400_000).toISOString(),
    });
    expect(await history.prune()).toBe(2);
    expect(ask(history, ['a', 'b', 'c', 'd'])).toEqual({
      a: 'good',
      b: undefined,
      c: undefined,
      d: 'unknown',
    });
    await history.close();
    expect((await open()).size).toBe(2);
  });

  it('does not believe a result from the days to come', async () => {
    const history = await open();
    await keep(history, 'u', { a: 'valid' }, Date.now() + 3 * 86_400_000);
    await keep(history, 'v', { b: 'valid' }, Date.now() + 3_600_000);
    expect(ask(history, ['a', 'b'])).toEqual({ a: undefined, b: 'good' });
    expect(history.notices()).toMatchObject([{ code: 'history_ahead', isWarning: true }]);
    expect(await history.prune()).toBe(0);
  });

  it('says that it begins anew where its key is there, and nothing else of it', async () => {
    const first = await open();
    expect(first.notices()).toEqual([]);
    await first.close();
    await rm(path);
    const second = await open();
    expect(second.notices()).toMatchObject([{ code: 'history_lost', isWarning: true }]);
    await second.close();
    expect((await open()).notices()).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['removed', async () => rm(path)],
    ['replaced', async () => rename(await copyOf(path), path)],
    ['changed', async () => appendFile(path, 'x')],
  ])('takes nothing in when it was %s meanwhile', async (_, change) => {
    const history = await open();
    await keep(history, 'u', { a: 'valid' });
    await change();
    await expect(keep(history, 'v', { b: 'valid' })).rejects.toMatchObject({
      code: 'output_failed',
      file: path,
    });
  });

  it('forgets an address in every batch group, and in its file', async () => {
    const history = await open();
    const outcomes = new OutcomeTable();
    const outcome = outcomes.idOfRecord('email', record.valid);
    const number = phoneLine('+1 202 555 0143', 'US');
    if (!('key' in number)) throw new Error('a number has no line');
    await history.keep({
      batchUuid: 'u',
      atMs: Date.now(),
      type: 'email',
      charge: undefined,
      addresses: 4,
      outcomes,
      hashes: hashesOf(history, [
        [groupNumber({ type: 'email', country: 'DE' }), 'a@b.test'],
        [group, 'a@b.test'],
        [group, 'c@b.test'],
        [groupNumber({ type: 'phone', country: 'US' }), number.key],
      ]),
      outcomeOf: () => outcome,
    });
    const before = [...history.results()].map(({ hash }) => hash);
    expect(await history.forget([' A@B.test '])).toBe(2);
    expect(await history.forget(['(202) 555-0143'])).toBe(1);
    expect(await history.forget(['nobody@b.test'])).toBe(0);
    const left = [...history.results()].map(({ hash }) => hash);
    expect(left).toHaveLength(1);
    const bytes = await readFile(path);
    for (const hash of before) {
      const word = Buffer.alloc(4);
      word.writeUInt32LE(Number.parseInt(hash.slice(0, 8), 16));
      expect(bytes.includes(word)).toBe(left.includes(hash));
    }
    expect(emailLine(' A@B.test ')).toMatchObject({ key: 'a@b.test' });
  });

  it('is written anew when most of it is superseded', async () => {
    const reported = Object.fromEntries(
      Array.from({ length: 30_000 }, (_, index) => [`a${index}`, 'valid' as const]),
    );
    for (let night = 0; night < 3; night += 1) {
      const history = await History.open({ path, service: 's' });
      await keep(history, `uuid-${night}`, reported);
      await history.close();
    }
    const sizeBefore = (await readFile(path)).length;
    const history = await History.open({ path, service: 's' });
    expect(history.size).toBe(30_000);
    expect(ask(history, ['a1', 'a29999'])).toEqual({ a1: 'good', a29999: 'good' });
    expect((await history.stats()).bytes).toBeLessThan(sizeBefore / 2);
    await history.close();
  });
});

describe('what stands in the file', () => {
  async function twoNights(): Promise<{
    readonly ends: readonly number[];
    readonly bytes: Buffer;
  }> {
    const history = await History.open({ path, service: 'https://one.test', files });
    // A batch's results are one frame where its cost is known.
    const cost = { type: 'email', addresses: 2, charge: undefined } as const;
    for (const batch of ['u', 'v']) await history.dropLaunch(batch, cost);
    const ends = [(await history.stats()).bytes];
    await keep(history, 'u', { a: 'valid', b: 'wrong' });
    ends.push((await history.stats()).bytes);
    await keep(history, 'v', { c: 'unknown' });
    ends.push((await history.stats()).bytes);
    await history.close();
    return { ends, bytes: await readFile(path) };
  }

  it('counts up to the last whole frame, wherever the rest was cut off', async () => {
    const { ends, bytes } = await twoNights();
    const [head = 0, first = 0, second = 0] = ends;
    for (let end = head; end <= second; end += 1) {
      await writeFile(path, bytes.subarray(0, end), { mode: 0o600 });
      const history = await History.open({ path, service: 'https://one.test', files });
      expect(history.size).toBe(end === second ? 3 : end >= first ? 2 : 0);
      const isCut = !ends.includes(end);
      expect(history.notices().map(({ code }) => code)).toEqual(isCut ? ['history_cut'] : []);
      // What comes behind a torn end is there the next time; the borders of frames are tried, and some cuts between.
      const isTried = end % 4 === 0 || ends.some((border) => Math.abs(border - end) <= 1);
      if (isTried) await keep(history, 'w', { d: 'valid' });
      await history.close();
      if (!isTried) continue;
      const again = await History.open({ path, service: 'https://one.test', files });
      expect(ask(again, ['d'])).toEqual({ d: 'good' });
      await again.close();
    }
  });

  it('begins anew where its head was torn, cut off or filled with zeros, at every byte', async () => {
    await (await History.open({ path, service: 'https://one.test', files })).close();
    const head = await readFile(path);
    for (let at = 0; at < head.length; at += 1) {
      for (const torn of [head.subarray(0, at), Buffer.from(head).fill(0, at)]) {
        await writeFile(path, torn, { mode: 0o600 });
        await (await History.open({ path, service: 'https://one.test', files })).close();
        expect((await readFile(path)).equals(head)).toBe(true);
      }
    }
  });

  it('is refused where it is damaged before its end, at every byte', async () => {
    const { ends, bytes } = await twoNights();
    const [, first = 0] = ends;
    for (let at = 0; at < first; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      await writeFile(path, damaged, { mode: 0o600 });
      await expect(
        History.open({ path, service: 'https://one.test', files }),
      ).rejects.toMatchObject({
        code: 'state_damaged',
      });
      expect((await readFile(path)).equals(damaged)).toBe(true);
    }
  });

  it('is refused when it is no history, or its key is not its own', async () => {
    await writeFile(path, 'id,email\n1,a@b.test\n', { mode: 0o644 });
    await expect(open()).rejects.toMatchObject({ code: 'state_damaged' });
    expect(await readdir(dirname(path))).toEqual([basename(path)]);
    expect(await readFile(path, 'utf8')).toContain('a@b.test');
    await rm(path);
    await (await open()).close();
    await copyFile(path, `${path}.copy`);
    await rm(`${path}.key`);
    await expect(open()).rejects.toMatchObject({
      code: 'state_damaged',
      fault: 'missing',
      file: `${path}.key`,
    });
    await rm(path);
    await (await open()).close();
    await copyFile(`${path}.copy`, path);
    await expect(open()).rejects.toMatchObject({ code: 'state_mismatch' });
  });

  it('is the old or the new when a call fails while it is written anew', async () => {
    for (let nth = 1; nth < 60; nth += 1) {
      await rm(path, { force: true });
      const history = await History.open({ path, service: 's', files });
      await keep(history, 'u', { a: 'valid', b: 'wrong' }, Date.now() - 1000);
      await history.close();
      let calls = 0;
      const watched = watchedFiles(() => {
        calls += 1;
        if (calls === nth) throw systemError('EIO');
      });
      let isDone = false;
      try {
        const failing = await History.open({ path, service: 's', files: watched });
        try {
          await failing.forget(['a']);
          isDone = true;
        } finally {
          await failing.close();
        }
      } catch (error) {
        expect(error).toMatchObject({ code: 'output_failed' });
      }
      expect(watched.openFiles).toEqual([]);
      const after = await History.open({ path, service: 's', files });
      const { a, b } = ask(after, ['a', 'b']);
      expect(b).toBe('bad');
      if (isDone) expect(a).toBeUndefined();
      await after.close();
      if (isDone && calls < nth) return;
    }
    throw new Error('there is no end to the calls');
  });
});

it('has the age of a result from the clock it is given', async () => {
  const history = await open();
  await keep(history, 'u', { a: 'valid' });
  await history.close();
  const later = await open({ clock: daysLater(31) });
  expect(ask(later, ['a'])).toEqual({ a: undefined });
  await later.close();
  const patient = await open({ clock: daysLater(31), maxAgeDays: 32 });
  expect(ask(patient, ['a'])).toEqual({ a: 'good' });
  expect(systemClock.wallNow()).toBeLessThan(daysLater(31).wallNow());
});

it('collected results count from their launch, whenever they are fetched, and replace no newer ones', async () => {
  const history = await open();
  const note = {
    batchUuid: 'late',
    group: { type: 'email', country: 'US' },
    hashes: hashesOf(history, [
      [group, 'ann@x.example'],
      [group, 'bob@x.example'],
    ]),
  } as const;
  await history.noteLaunch(note, {});
  await history.close();
  const later = await open({ clock: daysLater(20) });
  await keep(later, 'newer', { 'ann@x.example': 'wrong' }, daysLater(10).wallNow());
  const outcomes = new OutcomeTable();
  const valid = outcomes.idOfRecord('email', record.valid);
  for (const launched of later.takeLaunched({})) {
    await later.keepLaunched(launched, { charge: undefined, outcomes, outcomeOf: () => valid });
  }
  await later.close();
  const at = async (days: number): Promise<unknown> => {
    const asked = await open({ clock: daysLater(days) });
    const answers = ask(asked, ['ann@x.example', 'bob@x.example']);
    await asked.close();
    return answers;
  };
  expect(await at(29)).toEqual({ 'ann@x.example': 'bad', 'bob@x.example': 'good' });
  expect(await at(31)).toEqual({ 'ann@x.example': 'bad', 'bob@x.example': undefined });
});

describe('processes of a shared run', () => {
  const waiting = { signal: new AbortController().signal, clock: systemClock };

  it('are not taken to be at work for another that looks at the same moment', async () => {
    const presence = { files: systemFiles, path, id: 'run' };
    const looking = await systemFiles.openLocked(`${path}.run`);
    const openLocked: FileSystem['openLocked'] = async (...given) => {
      const file = await systemFiles.openLocked(...given);
      if (!file) await looking?.close();
      return file;
    };
    const watched = { ...presence, files: { ...systemFiles, openLocked } };
    expect(await isAtWork(watched, waiting)).toBe(false);
  });

  it('are at work for one that looks, which waits for none of them where the system lists locks', async () => {
    const presence = { files: systemFiles, path, id: 'run' };
    await (await joinAtWork(presence, waiting)).release();
    expect(await isAtWork(presence, waiting)).toBe(false);
    const joined = await Promise.all([1, 2].map(async () => joinAtWork(presence, waiting)));
    const slept: number[] = [];
    const clock = { ...systemClock, sleep: async (ms: number) => void slept.push(ms) };
    const isListed = await isListedLocked(`${path}.run`, 'READ');
    expect(await isAtWork(presence, { ...waiting, clock: isListed ? clock : systemClock })).toBe(
      true,
    );
    expect(slept).toEqual([]);
    for (const lock of joined) await lock.release();
    expect(await isAtWork(presence, waiting)).toBe(false);
  });

  it('are joined where one shares its lock, and not where one that looks is frozen with it', async () => {
    const isListedLocked = async (): Promise<boolean> => false;
    const presence = { files: { ...systemFiles, isListedLocked }, path, id: 'run' };
    let nowMs = 0;
    const sleep = async (ms: number): Promise<void> => void (nowMs += ms);
    const hasty = { ...waiting, clock: { ...systemClock, now: () => nowMs, sleep } };
    const frozen = await systemFiles.openLocked(`${path}.run`);
    expect(await joinThoseAtWork(presence, hasty)).toBeUndefined();
    await frozen?.close();
    const one = await joinAtWork(presence, hasty);
    const other = await joinThoseAtWork(presence, hasty);
    expect(other).toBeDefined();
    for (const lock of [one, other]) await lock?.release();
  });

  it('are not joined where one that looked slowly lets go as this one joins', async () => {
    const presence = { path, id: 'run' };
    let nowMs = 0;
    const sleep = async (ms: number): Promise<void> => void (nowMs += ms);
    const hasty = { ...waiting, clock: { ...systemClock, now: () => nowMs, sleep } };
    const slow = await systemFiles.openLocked(`${path}.run`);
    let shared = false;
    const openLocked: FileSystem['openLocked'] = async (of, isShared) => {
      if (isShared) await slow?.close();
      const file = await systemFiles.openLocked(of, isShared);
      if (isShared && file) shared = true;
      return file;
    };
    const files = { ...systemFiles, openLocked, isListedLocked: async () => shared };
    expect(await joinThoseAtWork({ ...presence, files }, hasty)).toBeUndefined();
  });

  it('have their whole plan noted where a kill has left a part of it', async () => {
    const entry = { ...runEntry, id: 'run', account: 'a' };
    const planned = [0, 1].map((id): Batch => {
      const lines = Buffer.from(`a${id}@sluice.test\nb${id}@sluice.test\n`);
      const group = { type: 'email', country: 'US' } as const;
      return { id, group, addresses: 2, sizeBytes: 32, checksum: 0, open: () => [lines] };
    });
    const history = await open();
    const of = { id: 'run', account: 'a', run: 'name' };
    await history.notePlan(of, planned.slice(0, 1), (place) =>
      lineHashes(planned[place] as Batch, history.seed),
    );
    for (let times = 0; times < 2; times += 1) {
      await notePlan(history, 'name', entry, planned);
      const [noted] = history.plannedRuns();
      const counts = noted?.batches.map(({ hashes }) => [...hashes()].length);
      expect(counts).toEqual([2, 2]);
    }
  });

  it('stay noted until another run has their place, and no longer', async () => {
    const dropped: string[] = [];
    const of = {
      path,
      seed: Buffer.alloc(32),
      plannedRuns: () =>
        ['stopped', 'replaced'].map((id) => ({ id, account: 'a', run: 'r', batches: [] })),
      noteFound: async () => undefined,
      dropPlan: async (id: string) => void dropped.push(id),
    };
    const client = { listBatches: async () => [], keyFingerprint: async () => 'a' };
    const service = client as unknown as VerificationService;
    await noteStopped(of, service, { ...waiting, files: systemFiles }, 'next', 'replaced');
    expect(dropped).toEqual(['stopped']);
    await noteStopped(of, service, { ...waiting, files: systemFiles }, 'next');
    expect(dropped.slice(1)).toEqual(['stopped', 'replaced']);
  });

  it('go on without the history where its folder may only be read', async () => {
    await writeFile(path, 'a history');
    const openLocked = async (): Promise<never> => {
      throw systemError('EACCES');
    };
    type Join = Parameters<HistoryPresence['join']>;
    const fail: Join[4] = async () => {
      throw new Error('replaced');
    };
    const join = async (run: object): Promise<void> =>
      new HistoryPresence(
        { files: { ...systemFiles, openLocked }, ...waiting, ...run } as never,
        'a run',
      ).join({} as Join[0], { history: path, id: 'run' } as Join[1], [], {} as Join[3], fail);
    await join({});
    await expect(join({ openHistory: () => undefined })).rejects.toMatchObject({
      code: 'output_failed',
    });
  });
});
