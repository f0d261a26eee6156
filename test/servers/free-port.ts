import { createServer } from 'node:net';

/** Below those that systems give to whoever asks for any port: nobody gets one of them by chance. */
const [first, count] = [10_000, 20_000];
/** Processes that live at once have numbers close to each other: each takes ports of its own. */
const ownPorts = 100;
let taken = process.pid * ownPorts;

/** A port on a loopback address that nobody has, nor gets before it is taken. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    taken += 1;
    const port = first + (taken % count);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, host, () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
