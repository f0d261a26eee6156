import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import type { DatabaseServer } from './start-postgres.js';
import { startProgram } from './start-program.js';

/** Where Debian puts it. */
export const redisProgram = '/usr/bin/redis-server';

/** A Redis server with nothing in it, that keeps nothing on disk. */
export async function startRedis(): Promise<DatabaseServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-redis-'));
  const port = await freePort();
  const options = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = await startProgram(redisProgram, args, async () => answers(port));
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.on('data', (message) => {
      socket.destroy();
      resolve(message.toString().startsWith('+PONG'));
    });
    socket.on('error', () => resolve(false));
  });
}
