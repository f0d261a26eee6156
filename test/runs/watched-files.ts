import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { systemFiles, type FileSystem } from '../../src/runs/file-system.js';

/** A call on the disk: `open journal`, `appendFile journal`, `rename 000001.json.part`. */
export type Call = (call: string) => void | Promise<void>;

/**
 * The disk, with each call told before it is made, those on open files among them; what `tell` throws
 * the call fails with.
 */
export function watchedFiles(tell: Call): FileSystem {
  return told(
    systemFiles,
    (name, args) => {
      const path = typeof args[0] === 'string' ? basename(args[0]) : '';
      return { call: `${name} ${path}`, opened: path };
    },
    tell,
  );
}

function told<Target extends object>(
  target: Target,
  describe: (name: string, args: readonly unknown[]) => { call: string; opened: string },
  tell: Call,
): Target {
  return new Proxy(target, {
    get(real, property) {
      const value: unknown = Reflect.get(real, property);
      if (typeof value !== 'function' || typeof property !== 'string') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        const { call, opened } = describe(property, args);
        try {
          await tell(call);
        } catch (error) {
          // A failed close lets go of the descriptor all the same.
          if (property === 'close') await (Reflect.apply(value, real, args) as Promise<void>);
          throw error;
        }
        const result: unknown = await Reflect.apply(value, real, args);
        if (property !== 'open' && property !== 'openLocked') return result;
        if (result === undefined) return undefined;
        return told(result as FileHandle, (name) => ({ call: `${name} ${opened}`, opened }), tell);
      };
    },
  });
}

/** What the system says when a call fails. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made to fail`), { code, syscall: 'write', errno: -1 });
}
