import { describe, expect, it } from 'vitest';
import { unitAnswer } from '../../../src/contract/bodies.js';
import { defaultUnitRequest } from '../../../src/contract/parameters.js';
import { all, multipart, type Wire } from '../wire.js';
import { withService } from '../with-service.js';

async function unit(wire: Wire, body: unknown) {
  return wire.send('POST', '/v1/unit', {
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
  });
}

describe('verifying one record', () => {
  it('answers with its record and charges it', async () => {
    const { wire, service } = await withService({ emailCredits: 10, phoneCredits: 10 });
    const email = defaultUnitRequest({
      type: 'email',
      address: 'bad@sluice.test',
      targetCountry: 'US',
    });
    const answer = unitAnswer.parse((await unit(wire, email)).json);
    expect(answer).toMatchObject({
      status: 'ok',
      result: { email: 'bad@sluice.test', wrong: true, quality: 'bad' },
      cost: { total_email_cost: 1, net_email_cost: 1 },
    });
    const phone = { phone: '(202) 555-0143', target_country: 'US' };
    expect((await unit(wire, phone)).json.result).toMatchObject({ valid: true });
    expect((await wire.get('/v1/account/credits')).json).toEqual({
      email_credit: 9,
      phone_credit: 9,
    });
    expect(await all(service.ledger())).toMatchObject([
      { batch_uuid: null, type: 'email', address: 'bad@sluice.test', credits: 1, refund: 0 },
      { batch_uuid: null, type: 'phone', address: '(202) 555-0143', credits: 1, refund: 0 },
    ]);
  });

  it('shares the caches with the batches, both ways', async () => {
    const { wire } = await withService();
    await wire.verify(['good1@sluice.test']);
    const known = await unit(wire, { email: 'GOOD1@sluice.test' });
    expect(known.json.cost).toMatchObject({ net_email_cost: 0.5, email_cache_account_return: 1 });
    await unit(wire, { email: 'good2@sluice.test' });
    expect((await wire.verify(['good2@sluice.test'])).cost.email_cache_account_return).toBe(1);
    const unwanted = {
      email: 'good2@sluice.test',
      use_account_cache: false,
      use_global_cache: false,
    };
    expect((await unit(wire, unwanted)).json.cost.net_email_cost).toBe(1);
  });

  it('answers 402 without credits, uncharged', async () => {
    const { wire, service } = await withService({ emailCredits: 1, phoneCredits: 0 });
    expect((await unit(wire, { email: 'good@sluice.test' })).status).toBe(200);
    expect((await unit(wire, { email: 'good@sluice.test' })).status).toBe(402);
    expect((await unit(wire, { phone: '+12025550143', target_country: 'US' })).status).toBe(402);
    expect(await all(service.ledger())).toHaveLength(1);
  });

  it.each([
    [{ email: ' ' }, 'empty'],
    [{ email: 'a,b@c.example' }, 'parse_error'],
    [{ email: 'a@b.example\nc@d.example' }, 'parse_error'],
    [{ email: 'no mailbox' }, 'ok'],
  ])('answers %j with %s', async (body, status) => {
    const { wire } = await withService({ emailCredits: 5 });
    expect((await unit(wire, body)).json.status).toBe(status);
    const { email_credit } = (await wire.get('/v1/account/credits')).json;
    expect(email_credit).toBe(status === 'ok' ? 4 : 5);
  });

  it.each([
    [{}, 'email'],
    [{ type: 'phone', email: 'a@b.example' }, 'phone'],
    [{ phone: '2025550143' }, 'target_country'],
    [{ email: 'a@b.example', phone: '+12025550143', target_country: 'US' }, 'type'],
    [{ email: 7 }, 'email'],
    [{ email: 'a@b.example', target_country: 'XX' }, 'target_country'],
    [{ email: 'a@b.example', max_account_cache_backoff: 0 }, 'max_account_cache_backoff'],
  ])('refuses %j, naming %s', async (body, field) => {
    const { wire } = await withService();
    const answer = await unit(wire, body);
    expect(answer.status).toBe(422);
    expect(answer.json.errors).toMatchObject([{ field }]);
  });

  it('refuses what is no JSON with 400, and what is no object with 422', async () => {
    const { wire } = await withService();
    const raw = await wire.send('POST', '/v1/unit', { body: '{"email":' });
    expect([raw.status, raw.json]).toEqual([400, { message: 'the body is not JSON' }]);
    expect((await unit(wire, ['a@b.example'])).status).toBe(422);
    expect((await unit(wire, null)).status).toBe(422);
  });
});

async function format(wire: Wire, fields: Record<string, string>, content: string) {
  return wire.send('POST', '/v1/format', {
    ...multipart(fields, Buffer.from(content)),
    key: null,
  });
}

describe('normalizing formats', () => {
  it('writes phones in E.164, and needs no key', async () => {
    const { wire } = await withService();
    const fields = { type: 'phone', target_country: 'DE' };
    const answer = await format(wire, fields, '030 123456\n+1 (202) 555-0143\nkeine Angabe\n');
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        status: 'ok',
        type: 'phone',
        target_country: 'DE',
        results: [
          { input: '030 123456', formatted: '+4930123456' },
          { input: '+1 (202) 555-0143', formatted: '+12025550143' },
          { input: 'keine Angabe', formatted: null },
        ],
        formatted: 2,
        failed: 1,
      },
    ]);
  });

  it('writes emails with their domain in lower case, and leaves local parts alone', async () => {
    const { wire } = await withService();
    const fields = { type: 'email', target_country: 'US' };
    const answer = await format(wire, fields, ' Ana.Ruiz@FjordWool.COM \nana@@x.com\n');
    expect(answer.json.results).toEqual([
      { input: 'Ana.Ruiz@FjordWool.COM', formatted: 'Ana.Ruiz@fjordwool.com' },
      { input: 'ana@@x.com', formatted: null },
    ]);
  });

  it('refuses fields and files as the upload does', async () => {
    const { wire } = await withService();
    expect((await format(wire, { type: 'email' }, 'a')).status).toBe(422);
    const comma = await format(wire, { type: 'email', target_country: 'US' }, 'a,b');
    expect(comma.json.status).toBe('parse_error');
    expect((await format(wire, { type: 'email', target_country: 'US' }, '')).json.results).toEqual(
      [],
    );
  });
});
