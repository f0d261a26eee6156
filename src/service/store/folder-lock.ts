import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { StateError } from '../../errors/family.js';

export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Makes sure that one service at a time works on a folder. The lock is a listening socket without a
 * file (an abstract one on Linux, a named pipe on Windows), so that it dies with its process, whatever
 * kills it. Other systems have no such socket: there the folder is not guarded.
 *
 * @throws StateError `state_locked`
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const name = createHash('sha256')
    .update(await realpath(folder))
    .digest('hex')
    .slice(0, 40);
  const address = socketAddress(`sluice-service-${name}`);
  if (address === undefined) return { release: () => Promise.resolve() };
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new StateError(`another local service works on ${folder}`, { code: 'state_locked', cause }),
      );
    });
    server.listen(address, resolve);
  });
  server.unref();
  return { release: () => closed(server) };
}

/** Whether a folder that is in use is surely found locked here. */
export const guardsFolders = socketAddress('') !== undefined;

function socketAddress(name: string): string | undefined {
  if (process.platform === 'linux') return `\0${name}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
  return undefined;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
