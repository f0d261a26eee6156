import { fork, type ChildProcess } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { systemFiles } from '../../src/platform/files/file-system.js';
import { openPrivateFile } from '../../src/platform/files/private-files.js';

/*
 * To lock a file, Sluice starts a process, and the system copies the tables of this one's memory for it: some ten
 * milliseconds in a worker of 300 MB, a thousand times. Here a small process takes the same locks on the same files,
 * and loses them with this one. Started commands, and the tests of the locks, do it as users do.
 */

interface Question {
  readonly resolve: (code: number | undefined) => void;
  readonly reject: (error: Error) => void;
}

interface Holder {
  readonly process: ChildProcess;
  readonly asked: Map<number, Question>;
  locks: number;
}

/** A worker loads this again for each file of tests. */
const kept = globalThis as { lockHolder?: Holder };

function startHolder(): Holder {
  const path = fileURLToPath(new URL('lock-holder.mjs', import.meta.url));
  const holder: Holder = { process: fork(path, { execArgv: [] }), asked: new Map(), locks: 0 };
  holder.process.unref();
  holder.process.on('message', ({ id, code }: { id: number; code?: number }) => {
    holder.asked.get(id)?.resolve(code);
    holder.asked.delete(id);
    if (holder.asked.size === 0) holder.process.channel?.unref();
  });
  holder.process.once('exit', (code, signal) => {
    delete kept.lockHolder;
    for (const { reject } of holder.asked.values()) {
      reject(new Error(`the process that holds the locks ended (${signal ?? code})`));
    }
  });
  return holder;
}

/** @param lock the file to lock. @default the lock with this id is released */
async function ask(
  holder: Holder,
  id: number,
  lock?: { readonly path: string; readonly isShared: boolean },
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    holder.process.channel?.ref();
    holder.asked.set(id, { resolve, reject });
    holder.process.send({ id, ...lock }, (error) => {
      if (error) reject(error);
    });
  });
}

async function openLocked(path: string, isShared = false): Promise<FileHandle | undefined> {
  const file = await openPrivateFile(path, 'a');
  const holder = (kept.lockHolder ??= startHolder());
  holder.locks += 1;
  const id = holder.locks;
  const code = await ask(holder, id, { path: `/proc/${process.pid}/fd/${file.fd}`, isShared });
  if (code !== 0) {
    await file.close();
    return undefined;
  }
  const close = file.close.bind(file);
  let isHeld = true;
  file.close = async () => {
    await close();
    const wasHeld = isHeld;
    isHeld = false;
    if (wasHeld) await ask(holder, id);
  };
  return file;
}

if (process.platform === 'linux') Object.assign(systemFiles, { openLocked });
