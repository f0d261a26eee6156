import { describe, expect, it } from 'vitest';
import { createService, parseAccounts } from '../../src/service/index.js';
import { withService } from './with-service.js';
import { Wire } from './wire.js';

describe('a local service', () => {
  it('listens on loopback, on a free port, with a key of its own', async () => {
    const { service } = await withService();
    expect(service.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(service.apiKey).toMatch(/^sluice_[\w-]{43}$/);
    const { service: other } = await withService();
    expect(other.apiKey).not.toBe(service.apiKey);
  });

  it('can be reached over IPv6', async () => {
    const { service, wire } = await withService({ host: '::1' });
    expect(service.baseUrl).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await wire.get('/v1/batch')).status).toBe(200);
  });

  it('fails when its port is taken, and leaves nothing behind', async () => {
    const { service } = await withService();
    const port = Number(new URL(service.baseUrl).port);
    await expect(createService({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('closes while an upload waits for its parsing', async () => {
    const service = await createService({
      variants: { stateAfterUpload: 'ready_for_verification' },
      parseDelayMs: 1_000_000,
    });
    const wire = new Wire(service);
    const upload = wire.upload(['good@sluice.test']).catch(() => 'cut');
    while ((await wire.get('/v1/batch')).list.length === 0);
    await service.close();
    expect(await upload).toBe('cut');
  });

  it('answers others while a large batch is parsed and verified', async () => {
    const { wire } = await withService();
    const lines = Array.from({ length: 100_000 }, (_, at) => `user${at}@company${at % 99}.com`);
    const uuid = await wire.upload(lines);
    await wire.send('PATCH', `/v1/batch/${uuid}`);
    let answered = 0;
    while ((await wire.status(uuid)) === 'parsing_content') answered += 1;
    await wire.launch(uuid);
    while ((await wire.status(uuid)) === 'verification_ongoing') answered += 1;
    expect(answered).toBeGreaterThan(5);
  });

  it.each([
    [{ port: 70_000 }, 'port'],
    [{ port: 1.5 }, 'port'],
    [{ rate: 0 }, 'rate'],
    [{ emailCredits: -1 }, 'emailCredits'],
    [{ phoneCredits: Number.NaN }, 'phoneCredits'],
    [{ parseDelayMs: 2 ** 31 }, 'parseDelayMs'],
    [{ maxFileSizeBytes: 0 }, 'maxFileSizeBytes'],
    [{ apiKey: '' }, 'apiKey'],
    [{ accounts: [] }, 'accounts'],
    [{ accounts: [{ name: 'a' }] }, 'accounts', 'missing'],
    [{ accounts: [{ name: 'a', key: 'k', email_credit: 1 }] }, 'accounts.0.email_credit'],
    [{ accounts: [{ name: 'a', key: 'k' }], apiKey: 'k' }, 'accounts', 'exists'],
    [
      {
        accounts: [
          { name: 'a', key: 'k' },
          { name: 'b', key: 'k' },
        ],
      },
      'accounts',
      'repeated',
    ],
  ])('refuses %j', async (options, option, fault?: string) => {
    await expect(createService(options)).rejects.toMatchObject({
      code: 'invalid_option',
      option,
      ...(fault !== undefined && { fault }),
    });
  });
});

describe('an accounts file', () => {
  it('is a JSON array of accounts', () => {
    const file = JSON.stringify([
      { name: 'a', key: 'k', email_credit: 5, phone_credit: 0 },
      { name: 'b', key_sha256: 'AB'.repeat(32), suspended: true },
    ]);
    expect(parseAccounts(file)).toEqual([
      { name: 'a', key: 'k', emailCredits: 5, phoneCredits: 0 },
      { name: 'b', keySha256: 'ab'.repeat(32), suspended: true },
    ]);
  });

  it.each([
    '[{"name":"a","key":"hunter2"',
    '[]',
    '{"name":"a","key":"hunter2"}',
    '[{"key":"hunter2"}]',
    '[{"name":"a","key":"hunter2","email_credit":-1}]',
    '[{"name":"a","key_sha256":"hunter2"}]',
    '[{"name":"a","key":"hunter2","email_credits":1}]',
  ])('is refused without a word of the keys in it: %s', (file) => {
    let refused: unknown;
    try {
      parseAccounts(file);
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ code: 'invalid_option' });
    expect(String(refused)).not.toContain('hunter2');
  });
});
