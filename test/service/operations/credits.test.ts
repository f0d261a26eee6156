import { describe, expect, it } from 'vitest';
import { creditBalance } from '../../../src/contract/bodies.js';
import { createService, type Service } from '../../../src/service/index.js';
import { dayMs, ServiceClock, withFolder, withService } from '../with-service.js';
import { all, Wire, type Answer } from '../wire.js';

const three = ['good1@sluice.test', 'good2@sluice.test', 'good3@sluice.test'];

async function balance(wire: Wire, key?: string) {
  return creditBalance.parse((await wire.get('/v1/account/credits', key ? { key } : {})).json);
}

const accounts = [
  { name: 'a', key: 'key-a', emailCredits: 100, phoneCredits: 100 },
  { name: 'b', key: 'key-b', emailCredits: 100, phoneCredits: 100 },
];

/** Requests with the key of one account. */
function as({ baseUrl }: Service, apiKey: string): Wire {
  return new Wire({ baseUrl, apiKey });
}

describe('credits', () => {
  it('are deducted at the launch, one a record, from the balance of their type', async () => {
    const { wire, service } = await withService({ emailCredits: 10, phoneCredits: 10 });
    const uuid = await wire.upload([...three, 'malformed']);
    await wire.prepare(uuid);
    expect(await balance(wire)).toEqual({ email_credit: 10, phone_credit: 10 });
    await wire.launch(uuid);
    expect(await balance(wire)).toEqual({ email_credit: 7, phone_credit: 10 });
    await wire.verify(['+12025550143'], { type: 'phone' });
    expect(await balance(wire)).toEqual({ email_credit: 7, phone_credit: 9 });
    expect(await all(service.ledger())).toMatchObject([
      ...three.map((address) => ({
        batch_uuid: uuid,
        type: 'email',
        address,
        credits: 1,
        refund: 0,
      })),
      { type: 'phone', address: '+12025550143', credits: 1, refund: 0 },
    ]);
  });

  it('do not suffice: 402 at the launch, and nothing has changed', async () => {
    const { wire, service } = await withService({ emailCredits: 2, phoneCredits: 100 });
    const uuid = await wire.upload(three);
    await wire.prepare(uuid);
    const answer = await wire.launch(uuid);
    expect([answer.status, answer.json]).toEqual([
      402,
      { message: 'Payment Required', type: 'email', required_credits: 3, available_credits: 2 },
    ]);
    expect(await wire.status(uuid)).toBe('ready_for_verification');
    expect(await balance(wire)).toEqual({ email_credit: 2, phone_credit: 100 });
    expect(await all(service.ledger())).toEqual([]);
    await service.setAccounts([{ name: 'default', key: service.apiKey, emailCredits: 3 }]);
    expect((await wire.launch(uuid)).json.status).toBe('ok');
    expect(await balance(wire)).toEqual({ email_credit: 0, phone_credit: 100 });
  });

  it('are taken once when a batch is launched many times at once', async () => {
    const { wire, service } = await withService({ emailCredits: 100 });
    const uuid = await wire.upload(three);
    await wire.prepare(uuid);
    const answers = await Promise.all(Array.from({ length: 12 }, () => wire.launch(uuid)));
    expect(answers.filter(({ json }) => json.status === 'ok')).toHaveLength(1);
    expect((await balance(wire)).email_credit).toBe(97);
    expect(await all(service.ledger())).toHaveLength(3);
  });

  it('are never overdrawn by launches of several batches at once', async () => {
    const { wire } = await withService({ emailCredits: 10 });
    const uuids = await Promise.all(
      Array.from({ length: 6 }, (_, batch) => wire.upload(three.map((line) => `${batch}.${line}`))),
    );
    for (const uuid of uuids) await wire.prepare(uuid);
    const answers = await Promise.all(uuids.map((uuid) => wire.launch(uuid)));
    const statuses = answers.map(({ status }: Answer) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 402, 402, 402]);
    expect((await balance(wire)).email_credit).toBe(1);
  });

  it('never end by default, and are still counted', async () => {
    const { wire } = await withService();
    const before = await balance(wire);
    await wire.verify(three);
    await wire.verify(three);
    const after = await balance(wire);
    expect(before.email_credit - after.email_credit).toBe(3 + 1.5);
  });
});

describe('the caches', () => {
  it('give half a credit back for each record that the account verified before', async () => {
    const { wire, service } = await withService({ emailCredits: 100 });
    await wire.verify(three);
    const { cost, batch_uuid } = await wire.verify(['Good1@Sluice.Test', 'good9@sluice.test']);
    expect(cost).toEqual({
      total_email_cost: 2,
      net_email_cost: 1.5,
      email_cache_account_return: 1,
      email_cache_global_return: 0,
    });
    expect((await balance(wire)).email_credit).toBe(100 - 3 - 1.5);
    const charges = (await all(service.ledger())).filter(
      (entry) => entry.batch_uuid === batch_uuid,
    );
    expect(charges).toMatchObject([
      { address: 'Good1@Sluice.Test', credits: 1, refund: 0.5 },
      { address: 'good9@sluice.test', credits: 1, refund: 0 },
    ]);
  });

  it('need the full price on the balance: refunds come after', async () => {
    const { wire } = await withService({ emailCredits: 5 });
    await wire.verify(three);
    const uuid = await wire.upload(three);
    await wire.prepare(uuid);
    expect((await wire.launch(uuid)).status).toBe(402);
  });

  it('look in the account first, then in what others share', async () => {
    const { service } = await withService({ accounts });
    const a = as(service, 'key-a');
    const b = as(service, 'key-b');
    await a.verify(['good1@sluice.test', 'good2@sluice.test']);
    await b.verify(['good2@sluice.test', 'good3@sluice.test']);
    const { cost } = await b.verify([
      'good1@sluice.test',
      'good2@sluice.test',
      'good4@sluice.test',
    ]);
    expect(cost).toEqual({
      total_email_cost: 3,
      net_email_cost: 2,
      email_cache_account_return: 1,
      email_cache_global_return: 1,
    });
  });

  it('share nothing of a batch that was verified without the global cache', async () => {
    const { service } = await withService({ accounts });
    const a = as(service, 'key-a');
    const b = as(service, 'key-b');
    await a.verify(three, { use_global_cache: 'false' });
    const { cost } = await b.verify(three);
    expect(cost.net_email_cost).toBe(3);
    expect((await a.verify(three)).cost.email_cache_account_return).toBe(3);
  });

  it('are not asked when a batch does not want them', async () => {
    const { wire } = await withService();
    await wire.verify(three);
    const without = { use_account_cache: 'false', use_global_cache: 'false' };
    expect((await wire.verify(three, without)).cost.net_email_cost).toBe(3);
    const global = { use_account_cache: 'false' };
    expect((await wire.verify(three, global)).cost.email_cache_global_return).toBe(3);
  });

  it('look back as many days as they are notified, today being the first', async () => {
    const clock = new ServiceClock();
    const { wire } = await withService({ clock });
    await wire.verify(three);
    const hits = async (days: string) =>
      (
        await wire.verify(three, {
          max_account_cache_backoff: days,
          use_global_cache: 'false',
        })
      ).cost.email_cache_account_return;
    await clock.advance(13 * 60 * 60 * 1000);
    expect(await hits('1')).toBe(0);
    expect(await hits('1')).toBe(3);
    await clock.advance(29 * dayMs);
    expect(await hits('29')).toBe(0);
    await clock.advance(29 * dayMs);
    expect(await hits('30')).toBe(3);
  });

  it('tell the types apart', async () => {
    const { wire } = await withService();
    await wire.verify(['2025550143'], { remove_wrong_email_format: 'false' });
    const { cost } = await wire.verify(['2025550143'], { type: 'phone' });
    expect(cost.net_phone_cost).toBe(1);
  });

  it('know an address again after a restart', async () => {
    const dataDir = await withFolder();
    const first = await createService({ dataDir });
    await new Wire(first).verify(three);
    await first.close();
    const { wire } = await withService({ dataDir });
    expect((await wire.verify(three)).cost.net_email_cost).toBe(1.5);
  });
});
