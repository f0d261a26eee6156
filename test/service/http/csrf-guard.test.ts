import { describe, expect, it } from 'vitest';
import { operations, type Operation } from '../../../src/contract/operations.js';
import { withService } from '../with-service.js';
import { multipart, type Answer, type Wire } from '../wire.js';

const uuid = '3f2b8c1e-7a44-4f0e-9a51-0d6f1f0c9b77';
const form = multipart({ type: 'email', target_country: 'US' }, Buffer.from('a@sluice.test\n'));

/** Every path that there is, one that is not, and whether a key is sent to it. */
const paths = [
  ...Object.values<Operation>(operations).map(({ method, path, keyed }) => ({
    method,
    path: path.replace('{batch_uuid}', uuid),
    keyed,
  })),
  ...['/_local/ledger', '/_local/faults'].map((path) => ({
    method: 'GET' as const,
    path,
    keyed: true,
  })),
  ...['/', '/openapi.json', '/nowhere'].map((path) => ({
    method: 'GET' as const,
    path,
    keyed: false,
  })),
];

async function ask(
  wire: Wire,
  { method, path, keyed }: (typeof paths)[number],
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  return wire.send(method, path, { headers, ...(keyed ? {} : { key: null }) });
}

/** Normalizes an address, which needs no key. */
async function format(wire: Wire, headers: Readonly<Record<string, string>>): Promise<Answer> {
  return wire.send('POST', '/v1/format', {
    body: form.body,
    headers: { ...form.headers, ...headers },
    key: null,
  });
}

describe('a web page of another origin', () => {
  it.each(paths)('is refused: $method $path', async (path) => {
    const { wire } = await withService();
    for (const headers of [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: 'not an origin' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ]) {
      const { status, json } = await ask(wire, path, headers);
      expect([status, json.message]).toEqual([
        403,
        'Forbidden: a web page of another origin may not ask this service',
      ]);
    }
  });

  it('is refused when it stands on another port of this machine, or names itself as a proxy would', async () => {
    const { wire, service } = await withService();
    const { hostname, port } = new URL(service.baseUrl);
    const other = `http://${hostname}:${port === '1' ? '2' : '1'}`;
    expect((await format(wire, { Origin: other })).status).toBe(403);
    expect((await format(wire, { Origin: `${service.baseUrl}.evil.example` })).status).toBe(403);
    const forged = { Origin: 'http://evil.example', 'X-Forwarded-Host': 'good.example' };
    expect((await format(wire, forged)).status).toBe(403);
  });

  it('may hold a link that a person follows, and learns nothing from it', async () => {
    const { wire } = await withService();
    const followed = {
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'navigate',
      'Sec-Fetch-Dest': 'document',
    };
    expect((await wire.get('/', { key: null, headers: followed })).status).toBe(200);
    const framed = { ...followed, 'Sec-Fetch-Dest': 'iframe' };
    expect((await wire.get('/', { key: null, headers: framed })).status).toBe(403);
    expect((await format(wire, followed)).status).toBe(403);
  });

  it('whose name points to this machine is refused on every path', async () => {
    const { wire } = await withService();
    for (const path of paths) {
      for (const host of ['evil.example', 'evil.example:8080', 'localhost.evil.example', '[::2]']) {
        for (const origin of [{}, { Origin: `http://${host}` }]) {
          const { status, json } = await wire.send(path.method, path.path, {
            headers: { Host: host, ...origin },
            key: path.keyed ? 'guessed' : null,
          });
          expect(status).toBe(403);
          expect(json.message).toMatch(/^Forbidden: the Host header names another machine/);
          expect(json.message).not.toContain('evil');
        }
      }
    }
  });
});

describe('who is no foreign page', () => {
  it.each(['localhost', 'LOCALHOST.', 'shop.localhost', '127.0.0.1', '127.9.9.9', '[::1]'])(
    'comes by a name of this machine, with or without its own origin: %s',
    async (name) => {
      const { wire } = await withService();
      const host = `${name}:8080`;
      expect((await format(wire, { Host: host })).status).toBe(200);
      expect((await format(wire, { Host: host, Origin: `http://${host}` })).status).toBe(200);
    },
  );

  it('comes by the name that the service was asked to listen on', async () => {
    const { wire } = await withService({ host: 'LocalHost' });
    expect((await format(wire, {})).status).toBe(200);
  });

  it('has a key, whatever it calls this machine', async () => {
    const { wire } = await withService();
    const answer = await wire.get('/v1/account/credits', { headers: { Host: 'lab.internal' } });
    expect(answer.status).toBe(200);
  });

  it.each([
    { 'X-Forwarded-For': '192.0.2.7' },
    { Forwarded: 'for=192.0.2.7' },
    { Via: '1.1 proxy' },
  ])('comes through a proxy that keeps the Host header: %j', async (forwarding) => {
    const { wire } = await withService();
    const host = { Host: 'verify.example.com', ...forwarding };
    expect((await format(wire, host)).status).toBe(200);
    const secure = { ...host, Origin: 'https://verify.example.com' };
    expect((await format(wire, secure)).status).toBe(200);
    expect((await format(wire, { ...host, Origin: 'https://evil.example' })).status).toBe(403);
  });

  it('comes through a proxy that says what the Host header was', async () => {
    const { wire } = await withService();
    const headers = { 'X-Forwarded-Host': 'a.example', Origin: 'https://a.example' };
    expect((await format(wire, headers)).status).toBe(200);
  });
});

describe('the file of /v1/format, which asks for no key', () => {
  it('is 1 MiB at most, however large uploads may be', async () => {
    const { wire } = await withService();
    const send = async (bytes: number) => {
      const sent = multipart(
        { type: 'email', target_country: 'US' },
        Buffer.alloc(bytes, 'good@sluice.test\n'),
      );
      return wire.send('POST', '/v1/format', { ...sent, key: null });
    };
    expect((await send(2 ** 20)).status).toBe(200);
    const over = await send(2 ** 20 + 1);
    expect([over.status, over.json.message]).toEqual([
      413,
      'the file is larger than 1048576 bytes',
    ]);
    // Refused by what it says of itself, before its bytes have come.
    expect((await send(2 ** 24)).status).toBe(413);
  });

  it('has the limit that is given', async () => {
    const { wire } = await withService({ maxFormatBytes: 10, maxFileSizeBytes: 1000 });
    expect((await format(wire, {})).status).toBe(413);
    expect((await wire.uploadAnswer(['good@sluice.test'])).status).toBe(200);
  });
});
