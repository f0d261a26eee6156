import { randomUUID } from 'node:crypto';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { SharedSteps } from '../../../../src/engine/stores/shared/shared-steps.js';
import { batchEntryOf } from '../../../../src/engine/stores/journal-entries.js';
import {
  gone,
  type BatchRecord,
  type Token,
} from '../../../../src/engine/stores/shared/store-protocol.js';
import { noRows } from '../../../../src/engine/stores/shared/shared-status.js';
import { askPostgres } from '../../../lists/sql/postgres/ask-postgres.js';
import { SchemaCalls } from '../../../../src/engine/stores/postgres/schema.js';
import { newName } from '../../../lists/sql/harness/new-name.js';
import { TestClock } from '../../../../src/testing/test-clock.js';
import { planEntry } from '../example-entries.js';
import { batch, openStore, progress, runEntry } from './store-place.js';

const many = 32;
const noFigures = { ...noRows, batchesDone: 0, addressesDone: 0 };

/** Processes that work on one run, in a schema that is not there yet. */
async function openMany(): Promise<{
  readonly schema: string;
  readonly all: readonly SharedSteps[];
}> {
  const [schema, run] = [newName(), newName()];
  const place = { url: inject('postgresUrl'), schema, name: run, giveUpAfterMs: 60_000 };
  const options = { name: run, run, leaseMs: 60_000 };
  const all = Array.from(
    { length: many },
    () => new SharedSteps(options, () => new SchemaCalls(place)),
  );
  onTestFinished(async () => {
    for (const steps of all) await steps.close();
    await askPostgres(`DROP SCHEMA ${schema} CASCADE`);
  });
  await Promise.all(all.map(async (steps) => steps.open()));
  return { schema, all };
}

function recordOf(stage: Parameters<typeof progress>[1], call: number): BatchRecord {
  return {
    entry: batchEntryOf(progress(batch(0), stage), '2026-01-02T03:04:05.000Z'),
    call,
    hasEnded: false,
    held: { spent: 0, reserved: stage === 'launching' ? 10 : 0 },
    isProven: true,
  };
}

async function claimed(steps: SharedSteps, id: number): Promise<Token> {
  const { token } = await steps.claim([batch(id)], 0);
  if (!token) throw new Error(`batch ${id} is not to be had`);
  return token;
}

describe(`${many} processes at once`, () => {
  test('make one schema, begin one run, and have one claim, one last step and one budget', async () => {
    const { schema, all } = await openMany();
    expect(await askPostgres(`SELECT number FROM ${schema}.migration`)).toEqual([{ number: 1 }]);
    const begun = await Promise.all(
      all.map(async (steps, at) =>
        steps.begin({ ...runEntry, id: `${at}`.padStart(16, '0') }, planEntry, 1),
      ),
    );
    expect(new Set(begun.map((updates) => JSON.stringify(updates))).size).toBe(1);

    const first = await Promise.all(all.map(async (steps) => steps.claim([batch(0)], 0)));
    const holder = first.findIndex(({ token }) => token !== undefined);
    expect(first.filter(({ token }) => token)).toHaveLength(1);
    const token = first[holder]?.token as Token;
    // What the holder says counts, and only with the number of its claim.
    const reported = await Promise.all(
      all.map(async (steps) => steps.record(token, recordOf('ready', 1))),
    );
    expect(reported.map((isHeld, at) => isHeld === (at === holder))).not.toContain(false);
    const confirmed = await Promise.all(all.map(async (steps) => steps.confirm(token)));
    expect(confirmed.map((isHeld, at) => isHeld === (at === holder))).not.toContain(false);
    const kept = await Promise.all(
      all.map(async (steps, at) => steps.results.keep(token, Buffer.alloc(100, at), () => 2)),
    );
    expect(kept.filter(Boolean)).toHaveLength(1);
    expect(await all[0]?.results.of('000001')).toEqual(Buffer.alloc(100, holder));

    const tokens = await Promise.all(all.map(async (steps, at) => claimed(steps, at + 1)));
    await all[0]?.append({ entry: 'budget', most: 75 }, 0, 3);
    const granted = await Promise.all(
      all.map(async (steps, at) => steps.reserve(tokens[at] as Token)),
    );
    expect(granted.filter((each) => each?.isGranted)).toHaveLength(7);
    // Once for each, however often it is asked for.
    const lucky = granted.findIndex((each) => each?.isGranted);
    const again = await all[lucky]?.reserve(tokens[lucky] as Token);
    expect(again).toEqual({ isGranted: true, credits: 70 });
    const [budget] = await askPostgres(`SELECT credits::int FROM ${schema}.budget`);
    expect(budget).toEqual({ credits: 70 });

    const last = await Promise.all(all.map(async (steps) => steps.claimOutput(0)));
    expect(last.filter(({ token }) => token)).toHaveLength(1);
    const beats = await Promise.all(
      all.map(async (steps, at) => steps.beat([tokens[at] as Token, token], 0, noFigures)),
    );
    expect(beats.map(({ revoked }) => revoked.length)).toEqual(
      all.map((_, at) => (at === holder ? 0 : 1)),
    );
    await Promise.all(all.map(async (steps) => steps.append({ entry: 'resumed' }, 0, 9)));
    const notes = await askPostgres(
      `SELECT count(*)::int AS notes FROM ${schema}.journal WHERE entry::text LIKE '%resumed%'`,
    );
    expect(notes).toEqual([{ notes: many }]);
    await Promise.all(all.map(async (steps) => steps.clear()));
    await Promise.all(all.map(async (steps) => steps.drop()));
    expect(await askPostgres(`SELECT * FROM ${schema}.journal`)).toEqual([]);
  });
});

describe('a process', () => {
  test('writes down once what it says twice, and nothing that comes too late', async () => {
    const { schema, all } = await openMany();
    const steps = all[0] as SharedSteps;
    await steps.begin(runEntry, planEntry, 1);
    const token = await claimed(steps, 0);
    const calls = async () =>
      (
        await askPostgres(
          `SELECT call::int FROM ${schema}.journal WHERE batch = '000001' ORDER BY seq`,
        )
      ).map(({ call }) => call);
    expect(await steps.record(token, recordOf('ready', 2))).toBe(true);
    expect(await steps.record(token, recordOf('ready', 2))).toBe(true);
    expect(await steps.record(token, recordOf('launching', 3))).toBe(true);
    // It was sent before its repetition, and held up on the way.
    expect(await steps.record(token, recordOf('ready', 2))).toBe(false);
    expect(await calls()).toEqual([2, 3]);
    // A process that has not seen that it has a batch asks for it again.
    const again = await claimed(steps, 0);
    expect(again.epoch).toBe(token.epoch + 1);
    expect(await steps.confirm(token)).toBe(false);
    expect(await steps.record(token, recordOf('ready', 4))).toBe(false);
  });

  test('keeps whole results, whatever block of them is late', async () => {
    const { schema, all } = await openMany();
    const steps = all[0] as SharedSteps;
    await steps.begin(runEntry, planEntry, 1);
    const token = await claimed(steps, 0);
    let call = 1;
    const nextCall = (): number => (call += 1);
    const [first, second] = [Buffer.alloc(2.5 * 2 ** 20, 1), Buffer.alloc(1.5 * 2 ** 20, 2)];
    expect(await steps.results.keep(token, first, nextCall)).toBe(true);
    expect(first.equals((await steps.results.of('000001')) ?? Buffer.alloc(0))).toBe(true);
    expect(await steps.results.keep(token, second, nextCall)).toBe(true);
    // Both first blocks were sent once before, and held up on the way.
    const late = async (sentAs: number, bytes: Buffer): Promise<unknown> => {
      const [row] = await askPostgres(
        `SELECT run, owner, (SELECT life FROM ${schema}.run) AS life, ${schema}.timeline() AS timeline
         FROM ${schema}.batch`,
      );
      const calls = new SchemaCalls({
        url: inject('postgresUrl'),
        schema,
        name: '',
        giveUpAfterMs: 0,
      });
      const place = { batch: '000001', epoch: token.epoch, seen: 0, written: 0, call: sentAs };
      const block = { part: 0, is_last: false, bytes: bytes.subarray(0, 2 ** 20) };
      try {
        return await calls.call('keep_results', { ...row, ...place, ...block });
      } finally {
        await calls.close();
      }
    };
    expect(await late(2, first)).toEqual({ lost: true });
    expect(await late(5, second)).toEqual({ lost: true });
    expect(second.equals((await steps.results.of('000001')) ?? Buffer.alloc(0))).toBe(true);
  });

  test('is distinguished from one whose claim had the same number before the server lost it', async () => {
    const { schema, all } = await openMany();
    const [one, two] = all as [SharedSteps, SharedSteps];
    await one.begin(runEntry, planEntry, 1);
    const before = await claimed(one, 0);
    // The server has lost the claim, and gives its number out again.
    await askPostgres(`UPDATE ${schema}.batch SET epoch = epoch - 1, owner = NULL`);
    const after = await claimed(two, 0);
    expect(after).toEqual(before);
    expect(await one.record(before, recordOf('launching', 2))).toBe(false);
    expect(await one.confirm(before)).toBe(false);
    expect(await one.reserve(before)).toBeUndefined();
    expect(await two.record(after, recordOf('ready', 1))).toBe(true);
  });

  test('is let in by nothing but the clock of the server', async () => {
    const { schema, all } = await openMany();
    const [one, two] = all as [SharedSteps, SharedSteps];
    await one.begin(runEntry, planEntry, 1);
    const before = await claimed(one, 0);
    await one.record(before, recordOf('ready', 1));
    const other = await claimed(one, 1);
    const { now } = Date;
    onTestFinished(() => {
      Date.now = now;
    });
    // The clock of a process may be days ahead.
    Date.now = () => now() + 5 * 86_400_000;
    expect((await two.claim([batch(0)], 0)).token).toBeUndefined();
    await askPostgres(
      `UPDATE ${schema}.batch SET lease_until = clock_timestamp() WHERE batch = '000001'`,
    );
    expect((await two.claim([batch(0)], 0)).token).toMatchObject({ epoch: 2 });
    // What it has of another batch does not speak for this one.
    expect(await one.record(before, recordOf('launching', 2))).toBe(false);
    expect(await one.confirm(other)).toBe(true);
  });

  test('is refused where the journal lacks what it has seen, whatever it may ask the server', async () => {
    const { schema, all } = await openMany();
    const steps = all[0] as SharedSteps;
    await steps.begin(runEntry, planEntry, 1);
    const token = await claimed(steps, 0);
    await steps.record(token, recordOf('launching', 2));
    const { updates } = await steps.beat([token], 0, noFigures);
    const seen = updates === gone ? 0 : (updates.at(-1)?.seq ?? 0);
    await askPostgres(`DELETE FROM ${schema}.journal WHERE batch IS NOT NULL`);
    const refused = { code: 'store_restored' };
    await expect(steps.confirm(token)).rejects.toMatchObject(refused);
    await expect(steps.record(token, recordOf('ready', 3))).rejects.toMatchObject(refused);
    await expect(steps.beat([token], seen, noFigures)).rejects.toMatchObject(refused);
  });

  test('is refused where what it has written down under its claim is not there any more', async () => {
    const { schema, all } = await openMany();
    const steps = all[0] as SharedSteps;
    await steps.begin(runEntry, planEntry, 1);
    const token = await claimed(steps, 0);
    await steps.record(token, recordOf('ready', 2));
    await steps.record(token, recordOf('launching', 3));
    // Nobody has seen of it yet.
    await askPostgres(`DELETE FROM ${schema}.journal WHERE call = 3`);
    await askPostgres(`UPDATE ${schema}.batch SET call = 2`);
    const refused = { code: 'store_restored' };
    await expect(steps.record(token, recordOf('ready', 4))).rejects.toMatchObject(refused);
    await expect(steps.confirm(token)).rejects.toMatchObject(refused);
    await expect(steps.reserve(token)).rejects.toMatchObject(refused);
    await expect(steps.results.keep(token, Buffer.alloc(1), () => 5)).rejects.toMatchObject(
      refused,
    );
  });

  test('makes what it writes down safe, whatever the server does by default', async () => {
    const { schema, all } = await openMany();
    await (all[0] as SharedSteps).begin(runEntry, planEntry, 1);
    const [row] = await askPostgres(
      `SELECT set_config('synchronous_commit', 'off', true) AS before,
         (${schema}.record('', $1, '', 0, $1, '', 0, 0, 0, '{}', false, 0, 0, false))::text AS said,
         current_setting('synchronous_commit') AS after`,
      [randomUUID()],
    );
    expect(row).toMatchObject({ before: 'off', after: 'on' });
  });
});

test('a process hears at once of what stops another, without waiting for its next sign of life', async () => {
  const run = newName();
  const one = await openStore({ run });
  onTestFinished(async () => one.remove());
  const time = new TestClock();
  const other = await openStore({ run }, time);
  onTestFinished(async () => other.close());
  const { signal } = new AbortController();
  await one.begin(runEntry, planEntry);
  // The first one connects it.
  await time.advance(1000);
  while (!other.state.run) await other.others.waitForUpdates(signal);
  const at = new Date().toISOString();
  await one.record({ entry: 'stopped', code: 'unauthorized', message: 'no', at });
  while (!other.state.stopped) await other.others.waitForUpdates(signal);
  expect(other.state.stopped).toMatchObject({ code: 'unauthorized' });
});

test('a process hears of what stops another before that is written down, whatever it says', async () => {
  const run = newName();
  const one = await openStore({ run });
  onTestFinished(async () => one.remove());
  const other = await openStore({ run });
  onTestFinished(async () => other.close());
  const { signal } = new AbortController();
  await one.begin(runEntry, planEntry);
  while (!other.state.run) await other.others.waitForUpdates(signal);
  const received = new Promise<void>((resolve) => other.others.onStop(resolve));
  const at = new Date().toISOString();
  const stopped = { entry: 'stopped', code: 'unauthorized', message: 'ключ \u0000', at } as const;
  // More than PostgreSQL tells is found where it is written down.
  one.others.announce({ ...stopped, message: 'no'.repeat(10_000) });
  one.others.announce(stopped);
  await received;
  expect(other.state.stopped).toEqual(stopped);
  expect(one.state.run).toMatchObject({ id: runEntry.id });
});
