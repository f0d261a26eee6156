import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, Server } from 'node:http';
import { join } from 'node:path';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { startFront } from '../../../cli/harness/front.js';
import { startSluice } from '../../../cli/harness/run-sluice.js';
import { withService, withFolder, expectPaidOnce } from '../../../service/with-service.js';
import { newName } from '../../../lists/sql/harness/new-name.js';

vi.setConfig({ testTimeout: 240_000 });

const minuteMs = 60_000;
/** By then each process has heard of a pause with its sign of life, also on a machine that is busy. */
const receivedMs = 6000;
const pauseMs = 20_000;

/** When each request reaches a server of this process. */
function momentsAt({ baseUrl }: { readonly baseUrl: string }): number[] {
  const { port } = new URL(baseUrl);
  const moments: number[] = [];
  const note = (message: unknown): void => {
    const { server } = message as { request: IncomingMessage; server: Server };
    const address = server.address();
    if (typeof address === 'object' && String(address?.port) === port) {
      moments.push(performance.now());
    }
  };
  subscribe('http.server.request.start', note);
  onTestFinished(() => {
    unsubscribe('http.server.request.start', note);
  });
  return moments;
}

/** Starts runs of one account, each with so many processes. @returns when all have ended well */
async function work(
  service: { readonly baseUrl: string },
  runs: readonly { readonly processes: number; readonly addresses: number }[],
  ...args: readonly string[]
): Promise<void> {
  const cwd = await withFolder();
  const env = {
    SLUICE_BASE_URL: service.baseUrl,
    SLUICE_API_KEY: 'a-key',
    SLUICE_STORE: inject('postgresUrl'),
  };
  const ended = runs.map(async ({ processes, addresses }, index) => {
    const lines = Array.from({ length: addresses }, (_, at) => `good${at}.of${index}@sluice.test`);
    await writeFile(join(cwd, `${index}.csv`), ['email', ...lines, ''].join('\n'));
    const ends = [`${index}.csv`, '-o', `${index}.out.csv`, '--email', 'email', '--country', 'US'];
    const store = ['--store', 'env:SLUICE_STORE', '--run', newName(), '--batch-size', '5'];
    const pace = ['--poll-interval', '20', '--concurrency', '4', ...args];
    const working = Array.from({ length: processes }, async () => {
      return startSluice(['verify', ...ends, ...store, ...pace], { cwd, env }).ended;
    });
    for (const { code, stderr } of await Promise.all(working)) {
      expect({ code, stderr }).toMatchObject({ code: 0 });
    }
  });
  await Promise.all(ended);
}

it('keeps the rate that was given in every minute, for four processes of two runs together', async () => {
  const { service } = await withService({ apiKey: 'a-key', verifyDelayMs: 50 });
  const moments = momentsAt(service);
  const runs = [
    { processes: 2, addresses: 60 },
    { processes: 2, addresses: 60 },
  ];
  await work(service, runs, '--requests-per-minute', '120');
  await expectPaidOnce(service, 120);
  expect((moments.at(-1) ?? 0) - (moments[0] ?? 0)).toBeGreaterThan(minuteMs);
  const inMinute = moments.map(
    (from) => moments.filter((at) => at >= from && at < from + minuteMs).length,
  );
  // What a busy machine holds up arrives a little later, with what follows; two runs apart would have 240.
  expect(Math.max(...inMinute)).toBeLessThan(150);
  expect(Math.max(...inMinute)).toBeGreaterThan(60);
});

it('sends nothing while one of six processes was asked to wait', async () => {
  const { service } = await withService({ apiKey: 'a-key', verifyDelayMs: 500 });
  let count = 0;
  let refusedAt = 0;
  const front = await startFront(service, () => {
    count += 1;
    if (count !== 200) return undefined;
    refusedAt = performance.now();
    return { status: 429, headers: { 'retry-after': `${pauseMs / 1000}` }, body: {} };
  });
  const moments = momentsAt(front);
  await work(front, [{ processes: 6, addresses: 300 }]);
  await expectPaidOnce(service, 300);
  const since = moments.map((at) => at - refusedAt);
  expect(since.filter((ms) => ms > receivedMs && ms < pauseMs)).toEqual([]);
  expect(since.filter((ms) => ms >= pauseMs).length).toBeGreaterThan(50);
});
