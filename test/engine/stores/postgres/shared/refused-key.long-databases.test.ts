import { expect, it, vi } from 'vitest';
import { startFront } from '../../../../cli/harness/front.js';
import { SharedList, inStore, job } from './shared-list.js';

vi.setConfig({ testTimeout: 180_000 });

const processes = 6;
const concurrency = 4;

it('sends few requests after the key of one of six processes was refused', async () => {
  const place = await SharedList.make();
  // Beyond the end of the run: who is refused is the only one to end it.
  await place.serve({ verifyDelayMs: 3_600_000 });
  let launches = 0;
  let isRefused = false;
  const after: string[] = [];
  const front = await startFront(place.service, (request) => {
    if (isRefused) after.push(request);
    if (/^POST \/v1\/batch\/[^/]+$/.test(request)) launches += 1;
    if (isRefused || launches < 2 * processes - 1 || !request.startsWith('GET ')) return undefined;
    isRefused = true;
    return { status: 401, body: {} };
  });
  place.serveAt(front.baseUrl);
  const one = [...job, '--concurrency', String(concurrency), '--poll-interval', '200'];
  const ofRun = [...one, '-o', 'out.csv', ...inStore, '--run', place.run];
  const working = Array.from({ length: processes }, () => place.start(...ofRun));
  for (const { ended } of working) {
    const { code, stderr } = await ended;
    expect({ code, stderr }).toMatchObject({ code: 4 });
  }
  expect(after.length, after.join()).toBeLessThanOrEqual(concurrency);
});
