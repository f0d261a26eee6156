import { askAboutColumns } from '../batches/doubtful-columns.js';
import type { Client } from '../client/client.js';
import { ConfigurationError, StateError } from '../errors/family.js';
import type { FileSystem } from '../system/file-system.js';
import { version } from '../system/version.js';
import { isOfAccount } from './account.js';
import { newRun, serviceOf } from './begin-run.js';
import { budgetNotices } from './budget-notices.js';
import { readIntoBatches, readingPorts, type PassOne, type PassOneOptions } from './pass-one.js';
import { decidingOptions, differingShared, findChange } from './resume.js';
import { outputIdOf, type RunEntry } from './run-entries.js';
import type { OpenedRun } from './run-opening.js';
import type { ResolvedRun } from './run-options.js';
import type { RunScratch } from './run-scratch.js';
import type { BegunRun, SharedRunStore } from './run-store.js';

export interface SharedOpeningOptions {
  readonly run: Omit<ResolvedRun, 'stateDir'>;
  /** The run and where it is, for messages. */
  readonly name: string;
  readonly client: Client;
  readonly state: SharedRunStore;
  readonly scratch: RunScratch;
  readonly checked: Pick<
    PassOneOptions,
    'country' | 'emailCountry' | 'batchSize' | 'signal' | 'partitionFrom'
  > & {
    readonly files: FileSystem;
  };
}

/**
 * Begins a run, or joins the one that is begun under its name, where it is the same: every process makes
 * the same batches of the list, so only what they come to is compared.
 *
 * @throws StateError `state_mismatch` where it is another, naming what differs, before anything is sent;
 *   ConfigurationError, InputError
 */
export async function openShared(options: SharedOpeningOptions): Promise<OpenedRun> {
  const { run, client, state } = options;
  if (run.source.keep) {
    throw new ConfigurationError(
      `${run.source.name} can be read once only, or may give other rows the next time, and every process of a shared run reads it: write it to a file first`,
    );
  }
  const { known } = state;
  if (known.run) await refuseOther(options, known.run);
  const own = known.run ?? { ...newRun(client, run), version: ownVersion };
  const passOne = await read(options, own);
  const begun = await begin(options, own, passOne);
  if (begun.run.id !== own.id) await refuseOther(options, begun.run);
  refuseOtherList(options, begun, passOne);
  return { entry: begun.run, passOne };
}

/** Processes of one minor version work on a run together. */
const ownVersion = version.split('.').slice(0, 2).join('.');

async function read(
  { run, scratch, checked }: SharedOpeningOptions,
  entry: RunEntry,
): Promise<PassOne> {
  return readIntoBatches({
    ...checked,
    ...readingPorts(run, { isFirst: true }),
    source: run.source,
    columns: run,
    seed: Buffer.from(entry.seed, 'hex'),
    runId: outputIdOf(entry),
    scratch,
    planned: undefined,
  });
}

/** Nothing is written down of a run before it is known that it can be: its name would be taken. */
async function begin(
  { run, state }: SharedOpeningOptions,
  own: RunEntry,
  { plan, batches, entry }: PassOne,
): Promise<BegunRun> {
  const { known } = state;
  if (known.run && known.plan) return { run: known.run, plan: known.plan };
  await askAboutColumns(plan, run);
  for (const message of budgetNotices(batches, run.maxCredits)) {
    run.onProgress?.({ stage: 'notice', message });
  }
  return state.begin(own, entry);
}

async function refuseOther(
  { run, name, client, state, checked }: SharedOpeningOptions,
  begun: RunEntry,
): Promise<void> {
  if (begun.version !== ownVersion) {
    throw mismatch(
      `${name} was begun by Sluice ${begun.version ?? 'of another version'}, and this is ${ownVersion}: give all processes the same version`,
    );
  }
  const given = { decides: decidingOptions(run), service: serviceOf(client, run) };
  const differing = differingShared(begun, given);
  if (differing.length > 0) {
    throw mismatch(
      `${name} was begun with other options; these differ: ${[...new Set(differing)].join(', ')}. Give all processes the same, or another name to another run`,
    );
  }
  const account = await isOfAccount(client, begun, state, checked.signal);
  if (account === 'other' || account === 'unknown') {
    throw mismatch(
      `${name} was begun with the key of another account: give all processes a key of the same account`,
    );
  }
}

function refuseOtherList(
  { run, name }: SharedOpeningOptions,
  begun: BegunRun,
  { entry }: PassOne,
): void {
  const change = findChange(begun, { decides: decidingOptions(run), plan: entry });
  if (change === undefined) return;
  throw mismatch(
    `${run.source.name} is not the list that ${name} was begun with: ${change}. All processes read the same list; another list is another run, under another name`,
  );
}

function mismatch(message: string): StateError {
  return new StateError(`${message}. Nothing was sent by this process`, { code: 'state_mismatch' });
}
