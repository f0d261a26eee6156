import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { CallOptions } from '../../../../src/client/client-options.js';
import { Client } from '../../../../src/client/client.js';
import { run } from '../../../../src/engine/runs/run.js';
import { rowsSink } from '../../../../src/lists/rows/rows-sink.js';
import { ApiError } from '../../../../src/platform/errors/service-errors.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../../cli/harness/charges.js';

const rows = Array.from({ length: 4 }, (_, row) => ({ email: `good${row}@sluice.test` }));

interface Trouble {
  /** Which deletions fail, by whether they have a time of their own. */
  readonly refuses?: (isBrief: boolean) => boolean;
  /** Which deletions are answered and not done, by their number from 1. */
  readonly ignores?: (deletion: number) => boolean;
  /** Whether a proxy sends each upload twice. */
  readonly replays?: boolean;
}

async function verifyAndDelete({
  refuses = () => false,
  ignores = () => false,
  replays = false,
}: Trouble) {
  const events: string[] = [];
  class Refusing extends Client {
    override async deleteBatch(batchUuid: string, options: CallOptions = {}) {
      const isBrief = options.timeoutMs !== undefined && options.maxRetries === 0;
      events.push(isBrief ? 'brief' : 'patient');
      deletions += 1;
      if (ignores(deletions)) return {};
      if (!refuses(isBrief)) return super.deleteBatch(batchUuid, options);
      throw new ApiError('no', { code: 'server_error', operation: 'deleteBatch', status: 500 });
    }

    override async uploadBatch(...upload: Parameters<Client['uploadBatch']>) {
      if (replays) await super.uploadBatch(...upload);
      return super.uploadBatch(...upload);
    }
  }
  let deletions = 0;
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
  expect(await chargesOf(service)).toHaveLength(rows.length);
  return { events, left, onService: (await client.listBatches()).map(({ name }) => name) };
}

it('does not let batches wait for a service that does not delete those before them', async () => {
  const { events, left } = await verifyAndDelete({ refuses: () => true });
  expect(events).toContain('brief');
  expect(events.filter((event) => event === 'patient')).toHaveLength(rows.length);
  expect(events.indexOf('patient')).toBeGreaterThan(events.lastIndexOf('export'));
  expect(left).toHaveLength(rows.length);
});

it('asks again, and for longer, when nothing else is left to do', async () => {
  const { left, onService } = await verifyAndDelete({ refuses: (isBrief) => isBrief });
  expect(left).toEqual([]);
  expect(onService).toEqual([]);
});

it('names what the service says to have deleted and still has', async () => {
  const { left, onService } = await verifyAndDelete({ ignores: () => true });
  expect(left).toHaveLength(rows.length);
  expect(left.toSorted()).toEqual(onService.toSorted());
});

it('asks once more for the deletion of what is still there', async () => {
  const { left, onService } = await verifyAndDelete({ ignores: (deletion) => deletion <= 2 });
  expect({ left, onService }).toEqual({ left: [], onService: [] });
});

it('deletes an upload that was sent twice under one name', async () => {
  const { left, onService } = await verifyAndDelete({ replays: true });
  expect({ left, onService }).toEqual({ left: [], onService: [] });
});
