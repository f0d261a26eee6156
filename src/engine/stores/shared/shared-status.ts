import {
  ConfigurationError,
  BudgetError,
  DeadlineError,
  DetachedError,
  StateError,
} from '../../../platform/errors/errors.js';
import { ApiError } from '../../../platform/errors/service-errors.js';
import type { SluiceError } from '../../../platform/errors/sluice-error.js';
import type { Summary } from '../../summary/summary.js';
import { replayJournal, type RunState } from '../run-state.js';
import { type RunStatus, statusOf } from '../run-status.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { stoppedEntry, type StoppedEntry } from '../journal-entries.js';
import { optionName } from '../../../platform/text/sentence.js';

/** A process's progress with its rows. */
interface WorkerRows {
  /** Each process reads the list by itself. */
  readonly rowsRead: number;
  /** Of the output; 0 in a process that does not write it. */
  readonly rowsWritten: number;
}

/** The work of one process of a run. */
export interface WorkerFigures extends WorkerRows {
  /** Batches that it finished. */
  readonly batchesDone: number;
  /** Addresses of these batches. */
  readonly addressesDone: number;
}

/** The rows of a shared run, as this process reports them. */
export interface RowFigures {
  readonly local: WorkerRows;
  /** Notes the rows that another process has written. */
  applyRemote(rowsWritten: number): void;
}

export const noRows: WorkerRows = { rowsRead: 0, rowsWritten: 0 };

/** A process of a run, alive or dead. */
export interface WorkerStatus {
  readonly host: string;
  /** Process id on its host. */
  readonly pid: number;
  /** As `2026-11-21T03:00:00.000Z`. */
  readonly begunAt: string;
  /** Time since its latest heartbeat, by the database's clock. */
  readonly silentSeconds: number;
  /** Whether that is less than its lease. */
  readonly isAlive: boolean;
  /** Labels of its batches; `output` is that of its output. */
  readonly batches: readonly string[];
  readonly figures: WorkerFigures;
}

/** A run in a store. */
export interface StoredRun {
  readonly run: string;
  /** When its name was first used, as `2026-11-21T03:00:00.000Z`. */
  readonly madeAt: string;
  /** The latest entry of each batch and every other entry, in order. */
  readonly entries: readonly unknown[];
  readonly workers: readonly WorkerStatus[];
}

/** Status of a shared run. */
export interface SharedRunStatus extends RunStatus {
  readonly run: string;
  /**
   * `reading` until a process has read the list, `working` while one is alive, `idle` while none is;
   * `stopped` when launches are stopped; `finished`.
   */
  readonly state: 'reading' | 'working' | 'idle' | 'stopped' | 'finished';
  readonly workers: readonly WorkerStatus[];
}

/** A run in a store with its status, or why it cannot be read. */
export type FoundSharedRun =
  | { readonly run: string; readonly status: SharedRunStatus }
  | { readonly run: string; readonly error: SluiceError };

export const adviceOnDamage =
  'put back a backup of it, or begin a run of another name: that pays again for what was sent';

/** @param name the run and its store */
export function damagedInStore(name: string, what: string, cause?: unknown): StateError {
  const message = `the journal of ${name} is damaged ${what}; ${adviceOnDamage}`;
  return new StateError(message, { code: 'state_damaged', cause });
}

/** @param name the run and its store in messages */
export function runMissing(name: string): ConfigurationError {
  return new ConfigurationError(`${name} does not exist`, { option: 'run', fault: 'missing' });
}

export function sharedStatusOf(
  { run, madeAt, entries, workers }: StoredRun,
  name: string,
): SharedRunStatus {
  const state = replayJournal(entries, name, damagedInStore);
  const isAlive = workers.some((worker) => worker.isAlive);
  if (!state.run && !isAlive) throw runMissing(name);
  const { finished } = state;
  return {
    run,
    state: stateOf(state, isAlive),
    ...(state.run ? statusOf(state, name) : { ...nothingRead, stateDir: name, startedAt: madeAt }),
    // Everything else is dropped at the end.
    ...(finished && figuresOf(finished.summary)),
    workers,
  };
}

const nothingRead = {
  stopped: null,
  input: '',
  output: '',
  service: '',
  rows: null,
  batches: 0,
  done: 0,
  running: 0,
  inDoubt: 0,
  uploads: 0,
  stages: {},
  launchedCredits: { email: 0, phone: 0 },
  earlierCredits: { email: 0, phone: 0 },
  budgetCredits: { email: 0, phone: 0 },
  doubtfulCredits: { email: 0, phone: 0 },
  openCredits: { email: 0, phone: 0 },
  isFinished: false,
  isEnded: false,
  retry: { exports: 0, addresses: 0, paidTwice: 0 },
};

function stateOf({ run, stopped, finished }: RunState, isAlive: boolean): SharedRunStatus['state'] {
  if (!run) return 'reading';
  if (finished) return 'finished';
  if (stopped) return 'stopped';
  return isAlive ? 'working' : 'idle';
}

function figuresOf({ rows, batches }: Summary): Partial<RunStatus> {
  const launchedCredits = { email: 0, phone: 0 };
  for (const { type, addresses, charge, times } of batches) {
    if (times.launched_at !== null) launchedCredits[type] += charge?.spent ?? addresses;
  }
  const whole = batches.filter(({ stage }) => stage !== 'split').length;
  return { rows, batches: whole, done: whole, launchedCredits };
}

/** A batch on which processes keep dying would cost all of them. @param batch its label */
export function stopForLosses(batch: string): StoppedEntry {
  return {
    entry: 'stopped',
    code: 'processes_lost',
    message: `five processes were lost within a minute of getting batch ${batch}. If it was not the machines, it is this batch or one that they drove with it: look at the processes' logs and memory; a smaller ${optionName('concurrency')} needs less`,
    at: new Date().toISOString(),
  };
}

/** The stop for all processes that a process's error requires: one that each would meet, or that is meant for all. */
export function stopForAll(error: unknown): StoppedEntry | undefined {
  if (!isSluiceError(error)) return undefined;
  const stopped = stoppedEntry.safeParse({
    entry: 'stopped',
    code: error.code,
    message: error.message,
    at: new Date().toISOString(),
  });
  return stopped.data;
}

export function letsFinish({ code }: StoppedEntry): boolean {
  return ['payment_required', 'budget_exhausted', 'detached', 'processes_lost'].includes(code);
}

export function stopOfOthers({ code, message: reason }: StoppedEntry): SluiceError {
  const message = `another process of the run was stopped: ${reason}`;
  switch (code) {
    case 'budget_exhausted':
      return new BudgetError(message);
    case 'detached':
      return new DetachedError(reason, { retryable: false });
    case 'abandoned':
      return new StateError(reason, { code: 'state_mismatch' });
    case 'processes_lost':
      return new DeadlineError(reason, { code });
    default:
      return new ApiError(message, { code, operation: 'launchBatch', status: statuses[code] });
  }
}

const statuses = { payment_required: 402, unauthorized: 401, forbidden: 403 } as const;
