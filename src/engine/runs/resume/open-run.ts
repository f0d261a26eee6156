import { checkHistoryService } from '../../plan/result-cache.js';
import type { Client } from '../../../client/client.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { Source } from '../../../lists/rows/source.js';
import { checkAccount } from '../abandon-run.js';
import { beginRun, serviceOf, checkListSize } from './new-run.js';
import { checkDiskSpace } from '../planning/external-dedup-plan.js';
import { carriedEntries, collectLeft } from './earlier-results.js';
import { carryOver, retryEarlier, type SettleOptions } from './changed-input.js';
import { planBeside, type PlannedBeside } from './plan-beside.js';
import { bufferSource, type BufferedSource } from '../planning/buffered-source.js';
import { addressesToFetch, hasSent, type RunState } from '../../stores/run-state.js';
import { openRecall } from '../planning/recalled-results.js';
import {
  readIntoBatches,
  type PlannedInput,
  type PlanInputOptions,
} from '../planning/plan-input.js';
import {
  decidingOptions,
  differingSettings,
  findChange,
  hasSameOutput,
  isSameRun,
  refuseOthers,
} from './compare-run.js';
import { outputIdOf, type PlanEntry, type RunEntry } from '../../stores/journal-entries.js';
import type { ResolvedRun } from '../options/run-options.js';
import { statusOf } from '../../stores/run-status.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';
import type { Summary } from '../../summary/summary.js';
import { optionName } from '../../../platform/text/option-name.js';

/** A run that is begun or gone on with, and its plan. */
export interface OpenedRun {
  readonly entry: RunEntry;
  readonly plannedInput: PlannedInput;
}

/** Finds out which run this is. */
export interface Opening {
  /** @returns what the run has told, when the same is asked for again */
  finishedSummary(): Promise<Summary | undefined>;
  /**
   * Goes on with the run that is known, or begins one.
   *
   * @throws StateError `state_mismatch` before anything is sent, when that is not to be done
   */
  open(client: Client): Promise<OpenedRun>;
  /**
   * Plans another list than that of the unfinished run, where the service cannot be asked about that one: its
   * output may be written with what is known. Absent where another list is another run.
   *
   * @returns `undefined` where no run is unfinished, or the list is its own
   */
  planBeside?(): Promise<PlannedBeside | undefined>;
}

interface Compared {
  readonly plannedInput: PlannedInput;
  /** What has changed, in words. */
  readonly change: string | undefined;
}

type Planned = RunState & { readonly run: RunEntry; readonly plan: PlanEntry };

/**
 * Finds out which run this is: the one that the state directory knows, or another that takes its place
 * because the list has changed.
 */
export class RunOpening implements Opening {
  readonly #options: ResolvedRun;
  readonly #store: StateDirectory;
  #source: BufferedSource | undefined;
  /** What was read to be compared with the run that is known. */
  #compared: Compared | undefined;

  constructor(options: ResolvedRun, store: StateDirectory) {
    this.#options = options;
    this.#store = store;
  }

  /**
   * A run that was killed between its output and its end has only to be tidied up; one that ended with
   * failed rows is either retried, or over.
   *
   * @returns the run and what it has told, when the same is asked for again
   */
  async finishedSummary(): Promise<Summary | undefined> {
    const { state } = this.#store;
    if (this.#wantsRetry && !state.run) {
      throw new ConfigurationError(
        `there is no run with failed addresses in ${this.#store.path}: ${optionName('retryFailed')} goes with the same command that ended with them`,
      );
    }
    if (!state.finished || this.#wantsRetry) return undefined;
    if (state.hasEnded) {
      await this.#store.startOver();
      return undefined;
    }
    const { client, serviceName } = this.#options;
    // One that is yet to be connected is the run's own as far as anybody knows.
    const connected = typeof client === 'function' ? state.run?.service : client.baseUrl;
    if (!isPlanned(state) || this.#differing(state.run, serviceName ?? connected).length > 0) {
      return undefined;
    }
    const { change } = await this.#compare(state);
    if (change !== undefined || !hasSameOutput(state.run, this.#decides)) return undefined;
    // The journal wrote it down itself, as it was told then.
    return state.finished.summary;
  }

  /**
   * Goes on with the run that is known, where tonight's list makes the same batches, or begins another.
   *
   * @throws StateError `state_mismatch` before anything is sent, when that is not to be done; what stops
   *   the batches of the run whose place another takes
   */
  async open(client: Client): Promise<OpenedRun> {
    const opened = await this.#open(client);
    const toFetch = addressesToFetch(this.#store.state, opened.plannedInput.batches);
    await checkDiskSpace(this.#options.files, this.#store.path, toFetch);
    return opened;
  }

  async #open(client: Client): Promise<OpenedRun> {
    const { state } = this.#store;
    const { history } = this.#options;
    const service = serviceOf(client, this.#options);
    checkHistoryService(history, service);
    if (history) await collectLeft(history, client, this.#options);
    const differing = state.run ? this.#differing(state.run, service) : [];
    if (state.run && hasSent(state) && !this.#isOver) {
      refuseOthers(differing);
      await checkAccount(client, state.run, this.#store, this.#options.signal);
      const status = statusOf(state, this.#store.path);
      this.#options.onProgress?.({ stage: 'going_on', status });
    }
    const sendsAgain = this.#sendsEarlierAgain();
    if (isPlanned(state) && differing.length === 0) {
      const { plannedInput, change } = await this.#compare(state);
      if (change === undefined && !sendsAgain) {
        return { entry: state.run, plannedInput: { ...plannedInput, source: await this.#adopt() } };
      }
      await checkListSize(this.#options, plannedInput.entry.rows, history);
      if (!this.#isOver) await this.#carryOver(client, state, change);
    }
    if (sendsAgain) await retryEarlier(this.#settling(client));
    return this.#begin(client, service);
  }

  async planBeside(): Promise<PlannedBeside | undefined> {
    const { state } = this.#store;
    if (!isPlanned(state) || this.#isOver) return undefined;
    const { plannedInput, change } = await this.#compare(state);
    if (change === undefined) return undefined;
    await checkListSize(this.#options, plannedInput.entry.rows, this.#options.history);
    return planBeside(this.#store, this.#options, async (given) => this.#read(state.run, given));
  }

  async #begin(client: Client, service: string): Promise<OpenedRun> {
    const { run, plan } = this.#store.state;
    if (this.#source) await this.#adopt();
    // A process that was killed while it read its list has sent nothing under its name.
    const isBegun = run && !plan && isSameRun(run, this.#decides, service);
    const entry = isBegun
      ? run
      : await beginRun(client, this.#store, this.#options, {
          ...(run && !this.#isOver && { outputId: outputIdOf(run) }),
          ...(this.#wantsRetry && { retries: true }),
        });
    const source = await this.#adopt();
    const plannedInput = await this.#read(entry);
    await checkListSize(this.#options, plannedInput.entry.rows, this.#options.history);
    await this.#store.record(plannedInput.entry);
    return { entry, plannedInput: { ...plannedInput, source } };
  }

  get #wantsRetry(): boolean {
    return this.#options.retryFailed === true;
  }

  /** Its output is there: what it has paid for is needed no more. */
  get #isOver(): boolean {
    return this.#store.state.finished !== undefined && !this.#wantsRetry;
  }

  get #decides(): RunEntry['decides'] {
    return decidingOptions(this.#options);
  }

  #differing(run: RunEntry, service: string | undefined): readonly string[] {
    return differingSettings(run, { decides: this.#decides, service });
  }

  /** Whether a person wants addresses again that failed before the list changed. */
  #sendsEarlierAgain(): boolean {
    const { earlier, finished } = this.#store.state;
    if (!this.#wantsRetry || !finished) return false;
    return earlier.some(({ batches }) =>
      [...batches.values()].some(({ state }) => state.stage === 'failed'),
    );
  }

  async #compare(state: Planned): Promise<Compared> {
    if (this.#compared) return this.#compared;
    const plannedInput = await this.#read(state.run);
    const found = { decides: this.#decides, plan: plannedInput.entry };
    this.#compared = { plannedInput, change: findChange(state, found) };
    return this.#compared;
  }

  async #carryOver(client: Client, state: Planned, change: string | undefined): Promise<void> {
    const { plannedInput } = await this.#compare(state);
    // Where the addresses of tonight's list were handed over, it takes a reading that keeps them.
    const tonight = plannedInput.plan.book.isHandedOver
      ? await this.#read(state.run, { partitionFrom: Infinity })
      : plannedInput;
    await carryOver({
      ...this.#settling(client),
      state,
      tonight,
      change,
      onDecided: async () => {
        await this.#adopt();
      },
    });
  }

  #settling(client: Client): SettleOptions {
    return { run: this.#options, client, store: this.#store };
  }

  /** From now on what the source gave tonight is the list on disk. */
  async #adopt(): Promise<Source> {
    await this.#keep();
    const source = (await this.#source?.adopt()) ?? this.#options.source;
    this.#source = { source, adopt: async () => source };
    return source;
  }

  async #keep(): Promise<Source> {
    const { files, signal } = this.#options;
    this.#source ??= await bufferSource(this.#options.source, this.#store, files, signal);
    return this.#source.source;
  }

  async #read(
    entry: RunEntry,
    options: Partial<
      Pick<PlanInputOptions, 'partitionFrom' | 'scratch' | 'planned' | 'recalled'>
    > = {},
  ): Promise<PlannedInput> {
    const { files, history } = this.#options;
    const source = await this.#keep();
    const seed = Buffer.from(entry.seed, 'hex');
    return readIntoBatches({
      ...this.#options,
      source,
      isAgain: this.#compared !== undefined,
      seed,
      ...(!('recalled' in options) && {
        recalled: await openRecall({
          state: this.#store.state,
          scratch: this.#store,
          files,
          seed,
          history,
          columns: this.#options,
          carried: async () =>
            carriedEntries({ store: this.#store, files, seed, retries: entry.retries === true }),
        }),
      }),
      runId: outputIdOf(entry),
      scratch: this.#store,
      planned: this.#store.state.plan,
      ...options,
    });
  }
}

function isPlanned(state: RunState): state is Planned {
  return state.run !== undefined && state.plan !== undefined;
}
