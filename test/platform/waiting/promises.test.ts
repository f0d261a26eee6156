import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { estimateRun } from '../../../src/engine/runs/estimate.js';
import { run } from '../../../src/engine/runs/run.js';
import { streamRun } from '../../../src/engine/runs/stream-run.js';
import { verifyRows } from '../../../src/engine/streams/verify-rows.js';
import { withFolder } from '../../service/with-service.js';
import { untilQuiet } from '../../engine/streams/harness/quiet.js';
import { chargesOf } from '../../cli/harness/charges.js';
import { withClient } from '../../engine/streams/harness/with-client.js';

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

/** What `onProgress` may do that fails, on each call or on one. */
const failures = {
  'gives a promise': reject,
  throws: (): unknown => {
    throw refused;
  },
  'throws at once, and otherwise later': ({ stage }: { readonly stage: string }): unknown => {
    throw stage === 'written' ? new Error('a later one') : refused;
  },
  'fails at the very end': ({ stage }: { readonly stage: string }): unknown =>
    stage === 'written' ? reject() : undefined,
};

it.each(Object.entries(failures))(
  'onProgress that %s ends no run(): it writes what is paid for, and says so then',
  async (_, onProgress) => {
    const { client, service } = await withClient();
    const sink = join(await withFolder(), 'out.csv');
    const options = { source, sink, client, ...columns };
    await expect(run({ ...options, onProgress })).rejects.toBe(refused);
    const written = await readFile(sink, 'utf8');
    expect(written.match(/,verified,/g)).toHaveLength(300);
    expect(await chargesOf(service)).toHaveLength(300);
    expect((await run(options)).rows).toBe(300);
    expect(await chargesOf(service)).toHaveLength(300);
  },
);

it.each(Object.entries(failures))(
  'onProgress that %s ends no streamRun()',
  async (_, onProgress) => {
    const { client, service } = await withClient();
    const sink = join(await withFolder(), 'out.csv');
    const streamed = streamRun({ source, sink, client, ...columns, onProgress });
    await expect(streamed).rejects.toBe(refused);
    expect((await readFile(sink, 'utf8')).match(/,verified,/g)).toHaveLength(300);
    expect(await chargesOf(service)).toHaveLength(300);
  },
);

it('onProgress that fails ends no estimateRun() before it is counted', async () => {
  const { pollIntervalMs: _, ...estimated } = columns;
  await expect(estimateRun({ source, ...estimated, onProgress: reject })).rejects.toBe(refused);
});
