import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { RunReports, type RunProgress } from '../../index.js';
import { ParsedOptions, type CommandInput, type Surroundings } from '../command.js';
import { locationOf, standard } from '../endpoints/locations.js';
import { errorText } from '../messages/describe-error.js';
import { message } from '../messages/catalogue.js';
import { sharedRunOf, storePatience } from '../options/store-options.js';
import type { VerifyOption } from '../options/verify-options.js';
import { exitCodeOf, exitCodes, Interruption } from '../process/exit-code.js';
import { Reporter } from '../terminal/reporter.js';
import { prepareJob } from './prepare-job.js';
import { runShared } from './run-job.js';

/** What a worker is started with, beside its environment. Sent through a channel: command lines are public. */
type WorkerTask = {
  readonly positionals: readonly string[];
  readonly options: readonly (readonly [string, readonly (string | true)[]])[];
};

type WorkerMessage = { readonly progress: RunProgress } | { readonly failed: string };

export const workerName = 'worker';

/** A process that is asked to stop ends within moments. */
const patienceMs = 10_000;

/** Codes that stop the whole run. */
const codesOfAll: readonly unknown[] = [
  exitCodes.done,
  exitCodes.keyRefused,
  exitCodes.creditsUsedUp,
];

interface WorkersOptions {
  readonly input: CommandInput<never>;
  readonly reporter: Reporter;
  readonly count: number;
}

/** The worker processes that this command adds to a shared run: none outlives this process, as a channel connects them. */
export class Workers {
  readonly #options: WorkersOptions;
  /** Each with its end. */
  readonly #working = new Map<ChildProcess, Promise<void>>();
  #isStopping = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /** Starts the workers once the run is begun. May be called again. */
  start(): void {
    const { input, count } = this.#options;
    if (this.#working.size > 0 || this.#isStopping || input.signal.aborted) return;
    input.signal.addEventListener('abort', () => this.#reportStop(), { once: true });
    for (let number = 2; number <= count; number += 1) this.#startOne(number);
  }

  async stop(): Promise<void> {
    this.#reportStop();
    const kill = setTimeout(() => {
      for (const worker of this.#working.keys()) worker.kill('SIGKILL');
    }, patienceMs);
    await Promise.all(this.#working.values());
    clearTimeout(kill);
  }

  #startOne(number: number): void {
    const { positionals, options, argv, env, cwd } = this.#options.input;
    // Bun has no such module.
    const isOneFile = process.getBuiltinModule('node:sea')?.isSea() ?? false;
    const program = isOneFile ? [] : [argv[1] ?? ''];
    const ofLog = this.#options.input.log.isJson ? ['--json-log'] : [];
    const worker = spawn(
      process.execPath,
      [...process.execArgv, ...program, workerName, ...ofLog],
      {
        env,
        cwd,
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        serialization: 'advanced',
      },
    );
    let failed = '';
    worker.on('message', (message: WorkerMessage) => {
      if ('progress' in message) this.#options.reporter.progress(message.progress);
      else ({ failed } = message);
    });
    const ended = new Promise<string | undefined>((resolve) => {
      worker.on('error', ({ message }) => {
        if (worker.pid === undefined) resolve(`could not be started: ${message}`);
      });
      worker.on('exit', () => {
        if (this.#isStopping) resolve(undefined);
      });
      // By then every message has arrived. Nothing comes through a channel that was closed here.
      worker.on('close', (code, signal) => {
        if (signal) resolve(`was ended by ${signal}`);
        else resolve(codesOfAll.includes(code) ? undefined : `ended with ${code}: ${failed}`);
      });
    });
    const forgotten = ended.then((how) => {
      this.#working.delete(worker);
      if (how !== undefined && !this.#isStopping) this.#reportEnded(number, how);
    });
    this.#working.set(worker, forgotten);
    const task: WorkerTask = { positionals, options: options.given() };
    // A worker that is gone is reported by its `close`.
    worker.send(task, () => undefined);
  }

  #reportStop(): void {
    this.#isStopping = true;
    for (const worker of this.#working.keys()) {
      const hasEnded = worker.exitCode !== null || worker.signalCode !== null;
      if (worker.connected && !hasEnded) worker.disconnect();
    }
  }

  #reportEnded(number: number, how: string): void {
    const { count, reporter } = this.#options;
    const left = this.#working.size + 1;
    const fields = { worker: number, workers: count, message: how, left };
    reporter.report([message('worker_ended', fields)]);
  }
}

/** Progress that only its own process knows; everything else is in the store. */
const forwarded: readonly RunProgress['stage'][] = [
  'older_state',
  'left_behind',
  'text_column',
  'notice',
];

/** The budget is that of all: the process that has started this one sees by itself that it changes. */
function isForwarded(progress: RunProgress): boolean {
  const isOfAll = progress.stage === 'notice' && progress.code === 'max_credits_changed_elsewhere';
  return forwarded.includes(progress.stage) && !isOfAll;
}

/** Works on a shared run for the parent process without printing: its task comes through a channel whose end stops it. */
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
  const job = await prepareJob(to, input, {
    run: { store },
    reporter,
    reports: await RunReports.open({}),
  });
  const shared = {
    ...job.shared,
    onProgress: (progress: RunProgress) => {
      if (isForwarded(progress)) void send({ progress });
    },
  };
  try {
    await runShared(
      { ...job, shared, reportSummary: async () => undefined },
      { store, isHeldBack: true },
    );
  } finally {
    await job.history?.close();
  }
}

/** Waits until the message is sent: an exit drops what is not. */
async function send(message: WorkerMessage): Promise<void> {
  await new Promise<void>((resolve) => {
    if (!process.connected || !process.send) resolve();
    else process.send(message, () => resolve());
  });
}
