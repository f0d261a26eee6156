import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { sendReply } from '../../../src/service/http/reply.js';

it.each([
  ['bytes', Buffer.alloc(1024 * 1024)],
  ['text', 'x'.repeat(1024 * 1024)],
])(
  'gives up a body of %s that waits behind a silent reply when their connection closes',
  async (_, piece) => {
    let pieces = 0;
    async function* body(): AsyncGenerator<string | Uint8Array> {
      for (;;) {
        pieces += 1;
        yield piece;
      }
    }
    let hasBegun = (_sending: { readonly end: Promise<void> }): void => undefined;
    const begun = new Promise<{ readonly end: Promise<void> }>((resolve) => (hasBegun = resolve));
    const server = createServer((request, response) => {
      if (request.url === '/silent') return;
      const reply = { status: 200, contentType: 'text/plain', body: body() } as const;
      hasBegun({ end: sendReply(response, reply, {}) });
    });
    onTestFinished(async () => {
      server.close();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(
      ['/silent', '/body'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''),
    );
    const sending = await begun;
    socket.destroy();
    await sending.end;
    expect(pieces).toBe(1);
  },
);
