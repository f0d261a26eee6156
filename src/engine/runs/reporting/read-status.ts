import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultStateDir } from '../../../lists/location.js';
import { ConfigurationError, OutputError } from '../../../platform/errors/errors.js';
import { SluiceError } from '../../../platform/errors/sluice-error.js';
import { describeSystemError } from '../../../platform/text/system-errors.js';
import { exists, systemFiles, type FileSystem } from '../../../platform/files/file-system.js';
import { checkValue } from '../../../platform/check-options.js';
import { aFolder } from '../../../platform/option-kinds.js';
import { readRunState } from '../../stores/directory/state-directory.js';
import type { RunEntry } from '../../stores/journal-entries.js';
import { type RunStatus, statusOf } from '../../stores/run-status.js';
import type { SharedStore } from '../../stores/run-store.js';
import {
  damagedInStore,
  type SharedRunStatus,
  sharedStatusOf,
  runMissing,
} from '../../stores/shared/shared-status.js';
import { aStore } from '../options/option-shapes.js';
import type { VerificationType } from '../../../contract/enums.js';
import { noTimes } from '../../batches/batch-log.js';
import {
  addressesOf,
  replayJournal,
  emptyRunState,
  type EarlierRun,
  type RunState,
} from '../../stores/run-state.js';
import {
  type BatchReport,
  type CreditSummary,
  launchedCredits,
  type PaidBatch,
} from '../../summary/figures.js';
import type { Summary } from '../../summary/summary.js';

/**
 * Reads the status of a run from a state directory or a shared store, also while it works. The output may be
 * given in place of the state directory beside it.
 *
 * @throws OutputError, StateError; ConfigurationError when there is no run; DeadlineError
 *
 * @example
 * ```ts
 * const status = await readRunStatus('verified.csv.sluice').catch(() => undefined);
 * console.log(status ? describeStatus(status).soFar : 'no run is unfinished'); // no run is unfinished
 * ```
 */
export async function readRunStatus(stateDir: string): Promise<RunStatus>;
export async function readRunStatus(store: SharedStore): Promise<SharedRunStatus>;
export async function readRunStatus(place: string | SharedStore): Promise<RunStatus>;
export async function readRunStatus(place: string | SharedStore): Promise<RunStatus> {
  if (typeof place === 'string') return readDirectory(place);
  checkValue('place', place, {
    ...aStore,
    what: 'a state directory, or a store that processes share',
  });
  const stored = await place.look();
  if (!stored) throw runMissing(place.name);
  return sharedStatusOf(stored, place.name);
}

async function readDirectory(stateDir: string): Promise<RunStatus> {
  const ofOutput = defaultStateDir(stateDir);
  for (const path of [stateDir, ofOutput]) {
    const state = await readRunState(systemFiles, path);
    if (state) return statusOf(state, path);
  }
  const places = /\.sluice\/*$/.test(stateDir) ? stateDir : `${stateDir} or ${ofOutput}`;
  throw new ConfigurationError(`no unfinished run in ${places}: it has finished, or never began`, {
    fault: 'missing',
  });
}

/** How the run began that a state directory knows. @throws OutputError, StateError */
export async function runEntryOf(stateDir: string): Promise<RunEntry | undefined> {
  return (await readRunState(systemFiles, stateDir))?.run;
}

/** A state directory with its run's status, or why it cannot be read. */
export type FoundRun =
  | { readonly stateDir: string; readonly status: RunStatus }
  | {
      readonly stateDir: string;
      readonly error: SluiceError;
    };

/**
 * Finds the state directories in a folder: of unfinished runs, and of those that ended with failed rows.
 *
 * @throws OutputError when the folder cannot be read
 *
 * @example
 * ```ts
 * for (const found of await findRuns('.')) {
 *   console.log(found.stateDir, 'status' in found ? found.status.startedAt : found.error.message);
 * }
 * ```
 */
export async function findRuns(folder: string): Promise<readonly FoundRun[]> {
  checkValue('folder', folder, aFolder);
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new OutputError(`cannot read ${folder}: ${describeSystemError(cause)}`, { cause });
  });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const found: FoundRun[] = [];
  for (const name of names.toSorted()) {
    const stateDir = folder === '.' ? name : join(folder, name);
    if (!(await exists(join(stateDir, 'journal')))) continue;
    try {
      found.push({ stateDir, status: await readRunStatus(stateDir) });
    } catch (error) {
      // Other programs have journals, too.
      if (error instanceof SluiceError && name.endsWith('.sluice')) found.push({ stateDir, error });
    }
  }
  return found;
}

/** Longest wait for a store's answer before a run begins, or after it has ended. */
const lookMs = 5000;

export interface StoppedRun {
  readonly status: RunStatus;
  readonly credits: Readonly<Record<VerificationType, CreditSummary | null>>;
  readonly creditsBefore: Summary['credits_before'];
  readonly batches: readonly BatchReport[];
}

/** Reads what a stopped run has paid, and its batches' states. @param place its state directory, or the shared store */
export async function readStoppedRun(
  place: string | SharedStore,
  files: FileSystem = systemFiles,
): Promise<StoppedRun> {
  const state =
    typeof place === 'string'
      ? await readRunState(files, place)
      : (await lookAtShared(place)).state;
  return stoppedRunOf(state ?? emptyRunState, typeof place === 'string' ? place : place.name);
}

/** @returns an empty state where the run has not begun */
export async function lookAtShared(
  store: SharedStore,
): Promise<{ readonly state: RunState; readonly isAtWork: boolean }> {
  const { entries = [], workers = [] } =
    (await store.look({ signal: AbortSignal.timeout(lookMs) })) ?? {};
  return {
    state: replayJournal(entries, store.name, damagedInStore),
    isAtWork: workers.some(({ isAlive }) => isAlive),
  };
}

function stoppedRunOf(state: RunState, name: string): StoppedRun {
  const batches = batchReports(state);
  const creditsFor = (type: VerificationType): CreditSummary | null => {
    const columns = state.run?.decides[type];
    if (Array.isArray(columns) && columns.length === 0) return null;
    return creditsOf(batches, type);
  };
  return {
    status: statusOf(state, name),
    credits: { email: creditsFor('email'), phone: creditsFor('phone') },
    creditsBefore: creditsBefore(state.earlier),
    batches: batches.map(({ report }) => report),
  };
}

/** Cost after refunds of the runs that a run replaces, as far as known; `undefined` where none launched anything. */
export function creditsBefore(earlier: readonly EarlierRun[]): Summary['credits_before'] {
  const reports = earlier.flatMap(({ run, plan, batches }) =>
    batchReports({ ...emptyRunState, run, plan, batches }),
  );
  const costOf = (type: VerificationType): number => {
    const { net, spent, in_doubt: inDoubt } = creditsOf(reports, type);
    return net ?? (spent ?? 0) + (inDoubt ?? 0);
  };
  const credits = { email: costOf('email'), phone: costOf('phone') };
  return credits.email + credits.phone > 0 ? credits : undefined;
}

interface StoppedReport {
  readonly report: BatchReport;
  readonly stopped: PaidBatch;
}

function batchReports(state: RunState): readonly StoppedReport[] {
  return [...state.batches].flatMap(([label, entry]) => {
    const planned = state.plan?.batches[entry.batch];
    const { state: batch, name, charge, exported, replacedCharge } = entry;
    if (!planned || batch.stage === 'split') return [];
    const report = {
      batch_uuid: ('uuid' in batch && batch.uuid) || null,
      name,
      type: planned.type as VerificationType,
      country: planned.country,
      addresses: addressesOf(state, entry),
      stage: batch.stage,
      reason: batch.stage === 'failed' ? batch.reason : null,
      charge,
      export: exported ?? null,
      times: state.times.get(label) ?? noTimes,
    };
    const stopped = { state: batch, addresses: report.addresses, charge, replacedCharge };
    return [{ report, stopped }];
  });
}

function creditsOf(batches: readonly StoppedReport[], type: VerificationType): CreditSummary {
  const ofType = batches.filter(({ report }) => report.type === type);
  return launchedCredits(ofType.map(({ stopped }) => stopped));
}
