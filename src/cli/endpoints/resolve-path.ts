import { resolve } from 'node:path';
import type { OptionDefinition } from '../command.js';
import { standard } from './stdio.js';

/** Whether the value of an option is a file or a folder, or the place of a list, as its help shows it. */
export function namesPath({ value }: Pick<OptionDefinition, 'value'>): boolean {
  return value !== undefined && /path|file|dir|\.json|\.html/.test(value);
}

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
