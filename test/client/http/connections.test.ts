import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import { Agent, MockAgent } from 'undici';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDispatcher } from '../../../src/client/http/connections.js';
import { ConfigurationError } from '../../../src/platform/errors/errors.js';
import { selfSigned } from './self-signed.js';
import { caught, createTestClient, uuid } from '../test-client.js';
import { listen, sendJson, startServer, type TestServer } from '../test-server.js';

const variables = [
  'https_proxy',
  'HTTPS_PROXY',
  'http_proxy',
  'HTTP_PROXY',
  'no_proxy',
  'NO_PROXY',
];

beforeEach(() => {
  for (const name of variables) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test('a mock that has no answer for a request is not asked again', async () => {
  const dispatcher = new MockAgent();
  dispatcher.disableNetConnect();
  const client = createTestClient('https://verify.example.com', { dispatcher });
  const path = '/v1/account/credits';
  const balance = { email_credit: 1, phone_credit: 2 };
  dispatcher.get('https://verify.example.com').intercept({ path }).reply(200, balance);
  expect(await client.credits()).toMatchObject(balance);
  expect(await caught(client.credits())).toMatchObject({ retryable: false });
  await dispatcher.close();
});

/** A proxy that leads its tunnels to servers or refuses them with a status, the last given for good. */
async function startProxy(...targets: (TestServer | number)[]): Promise<{
  readonly url: string;
  readonly asked: string[];
}> {
  const asked: string[] = [];
  const server: Server = createServer();
  server.on('connect', (request, client) => {
    asked.push(request.url ?? '');
    const target = targets[Math.min(asked.length, targets.length) - 1];
    if (target === undefined) throw new Error('the proxy was given no target');
    client.on('error', () => undefined);
    if (typeof target === 'number') {
      client.end(`HTTP/1.1 ${target} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(target.baseUrl);
    const upstream = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    onTestFinished(() => void upstream.destroy());
    onTestFinished(() => void client.destroy());
  });
  const url = await listen(server);
  return { url, asked };
}

async function startCredits(): Promise<TestServer> {
  return startServer((_, response) =>
    sendJson(response, 200, { email_credit: 1, phone_credit: 1, status: 'ok' }),
  );
}

const elsewhere = 'http://service.example/v';

describe('the proxy of the environment', () => {
  for (const name of ['HTTP_PROXY', 'http_proxy']) {
    test(`is asked to lead to the service (${name})`, async () => {
      const server = await startCredits();
      const proxy = await startProxy(server);
      vi.stubEnv(name, proxy.url);
      const client = createTestClient(elsewhere, { allowInsecureHttp: true });
      await client.credits();
      expect(proxy.asked).toEqual(['service.example:80']);
      expect(server.seen[0]?.url).toBe('/v/v1/account/credits');
      expect(server.seen[0]?.headers.host).toBe('service.example');
    });
  }

  test('is not asked for a service on this machine', async () => {
    const server = await startCredits();
    const proxy = await startProxy(server);
    vi.stubEnv('HTTP_PROXY', proxy.url);
    await createTestClient(server.baseUrl).credits();
    expect(proxy.asked).toEqual([]);
    expect(server.seen).toHaveLength(1);
  });

  test('is not asked where NO_PROXY names the service', async () => {
    const server = await startCredits();
    const proxy = await startProxy(server);
    vi.stubEnv('HTTP_PROXY', proxy.url);
    vi.stubEnv('NO_PROXY', 'example.com,127.0.0.1');
    const own = createDispatcher({ connectTimeoutMs: 10_000, isLoopback: false });
    onTestFinished(own.close);
    const { body } = await own.dispatcher.request({
      origin: server.baseUrl,
      path: '/',
      method: 'GET',
    });
    await body.dump();
    expect(proxy.asked).toEqual([]);
  });

  test('that refuses its own credentials is reported and not asked again', async () => {
    const proxy = await startProxy(407);
    vi.stubEnv('HTTP_PROXY', proxy.url);
    const client = createTestClient(elsewhere, { allowInsecureHttp: true });
    const error = await caught(client.launchBatch(uuid));
    expect(error).toMatchObject({ code: 'connection_failed', sent: 'no', retryable: false });
    expect(proxy.asked).toHaveLength(1);
  });

  test('that cannot reach the service is asked again', async () => {
    const proxy = await startProxy(502, 504, await startCredits());
    vi.stubEnv('HTTP_PROXY', proxy.url);
    const client = createTestClient(elsewhere, { allowInsecureHttp: true });
    expect(await client.launchBatch(uuid)).toMatchObject({ status: 'ok' });
    expect(proxy.asked).toHaveLength(3);
  });

  test('is not printed when it is no URL, as it may hold a password', () => {
    vi.stubEnv('HTTPS_PROXY', 'http://me:secret@:::');
    const options = { connectTimeoutMs: 1, isLoopback: false };
    expect(() => createDispatcher(options)).toThrow(ConfigurationError);
    expect(() => createDispatcher(options)).not.toThrow(/secret/);
  });
});

describe('a certificate', () => {
  async function startTls(): Promise<{
    readonly baseUrl: string;
    readonly accepted: () => number;
  }> {
    let accepted = 0;
    const server = createTlsServer({ ...selfSigned }, (_, response) =>
      sendJson(response, 200, { status: 'ok' }),
    );
    server.on('connection', () => (accepted += 1));
    server.on('tlsClientError', () => undefined);
    const baseUrl = await listen(server);
    return { baseUrl: baseUrl.replace('http:', 'https:'), accepted: () => accepted };
  }

  test('that is not trusted is reported and the service not asked again', async () => {
    const server = await startTls();
    const error = await caught(createTestClient(server.baseUrl).launchBatch(uuid));
    expect(error).toMatchObject({
      code: 'connection_failed',
      sent: 'no',
      retryable: false,
      reason: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string,
      cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    });
    expect(server.accepted()).toBe(1);
  });

  test('of one’s own is trusted by a dispatcher of one’s own', async () => {
    const server = await startTls();
    const dispatcher = new Agent({ connect: { ca: selfSigned.cert } });
    onTestFinished(async () => dispatcher.destroy());
    const client = createTestClient(server.baseUrl, { dispatcher });
    expect(await client.launchBatch(uuid)).toEqual({ status: 'ok' });
  });

  test('cannot be had from a service that speaks no TLS', async () => {
    const server = await startCredits();
    const client = createTestClient(server.baseUrl.replace('http:', 'https:'));
    const error = await caught(client.launchBatch(uuid));
    expect(error).toMatchObject({ code: 'connection_failed', sent: 'no', retryable: false });
    // OpenSSL's message has an address in memory, and a line of its source.
    expect(error).toMatchObject({ message: expect.not.stringContaining('openssl') as unknown });
    expect(server.seen).toHaveLength(0);
  });
});
