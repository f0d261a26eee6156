import { join } from 'node:path';
import { orAborted } from '../../../platform/waiting/promises.js';
import { checkHistoryService } from '../../plan/result-cache.js';
import type { Client } from '../../../client/client.js';
import { ConfigurationError, StateError } from '../../../platform/errors/errors.js';
import type { Source } from '../../../lists/rows/source.js';
import { version } from '../../../platform/version.js';
import { writeWhole } from '../../../platform/files/file-system.js';
import {
  checkBeforeSending,
  decisionsOf,
  givenClient,
  newRun,
  openInTurn,
  serviceOf,
} from './new-run.js';
import { keepBatches } from './earlier-results.js';
import { reportBudget, SharedReplacement } from './replace-shared-run.js';
import { collectLeft, planBesideOthers } from './launched-elsewhere.js';
import { emptyRunState } from '../../stores/run-state.js';
import { dropPlan } from '../../history/planned-elsewhere.js';
import { HistoryPresence, notePlan } from './history-presence.js';
import type { History } from '../../history/history.js';
import { onDisk } from '../../../platform/files/disk-errors.js';
import { type PlannedInput, type PlanInputOptions, readSized } from '../planning/plan-input.js';
import { differingShared, findChange, isOfAccount, othersThanFinished } from './compare-run.js';
import { outputIdOf, type RunEntry, type StoppedEntry } from '../../stores/journal-entries.js';
import type { OpenedRun, RunLocation } from './run-location.js';
import type { ResolvedRun } from '../options/run-options.js';
import { makeScratch, type PrivateScratch } from '../../stores/scratch.js';
import type { BegunRun, SharedRunStore, SharedStore } from '../../stores/run-store.js';
import { isRetriable, type Summary } from '../../summary/summary.js';
import { stopOfOthers, type RowFigures } from '../../stores/shared/shared-status.js';
import { sharedSource } from '../../stores/shared/source-copy.js';
import { parseBatchName } from '../../batches/batch.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import { counted } from '../../../platform/text/shown-numbers.js';
import type { DriveRunEnd } from '../execution/run-driver.js';
import { optionName } from '../../../platform/text/sentence.js';
import { notice } from '../../../platform/text/notices.js';
import { noticed } from '../reporting/run-progress.js';
import { launchesOfName, sharedRunId } from './shared-run-id.js';

/**
 * A shared run: begins it, or joins the one with its name if it is the same. Every process makes the same
 * batches of the list, so only checksums and counts are compared.
 */
export class SharedRun implements RunLocation {
  readonly run: ResolvedRun;
  /** The run and its store, for messages. */
  readonly name: string;
  readonly store: SharedRunStore;
  readonly scratch: PrivateScratch;
  /** The source as all processes read it. */
  #source: Source | undefined;
  #leavePace: (() => void) | undefined;
  readonly #presence: HistoryPresence;
  /** One for all its tries: it has the claims of the batches. */
  readonly #replacement: SharedReplacement;
  /** batch_uuids of launches of others whose results were given up, by this process. */
  readonly #lost: Set<string>;

  private constructor(
    run: ResolvedRun,
    name: string,
    store: SharedRunStore,
    scratch: PrivateScratch,
    lost: Set<string>,
  ) {
    this.#lost = lost;
    this.run = run;
    this.name = name;
    this.store = store;
    this.scratch = scratch;
    this.#presence = new HistoryPresence(run, name);
    this.#replacement = new SharedReplacement(run, name, store);
  }

  /** @param parent parent of this process's folder @param lost kept where it begins again @throws as `SharedStore.open` does */
  static async open(
    run: ResolvedRun,
    shared: SharedStore,
    parent: string | undefined,
    rows: RowFigures,
    lost: Set<string>,
  ): Promise<SharedRun> {
    const scratch = await makeScratch(run.files, parent);
    const { signal, clock } = run;
    const store = await shared.open({ signal, rows, clock }).catch(async (error: unknown) => {
      await scratch.remove();
      throw error;
    });
    return new SharedRun(run, shared.name, store, scratch, lost);
  }

  async connect(): Promise<Client> {
    const client = await givenClient(this.run, join(this.scratch.path, 'service'));
    // In a store all runs of an account share one rate.
    const { baseUrl, intervalMs } = client;
    const account = async (salt: string): Promise<string> =>
      `${await orAborted(client.keyFingerprint(salt), this.run.signal)} ${new URL(baseUrl).origin}`;
    this.#leavePace = client.shareRate(await this.store.joinPace({ account, intervalMs }));
    return client;
  }

  /** Asked before it was begun, by the process that did so. */
  async checkBeforeSending(): Promise<void> {}

  /** A run refused in its form is not worth continuing, and its name is taken. */
  reasonOf({ stoppedBy, isRefused }: DriveRunEnd): unknown {
    if (!isRefused || !(stoppedBy instanceof ConfigurationError)) return stoppedBy;
    return new ConfigurationError(
      `${stoppedBy.message}. ${this.name} keeps its options: to change them, abandon it first (sluice abandon, or abandonRun()), or give another name (${optionName('run')})`,
      { code: 'batch_refused', cause: stoppedBy, option: 'run' },
    );
  }

  async keepResults(history: History, batches: readonly DrivenBatch[]): Promise<void> {
    await keepBatches(this.store, batches, history);
    const { run } = this.store.state;
    if (run) await dropPlan(history, this.run.files, run.id);
  }

  async end(isWorthKeeping: boolean): Promise<void> {
    if (!isWorthKeeping) await this.store.clear();
  }

  async leave(): Promise<void> {
    this.#leavePace?.();
    await this.#presence.leave();
    await this.store.close();
    await this.scratch.remove();
  }

  /** Any other request for the run needs its list, which another process may be copying. */
  async finishedSummary(): Promise<Summary | undefined> {
    const before = this.#finishedSummary();
    if (before) {
      this.#refuseOtherThanFinished();
      const { run, name } = this;
      run.onProgress?.({ stage: 'already_finished', name });
      return { ...before, already_finished: true };
    }
    const { run, name, store, scratch } = this;
    this.#source = await sharedSource({
      ...run,
      name,
      store,
      folder: join(scratch.path, 'input'),
      isOver: () => this.#finishedSummary() !== undefined,
    });
    return this.#finishedSummary();
  }

  /** A name used twice would silently leave a new list unverified. */
  #refuseOtherThanFinished(): void {
    const { run, name, store } = this;
    const differing = store.state.run && othersThanFinished(store.state.run, decisionsOf(run));
    if (differing === undefined) return;
    throw mismatch(
      `${name} has finished with another list or other options; these differ: ${differing.text}. Give the new run a name of its own`,
      { differs: differing.options },
    );
  }

  #finishedSummary(): Summary | undefined {
    const { store, run, name } = this;
    const { finished } = store.state;
    if (run.retryFailed !== true) return finished?.summary;
    if (!store.state.run) {
      throw new ConfigurationError(
        `${name} does not exist: use ${optionName('retryFailed')} with the command that ended with failed addresses`,
        { option: 'retryFailed', fault: 'missing' },
      );
    }
    return finished && !isRetriable(finished.summary) ? finished.summary : undefined;
  }

  async open(client: Client): Promise<OpenedRun> {
    const { stopped } = this.store.state;
    if (stopped?.code === 'abandoned') throw stopOfOthers(stopped);
    // Other runs may launch its addresses now.
    const begun = await this.#presence.inTurn(async () => this.#beginOrJoin(client));
    await this.#refuseOther(client, begun.run);
    const plannedInput = begun.plannedInput ?? (await this.#read(begun.run));
    this.#refuseOtherList(begun, plannedInput);
    const { history } = begun.run;
    if (history !== undefined && !this.run.openHistory) {
      this.run.onProgress?.(noticed(notice('history_left_out', { history })));
    }
    await this.#presence.join(
      client,
      begun.run,
      plannedInput.batches,
      { store: this.store, lost: this.#lost },
      async (history, addresses) =>
        this.#replacement.replace(
          { client, begun: begun.run, batches: plannedInput.batches, history, addresses },
          async () => this.#plan(client, history, begun.run),
        ),
    );
    // A refused process changes nothing for the others.
    await this.#takeOver(stopped);
    return { entry: begun.run, plannedInput };
  }

  /** Begins the run, or finds it begun. */
  async #beginOrJoin(client: Client): Promise<BegunRun & { readonly plannedInput?: PlannedInput }> {
    const { run, store } = this;
    const isNeeded = (): boolean => store.state.plan === undefined;
    const history = await openInTurn(run, isNeeded);
    try {
      checkHistoryService(history, serviceOf(client, run));
      if (history) await collectLeft(history, client, run);
      const { state } = store;
      if (state.run && state.plan) return { run: state.run, plan: state.plan };
      const { entry, plannedInput } = await this.#plan(client, history);
      await this.#refuseForgotten(client, entry.id);
      if (history) await this.#presence.show(history.path, entry.id);
      const begun = await store.begin(entry, plannedInput.entry);
      if (history && begun.run.id !== entry.id) {
        await this.#presence.leave();
        await dropPlan(history, run.files, entry.id);
      }
      // Another process may have found other results in the history. A run that has ended since has no plan.
      const isOver = store.state.plan === undefined;
      const isBegunHere = begun.run.id === entry.id || isOver || !begun.plan.recalled;
      return { ...begun, ...(isBegunHere && { plannedInput }) };
    } finally {
      await history?.close();
    }
  }

  /** A store that was set back to before the beginning of the run knows nothing of it, nor does another with its name. */
  async #refuseForgotten(client: Client, id: string): Promise<void> {
    const { run, name, store } = this;
    const isMoved = run.moved === true;
    const all = await launchesOfName(client, id, run);
    const launched = isMoved ? all.filter((upload) => !parseBatchName(upload, id)) : all;
    const [first] = launched;
    if (first === undefined) return;
    // Another process may have begun it meanwhile.
    await store.refresh();
    if (store.state.run) return;
    const [differs, way] = isMoved
      ? [' of another list, or with other options', 'Give those']
      : ['', `If no process works with another store, add ${optionName('moved')}: they are used`];
    throw mismatch(
      `the service has ${counted(launched.length, 'batch')} that ${name} has launched${differs} (${first}), and this store knows nothing of it: it was set back to before the run began, or another store has used the name. ${way}, or begin again under another name (${optionName('run')}), which pays again${run.openHistory ? ' for what the history lacks' : ''}`,
      { option: isMoved ? 'run' : 'moved' },
    );
  }

  /** Recorded only once the run can begin: its name would be taken. */
  async #plan(
    client: Client,
    history: History | undefined,
    replaced?: RunEntry,
  ): Promise<OpenedRun> {
    const { name, store, scratch } = this;
    const run = { ...this.run, history };
    const begun = {
      ...(await newRun(client, run)),
      ...(replaced && { outputId: outputIdOf(replaced), keepsBudget: true }),
      version: runningVersion,
    };
    const beside = {
      run,
      client,
      earlier: [],
      id: begun.id,
      replaces: replaced && { id: replaced.id, name },
      onLost: (uuid: string) => void this.#lost.add(uuid),
    };
    const plannedInput = await planBesideOthers(beside, async (given) =>
      this.#read(begun, { history, state: emptyRunState, ...given }),
    );
    const { identity } = store;
    const id = sharedRunId(identity, begun, plannedInput.entry, replaced?.id);
    const entry = { ...begun, id };
    if (history) await notePlan(history, name, entry, plannedInput.batches);
    await checkBeforeSending(run, plannedInput);
    if (plannedInput.entry.recalled) {
      const path = scratch.recalledPath;
      await store.keepRecalled(await onDisk(`read ${path}`, async () => run.files.readFile(path)));
    }
    return { entry, plannedInput };
  }

  /**
   * What stopped the run before this process joined may no longer apply. The newest process decides on the budget;
   * without the option it keeps the others', unless that is used up.
   */
  async #takeOver(stopped: StoppedEntry | undefined): Promise<void> {
    const { store, name, run } = this;
    const isStopped = stopped !== undefined && store.state.stopped?.at === stopped.at;
    const { maxCredits } = run;
    // Before another process can continue within a used-up budget.
    if (maxCredits !== undefined || (isStopped && stopped.code === 'budget_exhausted')) {
      const { budget } = store.state;
      const most = maxCredits ?? null;
      await store.record({ entry: 'budget', most });
      reportBudget(run, name, { before: budget, most });
    }
    if (isStopped) await store.record({ entry: 'resumed' });
  }

  async #read(
    entry: RunEntry,
    { state = this.store.state, ...given }: Partial<PlanInputOptions> = {},
  ): Promise<PlannedInput> {
    const { run, scratch, store } = this;
    if (state.plan?.recalled) {
      const bytes = await store.readRecalled();
      const path = scratch.recalledPath;
      await onDisk(`write ${path}`, async () =>
        writeWhole(run.files, path, async (file) => file.writeFile(bytes)),
      );
    }
    return readSized({
      ...run,
      source: this.#source ?? run.source,
      entry,
      state,
      scratch,
      ...given,
    });
  }

  async #refuseOther(client: Client, begun: RunEntry): Promise<void> {
    const { run, name, store } = this;
    if (begun.version !== runningVersion) {
      throw mismatch(
        `${name} was begun by Sluice ${begun.version ?? 'of another version'}, and this is ${runningVersion}: give all processes the same version`,
      );
    }
    const given = { ...decisionsOf(run), service: serviceOf(client, run) };
    const differing = differingShared(begun, given);
    if (differing !== undefined) {
      throw mismatch(
        `${name} was begun with other options; these differ: ${differing.text}. Give all processes the same, or another name to another run`,
        { differs: differing.options },
      );
    }
    const account = await isOfAccount(client, begun, store.state, run.signal);
    if (account === 'unknown') {
      throw mismatch(
        `${name} was begun with another key, and has nothing on the service yet that shows whether both are of one account: give all processes the same key, or abandon the run first (sluice abandon, or abandonRun()), or give another name (${optionName('run')})`,
        { option: 'apiKey' },
      );
    }
    if (account === 'other') {
      throw mismatch(
        `${name} was begun with the key of another account: give all processes a key of the same account`,
        { option: 'apiKey' },
      );
    }
  }

  #refuseOtherList(begun: BegunRun, { entry }: PlannedInput): void {
    const { run, name } = this;
    const change = findChange(begun, decisionsOf(run).decides, entry);
    if (change === undefined) return;
    throw mismatch(
      `${run.source.name} is not the list that ${name} was begun with: ${change.text}. All processes read the same list; another list is another run, under another name`,
      { differs: change.options },
    );
  }
}

/** Processes of one minor version can share a run. */
const runningVersion = version.split('.').slice(0, 2).join('.');

function mismatch(
  message: string,
  named: { readonly option?: string; readonly differs?: readonly string[] } = {},
): StateError {
  return new StateError(`${message}. Nothing was sent by this process`, {
    code: 'state_mismatch',
    option: 'run',
    ...named,
  });
}
