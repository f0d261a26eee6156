import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { StoreConnection } from '../../../../src/engine/stores/postgres/store-connection.js';
import { createTestClock } from '../../../../src/testing/test-clock.js';
import { rejection } from '../harness/rejection.js';

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

// A process that leaves would otherwise wait for its goodbye longer than it may wait for its work.
it.each([
  { giveUpAfterMs: 1000, patienceMs: 5000, endsAfterMs: 1000 },
  { giveUpAfterMs: 600_000, patienceMs: 5000, endsAfterMs: 5000 },
  { giveUpAfterMs: 0, patienceMs: 5000, endsAfterMs: 5000 },
])(
  'a store that may fail for $giveUpAfterMs ms is given up after $endsAfterMs ms where a call may fail for $patienceMs ms',
  async ({ giveUpAfterMs, patienceMs, endsAfterMs }) => {
    const { url } = await startSilent();
    const clock = createTestClock();
    const connection = new StoreConnection({ url, name: 'the store', giveUpAfterMs, clock });
    let isOver = false;
    const asked = rejection(connection.ask('select 1', [], patienceMs)).finally(
      () => (isOver = true),
    );
    await vi.waitFor(() => expect(clock.sleeping).toBe(1));
    await clock.advance(endsAfterMs - 1);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await asked).toMatchObject({ code: 'store_unavailable' });
    await connection.close();
  },
);
