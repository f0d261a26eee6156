import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { beforeDeadline, systemClock } from '../../platform/waiting/clock.js';
import { orAborted } from '../../platform/waiting/promises.js';

/** A DNS server. */
export interface DnsServer {
  readonly address: string;
  readonly port: number;
}

export interface Exchange {
  readonly server: DnsServer;
  readonly query: Buffer;
  /** Whether bytes are the answer: over UDP anybody could send some. */
  readonly isAnswer: (bytes: Buffer) => boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Queries over UDP, each time from a new port, so that an answer is hard to forge.
 *
 * @returns the answer; rejects without one in time
 */
export function queryOverUdp(exchange: Exchange): Promise<Buffer> {
  const { server, query, isAnswer } = exchange;
  return inTime(exchange, (resolve, reject) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
    socket.on('error', reject);
    socket.on('message', (bytes) => {
      if (isAnswer(bytes)) resolve(bytes);
    });
    // A connected socket accepts messages of that server alone, and gets an error where nobody listens.
    socket.connect(server.port, server.address, () => {
      socket.send(query, (error) => {
        if (error) reject(error);
      });
    });
    return () => socket.close();
  });
}

const lengthBytes = 2;

/** Queries over TCP, where an answer can have 64 KiB (RFC 7766). Like {@link queryOverUdp}. */
export function queryOverTcp(exchange: Exchange): Promise<Buffer> {
  const { server, query, isAnswer } = exchange;
  return inTime(exchange, (resolve, reject) => {
    const socket = connect({ host: server.address, port: server.port });
    let read = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection ended before the answer')));
    socket.on('connect', () => {
      const length = Buffer.alloc(lengthBytes);
      length.writeUInt16BE(query.length);
      socket.write(Buffer.concat([length, query]));
    });
    socket.on('data', (bytes: Buffer) => {
      read = Buffer.concat([read, bytes]);
      if (read.length < lengthBytes) return;
      const end = lengthBytes + read.readUInt16BE();
      if (read.length < end) return;
      const answer = read.subarray(lengthBytes, end);
      if (isAnswer(answer)) resolve(answer);
      else reject(new Error('an answer to something else'));
    });
    return () => socket.destroy();
  });
}

/** Runs an exchange to its first outcome, then closes it. */
async function inTime(
  { timeoutMs, signal }: Exchange,
  begin: (resolve: (bytes: Buffer) => void, reject: (error: Error) => void) => () => void,
): Promise<Buffer> {
  signal.throwIfAborted();
  const exchange = async (inTimeSignal: AbortSignal): Promise<Buffer> => {
    let close: (() => void) | undefined;
    try {
      const answer = new Promise<Buffer>((resolve, reject) => {
        close = begin(resolve, reject);
      });
      return await orAborted(answer, inTimeSignal);
    } finally {
      close?.();
    }
  };
  const toError = (): Error => new Error('no answer in time');
  return beforeDeadline(exchange, { clock: systemClock, ms: timeoutMs, signal, toError });
}
