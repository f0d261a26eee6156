import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { batchDetails } from '../../../src/contract/bodies.js';
import { createService, type VerificationEngine } from '../../../src/service/index.js';
import { judgeEmail } from '../../../src/service/verification/judge-email.js';
import { offlineEngine } from '../../../src/service/verification/offline-engine.js';
import { Wire } from '../wire.js';
import { ServiceClock, withFolder, withService } from '../with-service.js';
import { KeyedMutex } from '../../../src/service/batches/batch-jobs.js';

async function untilFailed(wire: Wire, uuid: string) {
  while ((await wire.status(uuid)) !== 'internal_error');
}

describe('work behind the requests', () => {
  it('that fails leaves its batch in internal_error, and is notified of', async () => {
    const dataDir = await withFolder();
    const defects: unknown[] = [];
    const { wire } = await withService({ dataDir, onError: (error) => defects.push(error) });
    const uuid = await wire.upload(['good@sluice.test']);
    await rm(join(dataDir, 'batches', `${uuid}.upload`));
    expect((await wire.send('PATCH', `/v1/batch/${uuid}`)).json.status).toBe('ok');
    await untilFailed(wire, uuid);
    expect(defects).toMatchObject([{ code: 'ENOENT' }]);
    expect((await wire.send('PATCH', `/v1/batch/${uuid}`)).json.status).toBe('error');
    expect((await wire.launch(uuid)).json.status).toBe('error');
    expect((await wire.get(`/v1/batch/${uuid}/export?format=json`)).status).toBe(400);
    expect((await wire.send('DELETE', `/v1/batch/${uuid}`)).status).toBe(200);
  });

  it('takes no longer than its delay when the clock is set back by a day', async () => {
    let backMs = 0;
    const slept: number[] = [];
    const clock = {
      now: () => performance.now(),
      wallNow: () => Date.now() - backMs,
      sleep: async (ms: number) => {
        slept.push(ms);
      },
    };
    const engine: VerificationEngine = {
      ...offlineEngine,
      verifyEmails: (addresses) => {
        backMs = 86_400_000;
        return addresses.map(judgeEmail);
      },
    };
    const { wire } = await withService({ clock, engine, verifyDelayMs: 50 });
    await wire.verify(['good@sluice.test']);
    expect(backMs).toBeGreaterThan(0);
    expect(Math.max(...slept)).toBeLessThanOrEqual(50);
  });

  it('shows details of a batch that failed, in their base variant', async () => {
    const dataDir = await withFolder();
    const { wire } = await withService({ dataDir, onError: () => undefined });
    const uuid = await wire.upload(['good@sluice.test']);
    await wire.prepare(uuid);
    await rm(join(dataDir, 'batches', `${uuid}.1.keys`));
    await wire.launch(uuid);
    await untilFailed(wire, uuid);
    const details = batchDetails.parse((await wire.get(`/v1/batch/${uuid}/details`)).json);
    expect(details).toMatchObject({ status: 'internal_error', content: 'good@sluice.test\n' });
  });

  it('asks its own engine about what was prepared under another', async () => {
    const dataDir = await withFolder();
    const first = await createService({ dataDir });
    const uuid = await new Wire(first).upload(['anna@gmail.com', 'berta@gmail.com']);
    await new Wire(first).prepare(uuid);
    await first.close();
    const good = judgeEmail('good@sluice.test');
    const verifyEmails = (addresses: readonly string[]) => addresses.map(() => good);
    const { wire } = await withService({ dataDir, engine: { ...offlineEngine, verifyEmails } });
    await wire.launch(uuid);
    await wire.until(uuid, 'verification_done');
    expect(Object.values(await wire.records(uuid))).toMatchObject([good, good]);
  });

  it('keeps what is known of an address beside it, whatever lines before it are dropped', async () => {
    const { wire } = await withService();
    const lines = ['anna@gmail.com', 'ANNA@gmail.com', 'no address', 'bad@sluice.test', 'no'];
    const uuid = await wire.upload([...lines, 'info@example.org', 'good@sluice.test']);
    await wire.prepare(uuid);
    await wire.launch(uuid);
    await wire.until(uuid, 'verification_done');
    const kept = ['anna@gmail.com', 'bad@sluice.test', 'info@example.org', 'good@sluice.test'];
    expect(await wire.records(uuid)).toEqual(
      Object.fromEntries(kept.map((email) => [email, { email, ...judgeEmail(email) }])),
    );
    const again = await wire.upload(['new@example.org', 'good@sluice.test', 'no']);
    await wire.prepare(again);
    await wire.launch(again);
    await wire.until(again, 'verification_done');
    const refunds = [0, 0, 0, 0, 0, 0.5].map((refund) => ({ refund }));
    expect((await wire.get('/_local/ledger')).list).toMatchObject(refunds);
  });

  it('takes at least as long as it is asked to', async () => {
    const clock = new ServiceClock();
    const { wire } = await withService({ clock, parseDelayMs: 1000, verifyDelayMs: 2000 });
    const uuid = await wire.upload(['good@sluice.test']);
    await wire.send('PATCH', `/v1/batch/${uuid}`);
    await clock.someoneSleeps();
    await clock.advance(999);
    expect(await wire.status(uuid)).toBe('parsing_content');
    await clock.advance(1);
    await wire.until(uuid, 'ready_for_verification');
    await wire.launch(uuid);
    await clock.someoneSleeps();
    await clock.advance(1999);
    expect(await wire.status(uuid)).toBe('verification_ongoing');
    await clock.advance(1);
    await wire.until(uuid, 'verification_done');
  });
});

const soon = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });

describe('turns', () => {
  it('let one name act one after another, and others meanwhile', async () => {
    const turns = new KeyedMutex();
    const log: string[] = [];
    const act = (name: string, step: string) =>
      turns.take(name, async () => {
        log.push(`${name}${step} begins`);
        await soon();
        log.push(`${name}${step} ends`);
        return step;
      });
    const results = await Promise.all([act('a', '1'), act('a', '2'), act('b', '1')]);
    expect(results).toEqual(['1', '2', '1']);
    expect(log.filter((line) => line.startsWith('a'))).toEqual([
      'a1 begins',
      'a1 ends',
      'a2 begins',
      'a2 ends',
    ]);
    expect(log.indexOf('b1 begins')).toBeLessThan(log.indexOf('a2 begins'));
  });

  it('go on after one that failed', async () => {
    const turns = new KeyedMutex();
    const failed = turns.take('a', () => Promise.reject(new Error('no')));
    const next = turns.take('a', () => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });
});
