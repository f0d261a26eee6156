import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';

export interface CountingProxy {
  /** The same URL, through the proxy. */
  readonly url: string;
  /** Bytes that came from the server so far. */
  readonly fromServer: number;
  /** Connections that are open now. */
  readonly connections: number;
  /** Connections that were made so far, also while it is frozen. */
  readonly made: number;
  /** Resolves when the driver takes no more of what the server gives, with the bytes that came by then. */
  stalled(): Promise<number>;
  /** Cuts every connection, and every later one. */
  cut(): void;
  /** Lets nothing pass from now on, and takes every later connection without a word, as a frozen server does. */
  freeze(): void;
}

export interface CountingProxyOptions {
  /** Cuts all when so many bytes came from the server. */
  readonly cutAfterFromServer?: number;
  /** Cuts all when so many bytes went to the server. */
  readonly cutAfterToServer?: number;
}

/** Stands between a driver and its server: counts what passes, and cuts it where a test wants. */
export async function startCountingProxy(
  url: string,
  options: CountingProxyOptions = {},
): Promise<CountingProxy> {
  const { cutAfterFromServer = Infinity, cutAfterToServer = Infinity } = options;
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const counts = { fromServer: 0, toServer: 0 };
  let isCut = false;
  let isFrozen = false;
  let connections = 0;
  let made = 0;
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const watch = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const proxy = createServer({ allowHalfOpen: true }, (near) => {
    watch(near);
    made += 1;
    if (isFrozen) return;
    const far = connect({
      port: Number(target.port),
      host: target.hostname,
      allowHalfOpen: true,
    });
    watch(far);
    if (isCut) return cut();
    connections += 1;
    near.on('close', () => (connections -= 1));
    far.on('data', (bytes: Buffer) => {
      counts.fromServer += bytes.length;
      if (counts.fromServer >= cutAfterFromServer) cut();
    });
    near.on('data', (bytes: Buffer) => {
      counts.toServer += bytes.length;
      if (counts.toServer >= cutAfterToServer) cut();
    });
    // Piping waits for whoever is slow, in both directions.
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    cut();
    proxy.close();
  });
  const through = new URL(url);
  through.port = String((proxy.address() as AddressInfo).port);
  return {
    url: through.href,
    get fromServer() {
      return counts.fromServer;
    },
    get connections() {
      return connections;
    },
    get made() {
      return made;
    },
    async stalled() {
      let before = -1;
      const look = (): void => {
        const isFull = [...sockets].some((socket) => socket.writableNeedDrain);
        const isSame = counts.fromServer === before;
        before = counts.fromServer;
        if (!isFull || !isSame) throw new Error('the driver still takes what the server gives');
      };
      await vi.waitFor(look, { timeout: 30_000, interval: 200 });
      return before;
    },
    cut,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}
