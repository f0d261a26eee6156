import { once } from 'node:events';
import { Writable } from 'node:stream';
import { RunReports, type RunProgress } from '../../index.js';
import { ParsedOptions, type CommandInput, type Surroundings } from '../command.js';
import { prepareJob } from './prepare-job.js';
import { errorText } from '../messages/describe-error.js';
import { exitCodeOf, exitCodes, Interruption } from '../process/exit-code.js';
import { locationOf, standard } from '../endpoints/locations.js';
import { Reporter } from '../terminal/reporter.js';
import { runShared } from './run-list.js';
import { sharedRunOf, storePatience } from '../options/store-options.js';
import type { VerifyOption } from '../options/verify-options.js';
import type { WorkerMessage, WorkerTask } from './workers.js';

/** What only the process knows in which it happens; all else the one that has started it hears itself. */
const forwarded: readonly RunProgress['stage'][] = [
  'older_state',
  'left_behind',
  'text_column',
  'notice',
];

/**
 * Works on a shared run for the process that has started this one, and says nothing by itself: what it is
 * to do comes through a channel, and it stops when that closes.
 *
 * @returns the exit code
 */
export async function runWorker({
  signal,
  ...surroundings
}: Surroundings & Pick<CommandInput, 'log'>): Promise<number> {
  const left = new AbortController();
  process.once('disconnect', () => left.abort(new Interruption('SIGTERM')));
  if (!process.connected) return exitCodes.done;
  const stopped = AbortSignal.any([signal, left.signal]);
  try {
    const [task] = (await once(process, 'message', { signal: stopped })) as [WorkerTask];
    await work({
      ...surroundings,
      signal: stopped,
      positionals: task.positionals,
      options: new ParsedOptions(new Map(task.options)),
      given: new ParsedOptions(new Map()),
    });
    return exitCodes.done;
  } catch (cause) {
    const error: unknown = stopped.aborted ? stopped.reason : cause;
    await send({ failed: errorText(error) });
    return exitCodeOf(error);
  }
}

async function work(input: CommandInput<VerifyOption>): Promise<void> {
  const { options } = input;
  const to = locationOf(options.text('output') ?? standard, input);
  const store = await sharedRunOf(input, storePatience(options));
  if (!store) return;
  const nobody = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reporter = new Reporter(nobody, {
    isQuiet: true,
    isVerbose: false,
    mode: 'none',
    clock: input.clock,
  });
  const { job, history } = await prepareJob(to, input, {
    run: {
      input: '',
      output: '',
      stateDir: undefined,
      store,
      isStreaming: false,
      noMoreOpenThan: undefined,
    },
    reporter,
    reports: await RunReports.open({}),
  });
  const shared = {
    ...job.shared,
    onProgress: (progress: RunProgress) => {
      if (forwarded.includes(progress.stage)) void send({ progress });
    },
  };
  try {
    await runShared(
      { ...job, shared, reportSummary: async () => undefined },
      { store, isHeldBack: true },
    );
  } finally {
    await history?.close();
  }
}

/** Waits until it is on its way: an exit cuts what is not. */
async function send(message: WorkerMessage): Promise<void> {
  await new Promise<void>((resolve) => {
    if (!process.connected || !process.send) resolve();
    else process.send(message, () => resolve());
  });
}
