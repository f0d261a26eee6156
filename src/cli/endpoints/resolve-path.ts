import { resolve } from 'node:path';
import { standard } from './stdio.js';

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
