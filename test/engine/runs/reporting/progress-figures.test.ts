import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import {
  ProgressFigures,
  rowsSink,
  run,
  verify,
  type Figures,
  type RunProgress,
} from '../../../../src/index.js';
import { RunFigures } from '../../../../src/cli/terminal/run-figures.js';
import { chargesOf } from '../../../cli/harness/charges.js';
import { useTemporaryFolder } from '../../../lists/files/temporary-folder.js';
import { withClient } from '../../streams/harness/with-client.js';

const at = useTemporaryFolder();

it('turns what verify() tells into what was read, written and paid', async () => {
  const { client, service } = await withClient();
  const figures = new ProgressFigures();
  const seen: Figures[] = [];
  const rows = Array.from({ length: 250 }, (_, id) => ({ email: `a${id}@example.com` }));
  const verified = Readable.from(rows).pipe(
    verify({
      client,
      email: ['email'],
      country: 'US',
      batchSize: 100,
      pollIntervalMs: 1,
      onProgress: (reported) => {
        figures.note(reported);
        seen.push(figures.now());
      },
    }),
  );
  expect(await verified.toArray()).toHaveLength(250);
  expect(figures.now()).toEqual({
    rowsRead: 250,
    rowsWritten: 250,
    addressesToSend: undefined,
    addressesDone: 250,
    addressesDoneBefore: 0,
    batchesToSend: undefined,
    batches: 3,
    batchesLaunched: 3,
    batchesDone: 3,
    batchesFailed: 0,
    credits: { email: (await chargesOf(service)).length, phone: 0 },
    notCharged: 0,
  });
  // A launch counts from when it was asked for, never later.
  expect(seen.every((now) => now.batchesDone <= now.batchesLaunched)).toBe(true);
  expect(seen.some((now) => now.batchesLaunched > now.batchesDone)).toBe(true);
});

it('knows how much a run has to do, and what was done of it before it was resumed', async () => {
  const { client } = await withClient();
  const stop = new AbortController();
  const attempt = async (
    onProgress: (reports: RunProgress, figures: ProgressFigures) => void,
    signal?: AbortSignal,
  ): Promise<Figures> => {
    const figures = new ProgressFigures();
    const work = run({
      source: Array.from({ length: 250 }, (_, id) => ({ email: `a${id}@example.com` })),
      sink: rowsSink(() => {}),
      stateDir: at('state'),
      client,
      email: ['email'],
      country: 'US',
      batchSize: 50,
      concurrency: 1,
      pollIntervalMs: 1,
      ...(signal && { signal }),
      onProgress: (reported) => {
        figures.note(reported);
        onProgress(reported, figures);
      },
    });
    await work.catch((error: unknown) => {
      if (error !== signal?.reason) throw error;
    });
    return figures.now();
  };
  const first = await attempt((_, figures) => {
    if (figures.now().batchesDone === 2) stop.abort(new Error('enough'));
  }, stop.signal);
  expect(first).toMatchObject({ addressesToSend: 250, batchesToSend: 5, addressesDoneBefore: 0 });
  expect(first.addressesDone).toBeGreaterThanOrEqual(100);
  expect(first.addressesDone).toBeLessThan(250);

  const shown = new RunFigures();
  const begun: Figures[] = [];
  const second = await attempt((reported, figures) => {
    shown.note(reported, 0);
    if (reported.stage === 'batch') begun.push(figures.now());
  });
  const addressesDoneBefore = first.addressesDone;
  expect(begun[0]).toMatchObject({ addressesDoneBefore, addressesToSend: 250 });
  expect(begun[0]?.addressesDone).toBeGreaterThanOrEqual(addressesDoneBefore);
  expect(second).toMatchObject({
    rowsWritten: 250,
    addressesToSend: 250,
    addressesDone: 250,
    addressesDoneBefore,
    batchesToSend: 5,
    batchesDone: 5,
    credits: { email: 250, phone: 0 },
  });
  // What a person sees goes to its end, too.
  expect(shown.share).toBe(1);
  expect(shown.batches).toEqual({ done: 5, total: 5 });
});
