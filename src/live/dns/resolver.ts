import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import {
  type DnsAnswer,
  type DnsType,
  encodeQuery,
  readMessage,
  type DnsCodec,
  type DnsMessage,
} from './dns-message.js';
import { orAborted } from '../../platform/waiting/promises.js';
import { TtlCache } from '../schedule/timed.js';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { beforeDeadline, systemClock } from '../../platform/waiting/clock.js';

export interface Resolver {
  /** Rejects only with the signal's reason: "unknown" is an answer, too. */
  resolve<Type extends DnsType>(
    name: string,
    type: Type,
    signal: AbortSignal,
  ): Promise<DnsAnswer<Type>>;
  close(): void;
}

interface ResolverOptions {
  readonly codec: DnsCodec;
  readonly servers: readonly DnsServer[];
  readonly timeoutMs: number;
  readonly now: () => number;
}

const mostQueries = 100;
const mostKept = 50_000;
/** How often each server is asked before the answer is "unknown". */
const rounds = 2;
const mostAliases = 8;
const longestTtlMs = 24 * 60 * 60 * 1000;
/** RFC 2308, section 7.1: a failure may be cached for at most five minutes. */
const failureTtlMs = 10_000;

interface Known {
  readonly answer: DnsAnswer;
  readonly ttlMs: number;
}

/**
 * Makes a resolver that queries recursive servers itself, as only the message gives the lifetime of a
 * negative answer. Answers are cached for their lifetime, and concurrent lookups share a query.
 */
export function createResolver({ codec, servers, timeoutMs, now }: ResolverOptions): Resolver {
  const kept = new TtlCache<DnsAnswer>(mostKept, now);
  const underWay = new Map<string, Promise<Known>>();
  const slots = pLimit(mostQueries);
  const ending = new AbortController();
  // Every query listens to it.
  setMaxListeners(0, ending.signal);
  const asking: Asking = { codec, timeoutMs, signal: ending.signal };

  async function lookUp(name: string, type: DnsType): Promise<Known> {
    let at = name;
    let ttlSeconds = Number.POSITIVE_INFINITY;
    for (let alias = 0; alias <= mostAliases; alias += 1) {
      const message = await askServers(at, type);
      if (message.kind === 'failed') return failure(message.reason);
      ttlSeconds = Math.min(ttlSeconds, message.ttlSeconds);
      if (message.kind !== 'alias') {
        return { answer: answerOf(message), ttlMs: Math.min(ttlSeconds * 1000, longestTtlMs) };
      }
      at = message.target;
    }
    return failure('aliases without an end');
  }

  async function askServers(name: string, type: DnsType): Promise<Settled> {
    let reason = 'no server is configured';
    for (let round = 0; round < rounds; round += 1) {
      for (const server of servers) {
        const message = await slots(async () => askServer(server, { name, type }, asking));
        if (message.kind !== 'failed') return message;
        ({ reason } = message);
      }
    }
    return { kind: 'failed', reason };
  }

  return {
    async resolve<Type extends DnsType>(name: string, type: Type, signal: AbortSignal) {
      const key = `${type} ${name.toLowerCase()}`;
      const known = kept.get(key);
      // A key belongs to one type, and so does its cached value.
      if (known) return known as DnsAnswer<Type>;
      let lookup = underWay.get(key);
      if (lookup === undefined) {
        lookup = lookUp(name, type);
        underWay.set(key, lookup);
        void lookup.then(({ answer, ttlMs }) => {
          underWay.delete(key);
          kept.put(key, answer, ttlMs);
        });
      }
      const { answer } = await orAborted(lookup, signal);
      return answer as DnsAnswer<Type>;
    },
    close: () => ending.abort(new Error('the resolver is closed')),
  };
}

interface Asking extends Pick<ResolverOptions, 'codec' | 'timeoutMs'> {
  readonly signal: AbortSignal;
}

async function askServer(
  server: DnsServer,
  asked: { readonly name: string; readonly type: DnsType },
  { codec, timeoutMs, signal }: Asking,
): Promise<Settled> {
  let extended = true;
  let ask = queryOverUdp;
  // At most: over UDP, without extensions, over TCP.
  for (let turn = 0; turn < 3; turn += 1) {
    const query = { id: randomInt(0x1_0000), ...asked, extended };
    let message: DnsMessage | undefined;
    try {
      const bytes = encodeQuery(codec, query);
      await ask({
        server,
        query: bytes,
        timeoutMs,
        signal,
        isAnswer: (answer) => (message = readMessage(codec, answer, query)) !== undefined,
      });
    } catch (error) {
      return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
    if (message === undefined) break;
    if (message.kind === 'truncated') ask = queryOverTcp;
    else if (message.kind === 'not_understood') extended = false;
    else return message;
  }
  return { kind: 'failed', reason: 'the server does not understand' };
}

type Settled = Exclude<DnsMessage, { kind: 'truncated' | 'not_understood' }>;

function answerOf(message: Exclude<Settled, { kind: 'alias' | 'failed' }>): DnsAnswer {
  return message.kind === 'found'
    ? { kind: 'found', records: message.records }
    : { kind: message.kind };
}

function failure(reason: string): Known {
  return { answer: { kind: 'failed', reason }, ttlMs: failureTtlMs };
}

export interface DnsServer {
  readonly address: string;
  readonly port: number;
}

interface Exchange {
  readonly server: DnsServer;
  readonly query: Buffer;
  /** Whether bytes are the answer: over UDP anybody could send some. */
  readonly isAnswer: (bytes: Buffer) => boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Queries over UDP, each time from a new port: answers are hard to forge. @returns the answer; rejects without one */
function queryOverUdp(exchange: Exchange): Promise<Buffer> {
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
function queryOverTcp(exchange: Exchange): Promise<Buffer> {
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
