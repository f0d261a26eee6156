import { spawn, type SpawnOptions } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** A server of this machine that is ready. */
export interface ServerProgram {
  /** Ends it; resolves when it is gone. @param signal in place of the one that it was started with */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Starts a program that stays, and waits until it says that it is ready.
 *
 * @param ready words of its standard error; or whether it answers, for one that says nothing
 * @param options.endsWith the signal that ends it. @default SIGTERM
 */
export async function startProgram(
  program: string,
  args: readonly string[],
  ready: string | (() => Promise<boolean>),
  {
    endsWith = 'SIGTERM',
    ...user
  }: Pick<SpawnOptions, 'uid' | 'gid'> & { readonly endsWith?: NodeJS.Signals } = {},
): Promise<ServerProgram> {
  const server = spawn(program, args, { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  const ended = new Promise<void>((resolve) => {
    server.on('exit', () => resolve());
  });
  await Promise.race([
    new Promise<void>((resolve) => {
      server.stderr.on('data', (bytes: Buffer) => {
        printed += bytes.toString();
        if (typeof ready === 'string' && printed.includes(ready)) resolve();
      });
    }),
    ...(typeof ready === 'string' ? [] : [untilAnswered(ready)]),
    ended.then(() => {
      throw new Error(`${program} ended: ${printed}`);
    }),
  ]);
  return {
    async stop(signal = endsWith) {
      server.kill(signal);
      await ended;
    },
  };
}

/** Whether a connection is taken. */
export async function isListening(port: number, address = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

const pauseMs = 50;

export async function untilAnswered(ready: () => Promise<boolean>): Promise<void> {
  while (!(await ready())) await setTimeout(pauseMs);
}
