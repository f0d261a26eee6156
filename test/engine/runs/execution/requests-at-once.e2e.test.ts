import { join } from 'node:path';
import { Agent, type Dispatcher } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Client } from '../../../../src/client/client.js';
import { rowsSink } from '../../../../src/lists/rows/rows-sink.js';
import { rowsSource } from '../../../../src/lists/rows/sources/rows-source.js';
import { run } from '../../../../src/engine/runs/run.js';
import { withFolder, withService } from '../../../service/with-service.js';

/** Connections that count the requests that are under way at once, from the first byte to the last. */
function countedConnections(): { readonly dispatcher: Dispatcher; peak(): number } {
  let [underWay, peak] = [0, 0];
  const agent = new Agent();
  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    underWay += 1;
    peak = Math.max(peak, underWay);
    return dispatch(options, {
      onRequestStart: (...args) => handler.onRequestStart?.(...args),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => {
        underWay -= 1;
        handler.onResponseEnd?.(...args);
      },
      onResponseError: (...args) => {
        underWay -= 1;
        handler.onResponseError?.(...args);
      },
    });
  });
  onTestFinished(async () => agent.close());
  return { dispatcher, peak: () => peak };
}

describe('the requests of a run', () => {
  it.each([1, 3])(
    'are never more at once than its concurrency (%i), deletions included',
    async (concurrency) => {
      const { service } = await withService({ parseDelayMs: 5, verifyDelayMs: 5 });
      const { dispatcher, peak } = countedConnections();
      const { baseUrl, apiKey } = service;
      const client = new Client({ baseUrl, apiKey, dispatcher });
      await run({
        source: rowsSource(Array.from({ length: 40 }, (_, id) => ({ email: `ok+${id}@a.test` }))),
        sink: rowsSink(() => undefined),
        client,
        stateDir: join(await withFolder(), 'state'),
        email: ['email'],
        country: 'US',
        batchSize: 2,
        concurrency,
        pollIntervalMs: 1,
        deleteBatches: true,
      });
      expect(peak()).toBe(concurrency);
      expect(await client.listBatches()).toEqual([]);
    },
  );
});
