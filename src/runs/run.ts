import { mayHaveLaunched } from '../batches/known-batch.js';
import type { Client } from '../client/client.js';
import { defaults } from '../batches/defaults.js';
import { countVerified } from '../batches/column-layout.js';
import { askAboutColumns } from '../batches/doubtful-columns.js';
import { checkCountries } from '../batches/plan.js';
import { checkOptions } from '../options/check-options.js';
import { observeRun } from '../diagnostics/observe-run.js';
import { observedEnd, observedProgress } from './observed-progress.js';
import { readBalance, readBalanceAfter } from './balance.js';
import { budgetNotices } from './budget-notices.js';
import { keepCarried } from './carried-results.js';
import { checkDiskSpace } from './check-disk-space.js';
import { driveRun } from './drive-run.js';
import type { DriveRunEnd } from './drive-run-options.js';
import { systemFiles, type FileSystem } from '../system/file-system.js';
import { limitedSource } from '../rows/limited-source.js';
import { addressesToFetch, hasSent } from './known-run.js';
import type { PassOne } from './pass-one.js';
import { outputIdOf, type RunEntry } from './run-entries.js';
import { RunOpening } from './run-opening.js';
import { findEnds, sinkOf, stateDirFor } from './run-ends.js';
import type { ResolvedRun, RunOptions, RunSettings } from './run-options.js';
import { runShape } from './run-shapes.js';
import { RunOutput } from './run-output.js';
import { makeScratch } from './run-scratch.js';
import type { SharedStore } from './run-store.js';
import { refuseWithStore, runShared } from './shared-run.js';
import { StateDirectory } from './state-directory.js';
import { summarize } from './summarize.js';
import { hasFailed, type Summary } from './summary.js';
import { TakeUp } from './take-up.js';

/**
 * Verifies all rows of a source and writes them, enriched, to a sink. Durable: killed at any moment,
 * the same call goes on where it stopped, and pays for nothing twice.
 *
 * @throws ConfigurationError before anything is sent; StateError when the state directory belongs to
 *   another run or process; InputError, OutputError, ApiError, BudgetError, DeadlineError when it stops:
 *   call again to go on
 *
 * @example
 * ```ts
 * const summary = await run({
 *   source: 'contacts.csv',
 *   sink: 'verified.csv',
 *   client,
 *   email: ['email'],
 *   phone: ['mobile'],
 *   countryColumn: 'country',
 *   country: 'US',
 * });
 * console.log(summary.rows, summary.email?.verdicts.valid); // 3 1
 * ```
 */
export async function run(options: RunOptions): Promise<Summary> {
  checkOptions(options, runShape);
  const { partitionFrom } = options;
  const checked: Checked = {
    ...checkCountries(options),
    ...(partitionFrom !== undefined && { partitionFrom }),
    batchSize: options.batchSize ?? defaults.batchSize,
    concurrency: options.concurrency ?? defaults.concurrency,
    files: options.files ?? systemFiles,
    signal: options.signal ?? new AbortController().signal,
  };
  const { store, ...own } = options;
  if (!store) return runResolved(await resolve(own), checked);
  refuseWithStore(own);
  return runInStore(await resolveEnds(own), store, checked);
}

async function runInStore(
  options: Omit<ResolvedRun, 'stateDir'> & { readonly stateDir?: string },
  store: SharedStore,
  checked: Checked,
): Promise<Summary> {
  await options.sink.check(countVerified(options));
  await options.maxUnknown?.suspect.check(countVerified(options));
  const onProgress = observedProgress(options.onProgress);
  const source = limitedSource(options.source, options.limit);
  const scratch = await makeScratch(checked.files, options.stateDir);
  try {
    return await observeRun(
      { kind: 'durable', input: source.name, output: options.sink.name },
      async () => runShared({ run: { ...options, source, onProgress }, store, scratch, checked }),
      observedEnd,
    );
  } finally {
    await scratch.remove();
  }
}

/** Finds the places that options name. @throws ConfigurationError, InputError */
async function resolve(options: Omit<RunSettings, 'store'>): Promise<ResolvedRun> {
  const ends = await resolveEnds(options);
  return { ...ends, stateDir: options.stateDir ?? (await stateDirFor(options.sink, ends.sink)) };
}

async function resolveEnds({
  maxUnknown,
  ...options
}: Omit<RunSettings, 'store'>): Promise<
  Omit<ResolvedRun, 'stateDir'> & Pick<RunSettings, 'stateDir'>
> {
  const { source, sink } = await findEnds(options);
  return {
    ...options,
    source,
    sink,
    ...(maxUnknown && {
      maxUnknown: { ...maxUnknown, suspect: sinkOf('maxUnknown.suspect', maxUnknown.suspect) },
    }),
  };
}

async function runResolved(options: ResolvedRun, checked: Checked): Promise<Summary> {
  await options.sink.check(countVerified(options));
  await options.maxUnknown?.suspect.check(countVerified(options));
  const { waitLockMs, clock, signal } = options;
  const state = await StateDirectory.open(checked.files, options.stateDir, {
    fresh: options.fresh ?? false,
    waitLockMs,
    clock,
    signal,
  }).catch((error: unknown) => {
    // The reason of an abort passes untouched.
    signal?.throwIfAborted();
    throw error;
  });
  const onProgress = observedProgress(options.onProgress);
  const source = limitedSource(options.source, options.limit);
  const current = new Run({ ...options, source, onProgress }, state, checked);
  try {
    return await observeRun(
      { kind: 'durable', input: options.source.name, output: options.sink.name },
      async () => current.toEnd(),
      observedEnd,
    );
  } finally {
    if (current.isRemovable) {
      await options.beforeRemoval?.();
      await state.clear();
      if (options.lastAct) options.lastAct(async () => state.remove());
      else await state.remove();
    } else {
      await state.close();
    }
  }
}

interface Checked extends ReturnType<typeof checkCountries> {
  readonly batchSize: number;
  readonly concurrency: number;
  readonly files: FileSystem;
  readonly signal: AbortSignal;
  readonly partitionFrom?: number;
}

class Run {
  readonly #options: ResolvedRun;
  readonly #state: StateDirectory;
  readonly #checked: Checked;
  readonly #startedMs = performance.now();
  /** Whether nothing in the state directory is needed any more. */
  isRemovable: boolean;

  constructor(options: ResolvedRun, state: StateDirectory, checked: Checked) {
    this.#options = options;
    this.#state = state;
    this.#checked = checked;
    // Until something is sent there is nothing to go on with.
    this.isRemovable = !hasSent(state.known);
  }

  async toEnd(): Promise<Summary> {
    const opening = new RunOpening(this.#options, this.#state, this.#checked);
    const told = await opening.tellAgain();
    if (told) {
      await this.#end(told.runId, told.summary);
      return told.summary;
    }
    const { known } = this.#state;
    // What a plan is of may have been sent by another process.
    this.isRemovable = !hasSent(known) && known.plan === undefined;
    const client = await this.#connect();
    const { signal } = this.#checked;
    const { entry, passOne } = await opening.open(client);
    const isRemovable = !hasSent(this.#state.known);
    this.#options.onProgress?.({
      stage: 'read',
      rows: passOne.entry.rows,
      addresses: passOne.plan.book.size,
      toSend: passOne.batches.reduce((sum, { addresses }) => sum + addresses, 0),
      batches: passOne.batches.length,
    });
    // Until the list is read nobody knows what an earlier process has sent.
    this.isRemovable = false;
    const takeUp = await TakeUp.begin(client, entry, this.#state, { ...this.#options, signal });
    this.isRemovable = isRemovable && takeUp.uploads.all().length === 0 && !takeUp.isCopied;
    if (this.isRemovable) {
      await askAboutColumns(passOne.plan, this.#options);
      for (const message of budgetNotices(passOne.batches, this.#options.maxCredits)) {
        this.#options.onProgress?.({ stage: 'notice', message });
      }
    }
    const toFetch = addressesToFetch(this.#state.known, passOne.batches);
    await checkDiskSpace(this.#checked.files, this.#state.path, toFetch);
    const before = await readBalance(client, this.#state, signal);
    this.isRemovable = false;
    const output = await RunOutput.begin({
      run: this.#options,
      runId: outputIdOf(entry),
      passOne,
      signal,
    });
    const end = await this.#drive(client, takeUp, passOne, output).catch(async (error: unknown) => {
      await output.stop();
      throw error;
    });
    const summary = await this.#write(entry, passOne, { end, output }, async () =>
      readBalanceAfter(client, before, end.batches, signal),
    );
    if (end.isWhole) await this.#finish(entry.id, summary);
    else await this.#options.onSummary?.(summary);
    return summary;
  }

  async #connect(): Promise<Client> {
    const { client } = this.#options;
    return typeof client === 'function' ? client(this.#state.servicePath) : client;
  }

  async #drive(
    client: Client,
    takeUp: TakeUp,
    passOne: PassOne,
    output: RunOutput,
  ): Promise<DriveRunEnd> {
    const end = await driveRun({
      ...this.#checked,
      run: this.#options,
      client,
      takeUp,
      plan: passOne.plan,
      batches: passOne.batches,
      state: this.#state,
      onSettled: () => output.tell(),
    });
    // Refused in its form, the run has nothing on the service that is worth going on with.
    this.isRemovable =
      end.isRefused &&
      this.#state.known.earlier.length === 0 &&
      !end.batches.some(({ known }) => mayHaveLaunched(known));
    if (end.stoppedBy !== undefined && !end.isPartial) {
      // The reason of an abort is the caller's, whatever it is.
      // oxlint-disable-next-line typescript/only-throw-error
      throw end.stoppedBy;
    }
    return end;
  }

  async #write(
    entry: RunEntry,
    passOne: PassOne,
    { end, output }: { readonly end: DriveRunEnd; readonly output: RunOutput },
    readBalances: () => ReturnType<typeof readBalanceAfter>,
  ): Promise<Summary> {
    const { onProgress, source } = this.#options;
    const { tally, sink, isSuspect } = await output.finish();
    onProgress?.({ stage: 'written', rows: passOne.entry.rows });
    const summary = summarize({
      input: source.name,
      sink,
      service: entry.service,
      rows: passOne.entry.rows,
      limit: this.#options.limit,
      isSuspect,
      seconds: (performance.now() - this.#startedMs) / 1000,
      plan: passOne.plan,
      tally,
      batches: end.batches,
      balances: await readBalances(),
    });
    const { history, limit } = this.#options;
    // A trial is no night of the list.
    const compared = limit === undefined ? history?.compareRun(entry.id, summary) : undefined;
    return { ...summary, ...(compared && { compared }) };
  }

  async #finish(runId: string, summary: Summary): Promise<void> {
    const { history } = this.#options;
    const { files } = this.#checked;
    if (history) await keepCarried({ state: this.#state, files }, history);
    await this.#state.record({ entry: 'finished', summary });
    await this.#end(runId, summary);
  }

  /** The state of a run with failed rows is kept for their retry; any other is of no use any more. */
  async #end(runId: string, summary: Summary): Promise<void> {
    if (summary.limit === undefined) await this.#options.history?.keepRun(runId, summary);
    await this.#options.onSummary?.(summary);
    const isWorthKeeping = hasFailed(summary) && !summary.suspect;
    if (isWorthKeeping) await this.#state.record({ entry: 'ended' });
    this.isRemovable = !isWorthKeeping;
  }
}
