import type { Client } from '../../../client/client.js';
import { verificationTypes } from '../../../contract/enums.js';
import type { RowChunk } from '../../../lists/rows/chunks/row-chunk.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { type BatchState, mayHaveLaunched } from '../../batches/batch-state.js';
import type { Batch } from '../../batches/batch.js';
import type { ColumnLayout } from '../../columns/column-layout.js';
import { Plan } from '../../plan/plan.js';
import { readDirectoryState, type DirectoryState } from '../../stores/directory/state-directory.js';
import type { PlanEntry, RunEntry } from '../../stores/journal-entries.js';
import { addressesOf, hasSent } from '../../stores/run-state.js';
import { statusOf } from '../../stores/run-status.js';
import type { UnfinishedRun } from '../../summary/summary.js';
import type { ComparedRun } from '../options/run-options.js';
import { type LeftToSend, needOf, nothingLeft } from '../credits.js';
import { earlierBatches, paidNumbers, plannedBatches } from '../planning/batch-files.js';
import { openRecall, type OpenRecall } from '../planning/recalled-results.js';
import { judgeUse, refuseChange } from './changed-input.js';
import {
  accountOf,
  type Differences,
  differingSettings,
  findChange,
  isOver,
  isPlanned,
  type PlannedRun,
  refuseLostSuppress,
  refuseOthers,
  takesUpEarlier,
  withRetriableExports,
} from './compare-run.js';
import { launchesOf, paidSince, refusePaidSince } from './launched-elsewhere.js';
import { leftOfList, leftOfRun } from './left-to-send.js';
import { rowDecisionsOf } from './new-run.js';
import { doubtfulState } from './reconcile.js';
import { isElsewhere } from '../../stores/directory/folders.js';

/** The options of an estimate that a run compares with an unfinished one. */
interface ComparedOptions extends ComparedRun {
  readonly client: Client | undefined;
}

interface Compared {
  readonly run: UnfinishedRun;
  readonly left: LeftToSend;
  /** Addresses that another run has paid for since it stopped. */
  readonly paidSince: number;
}

type Judged = Pick<UnfinishedRun, 'action' | 'why' | 'paid_addresses' | 'used_addresses'>;

/**
 * Compares a list with the unfinished run in a state directory by what a run itself asks, while the list is
 * read for another purpose. Nothing is locked, and nothing is written.
 */
export class UnfinishedComparison {
  readonly #options: ComparedOptions;
  readonly #stored: DirectoryState;
  readonly #run: RunEntry;
  readonly #batches: Batch[] = [];
  #plan: Plan | undefined;
  #recall: OpenRecall | undefined;
  #paidSince = 0;

  private constructor(options: ComparedOptions, stored: DirectoryState, run: RunEntry) {
    this.#options = options;
    this.#stored = stored;
    this.#run = run;
  }

  /** @returns `undefined` where nothing that was sent is still of use @throws StateError `state_damaged`, OutputError */
  static async find(
    stateDir: string | undefined,
    options: ComparedOptions,
  ): Promise<UnfinishedComparison | undefined> {
    if (stateDir === undefined || options.fresh === true) return undefined;
    const stored = await readDirectoryState(options.files, stateDir);
    if (!stored?.state.run || !hasSent(stored.state)) return undefined;
    const given = withRetriableExports({ ...options, onProgress: undefined }, stored.state);
    if (isOver(stored.state, given.retryFailed)) return undefined;
    return new UnfinishedComparison(given, stored, stored.state.run);
  }

  /** batch_uuids that it may have launched. */
  get launches(): ReadonlySet<string> {
    return launchesOf(this.#stored.state);
  }

  /** Begins with the columns of the list; `add` then takes its rows. */
  async begin(layout: ColumnLayout): Promise<void> {
    const { state, recalledPath } = this.#stored;
    if (!isPlanned(state)) return;
    const seed = Buffer.from(state.run.seed, 'hex');
    // The plan counts: only its own record of earlier results is read.
    this.#recall = await openRecall({ ...this.#options, state, recalledPath, seed });
    const recall = this.#recall;
    this.#plan = new Plan({
      ...this.#options,
      layout,
      seed,
      storage: { append: () => undefined, open: () => [] },
      recall: recall && ((outcomes) => recall.recall(outcomes)),
    });
  }

  add(chunk: RowChunk): void {
    this.#plan?.planner.plan(chunk, 0);
    this.#batches.push(...(this.#plan?.cutter.take() ?? []));
  }

  /** @param entryOf the plan of the rows, from its batches @param fresh the same of a run that knows of no other */
  async end(
    entryOf: (batches: readonly Batch[]) => PlanEntry,
    fresh: { readonly plan: Plan; readonly batches: readonly Batch[] },
  ): Promise<Compared> {
    const { state, path } = this.#stored;
    const { launchedCredits, earlierCredits } = statusOf(state, path);
    const judged = await this.#judge(entryOf);
    const left = await this.#left(judged.action, fresh);
    const enough = Math.max(
      ...verificationTypes.map((type) => left.launched[type] + needOf(left.batches, type).needed),
    );
    const run = {
      ...judged,
      started_at: this.#run.startedAt,
      paid: {
        email: launchedCredits.email + earlierCredits.email,
        phone: launchedCredits.phone + earlierCredits.phone,
      },
      enough_credits: enough > (this.#options.maxCredits ?? Infinity) ? enough : null,
    };
    return { run, left, paidSince: this.#paidSince };
  }

  async #left(
    action: UnfinishedRun['action'],
    fresh: { readonly plan: Plan; readonly batches: readonly Batch[] },
  ): Promise<LeftToSend> {
    const { state } = this.#stored;
    if (action === 'stop') return nothingLeft;
    if (action === 'resume' && isPlanned(state)) return leftOfRun(state, this.#options);
    const keepsBudget = this.#paidSince > 0 && this.#options.onChange !== 'carry';
    return leftOfList({ ...this.#options, ...fresh, stored: this.#stored, keepsBudget });
  }

  async #judge(entryOf: (batches: readonly Batch[]) => PlanEntry): Promise<Judged> {
    try {
      return await this.#decide(entryOf);
    } catch (error) {
      if (!isSluiceError(error, 'state_mismatch')) throw error;
      return { action: 'stop', why: error.message, paid_addresses: null, used_addresses: null };
    }
  }

  async #decide(entryOf: (batches: readonly Batch[]) => PlanEntry): Promise<Judged> {
    const { client, signal, serviceName = client?.baseUrl ?? this.#run.service } = this.#options;
    const { state } = this.#stored;
    const decides = rowDecisionsOf(this.#options);
    refuseOthers(differingSettings(this.#run, decides, serviceName));
    refuseLostSuppress(this.#run, decides, this.#options.onChange);
    if (client) await accountOf(client, this.#run, state, signal);
    const plan = this.#plan;
    if (!plan || !isPlanned(state)) {
      return { action: 'carry', why: null, paid_addresses: null, used_addresses: null };
    }
    plan.cutter.closeAll();
    this.#batches.push(...plan.cutter.take());
    const entry = entryOf(this.#batches.toSorted((a, b) => a.id - b.id));
    const recalled = await this.#recall?.finish();
    const tonight = {
      ...entry,
      // Rows of a program that can be read once are compared by their addresses.
      content: entry.content ?? state.plan.content,
      ...(recalled && { recalled }),
    };
    const change = findChange(state, decides, tonight);
    if (change !== undefined) refuseChange({ run: this.#options, state, change });
    const isResumed = change === undefined && !takesUpEarlier(state, this.#options);
    if (isResumed) this.#paidSince = await this.#paidSinceOf(state);
    const action = isResumed && this.#paidSince === 0 ? 'resume' : 'carry';
    if (await this.#isDoubtfulCopy(state, action)) throw doubtfulState(true);
    if (change !== undefined) return this.#judgeChange(state, change, plan);
    const paid = [...state.batches.values()]
      .filter((each) => mayHaveLaunched(each.state))
      .reduce((sum, each) => sum + addressesOf(state, each), 0);
    return { action, why: null, paid_addresses: paid, used_addresses: paid };
  }

  /** Whether another process may go on with the other copy, and what that has done cannot be known. */
  async #isDoubtfulCopy(state: PlannedRun, action: 'resume' | 'carry'): Promise<boolean> {
    const { moved, deleteBatches, retryFailed } = this.#options;
    if (moved === true || !isElsewhere(state.run.place, await this.#stored.place())) return false;
    const deletes = deleteBatches === true || state.run.deletes === true;
    if (action === 'carry' || !deletes) return action === 'carry';
    const isOpen = ({ stage }: BatchState): boolean =>
      stage === 'failed' ? retryFailed === true : stage !== 'exported' && stage !== 'split';
    const known = [...state.batches.values()];
    const sent = new Set(known.map(({ batch }) => batch));
    return sent.size < state.plan.batches.length || known.some((each) => isOpen(each.state));
  }

  /** By its batches' files, which were safe before it sent anything. */
  async #paidSinceOf(state: PlannedRun): Promise<number> {
    const { files, history, onChange } = this.#options;
    if (!history) return 0;
    const { batchesPath } = this.#stored.of(state);
    const batches = await plannedBatches(files, batchesPath, state.plan, paidNumbers(state));
    const addresses = await paidSince(history, batches, state, { by: 'all' });
    refusePaidSince(addresses, onChange);
    return addresses;
  }

  async #judgeChange(state: PlannedRun, change: Differences, plan: Plan): Promise<Judged> {
    const stored = this.#stored;
    const run = this.#options;
    const known = await earlierBatches(run.files, stored, state);
    const { carried } = await judgeUse(
      { run, store: stored, state, change },
      plan.book,
      known.map(({ batch, entry }) => ({ batch, state: entry.state })),
    );
    const { paidAddresses, usedAddresses } = carried;
    return {
      action: 'carry',
      why: change.text,
      paid_addresses: paidAddresses,
      used_addresses: usedAddresses,
    };
  }
}
