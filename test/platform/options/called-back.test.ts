import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { estimateRun } from '../../../src/engine/runs/estimate.js';
import { run } from '../../../src/engine/runs/run.js';
import { streamRun } from '../../../src/engine/runs/stream-run.js';
import { rowsSink } from '../../../src/lists/rows/rows-sink.js';
import { verifyRows } from '../../../src/engine/streams/verify-rows.js';
import { withFolder } from '../../service/with-service.js';
import { untilQuiet } from '../../engine/streams/quiet.js';
import { chargesOf, withClient } from '../../engine/streams/with-client.js';

const source = Array.from({ length: 300 }, (_, id) => ({ email: `good+${id}@sluice.test` }));
const columns = { email: ['email'], country: 'US', pollIntervalMs: 1 } as const;
const refused = new Error('the log is full');
/** A promise that is rejected a little later, where nobody waits for it. */
const reject = (): unknown => Promise.resolve().then(() => Promise.reject(refused));

it.each(['onProgress', 'onBatch'] as const)(
  '%s that gives a promise ends verifyRows() with its error, as one that throws does',
  async (name) => {
    const { client, service } = await withClient();
    const loop = async (): Promise<void> => {
      for await (const _ of verifyRows(source, { client, ...columns, [name]: reject })) continue;
    };
    await expect(loop()).rejects.toBe(refused);
    expect(await chargesOf(service)).toEqual([]);
  },
);

it('a promise for the last progress is waited for', async () => {
  const { client } = await withClient();
  let isNoted = false;
  const note = async (): Promise<void> => {
    await untilQuiet(() => 0);
    isNoted = true;
  };
  const onProgress = ({ stage }: { readonly stage: string }): unknown =>
    stage === 'written' ? note() : undefined;
  for await (const _ of verifyRows(source.slice(0, 3), { client, ...columns, onProgress }))
    continue;
  expect(isNoted).toBe(true);
});

it('onProgress that gives a promise ends run(), which the same call goes on with', async () => {
  const { client, service } = await withClient();
  const sink = join(await withFolder(), 'out.csv');
  const options = { source, sink, client, ...columns };
  await expect(run({ ...options, onProgress: reject })).rejects.toBe(refused);
  await expect(access(sink)).rejects.toThrow('ENOENT');
  // The last of all: everything is paid for by then.
  const atEnd = ({ stage }: { readonly stage: string }): unknown =>
    stage === 'written' ? reject() : undefined;
  await expect(run({ ...options, onProgress: atEnd })).rejects.toBe(refused);
  expect(await chargesOf(service)).toHaveLength(300);
  expect((await run(options)).rows).toBe(300);
  expect(await chargesOf(service)).toHaveLength(300);
});

it('so it is with streamRun() and estimateRun()', async () => {
  const { client } = await withClient();
  const sink = rowsSink(() => undefined);
  const streamed = streamRun({ source, sink, client, ...columns, onProgress: reject });
  await expect(streamed).rejects.toBe(refused);
  const { pollIntervalMs: _, ...estimated } = columns;
  await expect(estimateRun({ source, ...estimated, onProgress: reject })).rejects.toBe(refused);
});
