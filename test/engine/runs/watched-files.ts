import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { systemFiles, type FileSystem } from '../../../src/platform/files/file-system.js';

/** A call on the disk: `open journal`, `appendFile journal`, `rename 000001.json.part`. */
export type Call = (call: string) => void | Promise<void>;

/** The disk as a test sees it. */
export interface WatchedFiles extends FileSystem {
  /** Names of the files that are open. */
  readonly openFiles: readonly string[];
}

/**
 * The disk, with each call told before it is made, those on open files among them; what `tell` throws
 * the call fails with.
 */
export function watchedFiles(tell: Call = () => undefined): WatchedFiles {
  const openFiles: string[] = [];
  const opened = async (file: FileHandle, name: string): Promise<FileHandle> => {
    openFiles.push(name);
    let isOpen = true;
    return new Proxy(file, {
      get: (real, property) =>
        wrapped(real, property, async (call, args) => {
          const close = property === 'close';
          // It may be closed twice.
          if (close && isOpen) openFiles.splice(openFiles.indexOf(name), 1);
          if (close) isOpen = false;
          try {
            await tell(`${String(property)} ${name}`);
          } catch (error) {
            // A failed close lets go of the descriptor all the same.
            if (close) await call(args);
            throw error;
          }
          return call(args);
        }),
    });
  };
  const files = new Proxy(systemFiles, {
    get: (real, property) =>
      wrapped(real, property, async (call, args) => {
        const name = typeof args[0] === 'string' ? basename(args[0]) : '';
        await tell(`${String(property)} ${name}`);
        const result = await call(args);
        const isFile = property === 'open' || property === 'openLocked';
        return isFile && result !== undefined ? opened(result as FileHandle, name) : result;
      }),
  });
  return Object.assign(Object.create(files) as FileSystem, { openFiles });
}

function wrapped(
  real: object,
  property: string | symbol,
  around: (
    call: (args: readonly unknown[]) => Promise<unknown>,
    args: readonly unknown[],
  ) => Promise<unknown>,
): unknown {
  const value: unknown = Reflect.get(real, property);
  if (typeof value !== 'function') return value;
  const call = async (args: readonly unknown[]): Promise<unknown> =>
    Reflect.apply(value, real, args) as unknown;
  return async (...args: unknown[]) => around(call, args);
}

/** What the system says when a call fails. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made to fail`), { code, syscall: 'write', errno: -1 });
}
