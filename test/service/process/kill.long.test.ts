import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withFolder, withService } from '../with-service.js';
import { all, Wire } from '../wire.js';
import { buildService, startService } from './service-process.js';

let built: ReturnType<typeof buildService>;

beforeAll(() => {
  built = buildService();
});
afterAll(() => built.remove());

const lines = Array.from({ length: 20_000 }, (_, at) => `good${at}@sluice.test`);

/** Ends a request that its service does not live to answer. */
const cut = (answer: Promise<unknown>) => answer.catch(() => undefined);

describe('a service that is killed', () => {
  it('in the middle of parsing goes on parsing', async () => {
    const dataDir = await withFolder();
    const process = await startService(built.url, { dataDir });
    const uuid = await new Wire(process).upload(lines);
    expect((await new Wire(process).send('PATCH', `/v1/batch/${uuid}`)).json.status).toBe('ok');
    await process.kill();
    const { wire } = await withService({ dataDir });
    const { parsing_counts } = await wire.until(uuid, 'ready_for_verification');
    expect(parsing_counts).toEqual({ valid_email: 20_000, wrong_email: 0, duplicate_email: 0 });
  });

  it('in the middle of verifying goes on verifying, charged once', async () => {
    const dataDir = await withFolder();
    const process = await startService(built.url, { dataDir, emailCredits: 50_000 });
    const before = new Wire(process);
    const uuid = await before.upload(lines);
    await before.prepare(uuid);
    expect((await before.launch(uuid)).json.status).toBe('ok');
    await process.kill();
    const { wire, service } = await withService({ dataDir });
    await wire.until(uuid, 'verification_done');
    expect(Object.keys(await wire.records(uuid))).toEqual(lines);
    expect((await wire.get('/v1/account/credits')).json.email_credit).toBe(30_000);
    expect(new Set((await all(service.ledger())).map(({ address }) => address)).size).toBe(20_000);
  });

  it(
    'at any moment is consistent: charged batches are launched, launched ones are charged',
    { timeout: 60_000 },
    async () => {
      const dataDir = await withFolder();
      const some = lines.slice(0, 500);
      for (let round = 0; round < 4; round += 1) {
        const process = await startService(built.url, { dataDir, emailCredits: 100_000 });
        const wire = new Wire(process);
        const linesOf = (group: number) => some.map((line) => `${round}.${group}.${line}`);
        const work = [1, 2, 3].map((group) => cut(wire.verify(linesOf(group))));
        // One batch decides when the process is killed; the others are wherever they are then.
        const uuid = await wire.upload(linesOf(0));
        if (round > 0) await wire.prepare(uuid);
        if (round > 1) await wire.launch(uuid);
        if (round > 2) await wire.until(uuid, 'verification_done');
        await process.kill();
        await Promise.all(work);
      }
      const { wire, service } = await withService({ dataDir });
      const batches = (await wire.get('/v1/batch?limit=1000')).list;
      const charged = new Map<string | null, number>();
      for await (const { batch_uuid } of service.ledger()) {
        charged.set(batch_uuid, (charged.get(batch_uuid) ?? 0) + 1);
      }
      let launched = 0;
      for (const { batch_uuid, status } of batches) {
        const isLaunched = status.startsWith('verification');
        expect(charged.get(batch_uuid)).toBe(isLaunched ? some.length : undefined);
        if (!isLaunched) continue;
        launched += 1;
        await wire.until(batch_uuid, 'verification_done');
        expect(Object.keys(await wire.records(batch_uuid))).toHaveLength(some.length);
      }
      expect(launched).toBeGreaterThanOrEqual(2);
      const { email_credit } = (await wire.get('/v1/account/credits')).json;
      expect(email_credit).toBe(100_000 - launched * some.length);
    },
  );
});
