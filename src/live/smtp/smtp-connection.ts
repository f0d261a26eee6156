import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { refuseMissingPackage } from '../../platform/optional-package.js';
import { orAborted } from '../../platform/waiting/promises.js';
import type { Via } from './providers.js';
import { type Reply, ReplyReader, SmtpFailure } from './reply-reader.js';

interface SocketOptions {
  readonly address: string;
  readonly port: number;
  /** Longest time of connecting, and of each reply. */
  readonly timeoutMs: number;
  readonly via?: Via | undefined;
  readonly signal: AbortSignal;
}

/** A socket to an exchanger: connecting, or connected through a proxy. */
async function openSocket(options: SocketOptions): Promise<Socket> {
  const { address, port, via = {} } = options;
  if (via.proxy !== undefined) return throughProxy(via.proxy, options);
  const { localAddress } = via;
  return connect({ host: address, port, ...(localAddress === undefined ? {} : { localAddress }) });
}

export async function loadSocks() {
  return import('socks').catch(
    refuseMissingPackage({ by: 'a SOCKS5 proxy', install: 'socks', driver: 'live' }),
  );
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
    // A caller that has left leaves no connection behind.
    void connecting.then(
      ({ socket }) => socket.destroy(),
      () => undefined,
    );
    signal.throwIfAborted();
    throw new SmtpFailure('connection', 'the proxy does not lead there', { cause });
  }
}

/** Most bytes of one conversation: a few hundred replies of the longest kind. */
const maxBytes = 256 * 1024;
const maxFarewellMs = 2000;
// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/;

/** A connection to an exchanger: commands out, replies in. */
export class SmtpConnection {
  #socket: Socket;
  #reader = new ReplyReader();
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  readonly #replies: Reply[] = [];
  /** Replies that are still to come: one to the connection, one to each command. */
  #awaited = 1;
  #bytes = 0;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  private constructor(socket: Socket, { timeoutMs, signal }: SocketOptions) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    signal.addEventListener('abort', this.#abort);
    this.#listen();
  }

  static async open(options: SocketOptions): Promise<SmtpConnection> {
    options.signal.throwIfAborted();
    const socket = await openSocket(options);
    socket.setNoDelay(true);
    const connection = new SmtpConnection(socket, options);
    try {
      if (socket.connecting) await connection.#until((ready) => socket.once('connect', ready));
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** Sends commands, one a line. A control character could make it more than one: a defect. */
  send(...commands: readonly string[]): void {
    for (const command of commands) {
      if (control.test(command)) throw new Error('a command with a control character');
    }
    if (this.#failure) return;
    this.#awaited += commands.length;
    this.#socket.write(commands.map((command) => `${command}\r\n`).join(''));
  }

  async reply(): Promise<Reply> {
    // Replies before the end still count.
    if (this.#replies.length === 0) {
      await this.#until((ready) => {
        this.#wake = ready;
      });
    }
    const reply = this.#replies.shift();
    if (reply === undefined) throw new SmtpFailure('protocol', 'no reply');
    return reply;
  }

  /** Continues under TLS. Certificates are not checked: encryption is opportunistic (RFC 7435) between exchangers. */
  async secure(host: string): Promise<void> {
    // Bytes sent in the clear after the reply must not count as sent under TLS (RFC 3207, section 6).
    if (this.#failure || this.#reader.isInside) {
      throw new SmtpFailure('tls', 'the server spoke between STARTTLS and TLS');
    }
    const plain = this.#socket;
    plain.removeAllListeners();
    const secured = connectTls({
      socket: plain,
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    this.#socket = secured;
    this.#reader = new ReplyReader();
    this.#listen('tls');
    plain.on('error', (error) => secured.destroy(error));
    await this.#until((ready) => secured.once('secureConnect', ready));
    secured.removeAllListeners('error').removeAllListeners('close').removeAllListeners('data');
    this.#listen();
  }

  /** Sends QUIT, and waits briefly for the server. */
  async quit(): Promise<void> {
    if (this.#failure === undefined) {
      this.send('QUIT');
      const socket = this.#socket;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(this.#timeoutMs, maxFarewellMs));
        const done = (): void => {
          clearTimeout(timer);
          resolve();
        };
        this.#wake = done;
        socket.once('close', done);
      });
    }
    this.close();
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#abort);
    this.#fail(new SmtpFailure('connection', 'closed'));
  }

  readonly #abort = (): void => this.#fail(this.#signal.reason as Error);

  #listen(kind: 'connection' | 'tls' = 'connection'): void {
    const socket = this.#socket;
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', (cause) => {
      this.#fail(new SmtpFailure(kind, 'the connection broke', { cause }));
    });
    socket.on('close', () => this.#fail(new SmtpFailure(kind, 'the connection ended')));
  }

  #take(bytes: Buffer): void {
    this.#bytes += bytes.length;
    try {
      if (this.#bytes > maxBytes) throw new SmtpFailure('protocol', 'the server says too much');
      const replies = this.#reader.push(bytes);
      this.#replies.push(...replies.slice(0, this.#awaited));
      this.#awaited -= replies.length;
      // All replies after it would be taken for those to other commands.
      if (this.#awaited < 0) throw new SmtpFailure('protocol', 'a reply that nobody asked for');
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
    if (this.#replies.length > 0) this.#wake?.();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    this.#wake?.();
  }

  /** Waits no longer than a reply may take: a server that drips bytes gains nothing. */
  async #until(listen: (ready: () => void) => void): Promise<void> {
    if (this.#failure) throw this.#failure;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#fail(new SmtpFailure('timeout', 'the server took too long'));
      }, this.#timeoutMs);
      this.#wake = resolve;
      listen(resolve);
    });
    clearTimeout(timer);
    this.#wake = undefined;
    this.#throwFailure();
  }

  /** Replies before the end still count. */
  #throwFailure(): void {
    const failure = this.#failure;
    if (failure && this.#replies.length === 0) throw failure;
  }
}
