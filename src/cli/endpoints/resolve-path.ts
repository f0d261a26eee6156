import type { OptionDefinition } from '../command.js';
import { resolve } from 'node:path';

/**
 * What the command line names, as the file system finds it: from the folder of the command line. Where that
 * is the folder of the process, it is as it was written, which is how messages show it.
 */
export function resolvePath(cwd: string, name: string): string {
  const [, scheme = '', path = ''] = /^((?:sqlite|duckdb):)?(.*)$/is.exec(name) ?? [];
  const isElsewhere =
    cwd === '.' ||
    name === '' ||
    name === standard ||
    path === ':memory:' ||
    /^(?:env:|[a-z][a-z0-9+.-]+:\/\/)/i.test(name);
  if (isElsewhere || resolve(cwd, path) === resolve(path)) return name;
  return `${scheme}${cwd}/${path}`;
}

/** What was resolved, as it was written. */
export function asWritten(cwd: string, name: string): string {
  return cwd !== '.' && name.startsWith(`${cwd}/`) ? name.slice(cwd.length + 1) : name;
}

/** What stands for standard input and standard output. */
export const standard = '-';

/** The value of an option, found from the folder of the command line where it is a path. */
export function placed(
  value: string | true,
  definition: OptionDefinition,
  cwd: string,
): string | true {
  return value !== true && definition.type?.isPath === true ? resolvePath(cwd, value) : value;
}
