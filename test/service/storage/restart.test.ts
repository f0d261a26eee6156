import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createService, type ServiceOptions } from '../../../src/service/index.js';
import { EventLog } from '../../../src/service/storage/events.js';
import { all, Wire } from '../wire.js';
import { ServiceClock, withFolder, withService } from '../with-service.js';

const lines = ['good1@sluice.test', 'bad1@sluice.test', 'malformed'];

/** Runs a service on a folder to its clean end. */
async function session<Result>(
  options: ServiceOptions,
  act: (wire: Wire) => Promise<Result>,
): Promise<Result> {
  const service = await createService(options);
  try {
    return await act(new Wire(service));
  } finally {
    await service.close();
  }
}

describe('a service on a folder', () => {
  it('finds everything again: batches, contents, results, balance, ledger, key', async () => {
    const dataDir = await withFolder();
    const before = await session({ dataDir, emailCredits: 10 }, async (wire) => {
      const uploaded = await wire.upload(lines, { name: 'uploaded' });
      const ready = await wire.upload(lines, { name: 'ready' });
      await wire.prepare(ready);
      const done = (await wire.verify(lines, { name: 'done' })).batch_uuid;
      const deleted = (await wire.verify(lines, { name: 'deleted' })).batch_uuid;
      await wire.send('DELETE', `/v1/batch/${deleted}`);
      const answers = await look(wire, { uploaded, ready, done });
      return { uploaded, ready, done, answers };
    });
    const { service, wire } = await withService({ dataDir });
    expect(await look(wire, before)).toEqual(before.answers);
    expect(service.apiKeyIsNew).toBe(false);
    expect((await wire.launch(before.ready)).json.status).toBe('ok');
    await wire.until(before.ready, 'verification_done');
    await wire.prepare(before.uploaded);
  });

  async function look(wire: Wire, uuids: { uploaded: string; ready: string; done: string }) {
    return {
      list: (await wire.get('/v1/batch')).json,
      details: (await wire.get(`/v1/batch/${uuids.uploaded}/details`)).json,
      status: (await wire.get(`/v1/batch/${uuids.ready}`)).json,
      records: await wire.records(uuids.done),
      credits: (await wire.get('/v1/account/credits')).json,
      ledger: (await wire.get('/_local/ledger')).json,
    };
  }

  it('finishes a parsing and a verification that it was ended in', async () => {
    const dataDir = await withFolder();
    const clock = new ServiceClock();
    const delays = { parseDelayMs: 1000, verifyDelayMs: 1000, clock };
    const [parsing, ongoing] = await session({ dataDir, clock }, async (wire) => {
      const uuids = [await wire.upload(lines), await wire.upload(lines)];
      await wire.prepare(uuids[1] ?? '');
      return uuids as [string, string];
    });
    await session({ dataDir, ...delays }, async (wire) => {
      await wire.send('PATCH', `/v1/batch/${parsing}`);
      await wire.launch(ongoing);
      expect(await wire.status(ongoing)).toBe('verification_ongoing');
    });
    await clock.advance(2000);
    const { service, wire } = await withService({ dataDir, ...delays });
    await wire.until(parsing, 'ready_for_verification');
    const { cost } = await wire.until(ongoing, 'verification_done');
    expect(cost.total_email_cost).toBe(2);
    expect(Object.keys(await wire.records(ongoing))).toEqual(lines.slice(0, 2));
    expect(await all(service.ledger())).toHaveLength(2);
  });

  it('keeps what was spent, and grants what it is notified has been granted', async () => {
    const dataDir = await withFolder();
    const verify = (wire: Wire) => wire.verify(['good1@sluice.test']);
    const credits = async (wire: Wire) => (await wire.get('/v1/account/credits')).json.email_credit;
    await session({ dataDir, emailCredits: 1 }, verify);
    await session({ dataDir, emailCredits: 1 }, async (wire) => {
      expect(await credits(wire)).toBe(0);
    });
    await session({ dataDir }, async (wire) => {
      expect(await credits(wire)).toBe(0);
    });
    await session({ dataDir, emailCredits: 5 }, async (wire) => {
      expect(await credits(wire)).toBe(4);
    });
  });

  it('makes a key once, and keeps no other', async () => {
    const dataDir = await withFolder();
    const made = await createService({ dataDir });
    await made.close();
    expect(made.apiKeyIsNew).toBe(true);
    await session({ dataDir, apiKey: 'very-secret' }, async (wire) => {
      expect((await wire.get('/v1/batch')).status).toBe(200);
      expect((await wire.get('/v1/batch', { key: made.apiKey })).status).toBe(401);
    });
    const again = await createService({ dataDir });
    await again.close();
    expect(again.apiKey).toBe(made.apiKey);
    const kept = await Promise.all(
      (await readdir(dataDir, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')),
    );
    expect(kept.join()).not.toContain('very-secret');
  });

  it('holds neither address nor account in what it shares, and nobody else may read any of it', async () => {
    const dataDir = await withFolder();
    await session({ dataDir }, (wire) => wire.verify(['good1@sluice.test']));
    const caches = await readdir(join(dataDir, 'caches'));
    const shared = caches.filter((name) => name.startsWith('global'));
    expect(shared).toHaveLength(1);
    const bytes = await readFile(join(dataDir, 'caches', shared[0] ?? ''));
    expect(bytes).toHaveLength(12);
    expect(bytes.toString('latin1')).not.toContain('good1');
    for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect(mode & 0o077).toBe(0);
    }
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  });

  it('removes files that nothing names', async () => {
    const dataDir = await withFolder();
    await session({ dataDir }, (wire) => wire.verify(lines));
    const before = await readdir(join(dataDir, 'batches'));
    await writeFile(join(dataDir, 'batches', 'rubbish'), 'x');
    await writeFile(join(dataDir, 'arriving', 'half'), 'x');
    await session({ dataDir }, async () => undefined);
    expect(await readdir(join(dataDir, 'batches'))).toEqual(before);
    expect(await readdir(join(dataDir, 'arriving'))).toEqual([]);
  });

  it('is refused to a second service', async () => {
    const dataDir = await withFolder();
    await withService({ dataDir });
    await expect(createService({ dataDir })).rejects.toMatchObject({ code: 'state_locked' });
  });

  it('of another version is refused by name', async () => {
    const dataDir = await withFolder();
    const { log } = await EventLog.open(join(dataDir, 'service.log'), { durable: true });
    log.append({ store: 'sluice-service', version: 99, salt: '' });
    await log.close();
    await expect(createService({ dataDir })).rejects.toMatchObject({
      code: 'state_mismatch',
      message: expect.stringMatching(/\b99\b/) as unknown,
    });
  });

  it('whose log makes no sense is refused', async () => {
    const dataDir = await withFolder();
    await session({ dataDir }, async () => undefined);
    const { log } = await EventLog.open(join(dataDir, 'service.log'), { durable: true });
    log.append({ event: 'deleted' });
    await log.close();
    await expect(createService({ dataDir })).rejects.toMatchObject({ code: 'state_damaged' });
  });
});
