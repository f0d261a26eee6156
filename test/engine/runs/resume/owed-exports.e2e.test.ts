import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunOptions } from '../../../../src/engine/runs/options/run-options.js';
import { readRunStatus } from '../../../../src/engine/runs/reporting/read-status.js';
import { dutiesOf } from '../../../../src/report/advice.js';
import type { RunProgress } from '../../../../src/engine/runs/reporting/run-progress.js';
import type { Summary } from '../../../../src/engine/summary/summary.js';
import { startFront } from '../../../cli/harness/front.js';
import { goodNames, Nights } from '../../history/nightly.js';
import { systemError, watchedFiles } from '../watched-files.js';
import type { Given } from '../../../platform/given.js';
import { openClient } from '../../../client/test-client.js';

const isExport = /^GET \/v1\/batch\/[^/]+\/export$/;

/** Nights whose second export is wrong, as are all after it, until the service is well. */
async function badNights(): Promise<{
  readonly nights: Nights;
  night(names: readonly string[], changes?: Given<RunOptions>): Promise<Summary>;
  readonly exports: () => number;
  heal(): void;
}> {
  const nights = await Nights.begin();
  let [asked, isWell] = [0, false];
  const front = await startFront(nights.service, (request) => {
    if (!isExport.test(request)) return undefined;
    asked += 1;
    return isWell || asked === 1 ? undefined : { status: 200, body: {} };
  });
  const client = openClient({ baseUrl: front.baseUrl, apiKey: front.apiKey });
  return {
    nights,
    night: async (names, changes) =>
      nights.night(names, { client, ...changes }, { service: front.baseUrl }),
    exports: () => asked,
    heal: () => void (isWell = true),
  };
}

type Stop = (at: (progress: RunProgress) => boolean) => Given<RunOptions>;

/** A stop by a signal, at an event. */
const aborted: Stop = (at) => {
  const stop = new AbortController();
  return {
    signal: stop.signal,
    onProgress: (progress) => {
      if (at(progress)) stop.abort(new Error('stopped'));
    },
  };
};

/** Nothing is written any more from an event on, as after a kill. */
const killed: Stop = (at) => {
  let isDead = false;
  return {
    files: watchedFiles(() => {
      if (isDead) throw systemError('EIO');
    }),
    onProgress: (progress) => {
      if (at(progress)) isDead = true;
    },
  };
};

/** Stages at which the second night ends: of the batch that is owed, and of the new one. */
const moments: [string, (progress: RunProgress) => boolean][] = [
  ['while the export is asked for', ({ stage }) => stage === 'carried'],
  [
    'when the export has failed again',
    (progress) => progress.stage === 'batch' && progress.state.stage === 'failed',
  ],
  [
    'while a new batch is uploaded',
    (progress) => progress.stage === 'batch' && progress.state.stage === 'uploaded',
  ],
  [
    'when a new batch is launched',
    (progress) => progress.stage === 'batch' && progress.state.stage === 'verifying',
  ],
];

it.each(
  moments.flatMap(([when, at]) => [
    [`by a signal ${when}`, aborted, at] as const,
    [`by a kill ${when}`, killed, at] as const,
  ]),
)(
  'has a paid export from the next night that can, where one was stopped %s',
  async (_, stop, at) => {
    const { nights, night, exports, heal } = await badNights();
    const first = await night(goodNames(6));
    expect(first.email?.reasons).toMatchObject({ export_incomplete: 3 });
    await night(goodNames(7), stop(at)).catch(() => undefined);
    const asked = exports();
    heal();
    const third = await night(goodNames(8));
    expect(exports()).toBeGreaterThan(asked);
    expect(third.email?.buckets).toMatchObject({ verified: 8, failed: 0 });
    await night(goodNames(9));
    expect((await nights.charges()).toSorted()).toEqual(goodNames(9).toSorted());
  },
);

it.each([
  ['the same list', 0],
  ['a longer list', 1],
])('asks every night for a paid export, with %s, until it has it', async (_, more) => {
  const { nights, night, exports, heal } = await badNights();
  for (let count = 0; count < 4; count += 1) {
    const asked = exports();
    const summary = await night(goodNames(6 + count * more));
    const { email } = summary;
    const advised = dutiesOf(summary)[0]?.code;
    expect((await readRunStatus(join(nights.folder, 'run'))).retry.exports).toBeGreaterThan(0);
    expect(exports()).toBeGreaterThan(asked);
    expect(email?.buckets.failed).toBeGreaterThan(0);
    expect(advised).toBe('fetch_paid');
  }
  heal();
  const all = 6 + 4 * more;
  const { email } = await night(goodNames(all));
  expect(email?.buckets).toMatchObject({ verified: all, failed: 0 });
  expect((await nights.charges()).toSorted()).toEqual(goodNames(all).toSorted());
});

/** Deletes a paid batch, as somebody else might. */
async function lose(nights: Nights, number: string): Promise<void> {
  for await (const { batch_uuid: uuid, name } of nights.client.batches()) {
    if (name.includes(`-${number}-`)) await nights.client.deleteBatch(uuid);
  }
}

it.each([
  ['the same list', 1, 0],
  ['a longer list for the second time', 2, 1],
])('pays again for a paid batch that is gone only on request, with %s', async (_, before, more) => {
  const { nights, night, heal } = await badNights();
  let names: readonly string[] = [];
  const next = async (changes?: Given<RunOptions>): Promise<Summary> => {
    names = goodNames(Math.max(9, names.length + more));
    return night(names, changes);
  };
  for (let each = 0; each < before; each += 1) await next();
  await lose(nights, '000002');
  for (let each = 0; each < 2; each += 1) {
    expect((await next()).email?.reasons).toMatchObject({ batch_missing: 3 });
  }
  heal();
  expect((await next()).email?.reasons).toEqual({ batch_missing: 3 });
  expect((await nights.charges()).toSorted()).toEqual(names.toSorted());
  const { email } = await night(names, { retryFailed: true });
  expect(email?.buckets).toMatchObject({ verified: names.length, failed: 0 });
  const lost = names.filter((name) => /^good[345]@/.test(name));
  expect((await nights.charges()).toSorted()).toEqual([...names, ...lost].toSorted());
});
