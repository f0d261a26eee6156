import { mayHaveLaunched } from '../batches/known-batch.js';
import type { Client } from '../client/client.js';
import { ConfigurationError } from '../errors/family.js';
import { isSluiceError } from '../errors/sluice-error.js';
import { defaults } from '../batches/defaults.js';
import { countVerified } from '../batches/column-layout.js';
import { askAboutColumns } from '../batches/doubtful-columns.js';
import { checkBatchSize, checkCount, checkCountries } from '../batches/plan.js';
import { observeRun } from '../diagnostics/observe-run.js';
import { observedEnd, observedProgress } from './observed-progress.js';
import { readBalance, readBalanceAfter } from './balance.js';
import { beginRun } from './begin-run.js';
import { budgetNotices } from './budget-notices.js';
import { checkDiskSpace } from './check-disk-space.js';
import { driveRun, type DriveRunEnd } from './drive-run.js';
import { systemFiles, type FileSystem } from '../system/file-system.js';
import { addressesToFetch } from './known-run.js';
import { checkMaxUnknown } from './find-suspect.js';
import { readIntoBatches, type PassOne } from './pass-one.js';
import { checkSamePlan, checkSameRun, decidingOptions, hasSameOutput } from './resume.js';
import type { RunEntry } from './run-entries.js';
import type { RunOptions } from './run-options.js';
import { RunOutput } from './run-output.js';
import { statusOf } from './run-status.js';
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
 */
export async function run(options: RunOptions): Promise<Summary> {
  const checked: Checked = {
    ...checkCountries(options),
    batchSize: checkBatchSize(options.batchSize),
    concurrency: checkCount('concurrency', options.concurrency, defaults.concurrency),
    files: options.files ?? systemFiles,
    signal: options.signal ?? new AbortController().signal,
  };
  checkMaxUnknown(options.maxUnknown);
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
  const current = new Run({ ...options, onProgress }, state, checked);
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
}

class Run {
  readonly #options: RunOptions;
  readonly #state: StateDirectory;
  readonly #checked: Checked;
  readonly #startedMs = performance.now();
  /** Whether nothing in the state directory is needed any more. */
  isRemovable: boolean;

  constructor(options: RunOptions, state: StateDirectory, checked: Checked) {
    this.#options = options;
    this.#state = state;
    this.#checked = checked;
    // Until something is sent there is nothing to go on with.
    this.isRemovable = state.known.batches.size === 0;
  }

  async toEnd(): Promise<Summary> {
    const told = await this.#tellAgain();
    if (told) return told;
    const client = await this.#connect();
    const { signal } = this.#checked;
    const entry = await beginRun(client, this.#state, { ...this.#options, signal });
    if (this.#state.known.batches.size > 0) {
      const status = statusOf(this.#state.known, this.#options.stateDir);
      this.#options.onProgress?.({ stage: 'going_on', status });
    }
    const passOne = await this.#read(entry);
    const { isRemovable } = this;
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
      runId: entry.id,
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
    if (end.isWhole) await this.#finish(summary);
    else await this.#options.onSummary?.(summary);
    return summary;
  }

  /**
   * A run that was killed between its output and its end has only to be tidied up; one that ended with
   * failed rows is either retried, or over.
   */
  async #tellAgain(): Promise<Summary | undefined> {
    const { known } = this.#state;
    const wantsRetry = this.#options.retryFailed === true;
    if (wantsRetry && !known.run) {
      throw new ConfigurationError(
        `there is no run with failed addresses in ${this.#options.stateDir}: --retry-failed goes with the same command that ended with them`,
      );
    }
    if (!known.finished || wantsRetry) return undefined;
    if (known.hasEnded || !(await this.#isAskedForAgain(known.run))) {
      await this.#state.startOver();
      this.isRemovable = true;
      return undefined;
    }
    // Another output is asked for than the one that was written: the results are there.
    if (known.run && !hasSameOutput(known.run, decidingOptions(this.#options))) return undefined;
    // The journal wrote it down itself, as it was told then.
    const { summary } = known.finished;
    await this.#end(summary);
    return summary;
  }

  /**
   * Whether the run whose end nobody heard of is the one that is asked for now. A list that has changed
   * since, as a nightly one does, must not be said to be done.
   */
  async #isAskedForAgain(run: RunEntry | undefined): Promise<boolean> {
    if (!run) return false;
    const { client, serviceName, source } = this.#options;
    const service = serviceName ?? (typeof client === 'function' ? run.service : client.baseUrl);
    try {
      checkSameRun(run, { decides: decidingOptions(this.#options), service });
      await this.#read(run);
      return true;
    } catch (error) {
      // What can be read once was read for the comparison: there is nothing to start over with.
      if (!isSluiceError(error, 'state_mismatch') || source.keep) throw error;
      return false;
    }
  }

  async #connect(): Promise<Client> {
    const { client } = this.#options;
    return typeof client === 'function' ? client(this.#state.servicePath) : client;
  }

  async #read(entry: RunEntry): Promise<PassOne> {
    const { onProgress, source } = this.#options;
    const passOne = await readIntoBatches({
      ...this.#checked,
      source,
      sink: this.#options.sink,
      columns: this.#options,
      seed: Buffer.from(entry.seed, 'hex'),
      history: this.#options.history,
      runId: entry.id,
      state: this.#state,
      onRows: (rows, addresses) => onProgress?.({ stage: 'reading', rows, addresses }),
      onTextColumn: (column) => onProgress?.({ stage: 'text_column', ...column }),
      onNotice: (message) => onProgress?.({ stage: 'notice', message }),
      onHeaderFound: (found) => onProgress?.({ stage: 'header_found', ...found }),
    });
    const known = this.#state.known.plan;
    if (known) checkSamePlan(known, passOne.entry, source.name);
    else await this.#state.record(passOne.entry);
    onProgress?.({
      stage: 'read',
      rows: passOne.entry.rows,
      addresses: passOne.plan.book.size,
      batches: passOne.batches.length,
    });
    return passOne;
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
    this.isRemovable = end.isRefused && !end.batches.some(({ known }) => mayHaveLaunched(known));
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
    return summarize({
      input: source.name,
      output: sink.name,
      service: entry.service,
      rows: passOne.entry.rows,
      rowsLeftOut: sink.rowsLeftOut?.() ?? 0,
      leftAlone: sink.leftAlone?.(),
      isSuspect,
      seconds: (performance.now() - this.#startedMs) / 1000,
      plan: passOne.plan,
      tally,
      batches: end.batches,
      balances: await readBalances(),
    });
  }

  async #finish(summary: Summary): Promise<void> {
    await this.#state.record({ entry: 'finished', summary });
    await this.#end(summary);
  }

  /** The state of a run with failed rows is kept for their retry; any other is of no use any more. */
  async #end(summary: Summary): Promise<void> {
    await this.#options.onSummary?.(summary);
    const isWorthKeeping = hasFailed(summary) && !summary.suspect;
    if (isWorthKeeping) await this.#state.record({ entry: 'ended' });
    this.isRemovable = !isWorthKeeping;
  }
}
