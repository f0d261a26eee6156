import {
  ApiError,
  BudgetError,
  ConfigurationError,
  DetachedError,
  isSluiceError,
  InputError,
  OutputError,
  SluiceError,
  StateError,
} from '../../index.js';

export const exitCodes = {
  done: 0,
  defect: 1,
  usage: 2,
  someFailed: 3,
  keyRefused: 4,
  creditsUsedUp: 5,
  inputOrOutput: 6,
  serviceFailing: 7,
  suspect: 8,
  detached: 75,
} as const;

export function exitCodeOf(error: unknown): number {
  if (error instanceof Interruption) return error.exitCode;
  if (error instanceof ConfigurationError || error instanceof StateError) return exitCodes.usage;
  if (isSluiceError(error, 'input_suspect')) return exitCodes.suspect;
  if (error instanceof InputError || error instanceof OutputError) return exitCodes.inputOrOutput;
  if (error instanceof DetachedError) return exitCodes.detached;
  if (error instanceof BudgetError) return exitCodes.creditsUsedUp;
  if (error instanceof ApiError) {
    if (error.code === 'unauthorized' || error.code === 'forbidden') return exitCodes.keyRefused;
    if (error.code === 'payment_required') return exitCodes.creditsUsedUp;
  }
  return error instanceof SluiceError ? exitCodes.serviceFailing : exitCodes.defect;
}

const signals = {
  SIGINT: { exitCode: 130, reason: 'interrupted' },
  SIGTERM: { exitCode: 143, reason: 'terminated' },
} as const;

type StopSignal = keyof typeof signals;

/** The abort reason when a person or a supervisor stops the process. */
export class Interruption extends Error {
  readonly exitCode: number;
  readonly reason: 'interrupted' | 'terminated';

  constructor(signal: StopSignal) {
    super(`stopped by ${signal}`);
    this.name = 'Interruption';
    ({ exitCode: this.exitCode, reason: this.reason } = signals[signal]);
  }
}

/** The same signal within this time is the same request. */
const sameMs = 100;

/**
 * Aborts when the process is asked to stop. A second signal ends it at once: the next run continues from what
 * is on disk.
 *
 * @param forced called before it ends so
 */
export function abortOnSignals(
  nodeProcess: NodeJS.Process,
  forced: (interruption: Interruption) => void,
  now = (): number => performance.now(),
): AbortSignal {
  const controller = new AbortController();
  let first = { signal: '', atMs: 0 };
  for (const signal of Object.keys(signals) as StopSignal[]) {
    nodeProcess.on(signal, () => {
      const interruption = new Interruption(signal);
      // `timeout` signals the process, and then its group; npx repeats what a terminal sends to all.
      if (first.signal === signal && now() - first.atMs < sameMs) return;
      if (controller.signal.aborted) {
        forced(interruption);
        nodeProcess.exit(interruption.exitCode);
      }
      first = { signal, atMs: now() };
      controller.abort(interruption);
    });
  }
  return controller.signal;
}
