import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { StoreConnection } from '../../../../src/engine/stores/postgres/store-connection.js';

/** Where a server takes connections and says nothing. */
async function startSilent(): Promise<{ readonly url: string; connected(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://somebody:secret@127.0.0.1:${port}/jobs`,
    connected: async () => void (await once(server, 'connection')),
  };
}

it.each(['disable', 'prefer'])(
  'a connection to the store is closed at once while it is being made, with sslmode=%s',
  async (sslmode) => {
    const { url, connected } = await startSilent();
    const store = { url: `${url}?sslmode=${sslmode}`, name: 'the store', giveUpAfterMs: 600_000 };
    const connection = new StoreConnection(store);
    const isConnected = connected();
    const asked = connection.ask('select 1').catch((error: unknown) => error);
    await isConnected;
    await connection.close();
    expect(await asked).toBeInstanceOf(Error);
  },
);
