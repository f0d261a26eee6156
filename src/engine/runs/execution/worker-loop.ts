import { readPreflight } from '../credits.js';
import { callOrAborted } from '../../../platform/waiting/promises.js';
import type { SluiceError } from '../../../platform/errors/sluice-error.js';
import type { Batch } from '../../batches/batch.js';
import type { BatchPool } from '../../driver/batch-pool.js';
import { BudgetError, DetachedError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import {
  isAtEnd,
  mayHaveLaunched,
  type EndedBatch,
  type BatchState,
} from '../../batches/batch-state.js';
import type { DriveRunOptions, RunBatches } from './run-batches.js';
import type { StoppedEntry } from '../../stores/journal-entries.js';
import { letsFinish, stopForAll, stopOfOthers } from '../../stores/shared/shared-status.js';
import { notice } from '../../../platform/text/notices.js';
import { noticed } from '../reporting/run-progress.js';
import { notAwaited } from '../../../platform/waiting/clock.js';

interface WorkerLoopOptions extends Omit<DriveRunOptions, 'batches'> {
  readonly drive: BatchPool;
  readonly batches: RunBatches;
  readonly isOpen: (batch: Batch) => boolean;
  readonly settle: (batch: Batch, state: EndedBatch) => Promise<void>;
}

/** This process's part in a shared run: it claims batches as it has room for them. */
export class WorkerLoop {
  readonly #options: WorkerLoopOptions;
  /** Batches of others, or to be claimed. */
  #waitedFor = new Set<Batch>();
  #isAwaited = (_state: BatchState): boolean => true;
  /** Whether something may have changed since the last round. */
  #hasChanged = false;
  #wake: (() => void) | undefined;
  /** When the run was stopped before this process joined it. */
  readonly #stoppedBefore: string | undefined;
  /** Whether the run is stopped for all, by another process or in this one's record. */
  #isStoppedForAll = false;
  /** Why this process stopped, where that stops all. */
  #localStop: StoppedEntry | undefined;
  /** How often the gate had been closed at the last full round. */
  #closings = 0;
  /** The budget in force, as far as the store shows. */
  #currentBudget: number | null;

  constructor(options: WorkerLoopOptions) {
    this.#options = options;
    this.#currentBudget = options.run.maxCredits ?? null;
    this.#stoppedBefore = options.store.state.stopped?.at;
    options.store.others.onStop(() => this.#applyStop());
  }

  get claimable(): number {
    return this.#waitedFor.size;
  }

  notify(): void {
    // Recording and claiming may have to wait.
    this.#announceStop();
    this.#hasChanged = true;
    this.#wake?.();
  }

  /**
   * Drives the batches that it can claim until all that count are finished, by whatever process, or this one
   * has stopped; where credits stop it, launched batches are still finished. A batch is examined when it has
   * changed, not in every round.
   *
   * @param isAwaited whether to wait for a batch that another process may have
   */
  async toEnd(isAwaited: (state: BatchState) => boolean): Promise<void> {
    const { drive, run, batches } = this.#options;
    this.#isAwaited = isAwaited;
    await this.applyRemote();
    this.#waitedFor = new Set([...batches.all].filter((batch) => this.#isWaitedFor(batch)));
    for (;;) {
      await this.applyRemote();
      this.#applyStop();
      this.#applyBudget();
      this.#dropClosed();
      await this.#recordStop();
      if (this.#isStopped || (this.#waitedFor.size === 0 && drive.isIdle)) {
        await drive.idle();
        // Meanwhile a claim may have been lost, and the last batch may have stopped this process.
        await this.applyRemote();
        this.#dropClosed();
        await this.#recordStop();
        if (this.#waitedFor.size === 0) return;
        if (!drive.stoppedBy) run.signal.throwIfAborted();
        if (this.#isStopped) return;
      }
      if (await this.#claimNext()) continue;
      if (this.#isOutOfMoney) {
        // The credits may have run out while it claimed.
        await this.#recordStop();
        return;
      }
      await this.#nextChange();
    }
  }

  #isWaitedFor(batch: Batch): boolean {
    const { isOpen, batches, drive } = this.#options;
    const state = batches.state(batch);
    if (!isOpen(batch) || !this.#isAwaited(state)) return false;
    return isRunning(state) || !drive.gate.isClosedTo(batch);
  }

  /** Batches that may no longer be launched are not waited for. */
  #dropClosed(): void {
    const { closings } = this.#options.drive.gate;
    if (closings === this.#closings) return;
    this.#closings = closings;
    for (const batch of this.#waitedFor)
      if (!this.#isWaitedFor(batch)) this.#waitedFor.delete(batch);
  }

  get #isStopped(): boolean {
    const { drive, run } = this.#options;
    const { closedBy } = drive.gate;
    const isOver = closedBy !== undefined && !isForMoney(closedBy);
    return isOver || drive.stoppedBy !== undefined || run.signal.aborted || this.#isEnded;
  }

  /**
   * Whether credits have stopped it and no paid batch is left. Another process's unlaunched batches are not
   * waited for: that process may wait for this one's.
   */
  get #isOutOfMoney(): boolean {
    const { drive, batches } = this.#options;
    if (!drive.isIdle || !isForMoney(drive.gate.closedBy)) return false;
    return ![...this.#waitedFor].some((batch) => isRunning(batches.state(batch)));
  }

  /** Whether the budget of one type is used up while another type has more to launch. */
  get #mayLaunchMore(): boolean {
    const { batches, drive } = this.#options;
    for (const batch of batches.all) {
      const state = batches.state(batch);
      const isLeft = !isAtEnd(state) && !mayHaveLaunched(state);
      if (isLeft && !drive.gate.isClosedTo(batch)) return true;
    }
    return false;
  }

  get #isEnded(): boolean {
    return this.#options.store.others.haveEndedRun;
  }

  get #stoppedByOthers(): StoppedEntry | undefined {
    const { stopped } = this.#options.store.state;
    return stopped?.at === this.#stoppedBefore ? undefined : stopped;
  }

  #applyStop(): void {
    const { drive, stop } = this.#options;
    const stopped = this.#stoppedByOthers;
    if (!stopped || this.#isStoppedForAll || this.#localStop) return;
    this.#isStoppedForAll = true;
    const error = stopOfOthers(stopped);
    if (letsFinish(stopped)) drive.gate.close(error);
    else stop?.(error);
  }

  #applyBudget(): void {
    const { store, run } = this.#options;
    const { budget } = store.state;
    if (!budget || budget.most === this.#currentBudget) return;
    this.#currentBudget = budget.most;
    run.onProgress?.(noticed(notice('max_credits_changed_elsewhere', { most: budget.most })));
  }

  /** What stops one process stops launches in all. */
  #announceStop(): void {
    const { store, drive } = this.#options;
    if (this.#isStoppedForAll || this.#localStop) return;
    const error = drive.stoppedBy?.error ?? drive.gate.closedBy;
    const stopped = stopForAll(error);
    // Each type has its own budget, which the store keeps for all.
    const isOfOneType = !drive.stoppedBy && error instanceof BudgetError && this.#mayLaunchMore;
    if (!stopped || isOfOneType) return;
    this.#localStop = stopped;
    store.others.announce(stopped);
  }

  async #recordStop(): Promise<void> {
    this.#announceStop();
    if (!this.#localStop || this.#isStoppedForAll) return;
    this.#isStoppedForAll = true;
    await this.#options.store.others.record(this.#localStop);
  }

  async applyRemote(): Promise<void> {
    const { batches, settle, isOpen } = this.#options;
    // The parts of a split batch come with it.
    for (let changed = batches.changed(); changed.size > 0; changed = batches.changed()) {
      for (const batch of changed) {
        if (isOpen(batch)) {
          await batches.applyRemote(batch);
          const state = batches.state(batch);
          if (isAtEnd(state)) await settle(batch, state);
        }
        if (this.#isWaitedFor(batch)) this.#waitedFor.add(batch);
        else this.#waitedFor.delete(batch);
      }
    }
  }

  /** @returns whether it got one */
  async #claimNext(): Promise<boolean> {
    const { drive, batches } = this.#options;
    if (!drive.hasPlace) return false;
    const claimed = await batches.claimMore(this.#wanted());
    drive.add(claimed);
    return claimed.length > 0;
  }

  /** What would only wait for credits is left to others. Without room, nothing but what others had may begin. */
  *#wanted(): Generator<Batch> {
    const { drive, batches, store } = this.#options;
    if (!drive.hasRoom && !store.others.mayTakeOver) return;
    for (const batch of this.#waitedFor) {
      const mayBegin = drive.hasRoom && !drive.gate.isShortOf(batch.group.type);
      // Also where its launch is only in doubt: what it has reserved may be what others wait for.
      if (mayBegin || mayHaveLaunched(batches.state(batch))) yield batch;
    }
  }

  /**
   * Asks whether the prepared batches may be launched. In a shared run the process with the output asks
   * for all: the others wait for the answer.
   *
   * @returns what stops the run
   */
  async askBeforeLaunch(
    onPrepared: NonNullable<DriveRunOptions['run']['onPrepared']>,
  ): Promise<SluiceError | undefined> {
    const { run, client, store, claimOutput, batches } = this.#options;
    while (!store.state.isApproved) {
      const stopped = this.#stoppedByOthers;
      if (stopped) return stopOfOthers(stopped);
      if (!claimOutput || (await claimOutput())) {
        const ready = batches.log.batches().filter(({ state }) => state.stage === 'ready');
        const preflight = await readPreflight(client, ready, run);
        if (await callOrAborted(() => onPrepared(preflight), run.signal)) {
          await store.others.record({ entry: 'approved' });
          return undefined;
        }
        const refusal = new DetachedError(
          'the batches are prepared, and nothing is paid; run again to go on',
          { retryable: false },
        );
        const stopForOthers = stopForAll(refusal);
        if (stopForOthers) await store.others.record(stopForOthers);
        return refusal;
      }
      await store.others.waitForUpdates(run.signal);
    }
    return undefined;
  }

  async #nextChange(): Promise<void> {
    const { store, run, drive } = this.#options;
    const over = new AbortController();
    const localChange = new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#hasChanged) resolve();
    });
    const updates = store.others
      .waitForUpdates(AbortSignal.any([run.signal, over.signal]))
      .then(() => drive.gate.noteFreed());
    try {
      await Promise.race([localChange, updates]);
    } catch (error) {
      // The next round sees the abort.
      if (!run.signal.aborted) throw error;
    } finally {
      over.abort(notAwaited);
      this.#hasChanged = false;
    }
  }
}

function isForMoney(error: unknown): boolean {
  return isSluiceError(error, 'budget_exhausted') || isSluiceError(error, 'payment_required');
}

/** Whether the service may be verifying it, or be done: it is paid for. */
function isRunning({ stage }: BatchState): boolean {
  return stage === 'launching' || stage === 'verifying' || stage === 'done';
}
