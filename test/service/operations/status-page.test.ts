import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { pageAccounts, guardAgainstCsrf } from '../../../src/service/http/access.js';
import { withService } from '../with-service.js';

const accounts = [account('a', 'key-a'), account('b', 'key-b')];

function account(name: string, key: string) {
  const keySha256 = createHash('sha256').update(key).digest('hex');
  const credits = { email: 0, phone: 0 };
  return { name, keySha256, granted: credits, spent: credits, isSuspended: false };
}

/** The names of the accounts that a request sees, or the status that refuses it. */
function seen(
  host: string | undefined,
  from: string,
  { to = from, ...headers }: Readonly<Record<string, string>> = {},
): unknown {
  const request = {
    headers: { host, ...headers },
    socket: { localAddress: to, remoteAddress: from },
  };
  try {
    guardAgainstCsrf(request as unknown as IncomingMessage, '127.0.0.1', () => false);
    return pageAccounts(request as unknown as IncomingMessage, accounts).map(({ name }) => name);
  } catch (error) {
    return (error as { readonly status: number }).status;
  }
}

function basic(password: string): Readonly<Record<string, string>> {
  return { authorization: `Basic ${Buffer.from(`anybody:${password}`).toString('base64')}` };
}

describe('the status page', () => {
  it('shows balances, batches and requests, with every text escaped', async () => {
    const evil = '<script>alert("x")</script>';
    const { wire } = await withService({ emailCredits: 12_345, phoneCredits: 7 });
    await wire.verify(['good@sluice.test', 'bad@sluice.test', 'GOOD@sluice.test'], { name: evil });
    await wire.get(`/${encodeURIComponent(evil)}`);
    const page = await wire.get('/', { key: null });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('12,343');
    expect(page.text).toMatch(/\b1 valid, 1 wrong, 0 unknown\D*2\b/);
    expect(page.text).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
    expect(page.text).not.toContain('<script');
    expect(page.text).toContain('GET (unknown path)');
    // No address, and no key.
    expect(page.text).not.toContain('sluice.test');
    expect(page.text).not.toContain('sluice_');
  });

  it('groups the batches of a run, says how far it is, and shows apart what waits', async () => {
    const { wire } = await withService();
    const run = 'crm-night-0011223344556677';
    await wire.verify(['good@sluice.test'], { name: `${run}-000001-1` });
    await wire.prepare(await wire.upload(['good2@sluice.test'], { name: `${run}-000002-1` }));
    await wire.upload(['good3@sluice.test'], { name: 'by hand' });
    const { text } = await wire.get('/', { key: null });
    const plain = text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(plain).toContain('crm-night: 1 of 2 done run 0011223344556677');
    expect(plain.match(/ of \d+ done/g)).toHaveLength(1);
    expect(plain).toContain('Type, country');
    expect(text).toContain('<span class="status good">verification_done</span>');
    expect(text).toContain('<span class="status waiting">ready_for_verification</span>');
  });

  it('does not show that it was looked at, which would push out all else', async () => {
    const { wire } = await withService();
    await wire.get('/v1/account/credits');
    for (let look = 0; look < 3; look += 1) await wire.get('/', { key: null });
    const { text } = await wire.get('/', { key: null });
    expect(text).toMatch(/\b1 of 1\b/);
    expect(text).toContain('GET /v1/account/credits');
  });

  it('has a blank for each character of a name that steers, or turns the order of letters', async () => {
    const { wire } = await withService();
    await wire.upload(['good@sluice.test'], { name: 'list\u202egnp.exe\u2066\u009b2Jend' });
    const page = await wire.get('/', { key: null });
    expect(page.text).toContain('list\\u202egnp.exe\\u2066\\u009b2Jend');
    expect(page.text).not.toMatch(/[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/);
  });

  it('may load nothing but its own style', async () => {
    const { wire } = await withService();
    const page = await wire.get('/');
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(page.text) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page.headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(page.headers['cache-control']).toBe('no-store');
  });

  it('asks whoever comes by another name to go', async () => {
    const { wire } = await withService();
    const rebound = await wire.get('/', { key: null, headers: { Host: 'evil.example' } });
    expect([rebound.status, rebound.json.message]).toEqual([
      403,
      expect.stringMatching(/^Forbidden: the Host header names another machine/),
    ]);
  });

  it.each([
    ['localhost:8080', '127.0.0.1', ['a', 'b']],
    ['LOCALHOST', '127.0.0.1', ['a', 'b']],
    ['127.0.0.1:80', '::ffff:127.0.0.1', ['a', 'b']],
    ['[::1]:8080', '::1', ['a', 'b']],
    ['127.9.9.9', '127.9.9.9', ['a', 'b']],
    ['evil.example:8080', '127.0.0.1', 403],
    ['127.0.0.1.evil.example', '127.0.0.1', 403],
    ['localhost.evil.example', '127.0.0.1', 403],
    ['localhost/', '127.0.0.1', 403],
    ['a@localhost', '127.0.0.1', 403],
    ['', '127.0.0.1', 403],
    [undefined, '127.0.0.1', 403],
    ['localhost:8080', '192.0.2.7', 401],
    ['192.0.2.1:8080', '192.0.2.7', 401],
    ['[2001:db8::1]', '2001:db8::7', 401],
  ])('Host %s from %s: %j', (host, from, outcome) => {
    expect(seen(host, from)).toEqual(outcome);
  });

  it('needs the key of an account from elsewhere, and shows that account alone', () => {
    const host = '192.0.2.1';
    const from = '192.0.2.7';
    expect(seen(host, from, basic('key-b'))).toEqual(['b']);
    expect(seen(host, from, { 'x-api-key': 'key-a' })).toEqual(['a']);
    expect(seen(host, from, basic('key-c'))).toBe(401);
    expect(seen(host, from, { authorization: 'Basic %%%' })).toBe(401);
    expect(seen(host, from, { authorization: 'Bearer key-a' })).toBe(401);
    // A tunnel that ends on loopback, and one that begins there.
    expect(seen('localhost', '127.0.0.1', { to: '192.0.2.1' })).toBe(401);
  });

  it.each([
    ['Forwarded', 'for=192.0.2.7'],
    ['X-Forwarded-For', '192.0.2.7'],
    ['X-Forwarded-Host', 'localhost'],
    ['X-Forwarded-Proto', 'https'],
    ['X-Real-IP', '127.0.0.1'],
    ['Via', '1.1 proxy'],
    ['CF-Connecting-IP', '192.0.2.7'],
  ])('asks for the key behind a proxy, which is seen by %s', async (name, value) => {
    const { wire, service } = await withService();
    const refused = await wire.get('/', { key: null, headers: { [name]: value } });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      'Basic realm="Sluice", charset="UTF-8"',
    ]);
    const headers = { [name]: value, ...basic(service.apiKey) };
    expect((await wire.get('/', { key: null, headers })).status).toBe(200);
    expect((await wire.get('/', { key: null })).status).toBe(200);
  });

  it('asks a browser for the key', async () => {
    const { wire } = await withService();
    const refused = await wire.get('/', { key: 'wrong' });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      'Basic realm="Sluice", charset="UTF-8"',
    ]);
  });
});
