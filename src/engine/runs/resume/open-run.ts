import { isSentAgain } from '../../batches/batch-state.js';
import { callDespiteAbort } from '../../../platform/waiting/clock.js';
import { AddressesAtWork, noteStopped } from '../../history/planned-elsewhere.js';
import { checkHistoryService } from '../../plan/result-cache.js';
import type { DriveRunEnd } from '../execution/run-driver.js';
import type { History } from '../../history/history.js';
import { noticed } from '../reporting/run-progress.js';
import type { Client } from '../../../client/client.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { Source } from '../../../lists/rows/source.js';
import {
  checkListSize,
  readSized,
  type PlannedInput,
  type PlanInputOptions,
} from '../planning/plan-input.js';
import { beginRun, checkBeforeSending, decisionsOf, givenClient, serviceOf } from './new-run.js';
import { checkDiskSpace } from '../planning/external-dedup-plan.js';
import { carriedEntries, keepCarried } from './earlier-results.js';
import { collectLeft, paidSince, planBesideOthers, refusePaidSince } from './launched-elsewhere.js';
import { carryOver, retryEarlier, type SettleOptions } from './carry-over.js';
import { planOffline, type OfflinePlan, type OpenedRun, type RunLocation } from './run-location.js';
import { bufferSource, type BufferedSource } from '../planning/buffered-source.js';
import { hasSent, resultsToFetch } from '../../stores/run-state.js';
import {
  checkAccount,
  type Differences,
  differingSettings,
  findChange,
  hasSameOutput,
  isOver,
  isPlanned,
  isRetryAsked,
  isSameRun,
  leftOutOptions,
  type PlannedRun,
  refuseLostSuppress,
  refuseOthers,
  takesUpEarlier,
  withRetriableExports,
} from './compare-run.js';
import { type Decisions, outputIdOf, type RunEntry } from '../../stores/journal-entries.js';
import type { ResolvedRun } from '../options/run-options.js';
import { statusOf } from '../../stores/run-status.js';
import { StateDirectory } from '../../stores/directory/state-directory.js';
import type { Summary } from '../../summary/summary.js';
import { notice, type Notice } from '../../../platform/text/notices.js';
import { optionName } from '../../../platform/text/sentence.js';

interface Compared {
  readonly plannedInput: PlannedInput;
  readonly change: Differences | undefined;
}

/** A run of one process: the one in the state directory, or another that replaces it because the list has changed. */
export class DirectoryRun implements RunLocation {
  readonly run: ResolvedRun;
  readonly store: StateDirectory;
  #source: BufferedSource | undefined;
  /** Whether another run takes its place for the same list, within what is left of its budget. */
  #keepsBudget = false;
  /** The reading that was compared with the known run. */
  #compared: Compared | undefined;

  private constructor(run: ResolvedRun, store: StateDirectory) {
    this.run = withRetriableExports(run, store.state);
    this.store = store;
  }

  /** @throws as `StateDirectory.open` does; the signal's reason */
  static async open(run: ResolvedRun, path: string): Promise<DirectoryRun> {
    const { files, signal, fresh = false } = run;
    const opened = StateDirectory.open(files, path, { ...run, fresh });
    const store = await opened.catch((error: unknown) => {
      // The reason of an abort passes unchanged.
      signal.throwIfAborted();
      throw error;
    });
    return new DirectoryRun(run, store);
  }

  async connect(): Promise<Client> {
    return givenClient(this.run, this.store.servicePath);
  }

  /**
   * A run killed between its output and its end only needs tidying; one that ended with failed rows is
   * retried, or over.
   *
   * @returns the summary, when the same is asked for again
   */
  async finishedSummary(): Promise<Summary | undefined> {
    const { state } = this.store;
    if (this.#wantsRetry && !state.run) {
      throw new ConfigurationError(
        `no run with failed addresses in ${this.store.path}: use ${optionName('retryFailed')} with the command that ended with them`,
        { option: 'retryFailed', fault: 'missing' },
      );
    }
    if (!state.finished || this.#wantsRetry) return undefined;
    if (state.hasEnded) {
      await this.store.startOver();
      return undefined;
    }
    const { client, serviceName } = this.run;
    // A service that is not connected yet counts as the run's own.
    const connected = typeof client === 'function' ? state.run?.service : client.baseUrl;
    if (!isPlanned(state) || this.#differing(state.run, serviceName ?? connected)) {
      return undefined;
    }
    const { change } = await this.#compare(state);
    if (change !== undefined || !hasSameOutput(state.run, this.#decisions)) return undefined;
    // The journal wrote it itself, as it was reported then.
    return state.finished.summary;
  }

  /**
   * Resumes the known run where tonight's list makes the same batches, or begins another.
   *
   * @throws StateError `state_mismatch` before anything is sent, when neither is allowed; what stops the
   * batches of a replaced run
   */
  async open(client: Client): Promise<OpenedRun> {
    const opened = await this.#open(client);
    const toFetch = resultsToFetch(this.store.state, opened.plannedInput.batches);
    await checkDiskSpace(this.run.files, this.store.path, toFetch);
    return opened;
  }

  async #open(client: Client): Promise<OpenedRun> {
    const { state } = this.store;
    const { history } = this.run;
    const service = serviceOf(client, this.run);
    checkHistoryService(history, service);
    if (history) await collectLeft(history, client, this.run);
    const differing = state.run && this.#differing(state.run, service);
    // Reported once nothing refuses the list any more: a refusal is read first.
    const goingOn: (() => void)[] = [];
    const reportOnce = (): void => goingOn.pop()?.();
    if (state.run && hasSent(state) && !this.#isOver) {
      refuseOthers(differing);
      refuseLostSuppress(state.run, this.#decisions.decides, this.run.onChange);
      await checkAccount(client, state.run, this.store, this.run.signal);
      const status = statusOf(state, this.store.path);
      const notices = this.#leftOut(state.run);
      goingOn.push(() => {
        this.run.onProgress?.({ stage: 'going_on', status });
        for (const each of notices) this.run.onProgress?.(noticed(each));
      });
    }
    const takesUp = takesUpEarlier(state, this.run);
    if (isPlanned(state) && differing === undefined) {
      const { plannedInput, change } = await this.#compare(state);
      if (change === undefined && !takesUp && !(await this.#isPlannedAnew(client, plannedInput))) {
        reportOnce();
        return { entry: state.run, plannedInput: { ...plannedInput, source: await this.#adopt() } };
      }
      await checkListSize(this.run, plannedInput.entry.rows);
      if (!this.#isOver) await this.#carryOver(client, state, { change, onJudged: reportOnce });
    }
    reportOnce();
    if (!this.#isOver) await retryEarlier(this.#settling(client));
    return this.#begin(client, service);
  }

  #leftOut(run: RunEntry): readonly Notice[] {
    const options = leftOutOptions(run, this.#decisions);
    return [
      ...(run.history !== undefined && !this.run.history
        ? [notice('history_left_out', { history: run.history })]
        : []),
      ...(options.length > 0 ? [notice('options_left_out', { options })] : []),
    ];
  }

  /**
   * Whether it is planned again without what another run with its history has paid for since.
   *
   * @throws StateError `state_locked` where processes of a shared run may launch some of its addresses now
   */
  async #isPlannedAnew(client: Client, { batches }: PlannedInput): Promise<boolean> {
    const { history, onChange, onProgress } = this.run;
    if (!history) return false;
    const atWork = new AddressesAtWork(history, await noteStopped(history, client, this.run, ''));
    const addresses = await paidSince(history, batches, this.store.state, { atWork });
    if (addresses === 0) return false;
    refusePaidSince(addresses, onChange);
    this.#keepsBudget = onChange !== 'carry';
    onProgress?.(noticed(notice('paid_since', { addresses })));
    return true;
  }

  async planOffline(): Promise<OfflinePlan | undefined> {
    const { state } = this.store;
    if (!isPlanned(state) || this.#isOver) return undefined;
    const { plannedInput, change } = await this.#compare(state);
    if (change === undefined) return undefined;
    await checkListSize(this.run, plannedInput.entry.rows);
    const { files } = this.run;
    return planOffline(this.store, files, async (given) => this.#read(state.run, given));
  }

  async #begin(client: Client, service: string): Promise<OpenedRun> {
    const { run, plan } = this.store.state;
    if (this.#source) await this.#adopt();
    // A run killed before its plan was recorded has uploaded nothing: its entry is reused.
    const isBegun = run && !plan && isSameRun(run, this.#decisions, service);
    const entry = isBegun
      ? run
      : await beginRun(client, this.store, this.run, {
          ...(run && !this.#isOver && { outputId: outputIdOf(run) }),
          ...(this.#wantsRetry && { retries: true }),
          ...(this.#keepsBudget && { keepsBudget: true }),
        });
    const source = await this.#adopt();
    const { earlier } = this.store.state;
    const beside = { run: this.run, client, earlier, id: entry.id };
    const plannedInput = await planBesideOthers(beside, async (given) => this.#read(entry, given));
    await this.store.record(plannedInput.entry);
    return { entry, plannedInput: { ...plannedInput, source } };
  }

  async checkBeforeSending(plannedInput: PlannedInput): Promise<void> {
    await checkBeforeSending(this.run, plannedInput);
  }

  reasonOf({ stoppedBy }: DriveRunEnd): unknown {
    return stoppedBy;
  }

  async keepResults(history: History): Promise<void> {
    await keepCarried({ stored: this.store, files: this.run.files }, history);
  }

  async end(isWorthKeeping: boolean): Promise<void> {
    if (isWorthKeeping) await this.store.record({ entry: 'ended' });
  }

  async leave(isRemovable: boolean): Promise<void> {
    const { run, store } = this;
    if (!isRemovable) return store.close();
    await beforeRemoval(run);
    try {
      await store.clear();
    } catch (error) {
      await store.close();
      throw error;
    }
    // A run that has sent nothing is removed before its state is mentioned.
    if (run.lastAct && store.state.finished) run.lastAct(async () => store.remove());
    else await store.remove();
  }

  get #wantsRetry(): boolean {
    return this.run.retryFailed === true;
  }

  get #isOver(): boolean {
    return isOver(this.store.state, this.run.retryFailed);
  }

  get #decisions(): Decisions {
    return decisionsOf(this.run);
  }

  #differing(run: RunEntry, service: string | undefined): Differences | undefined {
    return differingSettings(run, this.#decisions.decides, service);
  }

  async #compare(state: PlannedRun): Promise<Compared> {
    if (this.#compared) return this.#compared;
    const plannedInput = await this.#read(state.run);
    const change = findChange(state, this.#decisions.decides, plannedInput.entry);
    this.#compared = { plannedInput, change };
    return this.#compared;
  }

  async #carryOver(
    client: Client,
    state: PlannedRun,
    judged: Pick<Parameters<typeof carryOver>[0], 'change' | 'onJudged'>,
  ): Promise<void> {
    const { plannedInput } = await this.#compare(state);
    // Where tonight's addresses were handed over, another reading keeps them.
    const tonight = plannedInput.plan.book.isHandedOver
      ? await this.#read(state.run, { partitionFrom: Infinity })
      : plannedInput;
    await carryOver({
      ...this.#settling(client),
      state,
      tonight,
      ...judged,
      onDecided: async () => {
        await this.#adopt();
      },
    });
  }

  #settling(client: Client): SettleOptions {
    return { run: this.run, client, store: this.store };
  }

  /** Tonight's rows become the list on disk. */
  async #adopt(): Promise<Source> {
    await this.#keep();
    const source = (await this.#source?.adopt()) ?? this.run.source;
    this.#source = { source, adopt: async () => source };
    return source;
  }

  async #keep(): Promise<Source> {
    const { files, signal } = this.run;
    this.#source ??= await bufferSource(this.run.source, this.store, files, signal);
    return this.#source.source;
  }

  async #read(entry: RunEntry, given: Partial<PlanInputOptions> = {}): Promise<PlannedInput> {
    const { run, store } = this;
    return readSized({
      ...run,
      source: await this.#keep(),
      isAgain: this.#compared !== undefined,
      entry,
      state: store.state,
      scratch: store,
      carried: async (seed) =>
        carriedEntries({
          stored: store,
          files: run.files,
          seed,
          retries: (state) => entry.retries === true && isSentAgain(state, isRetryAsked(run)),
        }),
      ...given,
    });
  }
}

/** Everything paid is safe by now: a failing callback becomes a warning. */
async function beforeRemoval(run: ResolvedRun): Promise<void> {
  try {
    await callDespiteAbort(() => run.beforeRemoval?.(), run);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    run.onProgress?.(noticed(notice('before_removal_failed', { why })));
  }
}
