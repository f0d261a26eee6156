import { readdir } from 'node:fs/promises';
import { request as openRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withFolder, withService } from '../with-service.js';
import { multipart } from '../wire.js';

/** Sends bytes as they are, and gives what comes back until the connection ends. */
async function raw(baseUrl: string, parts: readonly (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  for (const part of parts) socket.write(part);
  await new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
    socket.on('error', () => resolve());
  });
  return received;
}

describe('bounds', () => {
  it('answers 413 for a file that is larger than allowed, and takes one that is not', async () => {
    const { wire } = await withService({ maxFileSizeBytes: 1000 });
    const lines = (bytes: number) => Buffer.alloc(bytes, 'good@sluice.test\n');
    expect((await wire.uploadAnswer(lines(1000))).status).toBe(200);
    const over = await wire.uploadAnswer(lines(1001));
    expect([over.status, over.json.message]).toEqual([413, 'the file is larger than 1000 bytes']);
    expect((await wire.uploadAnswer(lines(8_000_000))).status).toBe(413);
    expect((await wire.get('/v1/batch')).list).toHaveLength(1);
  });

  it('keeps nothing of an upload that it refused', async () => {
    const dataDir = await withFolder();
    const { wire } = await withService({ dataDir, maxFileSizeBytes: 1000 });
    await wire.uploadAnswer(Buffer.alloc(2000, 'a'));
    await wire.uploadAnswer(['a,b']);
    await wire.uploadAnswer(['a'], { type: 'fax' });
    expect(await readdir(join(dataDir, 'arriving'))).toEqual([]);
    expect(await readdir(join(dataDir, 'batches'))).toEqual([]);
  });

  it('answers 413 for a JSON body that no operation needs', async () => {
    const { wire } = await withService();
    const answer = await wire.send('POST', '/v1/unit', { body: `"${'x'.repeat(70_000)}"` });
    expect(answer.status).toBe(413);
    expect((await wire.get('/v1/batch')).status).toBe(200);
  });

  it.each([
    ['another type', 'application/json', '{}'],
    ['no boundary', 'multipart/form-data', 'x'],
    ['an endless boundary', `multipart/form-data; boundary=${'b'.repeat(300)}`, 'x'],
    ['no part', 'multipart/form-data; boundary=b', 'nothing here'],
    [
      'a part cut short',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nabc',
    ],
    ['nothing', 'multipart/form-data; boundary=b', ''],
    ['only an end', 'multipart/form-data; boundary=b', '--b--\r\n'],
  ])('refuses an upload with %s', async (_what, type, body) => {
    const { wire } = await withService();
    const answer = await wire.send('POST', '/v1/batch', {
      body,
      headers: { 'Content-Type': type },
    });
    expect([400, 422]).toContain(answer.status);
    expect((await wire.get('/v1/batch')).list).toEqual([]);
  });

  it('refuses forms of too many or too long fields', async () => {
    const { wire } = await withService();
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, 'x']));
    expect((await wire.uploadAnswer(['a'], many)).status).toBe(400);
    expect((await wire.uploadAnswer(['a'], { extra: 'x'.repeat(20_000) })).status).toBe(422);
  });

  it('takes the fields after the file as well as before it', async () => {
    const { wire } = await withService();
    const file = multipart({}, Buffer.from('good@sluice.test\n'));
    const fields = multipart({ name: 'n', type: 'email', target_country: 'US' });
    const end = file.body.lastIndexOf('--', file.body.length - 5);
    const opening = file.body.lastIndexOf('\r\n', end - 1) + 2;
    const body = Buffer.concat([file.body.subarray(0, opening), fields.body]);
    const answer = await wire.send('POST', '/v1/batch', { body, headers: fields.headers });
    expect([answer.status, answer.json.status]).toEqual([200, 'ok']);
  });

  it('cuts off a client that sends too slowly, and serves others meanwhile', async () => {
    const { wire, service } = await withService({ requestTimeoutMs: 2000 });
    const head =
      `POST /v1/batch HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${service.apiKey}\r\n` +
      'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n';
    const slow = raw(service.baseUrl, [head, '--b\r\n']);
    const headless = raw(service.baseUrl, ['GET /v1/batch HTTP/1.1\r\nHost:']);
    expect((await wire.get('/v1/batch')).status).toBe(200);
    expect(await slow).toMatch(/^HTTP\/1\.1 408|^$/);
    expect(await headless).toMatch(/^HTTP\/1\.1 408|^$/);
  });

  it.each([
    [
      'two files at once',
      [
        '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\na\r\n',
        '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nb\r\n--b--\r\n',
      ].join(''),
      422,
    ],
    [
      'parts without names',
      `${'--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n'.repeat(2)}--b--\r\n`,
      400,
    ],
  ])('answers a form with %s, and goes on', async (_what, body, status) => {
    const { wire } = await withService();
    for (const path of ['/v1/batch', '/v1/format']) {
      const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
      expect((await wire.send('POST', path, { body, headers })).status).toBe(status);
    }
    expect((await wire.get('/v1/batch')).status).toBe(200);
  });

  it('refuses endless headers', async () => {
    const { service } = await withService();
    const answer = await raw(service.baseUrl, [
      `GET /v1/batch HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 431/);
  });

  it('forgets an upload whose client leaves in the middle', async () => {
    const dataDir = await withFolder();
    const { wire, service } = await withService({ dataDir });
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    const { body, headers } = multipart(
      { name: 'n', type: 'email', target_country: 'US' },
      Buffer.alloc(1_000_000, 'good@sluice.test\n'),
    );
    socket.write(
      `POST /v1/batch HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${service.apiKey}\r\n` +
        `Content-Type: ${headers['Content-Type']}\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body.subarray(0, 500_000));
    while ((await readdir(join(dataDir, 'arriving'))).length === 0);
    socket.destroy();
    while ((await readdir(join(dataDir, 'arriving'))).length > 0);
    expect((await wire.get('/v1/batch')).list).toEqual([]);
  });

  it('asks for the body only where it will read it', async () => {
    const { service } = await withService();
    const { body, headers } = multipart(
      { name: 'n', type: 'email', target_country: 'US' },
      Buffer.from('good@sluice.test\n'),
    );
    const upload = (key: string) =>
      new Promise<{ status: number; asked: boolean }>((resolve, reject) => {
        let asked = false;
        const sent = openRequest(`${service.baseUrl}/v1/batch`, {
          method: 'POST',
          headers: {
            ...headers,
            'X-Api-Key': key,
            'Content-Length': body.length,
            Expect: '100-continue',
          },
        });
        sent.on('continue', () => {
          asked = true;
          sent.end(body);
        });
        sent.on('response', (response) => {
          response.resume();
          resolve({ status: response.statusCode ?? 0, asked });
          sent.destroy();
        });
        sent.on('error', reject);
        sent.flushHeaders();
      });
    expect(await upload('wrong')).toEqual({ status: 401, asked: false });
    expect(await upload(service.apiKey)).toEqual({ status: 200, asked: true });
  });

  it('does not trust the Host header', async () => {
    const { wire } = await withService();
    const answer = await wire.get('/v1/batch', { headers: { Host: 'evil.example' } });
    expect(answer.text).not.toContain('evil');
  });
});
