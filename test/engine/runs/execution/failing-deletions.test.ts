import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { CallOptions } from '../../../../src/client/call-options.js';
import { Client } from '../../../../src/client/client.js';
import { run } from '../../../../src/engine/runs/run.js';
import { rowsSink } from '../../../../src/lists/rows/rows-sink.js';
import { ApiError } from '../../../../src/platform/errors/errors.js';
import { withFolder, withService } from '../../../service/with-service.js';

const rows = Array.from({ length: 4 }, (_, row) => ({ email: `good${row}@sluice.test` }));

/** @param refuses which deletions fail, by whether they have a time of their own */
async function verifyAndDelete(refuses: (isBrief: boolean) => boolean) {
  const events: string[] = [];
  class Refusing extends Client {
    override async deleteBatch(batchUuid: string, options: CallOptions = {}) {
      const isBrief = options.timeoutMs !== undefined;
      events.push(isBrief ? 'brief' : 'patient');
      if (!refuses(isBrief)) return super.deleteBatch(batchUuid, options);
      throw new ApiError('no', { code: 'server_error', operation: 'deleteBatch', status: 500 });
    }
  }
  const { service } = await withService();
  const client = new Refusing({
    baseUrl: service.baseUrl,
    apiKey: service.apiKey,
    onRequest: ({ operation }) => {
      if (operation === 'exportBatch') events.push('export');
    },
  });
  onTestFinished(async () => client.close());
  const left: string[] = [];
  const { email } = await run({
    source: rows,
    sink: rowsSink(() => undefined),
    stateDir: join(await withFolder(), 'run'),
    client,
    email: ['email'],
    country: 'US',
    batchSize: 1,
    pollIntervalMs: 1,
    deleteBatches: true,
    onProgress: (event) => {
      if (event.stage === 'left_behind') left.push(...event.names);
    },
  });
  expect(email?.buckets.verified).toBe(rows.length);
  return { events, left, onService: await client.listBatches() };
}

it('does not let batches wait for a service that does not delete those before them', async () => {
  const { events, left } = await verifyAndDelete(() => true);
  expect(events).toContain('brief');
  expect(events.filter((event) => event === 'patient')).toHaveLength(rows.length);
  expect(events.indexOf('patient')).toBeGreaterThan(events.lastIndexOf('export'));
  expect(left).toHaveLength(rows.length);
});

it('asks again, and for longer, when nothing else is left to do', async () => {
  const { left, onService } = await verifyAndDelete((isBrief) => isBrief);
  expect(left).toEqual([]);
  expect(onService).toEqual([]);
});
