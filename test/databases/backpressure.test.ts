import { describe, expect, inject, test } from 'vitest';
import { mysqlSource } from '../../src/databases/mysql/index.js';
import { postgresSource } from '../../src/databases/postgres/index.js';
import { run, streamRun, type RunProgress, type Sink, type Source } from '../../src/index.js';
import { startCountingProxy } from './counting-proxy.js';
import { rejection } from './rejection.js';
import { startVerifying } from './verify-rows.js';

const rowBytes = 1000;

/** A query for so many rows of a thousand bytes. */
const databases: readonly (readonly [string, string, (url: string, rows: number) => Source])[] = [
  [
    'PostgreSQL',
    inject('postgresUrl'),
    (url, rows) =>
      postgresSource({
        url,
        query: `SELECT 'good' || i || '@sluice.test' AS email, repeat('x', ${rowBytes}) AS filling FROM generate_series(1, ${rows}) i`,
      }),
  ],
  [
    'MySQL',
    inject('mysqlUrl'),
    (url, rows) =>
      mysqlSource({
        url,
        query: `SELECT concat('good', seq, '@sluice.test') AS email, repeat('x', ${rowBytes}) AS filling FROM seq_1_to_${rows}`,
      }),
  ],
];

/** A sink that counts what it gets. */
function countingSink(): Sink & { readonly rows: number } {
  let rows = 0;
  return {
    name: 'a counting sink',
    get rows() {
      return rows;
    },
    async check() {
      // It takes anything.
    },
    async open() {
      return {
        async write({ from, to }) {
          rows += to - from;
        },
        async finish() {
          // Nothing has to be made to stand.
        },
        async abort() {
          // Nothing has to be dropped.
        },
      };
    },
  };
}

/** Resolves when a number has stopped growing. */
async function settled(read: () => number): Promise<number> {
  for (;;) {
    const before = read();
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
    if (before > 0 && read() === before) return before;
  }
}

describe.each(databases)('while the service stalls, %s', (_, serverUrl, sourceOf) => {
  test.skipIf(serverUrl === '')(
    'is asked for no more rows than may wait, when they stream',
    async () => {
      const rows = 150_000;
      const proxy = await startCountingProxy(serverUrl);
      const { client } = await startVerifying({ verifyDelayMs: 3_600_000 });
      const sink = countingSink();
      const controller = new AbortController();
      const running = streamRun({
        client,
        source: sourceOf(proxy.url, rows),
        sink,
        email: ['email'],
        country: 'US',
        batchSize: 500,
        concurrency: 2,
        maxWaitingRows: 2000,
        pollIntervalMs: 20,
        signal: controller.signal,
      });
      running.catch(() => undefined);
      const asked = await settled(() => proxy.fromServer);
      controller.abort(new Error('enough'));
      expect((await rejection(running)).message).toBe('enough');
      expect(sink.rows).toBe(0);
      // Two thousand rows may wait, and the buffers of two sockets and a driver lie in between.
      expect(asked).toBeLessThan((rows * rowBytes) / 5);
    },
  );

  test.skipIf(serverUrl === '')(
    'has given all its rows and is let go of, in a durable run',
    async () => {
      const rows = 5000;
      const proxy = await startCountingProxy(serverUrl);
      const { client, stateDir } = await startVerifying({ verifyDelayMs: 3_600_000 });
      const controller = new AbortController();
      let isVerifying = (): void => undefined;
      const verifying = new Promise<void>((resolve) => (isVerifying = resolve));
      const running = run({
        client,
        stateDir,
        source: sourceOf(proxy.url, rows),
        sink: countingSink(),
        email: ['email'],
        country: 'US',
        pollIntervalMs: 20,
        signal: controller.signal,
        onProgress: (progress: RunProgress) => {
          if (progress.stage === 'batch' && progress.known.stage === 'verifying') isVerifying();
        },
      });
      running.catch(() => undefined);
      await verifying;
      expect(proxy.fromServer).toBeGreaterThan(rows * rowBytes);
      await expect.poll(() => proxy.connections).toBe(0);
      controller.abort(new Error('enough'));
      expect((await rejection(running)).message).toBe('enough');
    },
  );
});
