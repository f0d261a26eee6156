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
import type { EstimatedJob } from '../job/estimate-job.js';
import { message } from '../messages/catalogue.js';
import type { VerifyOption } from '../options/verify-options.js';
import type { Reporter } from '../terminal/reporter.js';
import type { EstimateWith } from './choose-history.js';
import type { Proposal } from './whole-command.js';

/** A list beside the input of those who have opted out. */
export interface SuppressedBeside {
  readonly list: string;
  /** Its addresses and domains. */
  readonly cells: number;
  readonly hasPhones: boolean;
}

interface UsedLists extends Proposal {
  readonly suppressed: readonly SuppressedBeside[];
}

const optOutNames =
  /unsub|opt[-_ ]?(?:ed[-_ ]?)?outs?\b|suppress|do[-_ ]?not[-_ ]?|abgemeldet|desabonn/i;
const mostBeside = 3;

/** Finds the lists beside the input that can be read; the others are named. */
export async function findSuppressed(
  input: CommandInput<VerifyOption>,
  reporter: Reporter,
): Promise<readonly SuppressedBeside[]> {
  const found: SuppressedBeside[] = [];
  const others: string[] = [];
  for (const list of await optOutsBeside(input)) {
    const held = await heldBy(resolvePath(input.cwd, list), input.signal);
    if (held === undefined) others.push(list);
    else found.push({ list, ...held });
  }
  if (others.length > 0) reporter.report([message('suppress_beside', { lists: others })]);
  return found;
}

/** Reports the lists that are proposed, and those that are not. */
export function reportSuppressed(
  proposed: readonly SuppressedBeside[],
  unused: readonly SuppressedBeside[],
  reporter: Reporter,
): void {
  const named = (lists: readonly SuppressedBeside[]) =>
    lists.map(({ list, cells }) => ({ list, cells }));
  reporter.report([
    ...(proposed.length > 0 ? [message('proposed_suppress', { lists: named(proposed) })] : []),
    ...(unused.length > 0 ? [message('suppress_unused', { lists: named(unused) })] : []),
  ]);
}

/**
 * Leaves those lists out of a proposal of which no entry is in the rows, and reports which are proposed.
 *
 * @param counted with all of them
 * @param isCountryKnown whether numbers are compared as the run would; else all lists with numbers stay
 */
export async function keepUsed(
  { added, other, suppressed }: UsedLists,
  counted: EstimatedJob,
  isCountryKnown: boolean,
  { options }: CommandInput<VerifyOption>,
  { reporter, estimate }: { readonly reporter: Reporter; readonly estimate: EstimateWith },
): Promise<UsedLists> {
  const without = <Given extends Proposal>(given: Given, lists: readonly SuppressedBeside[]) => ({
    ...given,
    added: given.added.filter(
      ([name, value]) => name !== 'suppress' || lists.every(({ list }) => list !== value),
    ),
  });
  const unused: SuppressedBeside[] = [];
  for (const each of suppressed) {
    const isCompared = isCountryKnown || !each.hasPhones || !counted.estimate.phone;
    // Of a part of the rows, the others may have them.
    if (!isCompared || options.has('limit')) continue;
    const others = suppressed.filter((one) => one !== each);
    const alone =
      others.length === 0
        ? counted
        : await estimate(without({ added }, others).added, { isOffline: true });
    if (suppressedIn(alone) === 0) unused.push(each);
  }
  const used = suppressed.filter((each) => !unused.includes(each));
  reportSuppressed(used, unused, reporter);
  return {
    ...without({ added }, unused),
    other: other && without(other, unused),
    suppressed: used,
  };
}

/** The cells of the list that are left out. */
export function suppressedIn({ estimate: { email, phone } }: EstimatedJob): number {
  return (email?.not_submitted['suppressed'] ?? 0) + (phone?.not_submitted['suppressed'] ?? 0);
}

/** @returns `undefined` for a file that is no list of addresses or domains */
async function heldBy(
  list: string,
  signal: AbortSignal,
): Promise<Omit<SuppressedBeside, 'list'> | undefined> {
  try {
    const { suppressed } = await readSuppressed([list], { signal });
    return suppressed && { cells: suppressed.cells, hasPhones: suppressed.hasPhones };
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
