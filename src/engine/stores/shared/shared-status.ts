import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { SluiceError } from '../../../platform/errors/sluice-error.js';
import type { Summary } from '../../summary/summary.js';
import { replayJournal, type RunState } from '../run-state.js';
import { type RunStatus, statusOf } from '../run-status.js';

/** How far one of the processes of a run is with its rows. */
interface WorkerRows {
  /** Each process reads the list by itself. */
  readonly rowsRead: number;
  /** Of the output; 0 in a process that does not write it. */
  readonly rowsWritten: number;
}

/** What one of the processes of a run has done. */
export interface WorkerFigures extends WorkerRows {
  /** Batches that it brought to their end. */
  readonly batchesDone: number;
  /** Addresses of these batches. */
  readonly addressesDone: number;
}

/** The rows of a run that many processes work on: what this one reports of them. */
export interface RowFigures {
  readonly local: WorkerRows;
  /** Takes in how many rows another process has written. */
  applyRemote(rowsWritten: number): void;
}

export const noRows: WorkerRows = { rowsRead: 0, rowsWritten: 0 };

/** A process that works on a run, or has died in it. */
export interface WorkerStatus {
  readonly host: string;
  /** Number of the process on its host. */
  readonly pid: number;
  /** As `2026-11-21T03:00:00.000Z`. */
  readonly begunAt: string;
  /** How long ago its latest sign of life was, by the database's clock. */
  readonly silentSeconds: number;
  /** Whether that is less than its lease. */
  readonly isAlive: boolean;
  /** Labels of the batches that it has; `output` is the last step. */
  readonly batches: readonly string[];
  readonly figures: WorkerFigures;
}

/** What a store has of a run. */
export interface StoredRun {
  readonly run: string;
  /** When its name was first used, as `2026-11-21T03:00:00.000Z`. */
  readonly madeAt: string;
  /** Of each batch the latest entry of the journal, of all else every one, in order. */
  readonly entries: readonly unknown[];
  readonly workers: readonly WorkerStatus[];
}

/** What a store that processes share says of a run. */
export interface SharedRunStatus extends RunStatus {
  /** Its name. */
  readonly run: string;
  /**
   * `reading` until a process has read the list, `working` while one is alive, `idle` while none is;
   * `stopped` where nothing more is launched; `finished`.
   */
  readonly state: 'reading' | 'working' | 'idle' | 'stopped' | 'finished';
  readonly workers: readonly WorkerStatus[];
}

/** A run in a store, or why what it has of it says nothing. */
export type FoundSharedRun =
  | { readonly run: string; readonly status: SharedRunStatus }
  | { readonly run: string; readonly error: SluiceError };

/** @param name what messages call the run and its store */
export function sharedStatusOf(
  { run, madeAt, entries, workers }: StoredRun,
  name: string,
): SharedRunStatus {
  const state = replayJournal(entries, name);
  const isAlive = workers.some((worker) => worker.isAlive);
  if (!state.run && !isAlive) throw new ConfigurationError(`${name} does not exist`);
  const { finished } = state;
  return {
    run,
    state: stateOf(state, isAlive),
    ...(state.run ? statusOf(state, name) : { ...nothingRead, stateDir: name, startedAt: madeAt }),
    // All but the end is dropped with it.
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
