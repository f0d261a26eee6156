import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { withService } from '../with-service.js';
import { all, type Wire } from '../wire.js';
import { createRandom, fuzzedRequest, type FuzzedRequest } from './fuzzed-request.js';

/** `SLUICE_FUZZ_REQUESTS=100000 npx vitest run test/service/fuzz` sends as many. */
const requests = Number(process.env['SLUICE_FUZZ_REQUESTS'] ?? 1500);
const seed = Number(process.env['SLUICE_FUZZ_SEED'] ?? 1);
const atOnce = 16;
/** No answer here takes a second; this is for a machine that is busy. */
const hangMs = 20_000;

/** Sends a request as it is, and gives the status of its answer; null when there was none. */
async function statusOf(baseUrl: string, { bytes, what }: FuzzedRequest): Promise<number | null> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let head = '';
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`hangs: ${what}\n${bytes.subarray(0, 3000).toString('latin1')}`));
    }, hangMs);
    socket.on('data', (chunk: Buffer) => {
      if (head.length < 4096) head += chunk.toString('latin1');
      // Who was asked to go on has sent everything already.
      head = head.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
    });
    // What is cut while a refused request is still being sent.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? [];
      resolve(status === undefined ? null : Number(status));
    });
    // The writing half stays open: a body may be shorter than it says, and the answer comes all the same.
    socket.write(bytes);
  });
}

async function someBatches(wire: Wire): Promise<readonly string[]> {
  const { batch_uuid: done } = await wire.verify(['good@sluice.test', 'bad@sluice.test']);
  const ready = await wire.upload(['good@sluice.test']);
  await wire.prepare(ready);
  return [done, ready, await wire.upload(['good@sluice.test'])];
}

describe('requests made at random', () => {
  it(
    `are never answered with 500, hang or break anything: ${requests} of them`,
    { timeout: 60_000 + requests * 20 },
    async () => {
      // A defect, in an answer or behind it, fails the test.
      const granted = 1_000_000;
      const { service, wire } = await withService({
        emailCredits: granted,
        phoneCredits: granted,
        maxFileSizeBytes: 4000,
        requestTimeoutMs: 2000,
      });
      const random = createRandom(seed);
      let uuids = await someBatches(wire);
      const statuses = new Map<number | null, number>();
      for (let sent = 0; sent < requests; sent += atOnce) {
        const round = Array.from({ length: Math.min(atOnce, requests - sent) }, () =>
          fuzzedRequest(random, { key: service.apiKey, uuids }),
        );
        const answers = await Promise.all(
          round.map(async (request) => ({
            request,
            status: await statusOf(service.baseUrl, request),
          })),
        );
        for (const { request, status } of answers) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status !== null && status >= 500) throw new Error(`${status}: ${request.what}`);
        }
        if (sent % (atOnce * 50) === 0) {
          const list = (await wire.get('/v1/batch?limit=1000')).list;
          uuids = [
            ...list.slice(0, 10).map((batch) => batch.batch_uuid),
            ...(await someBatches(wire)),
          ];
        }
      }
      // Right ones are among them, and each kind of wrong ones.
      for (const status of [200, 400, 401, 404, 422]) expect(statuses.has(status)).toBe(true);

      const spent = { email: 0, phone: 0 };
      for (const { type, credits, refund } of await all(service.ledger())) {
        spent[type] += credits - refund;
      }
      expect((await wire.get('/v1/account/credits')).json).toEqual({
        email_credit: granted - spent.email,
        phone_credit: granted - spent.phone,
      });
    },
  );
});
