import { checkHistoryService } from '../../plan/result-cache.js';
import type { Client } from '../../../client/client.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { Source } from '../../../lists/rows/source.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { checkAccount } from '../abandon-run.js';
import { beginRun, serviceOf, checkListSize } from './new-run.js';
import { checkDiskSpace } from '../planning/external-dedup-plan.js';
import { carriedEntries, collectLeft } from './earlier-results.js';
import { carryOver, retryEarlier, type SettleOptions } from './changed-input.js';
import { planBeside, type PlannedBeside } from './plan-beside.js';
import { bufferSource, type BufferedSource } from '../planning/buffered-source.js';
import { addressesToFetch, hasSent, type KnownRun } from '../../stores/run-state.js';
import { openRecall } from '../planning/recalled-results.js';
import {
  readIntoBatches,
  readingPorts,
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

/** The options of a run, checked, and what they are where they are not given. */
export type CheckedRun = Pick<
  PlanInputOptions,
  'country' | 'emailCountry' | 'batchSize' | 'signal' | 'partitionFrom' | 'suppressed'
> & {
  readonly files: FileSystem;
  readonly concurrency: number;
};

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

type Planned = KnownRun & { readonly run: RunEntry; readonly plan: PlanEntry };

/**
 * Finds out which run this is: the one that the state directory knows, or another that takes its place
 * because the list has changed.
 */
export class RunOpening implements Opening {
  readonly #options: ResolvedRun;
  readonly #store: StateDirectory;
  readonly #checked: CheckedRun;
  #source: BufferedSource | undefined;
  /** What was read to be compared with the run that is known. */
  #compared: Compared | undefined;

  constructor(options: ResolvedRun, store: StateDirectory, checked: CheckedRun) {
    this.#options = options;
    this.#store = store;
    this.#checked = checked;
  }

  /**
   * A run that was killed between its output and its end has only to be tidied up; one that ended with
   * failed rows is either retried, or over.
   *
   * @returns the run and what it has told, when the same is asked for again
   */
  async finishedSummary(): Promise<Summary | undefined> {
    const { known } = this.#store;
    if (this.#wantsRetry && !known.run) {
      throw new ConfigurationError(
        `there is no run with failed addresses in ${this.#store.path}: ${optionName('retryFailed')} goes with the same command that ended with them`,
      );
    }
    if (!known.finished || this.#wantsRetry) return undefined;
    if (known.hasEnded) {
      await this.#store.startOver();
      return undefined;
    }
    const { client, serviceName } = this.#options;
    // One that is yet to be connected is the run's own as far as anybody knows.
    const connected = typeof client === 'function' ? known.run?.service : client.baseUrl;
    if (!isPlanned(known) || this.#differing(known.run, serviceName ?? connected).length > 0) {
      return undefined;
    }
    const { change } = await this.#compare(known);
    if (change !== undefined || !hasSameOutput(known.run, this.#decides)) return undefined;
    // The journal wrote it down itself, as it was told then.
    return known.finished.summary;
  }

  /**
   * Goes on with the run that is known, where tonight's list makes the same batches, or begins another.
   *
   * @throws StateError `state_mismatch` before anything is sent, when that is not to be done; what stops
   *   the batches of the run whose place another takes
   */
  async open(client: Client): Promise<OpenedRun> {
    const opened = await this.#open(client);
    const toFetch = addressesToFetch(this.#store.known, opened.plannedInput.batches);
    await checkDiskSpace(this.#checked.files, this.#store.path, toFetch);
    return opened;
  }

  async #open(client: Client): Promise<OpenedRun> {
    const { known } = this.#store;
    const { history } = this.#options;
    const service = serviceOf(client, this.#options);
    checkHistoryService(history, service);
    if (history)
      await collectLeft(history, client, { ...this.#options, signal: this.#checked.signal });
    const differing = known.run ? this.#differing(known.run, service) : [];
    if (known.run && hasSent(known) && !this.#isOver) {
      refuseOthers(differing);
      await checkAccount(client, known.run, this.#store, this.#checked.signal);
      const status = statusOf(known, this.#store.path);
      this.#options.onProgress?.({ stage: 'going_on', status });
    }
    const sendsAgain = this.#sendsEarlierAgain();
    if (isPlanned(known) && differing.length === 0) {
      const { plannedInput, change } = await this.#compare(known);
      if (change === undefined && !sendsAgain) {
        return { entry: known.run, plannedInput: { ...plannedInput, source: await this.#adopt() } };
      }
      await checkListSize(this.#options, plannedInput.entry.rows, history);
      if (!this.#isOver) await this.#carryOver(client, known, change);
    }
    if (sendsAgain) await retryEarlier(this.#settling(client));
    return this.#begin(client, service);
  }

  async planBeside(): Promise<PlannedBeside | undefined> {
    const { known } = this.#store;
    if (!isPlanned(known) || this.#isOver) return undefined;
    const { plannedInput, change } = await this.#compare(known);
    if (change === undefined) return undefined;
    await checkListSize(this.#options, plannedInput.entry.rows, this.#options.history);
    const { files } = this.#checked;
    return planBeside(this.#store, {
      files,
      run: this.#options,
      read: async (given) => this.#read(known.run, given),
    });
  }

  async #begin(client: Client, service: string): Promise<OpenedRun> {
    const { run, plan } = this.#store.known;
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
    return this.#store.known.finished !== undefined && !this.#wantsRetry;
  }

  get #decides(): RunEntry['decides'] {
    return decidingOptions(this.#options);
  }

  #differing(run: RunEntry, service: string | undefined): readonly string[] {
    return differingSettings(run, { decides: this.#decides, service });
  }

  /** Whether a person wants addresses again that failed before the list changed. */
  #sendsEarlierAgain(): boolean {
    const { earlier, finished } = this.#store.known;
    if (!this.#wantsRetry || !finished) return false;
    return earlier.some(({ batches }) =>
      [...batches.values()].some(({ state }) => state.stage === 'failed'),
    );
  }

  async #compare(known: Planned): Promise<Compared> {
    if (this.#compared) return this.#compared;
    const plannedInput = await this.#read(known.run);
    const found = { decides: this.#decides, plan: plannedInput.entry };
    this.#compared = { plannedInput, change: findChange(known, found) };
    return this.#compared;
  }

  async #carryOver(client: Client, known: Planned, change: string | undefined): Promise<void> {
    const { plannedInput } = await this.#compare(known);
    // Where the addresses of tonight's list were handed over, it takes a reading that keeps them.
    const tonight = plannedInput.plan.book.isHandedOver
      ? await this.#read(known.run, { partitionFrom: Infinity })
      : plannedInput;
    await carryOver({
      ...this.#settling(client),
      known,
      tonight,
      change,
      onDecided: async () => {
        await this.#adopt();
      },
    });
  }

  #settling(client: Client): SettleOptions {
    return { ...this.#checked, run: this.#options, client, store: this.#store };
  }

  /** From now on what the source gave tonight is the list on disk. */
  async #adopt(): Promise<Source> {
    await this.#keep();
    const source = (await this.#source?.adopt()) ?? this.#options.source;
    this.#source = { source, adopt: async () => source };
    return source;
  }

  async #keep(): Promise<Source> {
    const { files, signal } = this.#checked;
    this.#source ??= await bufferSource(this.#options.source, this.#store, files, signal);
    return this.#source.source;
  }

  async #read(
    entry: RunEntry,
    options: Partial<
      Pick<PlanInputOptions, 'partitionFrom' | 'scratch' | 'planned' | 'recalled'>
    > = {},
  ): Promise<PlannedInput> {
    const { history } = this.#options;
    const source = await this.#keep();
    const columns = this.#options;
    const { files } = this.#checked;
    const seed = Buffer.from(entry.seed, 'hex');
    return readIntoBatches({
      ...this.#checked,
      // What there is to be said of a list is said once.
      ...readingPorts(this.#options, { isFirst: this.#compared === undefined }),
      source,
      columns,
      seed,
      ...(!('recalled' in options) && {
        recalled: await openRecall({
          known: this.#store.known,
          scratch: this.#store,
          files,
          seed,
          history,
          columns,
          carried: async () =>
            carriedEntries({ store: this.#store, files, seed, retries: entry.retries === true }),
        }),
      }),
      runId: outputIdOf(entry),
      scratch: this.#store,
      planned: this.#store.known.plan,
      ...options,
    });
  }
}

function isPlanned(known: KnownRun): known is Planned {
  return known.run !== undefined && known.plan !== undefined;
}
