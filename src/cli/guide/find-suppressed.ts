import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readSuppressed } from '../../engine/runs/options/read-suppressed.js';
import { isSluiceError } from '../../index.js';
import type { CommandInput } from '../command.js';
import {
  asWritten,
  databaseFile,
  locationOf,
  pathOf,
  resolvePath,
  standard,
} from '../endpoints/locations.js';
import { listEndings } from '../endpoints/proposed-names.js';
import { message } from '../messages/catalogue.js';
import type { VerifyOption } from '../options/verify-options.js';
import type { Reporter } from '../terminal/reporter.js';

/** A list beside the input of those who have opted out. */
export interface SuppressedBeside {
  readonly list: string;
  /** Its addresses and domains. */
  readonly cells: number;
}

const optOutNames =
  /unsub|opt[-_ ]?(?:ed[-_ ]?)?outs?\b|suppress|do[-_ ]?not[-_ ]?|abgemeldet|desabonn/i;
const mostBeside = 3;

/** Proposes the lists beside the input that can be read; the others are named. */
export async function findSuppressed(
  input: CommandInput<VerifyOption>,
  reporter: Reporter,
): Promise<readonly SuppressedBeside[]> {
  const found: SuppressedBeside[] = [];
  const others: string[] = [];
  for (const list of await optOutsBeside(input)) {
    const cells = await suppressedCells(resolvePath(input.cwd, list), input.signal);
    if (cells === undefined) others.push(list);
    else found.push({ list, cells });
  }
  reporter.report([
    ...(found.length > 0 ? [message('proposed_suppress', { lists: found })] : []),
    ...(others.length > 0 ? [message('suppress_beside', { lists: others })] : []),
  ]);
  return found;
}

/** @returns `undefined` for a file that is no list of addresses or domains */
async function suppressedCells(list: string, signal: AbortSignal): Promise<number | undefined> {
  let cells = 0;
  try {
    await readSuppressed([list], {
      signal,
      onProgress: (progress) => {
        if (progress.stage === 'notice') cells += Number(progress.fields['cells'] ?? 0);
      },
    });
    return cells;
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return undefined;
  }
}

/** Files beside the list or its database that are named as lists of those who have opted out. */
async function optOutsBeside({ positionals, ...input }: CommandInput<never>): Promise<string[]> {
  const [list, ...more] = positionals.map((path) => locationOf(path, input));
  if (list === undefined || list.path === standard || more.length > 0) return [];
  const path = pathOf(list) ?? databaseFile(list) ?? join(input.cwd, 'any');
  const names = await readdir(dirname(path)).catch(() => []);
  return names
    .filter((name) => optOutNames.test(name) && listEndings.test(name) && name !== basename(path))
    .slice(0, mostBeside)
    .map((name) => join(dirname(path), name))
    .map((found) => asWritten(input.cwd, found));
}
