import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  networkEngine,
  parsePhoneProvider,
  type NetworkEngineOptions,
  type PhoneLookup,
} from '../../../src/service/index.js';
import { loadOperators } from '../../../src/live/phones/phone-verifier.js';
import { withService } from '../../service/with-service.js';
import { listen } from '../../client/test-server.js';

const { signal } = new AbortController();
const base: NetworkEngineOptions = {
  heloName: 'verify.sluice-lab.net',
  resolvers: ['127.0.0.1:1'],
};
const german = '+4915112345678';

async function judge(options: Partial<NetworkEngineOptions>, ...phones: string[]) {
  const engine = await networkEngine({ ...base, ...options });
  onTestFinished(() => engine.close?.());
  return engine.verifyPhones(phones, 'DE', signal);
}

describe('phones without a provider', () => {
  it('are judged by their plan, and their status is unknown', async () => {
    const [plain, national, wrong, none, asked] = await judge(
      {},
      german,
      '01511 2345678',
      '+4910',
      'call me',
      '+999004123456',
    );
    expect(plain).toMatchObject({
      valid: true,
      type: 'mobile',
      status: 'unknown',
      is_ported: false,
      current_network_mcc: null,
      operator: null,
    });
    expect(national).toEqual(plain);
    expect(wrong).toMatchObject({ wrong: true });
    expect(none).toMatchObject({ wrong: true, is_syntax_error: true });
    expect(asked).toMatchObject({ is_ported: true, operator: 'Sluice Test Two' });
  });
});

describe('the table of operators', () => {
  it('names a network, in either way of writing its code', async () => {
    const name = await loadOperators();
    expect(name('262', '01')).toEqual({ mcc: '262', mnc: '01', operator: 'Telekom' });
    expect(name('262', '001')).toMatchObject({ mnc: '01', operator: 'Telekom' });
    expect(name('999', '98').operator).toBeUndefined();
  });

  it('names the operator of the country that the number is of', async () => {
    const name = await loadOperators();
    expect(name('310', '410', 'US')).toMatchObject({ mnc: '410', operator: 'AT&T' });
    expect(name('310', '410', 'VI').operator).toBe('Liberty');
    expect(name('505', '01', 'CX').operator).toBe('Telstra');
    const lookup: PhoneLookup = { lookUp: async () => ({ mcc: '310', mnc: '410' }) };
    const [american, islander] = await judge(
      { phoneLookups: [lookup] },
      '+12025550123',
      '+13406421234',
    );
    expect(american).toMatchObject({ operator: 'AT&T' });
    expect(islander).toMatchObject({ operator: 'Liberty' });
  });

  it('takes the latest row in use of a code that was given out again', async () => {
    const row = { mcc: '432', mnc: '93', brand: null, countryCode: 'IR' };
    const name = await loadOperators(async () => ({
      all: () => [
        { ...row, operator: 'First', status: 'Operational' },
        { ...row, operator: 'Second', status: 'Operational' },
        { ...row, operator: 'Third', status: 'Not operational' },
        { ...row, operator: 'Elsewhere', status: 'Operational', countryCode: 'AF' },
      ],
    }));
    expect(name('432', '93', 'IR').operator).toBe('Second');
    expect(name('432', '93', 'AF').operator).toBe('Elsewhere');
  });

  it('is asked for by its install command where it is missing', async () => {
    const missing = Object.assign(new Error('x'), { code: 'ERR_MODULE_NOT_FOUND' });
    await expect(loadOperators(async () => Promise.reject(missing))).rejects.toThrow(
      /npm install mcc-mnc-list/,
    );
  });
});

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

async function provider(reply: Reply) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    reply(request, response);
  });
  return { url: `${await listen(server)}/v2/{digits}?full={number}`, requests };
}

const description = (url: string, more: object = {}) =>
  JSON.stringify({
    url,
    headers: { Authorization: 'env:LOOKUP_TOKEN', 'X-Plain': 'yes' },
    fields: {
      status: 'result.0.live',
      ported: 'result.0.ported',
      mcc: 'result.0.network.mcc',
      mnc: 'result.0.network.mnc',
      operator: 'result.0.network.name',
    },
    words: { DELIVERED: 'active', UNKNOWN_SUBSCRIBER: 'invalid' },
    ...more,
  });
const environment = { LOOKUP_TOKEN: 'Bearer abc' };

async function judgeByProvider(reply: Reply, more: object = {}) {
  const { url, requests } = await provider(reply);
  const phoneProvider = parsePhoneProvider(description(url, more), environment);
  const clock = { now: () => 0, wallNow: () => 0, sleep: async () => undefined };
  const [verdict] = await judge({ phoneProvider, clock }, german);
  return { verdict, requests };
}

const unknown = { valid: true, status: 'unknown', operator: null };

const json =
  (body: unknown, status = 200): Reply =>
  (_request, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };

describe('a provider over HTTP', () => {
  it('is asked with its headers, and its answer is read where it stands', async () => {
    const { verdict, requests } = await judgeByProvider(
      json({
        result: [
          { live: 'DELIVERED', ported: 'yes', network: { mcc: 262, mnc: '02', name: 'Vodafone' } },
        ],
      }),
    );
    expect(verdict).toMatchObject({
      valid: true,
      type: 'mobile',
      status: 'active',
      is_ported: true,
      current_network_mcc: '262',
      current_network_mnc: '02',
      operator: 'Vodafone',
    });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.url).toBe('/v2/4915112345678?full=%2B4915112345678');
    expect(requests[0]?.headers).toMatchObject({ authorization: 'Bearer abc', 'x-plain': 'yes' });
  });

  it('makes a number wrong that nobody has', async () => {
    const { verdict } = await judgeByProvider(json({ result: [{ live: 'UNKNOWN_SUBSCRIBER' }] }));
    expect(verdict).toMatchObject({ valid: false, wrong: true, status: 'invalid' });
  });

  it.each<[string, Reply, number]>([
    ['does not know the number', json({}, 404), 1],
    ['answers with something else', json({ other: 1 }), 1],
    ['answers with fields of other kinds', json({ result: [{ live: {}, ported: [] }] }), 1],
    ['refuses the key', json({}, 401), 1],
    ['is busy', json({}, 429), 3],
    ['fails', json({}, 500), 3],
    ['redirects', (_request, response) => response.writeHead(302, { Location: '/x' }).end(), 1],
    ['sends no JSON', (_request, response) => response.end('<html>'), 1],
    ['sends too much', (_request, response) => response.end('['.repeat(1_000_000)), 1],
    ['hangs up', (request) => request.socket.destroy(), 1],
  ])('that %s leaves the number as its plan has it', async (_what, reply, times) => {
    const { verdict, requests } = await judgeByProvider(reply);
    expect(verdict).toMatchObject(unknown);
    expect(requests).toHaveLength(times);
  });

  it('that says nothing leaves the number as its plan has it', async () => {
    const { verdict } = await judgeByProvider(() => undefined, { timeoutMs: 300 });
    expect(verdict).toMatchObject(unknown);
  });

  it.each<[string, string, object]>([
    ['no JSON', '{', { fault: 'not_json' }],
    ['another URL', description('https://a.lab/{}'), { option: 'url', fault: 'missing' }],
    ['plain HTTP', description('http://a.lab/{number}'), { option: 'url', fault: 'unsupported' }],
    ['no URL', description('{number}'), { option: 'url', fault: 'other_format' }],
    [
      'a field that there is not',
      description('https://a.lab/{number}', { fields: { x: 'a' } }),
      { option: 'fields' },
    ],
    [
      'an empty environment',
      description('https://a.lab/{number}'),
      { fault: 'missing', message: expect.stringContaining('LOOKUP_TOKEN') },
    ],
  ])('is refused for %s', (_what, file, fields) => {
    const refused = expect.objectContaining({ code: 'invalid_option', ...fields }) as Error;
    expect(() => parsePhoneProvider(file, {})).toThrow(refused);
  });

  it('serves a batch, no more at once than it may', async () => {
    let atOnce = 0;
    let most = 0;
    const { url, requests } = await provider((_request, response) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      setImmediate(() => {
        atOnce -= 1;
        response.end(JSON.stringify({ result: [{ live: 'DELIVERED' }] }));
      });
    });
    const phoneProvider = parsePhoneProvider(description(url), environment);
    const engine = networkEngine({ ...base, phoneProvider, phoneConcurrency: 4 });
    const { wire } = await withService({ engine });
    const lines = Array.from({ length: 60 }, (_, at) => `+49151123456${10 + at}`);
    const { batch_uuid } = await wire.verify([...lines, '+4910'], {
      type: 'phone',
      target_country: 'DE',
    });
    const exported = Object.values(await wire.records(batch_uuid));
    expect(exported.filter((record) => record['status'] === 'active')).toHaveLength(60);
    expect(requests).toHaveLength(60);
    expect(most).toBeLessThanOrEqual(4);
  });
});

describe('lookups of one’s own', () => {
  it('are asked in order, for what is still missing', async () => {
    const asked: string[] = [];
    const lookup = (name: string, facts: Awaited<ReturnType<PhoneLookup['lookUp']>>) => ({
      lookUp: async () => {
        asked.push(name);
        return facts;
      },
    });
    const [verdict] = await judge(
      {
        phoneLookups: [
          { lookUp: async () => Promise.reject(new Error('down')) },
          lookup('first', { status: 'active', isPorted: false }),
          lookup('second', { status: 'inactive', mcc: '262', mnc: '03' }),
          lookup('third', { operator: 'Nobody' }),
        ],
      },
      german,
    );
    expect(asked).toEqual(['first', 'second']);
    expect(verdict).toMatchObject({ status: 'active', current_network_mnc: '03', operator: 'O2' });
  });
});
