import { createSocket } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import dnsPacket from 'dns-packet';
import type { Answer, DecodedPacket, Packet } from 'dns-packet';
import { onTestFinished } from 'vitest';
import { freePort } from '../../servers/free-port.js';
import type { DnsServer } from '../../../src/live/dns/resolver.js';

/** What a scripted server says to a question; `silent` says nothing. */
export type Reply = Partial<Packet> & {
  readonly rcode?: keyof typeof codes;
  readonly raw?: Buffer;
  readonly silent?: true;
};
const codes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;

export interface NameServer extends DnsServer {
  /** `TYPE name` and the transport of every question, in order. */
  readonly asked: string[];
}

type Say = (question: {
  readonly type: string;
  readonly name: string;
  readonly transport: 'udp' | 'tcp';
  readonly query: DecodedPacket;
}) => Reply;

/** A server of the domain name system that says what a test wants, over UDP and TCP, for one test. */
export async function startNameServer(say: Say): Promise<NameServer> {
  const address = '127.0.0.1';
  const asked: string[] = [];
  const answer = (bytes: Buffer, transport: 'udp' | 'tcp'): Buffer | undefined => {
    const query = dnsPacket.decode(bytes);
    const question = query.questions?.[0];
    if (!question) return undefined;
    asked.push(`${question.type} ${question.name} ${transport}`);
    const { rcode = 'NOERROR', raw, silent, ...packet } = say({ ...question, transport, query });
    if (silent) return undefined;
    return (
      raw ??
      dnsPacket.encode({
        type: 'response',
        id: query.id ?? 0,
        questions: [question],
        ...packet,
        flags: (packet.flags ?? dnsPacket.RECURSION_AVAILABLE) | codes[rcode],
      })
    );
  };
  const tcp = createServer((socket: Socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes: Buffer) => {
      const answered = answer(bytes.subarray(2), 'tcp');
      if (!answered) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answered.length);
      // In two pieces: a stream keeps no bounds.
      socket.write(Buffer.concat([length, answered.subarray(0, 5)]));
      setImmediate(() => socket.write(answered.subarray(5)));
    });
  });
  const port = await freePort(address);
  await new Promise<void>((resolve) => {
    tcp.listen(port, address, resolve);
  });
  const udp = createSocket('udp4');
  udp.on('message', (bytes, { port: from, address: to }) => {
    const given = answer(bytes, 'udp');
    if (given) udp.send(given, from, to);
  });
  await new Promise<void>((resolve) => {
    udp.bind(port, address, resolve);
  });
  onTestFinished(async () => {
    udp.close();
    await new Promise((resolve) => {
      tcp.close(resolve);
    });
  });
  return { address, port, asked };
}

/** An answer of one record after another, with the same time to live. */
export function records(...answers: readonly Answer[]): Reply {
  return { answers: [...answers] };
}

export const a = (name: string, data: string, ttl = 60): Answer => ({ type: 'A', name, data, ttl });
export const cname = (name: string, data: string, ttl = 60): Answer => ({
  type: 'CNAME',
  name,
  data,
  ttl,
});
export const mx = (name: string, preference: number, exchange: string, ttl = 60): Answer => ({
  type: 'MX',
  name,
  ttl,
  data: { preference, exchange },
});
export const soa = (name: string, minimum: number, ttl = 3600): Answer => ({
  type: 'SOA',
  name,
  ttl,
  data: { mname: `ns.${name}`, rname: `root.${name}`, minimum },
});
