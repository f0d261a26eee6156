import { describe, expect, it } from 'vitest';
import { errorBody } from '../../../src/contract/bodies.js';
import { operations, type Operation } from '../../../src/contract/operations.js';
import { ServiceClock, withService } from '../with-service.js';
import { multipart, Wire, type Sent } from '../wire.js';

const parameters = JSON.stringify({ type: 'email', target_country: 'US' });
const form = multipart(
  { name: 'n', type: 'email', target_country: 'US' },
  Buffer.from('good@sluice.test\n'),
);

/** A request that each operation would take. */
function requestOf({ method, path, request, query }: Operation, uuid: string) {
  const sent: Sent =
    request.kind === 'multipart' ? form : request.kind === 'json' ? { body: parameters } : {};
  const target = path.replace('{batch_uuid}', uuid) + (query ? '?format=json' : '');
  return { method, target, sent };
}

const keyedOperations = Object.entries<Operation>(operations).filter(([, { keyed }]) => keyed);
const batchOperations = keyedOperations.filter(([, { path }]) => path.includes('{batch_uuid}'));
const nowhere = '3f2b8c1e-7a44-4f0e-9a51-0d6f1f0c9b77';

describe('keys', () => {
  it.each(keyedOperations)('are needed for %s', async (_name, operation) => {
    const { wire } = await withService({ apiKey: 'right' });
    const { method, target, sent } = requestOf(operation, nowhere);
    for (const key of [null, '', 'wrong', 'righ', 'rightt', 'Right']) {
      const answer = await wire.send(method, target, { ...sent, key });
      expect(answer.status).toBe(401);
      expect(errorBody.parse(answer.json)).toEqual({ message: 'Unauthorized' });
    }
    const right = await wire.send(method, target, sent);
    expect(right.status).not.toBe(401);
  });

  it('are needed for what is local too', async () => {
    const { wire } = await withService();
    expect((await wire.get('/_local/ledger', { key: null })).status).toBe(401);
    expect((await wire.get('/_local/ledger')).list).toEqual([]);
  });

  it('are revoked and replaced while serving', async () => {
    const { service, wire } = await withService({
      accounts: [
        { name: 'a', key: 'a1' },
        { name: 'b', key: 'b1' },
      ],
    });
    const credits = async (key: string) => (await wire.get('/v1/account/credits', { key })).status;
    await service.setAccounts([{ name: 'a', key: 'a2' }]);
    expect([await credits('a1'), await credits('a2'), await credits('b1')]).toEqual([
      401, 200, 401,
    ]);
    await service.setAccounts([{ name: 'b', key: 'b2' }]);
    expect([await credits('a2'), await credits('b2')]).toEqual([401, 200]);
  });

  it.each(keyedOperations)('of a suspended account are forbidden: %s', async (_name, operation) => {
    const { service, wire } = await withService({
      accounts: [{ name: 'a', key: 'a', suspended: true }],
    });
    const { method, target, sent } = requestOf(operation, nowhere);
    const answer = await wire.send(method, target, { ...sent, key: 'a' });
    expect([answer.status, answer.json]).toEqual([403, { message: 'Forbidden' }]);
    await service.setAccounts([{ name: 'a', key: 'a' }]);
    expect((await wire.send(method, target, { ...sent, key: 'a' })).status).not.toBe(403);
  });

  it('may be given as their hash', async () => {
    const { wire } = await withService({
      accounts: [
        {
          name: 'a',
          keySha256: '2BB80D537B1DA3E38BD30361AA855686BDE0EACD7162FEF6A25FE97BF527A25B',
        },
      ],
    });
    expect((await wire.get('/v1/account/credits', { key: 'secret' })).status).toBe(200);
  });
});

describe('accounts', () => {
  it.each(batchOperations)(
    'have nothing to do with the batches of others: %s',
    async (_, operation) => {
      const { service } = await withService({
        accounts: [
          { name: 'a', key: 'a' },
          { name: 'b', key: 'b' },
        ],
      });
      const a = new Wire({ baseUrl: service.baseUrl, apiKey: 'a' });
      const { batch_uuid } = await a.verify(['good@sluice.test']);
      const { method, target, sent } = requestOf(operation, batch_uuid);
      const foreign = await a.send(method, target, { ...sent, key: 'b' });
      const missing = requestOf(operation, nowhere);
      const none = await a.send(missing.method, missing.target, missing.sent);
      expect([foreign.status, foreign.text]).toEqual([404, none.text]);
      expect(none.status).toBe(404);
      expect((await a.get('/v1/batch', { key: 'b' })).list).toEqual([]);
      expect((await a.get('/_local/ledger', { key: 'b' })).list).toEqual([]);
      expect((await a.get('/v1/batch')).list).toHaveLength(1);
    },
  );
});

describe('paths', () => {
  it.each(batchOperations)('with a malformed uuid are refused: %s', async (_name, operation) => {
    const { wire } = await withService();
    for (const uuid of ['x', `${nowhere}0`, '..%2f..', '%00', nowhere.replaceAll('-', '')]) {
      const { method, target, sent } = requestOf(operation, uuid);
      const answer = await wire.send(method, target, sent);
      expect([answer.status, answer.json.errors]).toEqual([
        422,
        [{ field: 'batch_uuid', message: 'is not a uuid' }],
      ]);
    }
  });

  it.each(['/v1', '/v1/batch/', '/v1/batch//export', '/v2/batch', '/V1/batch', '//v1/batch'])(
    'that are unknown are 404: %s',
    async (path) => {
      const { wire } = await withService();
      const answer = await wire.get(path);
      expect([answer.status, answer.json]).toEqual([404, { message: 'Not Found' }]);
    },
  );

  it('name the methods they have when asked by another', async () => {
    const { wire } = await withService();
    const answer = await wire.send('OPTIONS', `/v1/batch/${nowhere}`);
    expect([answer.status, answer.headers['allow']]).toEqual([
      405,
      'GET, PUT, PATCH, POST, DELETE',
    ]);
    expect((await wire.send('DELETE', '/v1/unit')).headers['allow']).toBe('POST');
  });

  it('are not reflected, nor is anything else that was sent', async () => {
    const { wire } = await withService();
    const evil = '<script>alert(1)</script>';
    for (const answer of [
      await wire.get(`/${encodeURIComponent(evil)}`),
      await wire.get(`/v1/batch?limit=${encodeURIComponent(evil)}`),
      await wire.get(`/v1/batch/${encodeURIComponent(evil)}`),
      await wire.uploadAnswer(['a'], { type: evil }),
      await wire.send('POST', '/v1/unit', { body: JSON.stringify({ email: 1, [evil]: evil }) }),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(404);
      expect(answer.text).not.toContain('script');
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
    }
  });
});

describe('the rate', () => {
  it('is a bucket for each key, that says when to come again', async () => {
    const clock = new ServiceClock();
    const { service, wire } = await withService({ rate: 3, clock });
    const credits = async () => wire.get('/v1/account/credits');
    expect((await credits()).headers).toMatchObject({
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '2',
    });
    await credits();
    await credits();
    const over = await credits();
    expect([over.status, over.headers['retry-after'], over.json.message]).toEqual([
      429,
      '20',
      'Too Many Requests',
    ]);
    await clock.advance(19_000);
    expect((await credits()).headers['retry-after']).toBe('1');
    await clock.advance(1000);
    expect((await credits()).status).toBe(200);
    expect((await credits()).status).toBe(429);
    expect((await wire.get('/_local/ledger')).status).toBe(200);
    await service.setAccounts([
      { name: 'default', key: service.apiKey },
      { name: 'other', key: 'other' },
    ]);
    expect((await wire.get('/v1/account/credits', { key: 'other' })).status).toBe(200);
  });

  it('is not there unless it is asked for', async () => {
    const { wire } = await withService();
    expect((await wire.get('/v1/account/credits')).headers['x-ratelimit-limit']).toBeUndefined();
  });
});
