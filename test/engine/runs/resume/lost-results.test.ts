import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../../../src/engine/runs/run.js';
import { rowsSink } from '../../../../src/lists/rows/rows-sink.js';
import { chargesOf } from '../../../cli/harness/charges.js';
import { withFolder } from '../../../service/with-service.js';
import { withClient } from '../../streams/harness/with-client.js';

it.each([
  ['fetches results again that were lost here and are on the service', true],
  ['pays for nothing again where the service has lost them, too', false],
])('%s', async (_, areThere) => {
  const { service, client } = await withClient();
  const stateDir = join(await withFolder(), 'run');
  const goOn = async (maxCredits?: number): Promise<unknown> =>
    run({
      source: [{ email: 'good1@sluice.test' }, { email: 'good2@sluice.test' }],
      sink: rowsSink(() => undefined),
      client,
      stateDir,
      email: ['email'],
      country: 'US',
      batchSize: 1,
      pollIntervalMs: 1,
      maxCredits,
    }).catch((error: unknown) => error);
  expect(await goOn(1)).toMatchObject({ code: 'budget_exhausted' });
  const [lost = ''] = await readdir(join(stateDir, 'results'));
  await rm(join(stateDir, 'results', lost));
  const [paid] = (await client.listBatches()).filter(
    ({ status }) => status === 'verification_done',
  );
  if (!areThere) await client.deleteBatch(paid?.batch_uuid ?? '');
  const end = areThere
    ? { email: { buckets: { verified: 2 } }, credits: { email: { spent: 2 } } }
    : { code: 'output_failed' };
  expect(await goOn()).toMatchObject(end);
  expect(await chargesOf(service)).toHaveLength(areThere ? 2 : 1);
});
