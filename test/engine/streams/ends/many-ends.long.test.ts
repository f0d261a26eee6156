import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { type Client, verify } from '../../../../src/index.js';
import { withClient } from '../harness/with-client.js';

const streams = { count: 180, atOnce: 20 };

/** More than a stream has: the last of them end by themselves. */
const mostSteps = 45;

/** A stream that is destroyed at some step of its batches or its rows. */
async function endAtStep(last: number, client: Client, signal: AbortSignal): Promise<void> {
  let steps = 0;
  const step = (): void => {
    steps += 1;
    if (steps === last) stream.destroy(last % 2 === 0 ? undefined : new Error('enough'));
  };
  const stream = verify({
    client,
    email: ['email'],
    country: 'US',
    batchSize: 4,
    pollIntervalMs: 1,
    onProgress: step,
    signal,
  });
  const closed = new Promise((resolve) => void stream.once('close', resolve));
  stream.on('data', step).on('error', () => undefined);
  Readable.from(
    Array.from({ length: 12 }, (_, row) => ({ email: `good+${row}@sluice.test` })),
  ).pipe(stream);
  if (last === 0) stream.destroy();
  await closed;
}

it('streams that end at any step are closed, and leave nothing on the signal that they share', async () => {
  const { client } = await withClient();
  const { signal } = new AbortController();
  let begun = 0;
  const oneAfterTheOther = async (): Promise<void> => {
    while (begun < streams.count) {
      begun += 1;
      await endAtStep((begun * 7) % mostSteps, client, signal);
      expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1);
    }
  };
  await Promise.all(Array.from({ length: streams.atOnce }, oneAfterTheOther));
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});
