import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import dnsPacket from 'dns-packet';

/** Exchangers on loopback, and a name server that leads to them. */
export interface NetworkMail {
  readonly smtpPort: number;
  readonly resolver: string;
  /** How often each address was asked for, by its number. */
  readonly asked: Uint8Array;
  close(): void;
}

/** Every tenth address has a mailbox. */
export const hasMailbox = (at: number): boolean => at % 10 === 0;
export const addressAt = (at: number, exchangers: number): string =>
  `n${at}@d${at % exchangers}.lab`;

/**
 * Starts exchangers for the domains `d0.lab`, `d1.lab`, …, on 127.0.8.1 and up.
 *
 * @param delayMs how long each of their replies takes
 */
export async function startMail(options: {
  readonly exchangers: number;
  readonly addresses: number;
  readonly delayMs: number;
  readonly port?: number;
}): Promise<NetworkMail> {
  const { exchangers, addresses, delayMs } = options;
  const asked = new Uint8Array(addresses);
  const servers: Server[] = [];
  let smtpPort = options.port ?? 0;
  for (let index = 0; index < exchangers; index += 1) {
    const server = createServer((socket) => converse(socket, delayMs, asked));
    await new Promise<void>((resolve) => {
      server.listen(smtpPort, `127.0.8.${index + 1}`, resolve);
    });
    smtpPort = (server.address() as AddressInfo).port;
    servers.push(server);
  }
  const names = createSocket('udp4');
  names.on('message', (bytes, { port, address }) => names.send(nameAnswer(bytes), port, address));
  await new Promise<void>((resolve) => {
    names.bind(0, '127.0.0.1', resolve);
  });
  return {
    smtpPort,
    resolver: `127.0.0.1:${names.address().port}`,
    asked,
    close() {
      for (const server of servers) server.close();
      names.close();
    },
  };
}

function converse(socket: Socket, delayMs: number, asked: Uint8Array): void {
  let last = Promise.resolve();
  const say = (text: string, isLast = false): void => {
    if (delayMs === 0) {
      if (isLast) socket.end(text);
      else socket.write(text);
      return;
    }
    last = last.then(async () => {
      await new Promise((resolve) => {
        setTimeout(resolve, delayMs);
      });
      if (isLast) socket.end(text);
      else socket.write(text);
    });
  };
  let read = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    read += bytes.toString('latin1');
    const lines = read.split('\r\n');
    read = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('RCPT')) say(recipient(line, asked));
      else if (line.startsWith('EHLO')) say('250-exchanger.lab\r\n250 PIPELINING\r\n');
      else if (line.startsWith('QUIT')) say('221 farewell\r\n', true);
      else say('250 fine\r\n');
    }
  });
  say('220 exchanger.lab\r\n');
}

function recipient(line: string, asked: Uint8Array): string {
  const at = /<n(\d+)@/.exec(line)?.[1];
  if (at === undefined) return '550 5.1.1 no such user\r\n';
  const number = Number(at);
  asked[number] = (asked[number] ?? 0) + 1;
  return hasMailbox(number) ? '250 2.1.5 taken\r\n' : '550 5.1.1 no such user\r\n';
}

function nameAnswer(bytes: Buffer): Buffer {
  const { id = 0, questions = [] } = dnsPacket.decode(bytes);
  const [question] = questions;
  const { name = '', type = 'A' } = question ?? {};
  const index = Number(/d(\d+)\.lab$/.exec(name)?.[1]);
  const answers: dnsPacket.Answer[] =
    type === 'MX'
      ? [{ type: 'MX', name, ttl: 300, data: { preference: 10, exchange: `mx.${name}` } }]
      : type === 'A'
        ? [{ type: 'A', name, ttl: 300, data: `127.0.8.${index + 1}` }]
        : [];
  return dnsPacket.encode({ type: 'response', id, questions, answers });
}
