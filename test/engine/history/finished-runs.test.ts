import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { oddShares } from '../../../src/engine/history/finished-runs.js';
import { abandonRun } from '../../../src/engine/runs/abandon-run.js';
import { streamRun } from '../../../src/engine/runs/stream-run.js';
import type { FinishedRun } from '../../../src/engine/summary/figures.js';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import { oddSentence } from '../../../src/report/sentences/list-sentences.js';
import { OutputError } from '../../../src/platform/errors/errors.js';
import { daysLater, goodNames, Nights } from './nightly.js';

describe('runs with a history', () => {
  it('are compared with the ones before, oldest first', async () => {
    const nights = await Nights.begin();
    const first = await nights.night(goodNames(3));
    expect(first.compared).toEqual({ previous: null, runs: [], odd: [] });
    await nights.night([...goodNames(5), 'bad1@sluice.test'], { clock: daysLater(1) });
    const third = await nights.night(goodNames(7), { clock: daysLater(2) });
    expect(third.compared?.runs).toMatchObject([
      { email: { addresses: 3, from_history: 0, net_credits: 3 } },
      { email: { addresses: 6, from_history: 3, net_credits: 3 } },
    ]);
    expect(third.compared?.previous).toEqual(third.compared?.runs[1]);
    expect(third.compared?.previous?.email?.verdicts).toEqual({
      valid: 5,
      wrong: 1,
      unknown: 0,
      none: 0,
    });
    const [one, two] = third.compared?.runs ?? [];
    expect(Date.parse(two?.finished_at ?? '') - Date.parse(one?.finished_at ?? '')).toBeGreaterThan(
      80_000_000,
    );
  });

  it('are compared with the last night that had rows; one whose output was refused is not a usual one', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(4));
    await nights.night([], { clock: daysLater(1) });
    const suspect = fileSink(join(nights.folder, 'suspect.csv'));
    const maxUnknown = { percent: 50, suspect };
    const refused = await nights.night(['unknown1@sluice.test'], { maxUnknown });
    expect(refused).toMatchObject({
      suspect: true,
      compared: { runs: [{ rows: 4 }, { rows: 0 }] },
    });
    const { compared } = await nights.night(goodNames(5), { clock: daysLater(2) });
    expect(compared?.runs.map(({ rows }) => rows)).toEqual([4, 0]);
    expect(compared?.previous?.rows).toBe(1);
  });

  it('are kept when the history is written again, and counted as what it has saved', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(4));
    await nights.night(goodNames(5));
    await nights.night(goodNames(5));
    const history = await nights.open({ clock: daysLater(31) });
    expect((await history.stats()).saved).toEqual({ runs: 3, email: 9, phone: 0 });
    await history.forget(['good1@sluice.test']);
    expect(await history.prune()).toBe(4);
    expect(await history.stats()).toMatchObject({
      addresses: 0,
      saved: { runs: 3, email: 9 },
      spent: { email: 5, phone: 0 },
    });
    await history.close();
    const reopened = await nights.open();
    expect((await reopened.stats()).saved).toEqual({ runs: 3, email: 9, phone: 0 });
    await reopened.close();
    expect((await nights.night(goodNames(2))).compared?.runs).toHaveLength(3);
  });

  it('are counted with all that they and streams have paid, finished or not, as in the ledger', async () => {
    const nights = await Nights.begin();
    const spent = async () => {
      const history = await nights.open({ clock: daysLater(1) });
      const { spent: known, refunded, unknownCost } = await history.stats();
      await history.close();
      return { known: known.email, refunded: refunded.email, unknown: unknownCost.email };
    };
    const list = [...goodNames(9), 'unknown1@sluice.test'];
    await nights.night(list, { limit: 2 });
    expect(await spent()).toEqual({ known: 2, refunded: 0, unknown: 0 });
    // A budget stops one, and the next night carries it on with another list.
    const carried = nights.night(list.slice(0, 7), { maxCredits: 3 });
    await expect(carried).rejects.toMatchObject({ code: 'budget_exhausted' });
    await nights.night(list);
    expect(await spent()).toEqual({ known: 10, refunded: 0, unknown: 0 });
    const left = nights.night(goodNames(2, 20), { detach: true });
    await expect(left).rejects.toMatchObject({ code: 'detached' });
    expect(await spent()).toEqual({ known: 10, refunded: 0, unknown: 2 });
    await abandonRun({ stateDir: join(nights.folder, 'run'), client: nights.client });
    const history = await nights.open();
    await history.forget(['good1@sluice.test']);
    await streamRun({
      source: [{ email: 'good1@sluice.test' }],
      sink: fileSink(join(nights.folder, 'streamed.csv')),
      client: nights.client,
      history,
      email: ['email'],
      country: 'US',
    });
    await history.prune();
    await history.close();
    expect(await spent()).toEqual({ known: 13, refunded: 0.5, unknown: 0 });
    expect(await nights.charges()).toHaveLength(13);
  });

  it('count once, also when the end of one could not be written down at first', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(4));
    const history = await nights.open();
    const keepRun = vi.spyOn(history, 'keepRun').mockRejectedValueOnce(new OutputError('no space'));
    await expect(nights.runWith(goodNames(4), { history })).rejects.toThrow('no space');
    await nights.runWith(goodNames(4), { history });
    expect(keepRun).toHaveBeenCalledTimes(2);
    // What the end of a run is reported again takes the place of what was notified before.
    const calls = keepRun.mock.calls.slice();
    for (const call of calls) await history.keepRun(...call);
    expect((await history.stats()).saved).toEqual({ runs: 2, email: 4, phone: 0 });
    await history.close();
  });

  it('are not mixed with those of other lists, and a date in a name makes no other list', async () => {
    const nights = await Nights.begin();
    const night = async (list: string, rows: number) => {
      const path = join(nights.folder, list);
      await writeFile(path, ['email', ...goodNames(rows), ''].join('\n'));
      return nights.night([], { source: fileSource(path) });
    };
    await night('eu-2026-11-21.csv', 3);
    await night('us-2026-11-21.csv', 5);
    const eu = await night('eu-2026-11-22.csv', 4);
    expect(eu.compared?.runs.map(({ rows }) => rows)).toEqual([3]);
  });

  it('are not mixed with those of other queries of the same database', async () => {
    const nights = await Nights.begin();
    const night = async (query: string, rows: number) => {
      const path = join(nights.folder, 'queried.csv');
      await writeFile(path, ['email', ...goodNames(rows), ''].join('\n'));
      const source = { ...fileSource(path), name: 'postgres://crm@db/crm', decides: { query } };
      return nights.night([], { source });
    };
    await night("select email from t1 where day < '2026-11-21'", 5);
    await night('select email from t2', 3);
    const first = await night("select email\n  from t1 where day < '2026-11-22'", 4);
    expect(first.compared?.runs.map(({ rows }) => rows)).toEqual([5]);
  });

  it('are compared when they stream, too', async () => {
    const nights = await Nights.begin();
    await nights.night(goodNames(3));
    const history = await nights.open();
    const summary = await streamRun({
      source: fileSource(join(nights.folder, 'list.csv')),
      sink: fileSink(join(nights.folder, 'streamed.csv')),
      client: nights.client,
      history,
      email: ['email'],
      country: 'US',
    });
    expect(summary.compared?.runs).toHaveLength(1);
    expect((await history.stats()).saved).toEqual({ runs: 2, email: 3, phone: 0 });
    await history.close();
  });
});

it('an unknown result is asked for again the next night, unless its age says otherwise', async () => {
  const nights = await Nights.begin();
  const list = ['good1@sluice.test', 'unknown1@sluice.test'];
  await nights.night(list);
  await nights.night(list, { clock: daysLater(19 / 24) });
  expect(await nights.charges()).toHaveLength(2);
  const clock = daysLater(21 / 24);
  await nights.night(list, { clock }, { maxAgeDays: { valid: 90, unknown: 1 } });
  expect(await nights.charges()).toHaveLength(2);
  await nights.night(list, { clock }, { maxAgeDays: 90 });
  expect((await nights.charges()).slice(2)).toEqual(['unknown1@sluice.test']);
});

/** A run of emails: how many of its cells are unknown, and how many of its addresses are new. */
function night(unknown: number, of = 1000, fresh = 10): FinishedRun {
  const verdicts = { valid: of - unknown, wrong: 0, unknown, none: 0 };
  const email = { addresses: of, from_history: of - fresh, verdicts, net_credits: fresh };
  return { finished_at: '2026-11-22T02:00:00.000Z', rows: of, email, phone: null };
}

const usual = [10, 12, 9, 11, 10, 13].map((unknown) => night(unknown));
const odd = (run: FinishedRun, before: readonly FinishedRun[]): readonly string[] =>
  oddShares(run, before).map(({ share }) => share);

it('finds a share that is far from the median of the runs before', () => {
  expect(oddShares(night(200), usual)).toMatchObject([
    { type: 'email', share: 'valid', now: 0.8, usual: expect.closeTo(0.9895) },
    { type: 'email', share: 'unknown', now: 0.2, usual: expect.closeTo(0.0105) },
  ]);
  expect(odd(night(10, 1000, 700), usual)).toEqual(['new']);
});

it('writes a share just outside of the usual ones as one that is outside', () => {
  const far = { type: 'email', share: 'wrong', usual: 0.17403, allowed: 0.07401 } as const;
  for (const now of [0.1, 0.2481, 0.24805]) {
    const figures = oddSentence({ ...far, now }).match(/[\d.]+(?= %)/g) ?? [];
    const [share = 0, , from = 0, to = 0] = figures.map(Number);
    expect(share < from || share > to, `${share}: ${from} to ${to}`).toBe(true);
  }
});

it('takes fewer new addresses for no warning, and more for one', () => {
  const paying = usual.map(() => night(10, 1000, 1000));
  expect(odd(night(10, 1000, 0), paying)).toEqual([]);
  expect(odd(night(10, 1000, 0), usual)).toEqual([]);
  expect(odd(night(10, 1000, 700), usual)).toEqual(['new']);
});

it('finds nothing in a night like the others', () => {
  expect(odd(night(14), usual)).toEqual([]);
  expect(odd(night(14, 5000, 50), usual)).toEqual([]);
});

it('is not misled by one bad night among the earlier ones', () => {
  expect(odd(night(200), [...usual, night(900)])).toEqual(['valid', 'unknown']);
  expect(odd(night(12), [...usual, night(900)])).toEqual([]);
});

it('allows what lists that vary have shown before', () => {
  const varying = [50, 300, 120, 400, 220, 90].map((unknown) => night(unknown));
  expect(odd(night(450), varying)).toEqual([]);
});

it('judges no small list, and none without five runs before', () => {
  expect(odd(night(100, 199), usual)).toEqual([]);
  expect(odd(night(200), usual.slice(0, 4))).toEqual([]);
  const small = usual.map(() => night(1, 199));
  expect(odd(night(200), small)).toEqual([]);
});

it('takes chance for chance: shares drawn from one list are hardly ever odd', () => {
  const share = fc.double({ min: 0.01, max: 0.5, noNaN: true });
  const draws = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
    minLength: 21 * 300,
    maxLength: 21 * 300,
  });
  let [judged, found] = [0, 0];
  fc.assert(
    fc.property(share, draws, (unknown, drawn) => {
      const nights = Array.from({ length: 21 }, (_, index) => {
        const cells = drawn.slice(index * 300, (index + 1) * 300);
        return night(cells.filter((value) => value < unknown).length, 300);
      });
      judged += 1;
      if (odd(nights[20] ?? night(0), nights.slice(0, 20)).length > 0) found += 1;
    }),
    { numRuns: 40, seed: 7 },
  );
  expect(judged).toBe(40);
  expect(found).toBeLessThan(3);
});
