import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createTestClient, uuid } from '../test-client.js';
import { rawAnswer, startRawServer } from '../test-server.js';

const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
const processing = 'HTTP/1.1 102 Processing\r\nx-step: 1\r\n\r\n';

function json(body: unknown): string {
  const text = JSON.stringify(body);
  const headers = ['content-type: application/json', `content-length: ${text.length}`];
  return rawAnswer('200 OK', headers, text);
}

/** Calls back for each request without a body. */
function onRequest(socket: Socket, answer: () => void): void {
  let seen = '';
  socket.setNoDelay(true);
  socket.on('data', (data) => {
    seen += data.toString('latin1');
    while (seen.includes('\r\n\r\n')) {
      seen = seen.slice(seen.indexOf('\r\n\r\n') + 4);
      answer();
    }
  });
}

test('an interim answer that nobody asked for is passed over, wherever it is cut, on each use of a connection', async () => {
  const whole = interim + processing + interim + json({ status: 'verification_done' });
  let connections = 0;
  let cut = 0;
  const server = await startRawServer((socket) => {
    connections += 1;
    onRequest(socket, () => {
      cut += 1;
      socket.write(whole.slice(0, cut), 'latin1');
      const rest = whole.slice(cut);
      // Later, so that the beginning is read by itself.
      setImmediate(() => setImmediate(() => socket.write(rest, 'latin1')));
    });
  });
  const client = createTestClient(server.baseUrl);
  while (cut < whole.indexOf('{')) {
    expect(await client.launchBatch(uuid)).toEqual({ status: 'verification_done' });
  }
  expect(connections).toBeLessThan(cut / 2);
});

test('a body that looks like an interim answer is not changed', async () => {
  const pieces = ['{"a":"', interim, 'HTTP/1.1 100 ', processing, '"}'];
  const length = pieces.join('').length;
  const head = rawAnswer('200 OK', ['content-type: application/json', `content-length: ${length}`]);
  const rest = [...pieces];
  let send = (): void => undefined;
  const server = await startRawServer((socket) => {
    send = () => void socket.write(rest.shift() ?? '', 'latin1');
    onRequest(socket, () => socket.write(interim + head, 'latin1'));
  });
  const client = createTestClient(server.baseUrl);
  const { body } = await client.exportBatch(uuid, { format: 'json' });
  const read: string[] = [];
  send();
  for await (const piece of body) {
    read.push(String(piece));
    send();
  }
  expect(read).toEqual(pieces);
});
