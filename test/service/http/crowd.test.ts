import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { heldBytes } from '../../platform/held-bytes.js';
import { withFolder, withService } from '../with-service.js';

/** Opens connections that begin requests and never end them. */
async function dawdlers(baseUrl: string, count: number, begin: string): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(baseUrl);
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(
    sockets.map(async (socket) => {
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(begin);
    }),
  );
  return sockets;
}

function uploadHead(key: string, bytes: number): string {
  return (
    `POST /v1/batch HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\nContent-Length: ${bytes}\r\n` +
    'Content-Type: multipart/form-data; boundary=b\r\n\r\n' +
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
  );
}

describe('others are served', () => {
  it('while 100 clients send a byte now and then', async () => {
    const { service, wire } = await withService();
    const sockets = [
      ...(await dawdlers(service.baseUrl, 50, uploadHead(service.apiKey, 100_000))),
      ...(await dawdlers(service.baseUrl, 50, 'GET /v1/batch HTTP/1.1\r\nX-A: ')),
    ];
    for (let round = 0; round < 20; round += 1) {
      for (const socket of sockets) socket.write('x');
      expect((await wire.get('/v1/batch')).status).toBe(200);
    }
    const { results } = await wire.verify(['good@sluice.test']);
    expect(results).toMatchObject({ valid: 1 });
  });

  it('while 100 clients do not read the export that they asked for', async () => {
    const { service, wire } = await withService();
    const lines = Array.from({ length: 40_000 }, (_, at) => `good${at}@sluice.test`);
    const { batch_uuid } = await wire.verify(lines);
    const sockets = await dawdlers(
      service.baseUrl,
      100,
      `GET /v1/batch/${batch_uuid}/export?format=json HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${service.apiKey}\r\n\r\n`,
    );
    for (const socket of sockets) socket.pause();
    for (let round = 0; round < 20; round += 1) {
      expect((await wire.get(`/v1/batch/${batch_uuid}`)).status).toBe(200);
    }
    expect(Object.keys(await wire.records(batch_uuid))).toHaveLength(40_000);
  });

  it('while bodies arrive that are larger than is taken, and memory does not grow by them', async () => {
    const dataDir = await withFolder();
    const { service, wire } = await withService({ dataDir, maxFileSizeBytes: 64 * 1024 * 1024 });
    const piece = Buffer.alloc(256 * 1024, 'good@sluice.test\n');
    const before = heldBytes();
    const sockets = await dawdlers(service.baseUrl, 4, uploadHead(service.apiKey, 2 ** 33));
    let answered = 0;
    const [first] = sockets;
    if (!first) throw new Error('no connection');
    // Refused by what it says of itself, before its bytes have come.
    const [answer] = (await once(first, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413/);
    const honest = await dawdlers(service.baseUrl, 2, uploadHead(service.apiKey, 60_000_000));
    for (let sent = 0; sent < 100; sent += 1) {
      for (const socket of honest) if (!socket.write(piece)) await once(socket, 'drain');
      if (sent % 10 === 0) answered += (await wire.get('/v1/batch')).status === 200 ? 1 : 0;
    }
    expect(answered).toBe(10);
    expect(heldBytes() - before).toBeLessThan(24 * 1024 * 1024);
  });
});
