import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { Client, verify, type VerifyProgress } from '../../../src/index.js';
import { createService } from '../../../src/service/index.js';

it('verify() tells how many rows went in and came out, and of each batch', async () => {
  const service = await createService();
  const client = new Client(service);
  onTestFinished(async () => {
    await client.close();
    await service.close();
  });
  const reported: VerifyProgress[] = [];
  const batches: string[] = [];
  const rows = Readable.from(
    Array.from({ length: 250 }, (_, index) => ({ email: `good${index % 20}@sluice.test` })),
  );
  const options = { email: ['email'], country: 'US', pollIntervalMs: 1 };
  const stream = verify({
    client,
    ...options,
    onProgress: (progress) => reported.push(progress),
    onBatch: ({ state }) => batches.push(state.stage),
  });
  const count = (await rows.pipe(stream).toArray()).length;
  expect(count).toBe(250);
  const counted = reported.flatMap((progress) => ('rows' in progress ? [progress] : []));
  expect(counted).toEqual([
    { stage: 'reading', rows: 100 },
    { stage: 'reading', rows: 200 },
    { stage: 'read', rows: 250 },
    { stage: 'writing', rows: 100 },
    { stage: 'writing', rows: 200 },
    { stage: 'written', rows: 250 },
  ]);
  const stages = reported.flatMap((one) => (one.stage === 'batch' ? [one.state.stage] : []));
  expect(stages).toEqual(batches);
  expect(stages.at(-1)).toBe('exported');
  // From the stage on that asks for a launch.
  const mayHaveLaunched = reported.flatMap((one) =>
    one.stage === 'batch' ? [one.mayHaveLaunched] : [],
  );
  expect(mayHaveLaunched).toEqual(stages.map((_, at) => at >= stages.indexOf('launching')));
});
