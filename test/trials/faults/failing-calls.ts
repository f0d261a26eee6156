import type { FileHandle } from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

/** Told of each call below a folder before it is made; what it throws the call fails with. */
type Tell = (call: string) => void;

type AnyCall = (...args: readonly unknown[]) => unknown;

let watched: { readonly folder: string; readonly tell: Tell } | undefined;

const names = [
  'access',
  'chmod',
  'chown',
  'lstat',
  'mkdir',
  'open',
  'readFile',
  'readdir',
  'readlink',
  'realpath',
  'rename',
  'rm',
  'stat',
  'statfs',
  'unlink',
  'writeFile',
] as const;

// Imported before anything of ours: whoever imports a call of node:fs/promises imports the watched one.
const calls = createRequire(import.meta.url)('node:fs/promises') as Record<string, AnyCall>;
for (const name of names) {
  const real = calls[name] as AnyCall;
  calls[name] = async (...args) => {
    const [path] = args;
    if (watched === undefined || typeof path !== 'string' || !path.startsWith(watched.folder)) {
      return real(...args);
    }
    watched.tell(`${name} ${basename(path)}`);
    const result = await real(...args);
    return name === 'open' ? watchedHandle(result as FileHandle, basename(path)) : result;
  };
}
syncBuiltinESMExports();

/** Does the work while every call on what lies below a folder, open files included, is notified first. */
export async function watchCalls<Result>(
  folder: string,
  tell: Tell,
  work: () => Promise<Result>,
): Promise<Result> {
  watched = { folder, tell };
  try {
    return await work();
  } finally {
    watched = undefined;
  }
}

const unwaited: ReadonlySet<string | symbol> = new Set(['sync', 'datasync']);

function watchedHandle(file: FileHandle, name: string): FileHandle {
  return new Proxy(file, {
    get: (real, property) => {
      const value: unknown = Reflect.get(real, property);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        const call = async (): Promise<unknown> => Reflect.apply(value, real, args) as unknown;
        try {
          watched?.tell(`${String(property)} ${name}`);
        } catch (error) {
          // Whatever close(2) says, the descriptor is gone.
          if (property === 'close') await call();
          throw error;
        }
        // No power is cut here: waiting for the disk would only make hundreds of runs slow.
        return unwaited.has(property) ? undefined : call();
      };
    },
  });
}
