import type { Writable } from 'node:stream';
import { version } from '../index.js';
import { exitCodes } from './exit-code.js';
import { print } from './terminal/print.js';

export function asksVersion([first]: readonly string[]): boolean {
  return first === '--version' || first === '-V';
}

/** @returns the exit code */
export async function printVersion(out: Writable): Promise<number> {
  await print(`${version}\n`, out);
  return exitCodes.done;
}
