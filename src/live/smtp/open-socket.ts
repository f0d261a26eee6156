import { connect, type Socket } from 'node:net';
import { notInstalled } from '../../platform/not-installed.js';
import { orAborted } from '../../platform/waiting/or-aborted.js';
import type { Via } from './providers.js';
import { SmtpFailure } from './smtp-failure.js';

export interface SocketOptions {
  readonly address: string;
  readonly port: number;
  /** How long the connection, and each reply, may take. */
  readonly timeoutMs: number;
  readonly via?: Via | undefined;
  /** Its abort ends the connection. */
  readonly signal: AbortSignal;
}

/**
 * A socket to an exchanger: connecting, or connected through a proxy.
 *
 * @throws SmtpFailure `connection` when the proxy does not lead there; the signal's reason
 */
export async function openSocket(options: SocketOptions): Promise<Socket> {
  const { address, port, via = {} } = options;
  if (via.proxy !== undefined) return throughProxy(via.proxy, options);
  const { localAddress } = via;
  return connect({ host: address, port, ...(localAddress === undefined ? {} : { localAddress }) });
}

/** @throws ConfigurationError `missing_dependency`, which says how to install it */
export async function loadSocks() {
  return import('socks').catch(notInstalled({ by: 'a SOCKS5 proxy', install: 'socks' }));
}

async function throughProxy(
  proxy: string,
  { address, port, timeoutMs, signal }: SocketOptions,
): Promise<Socket> {
  const { SocksClient } = await loadSocks();
  const { hostname, port: proxyPort, username, password } = new URL(proxy);
  const connecting = SocksClient.createConnection({
    command: 'connect',
    destination: { host: address, port },
    timeout: timeoutMs,
    proxy: {
      type: 5,
      host: hostname,
      port: Number(proxyPort),
      ...(username === ''
        ? {}
        : { userId: decodeURIComponent(username), password: decodeURIComponent(password) }),
    },
  });
  try {
    const { socket } = await orAborted(connecting, signal);
    return socket;
  } catch (cause) {
    // Who waits no more leaves no connection behind.
    void connecting.then(
      ({ socket }) => socket.destroy(),
      () => undefined,
    );
    signal.throwIfAborted();
    throw new SmtpFailure('connection', 'the proxy does not lead there', { cause });
  }
}
