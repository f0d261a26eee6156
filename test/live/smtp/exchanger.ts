import { createServer, type Socket } from 'node:net';
import { freePort } from '../../servers/free-port.js';

/** What an exchanger says to a command: a reply; `drop` ends the connection, `silence` says nothing. */
export type Word = string;

/** How an exchanger behaves; what is left out, as most do. */
export interface Manner {
  readonly greeting?: Word;
  readonly ehlo?: Word;
  readonly helo?: Word;
  readonly mail?: Word | ((command: string) => Word);
  /** @param reported what it knows: how many recipients this connection has asked for, and all */
  readonly rcpt?: (
    address: string,
    reported: { readonly inConnection: number; readonly ever: number; readonly connection: number },
  ) => Word;
  /** Takes over the connection from its first moment. */
  readonly raw?: (socket: Socket) => void;
  /** How long each reply takes. */
  readonly delayMs?: number;
}

export interface TestExchanger {
  readonly address: string;
  readonly port: number;
  /** Every command, in order. */
  readonly commands: string[];
  /** Every address of RCPT, in order. */
  readonly asked: string[];
  /** Conversations at once, at most. */
  readonly mostAtOnce: number;
  readonly connections: number;
  close(): Promise<void>;
}

export const pipelining = '250-exchanger.lab\r\n250-SIZE 10000000\r\n250 PIPELINING';
export const noUser = '550 5.1.1 no such user here';

/** An exchanger on a loopback address of its own; a port that another gave is used again. */
export async function openExchanger(
  address: string,
  manner: Manner,
  given?: number,
): Promise<TestExchanger> {
  const port = given ?? (await freePort(address));
  const commands: string[] = [];
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const open = new Set<Socket>();
  let mostAtOnce = 0;
  let connections = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    open.add(socket);
    connections += 1;
    mostAtOnce = Math.max(mostAtOnce, sockets.size);
    const connection = connections;
    socket.on('close', () => {
      sockets.delete(socket);
      open.delete(socket);
    });
    socket.on('error', () => socket.destroy());
    if (manner.raw) {
      manner.raw(socket);
      return;
    }
    let inConnection = 0;
    const answer = (command: string): Word => {
      commands.push(command);
      const [verb = ''] = command.toUpperCase().split(/[ :]/, 1);
      if (verb === 'EHLO') return manner.ehlo ?? pipelining;
      if (verb === 'HELO') return manner.helo ?? '250 exchanger.lab';
      if (verb === 'MAIL') {
        const { mail = '250 2.1.0 fine' } = manner;
        return typeof mail === 'function' ? mail(command) : mail;
      }
      if (verb === 'RCPT') {
        const to = /<(.*)>/.exec(command)?.[1] ?? '';
        asked.push(to);
        inConnection += 1;
        const reports = { inConnection, ever: asked.length, connection };
        return manner.rcpt?.(to, reports) ?? '250 2.1.5 taken';
      }
      if (verb === 'QUIT') {
        sockets.delete(socket);
        return '221 2.0.0 farewell';
      }
      return '502 5.5.1 not known';
    };
    serve(socket, manner, answer);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  return {
    address,
    port,
    commands,
    asked,
    get mostAtOnce() {
      return mostAtOnce;
    },
    get connections() {
      return connections;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function serve(socket: Socket, manner: Manner, answer: (command: string) => Word): void {
  let saying = Promise.resolve();
  const say = (word: Word, isLast = false): void => {
    saying = saying.then(async () => {
      const { delayMs = 0 } = manner;
      if (delayMs > 0) {
        await new Promise((resolve) => {
          setTimeout(resolve, delayMs);
        });
      }
      if (word === 'drop') socket.destroy();
      else if (word !== 'silence') socket.write(`${word}\r\n`);
      if (isLast) socket.end();
    });
  };
  say(manner.greeting ?? '220 exchanger.lab ready');
  let read = '';
  socket.on('data', (bytes: Buffer) => {
    read += bytes.toString();
    const lines = read.split('\r\n');
    read = lines.pop() ?? '';
    for (const line of lines) say(answer(line), line.toUpperCase() === 'QUIT');
  });
}

/** A server of a mail domain that has some mailboxes and tells. */
export const mailboxes =
  (...locals: readonly string[]) =>
  (address: string): Word =>
    locals.some((local) => address.startsWith(`${local}@`)) ? '250 2.1.5 taken' : noUser;
