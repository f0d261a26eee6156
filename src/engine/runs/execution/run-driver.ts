import type { Batch } from '../../batches/batch.js';
import { BatchPool } from '../../driver/batch-pool.js';
import { isAtEnd, mayHaveLaunched, type BatchState } from '../../batches/batch-state.js';
import { stopsForNow } from '../../driver/batch-errors.js';
import { DetachedError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { GivenUpBatches } from './given-up-batches.js';
import { BatchSettling, type KnownEnd } from './settle-batches.js';
import { type DriveRunOptions, RunBatches } from './run-batches.js';
import { RunDeletions } from './run-deletions.js';
import { noticed } from '../reporting/run-progress.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import { hasPaid } from '../../stores/run-state.js';
import { WorkerLoop } from './worker-loop.js';

export interface DriveRunEnd {
  readonly batches: readonly DrivenBatch[];
  /** What stopped it; `undefined` when every batch is at its end. */
  readonly stoppedBy: unknown;
  readonly isWhole: boolean;
  /** Whether unfinished batches are settled as such, so that rows can be written. */
  readonly isPartial: boolean;
  /** Whether the service refused the run's form: nothing of it is worth continuing. */
  readonly isRefused: boolean;
  settleAll(): Promise<void>;
  /**
   * Deletes what the run no longer needs from the service, in the process that ends a shared run; a run of
   * one process has done so already.
   *
   * @param confirm called before anything is deleted
   */
  deleteUnneeded(confirm: () => Promise<void>): Promise<void>;
}

export class RunDriver {
  readonly #options: DriveRunOptions;
  readonly #drive: BatchPool;
  readonly #batches: RunBatches;
  readonly #settling: BatchSettling;
  readonly #shared: WorkerLoop;
  readonly #deletions: RunDeletions;
  #leavesLaunched = false;

  constructor(options: DriveRunOptions) {
    const { run, client, reconciliation, store } = options;
    const begun = store.state.run;
    this.#options = options;
    this.#settling = new BatchSettling(options);
    this.#batches = new RunBatches(options, (...known) => this.#drive.recall(...known));
    this.#drive = new BatchPool(
      {
        service: client,
        runId: reconciliation.runId,
        namePrefix: reconciliation.namePrefix,
        settings: run,
        keepsBatches: run.deleteBatches !== true,
        account: begun && { salt: begun.seed, fingerprint: begun.account },
        // As many as are on the service, and as many again being exported: all others wait on disk.
        places: run.concurrency * 2,
        signal: run.signal,
      },
      {
        state: (batch) => this.#batches.state(batch),
        charge: (batch) => this.#batches.log.charge(batch),
        leavesLaunched: () => this.#leavesLaunched,
        checkBeforeLaunch: async (batch, state) => reconciliation.checkBeforeLaunch(batch, state),
        claim: (batch) => this.#batches.observedClaim(batch),
        collect: async (batch, open) =>
          this.#settling.collect(batch, open, this.#batches.held(batch)),
        leave: async (batch, state, parts) => this.#leave(batch, state, parts),
        claimRevoked: (batch) => this.#batches.dropClaim(batch),
        freed: () => this.#shared.notify(),
        claimable: () => this.#shared.claimable,
        onNotice: (given) => run.onProgress?.(noticed(given)),
        isDistrusted: () => store.state.isDistrusted,
        noteDistrust: async () => store.record({ entry: 'distrusted' }),
      },
    );
    this.#shared = new WorkerLoop({
      ...options,
      drive: this.#drive,
      batches: this.#batches,
      isOpen: (batch) =>
        this.#batches.has(batch) &&
        !this.#batches.isHeld(batch) &&
        !this.#settling.isSettled(batch),
      settle: async (batch, state) => {
        await this.#settling.settleOther(batch, state, this.#knownEnd(batch));
      },
    });
    this.#deletions = new RunDeletions(options, this.#batches.log, this.#drive);
  }

  /** Drives all batches to their ends. When the gate closes, running batches are finished. */
  async toEnd(): Promise<DriveRunEnd> {
    try {
      return await this.#toEnd();
    } finally {
      this.#batches.leave();
    }
  }

  async #toEnd(): Promise<DriveRunEnd> {
    for (const { batches } of this.#options.store.state.earlier) {
      for (const { state, name } of batches.values()) {
        if ('uuid' in state && state.uuid !== undefined) this.#drive.uploads.take(state.uuid, name);
      }
    }
    await this.#batches.adopt(this.#options.batches);
    const { reconciliation, run, store } = this.#options;
    if (run.retryFailed === true && store.state.finished) await this.#batches.reopen();
    this.#batches.reportRecalled();
    await reconciliation.check([...this.#batches.all].map((batch) => this.#batches.state(batch)));
    reconciliation.reportChanges(() => this.#batches.log.uuids(), run.onProgress);
    // A run that collects does not leave again for new rows of the list.
    const isCollecting = store.state.earlier.some(hasPaid);
    const isLeaving = run.detach === true && !isCollecting && this.#isAnyUnlaunched();
    const stoppedBy =
      (await this.#askBeforeLaunch()) ??
      (await this.#driveAll({
        leavesLaunched: isLeaving,
        ...(isLeaving && { ofOthers: (state) => !mayHaveLaunched(state) }),
      }));
    const isWhole = [...this.#batches.all].every((batch) => isAtEnd(this.#batches.state(batch)));
    const isRefused = isSluiceError(stoppedBy, 'batch_refused');
    if (isWhole) await this.#deletions.retry();
    // What looks like an orphan to one process may be another's upload.
    if ((isWhole || isRefused) && !store.others.mayWork) {
      await this.#deletions.deleteOrphans(isRefused);
    }
    if (isWhole) await this.#deletions.deleteEarlier();
    this.#deletions.report();
    return this.#endOf(stoppedBy, isWhole);
  }

  /** Settles a run that cannot begin, from its journal, without the service's list: nothing is sent. */
  async toStop(stoppedBy: unknown): Promise<DriveRunEnd> {
    for (const batch of this.#options.batches) await this.#batches.applyRemote(batch);
    await this.#shared.applyRemote();
    this.#batches.reportRecalled();
    return this.#endOf(stoppedBy, false);
  }

  #endOf(stoppedBy: unknown, isWhole: boolean): DriveRunEnd {
    const { batches, plan, run } = this.#options;
    const isPartial = run.partial === true && !isWhole && stopsForNow(stoppedBy);
    if (isPartial) run.onProgress?.({ stage: 'stopped', error: stoppedBy });
    const { log } = this.#batches;
    return {
      get batches() {
        return log.batches();
      },
      stoppedBy,
      isWhole,
      isPartial,
      isRefused: isSluiceError(stoppedBy, 'batch_refused'),
      settleAll: async () => {
        // Others may have finished theirs since.
        if (isPartial) await this.#shared.applyRemote();
        await this.#settling.settleAll();
        if (isPartial) for (const batch of batches) plan.join.settleUnfinished(batch);
      },
      deleteUnneeded: async (confirm) => this.#deletions.deleteUnneeded(confirm),
    };
  }

  /**
   * Finishes a run's launched batches and deletes the others: another run replaces it.
   *
   * @param decide called with its batches before anything is sent; when it throws, nothing is
   * @throws what stops it, unsettled
   */
  async toSettled(decide?: (batches: readonly DrivenBatch[]) => Promise<void>): Promise<void> {
    await this.#batches.adopt(this.#options.batches);
    const { reconciliation, run } = this.#options;
    await reconciliation.check([...this.#batches.all].map((batch) => this.#batches.state(batch)));
    reconciliation.reportChanges(() => this.#batches.log.uuids(), run.onProgress);
    await decide?.(this.#batches.log.batches());
    const givenUp = new GivenUpBatches(this.#options, this.#batches, this.#drive);
    await givenUp.giveUpUnlaunched();
    // Nothing is launched for an outdated list, not even what was in doubt.
    this.#drive.gate.hold();
    await givenUp.giveUpReady();
    do {
      const stoppedBy = await this.#driveAll({ only: mayHaveLaunched });
      // The reason of an abort is the caller's.
      // oxlint-disable-next-line typescript/only-throw-error
      if (stoppedBy !== undefined) throw stoppedBy;
    } while (await givenUp.giveUpReady());
    if (reconciliation.uploads.all().length === 0 && this.#batches.log.batches().length === 0)
      return;
    await this.#deletions.retry();
    await this.#deletions.deleteReplaced();
    this.#deletions.report();
    await givenUp.dropRefused();
  }

  /** Prepares every batch, which is free, and asks whether to launch. @returns what stops the run */
  async #askBeforeLaunch(): Promise<unknown> {
    const { run } = this.#options;
    if (!run.onPrepared || !this.#isAnyUnlaunched()) return undefined;
    const { gate } = this.#drive;
    gate.hold();
    const stoppedBy = await this.#driveAll({
      only: (state) => !mayHaveLaunched(state),
      // Batches prepared by another process stay its own.
      ofOthers: (state) => !mayHaveLaunched(state) && state.stage !== 'ready',
    });
    if (stoppedBy !== undefined) return stoppedBy;
    const refusal = await this.#shared.askBeforeLaunch(run.onPrepared);
    if (refusal) return refusal;
    gate.release();
    return undefined;
  }

  #isAnyUnlaunched(): boolean {
    return [...this.#batches.all]
      .map((batch) => this.#batches.state(batch))
      .some((state) => !isAtEnd(state) && !mayHaveLaunched(state));
  }

  /**
   * @param options.only which batches to drive. @default all
   * @param options.ofOthers which batches of other processes to wait for. @default the same
   * @param options.leavesLaunched whether launched batches are left to the service
   * @returns what stopped it
   */
  async #driveAll({
    only = () => true,
    ofOthers = only,
    leavesLaunched = false,
  }: {
    readonly only?: (state: BatchState) => boolean;
    readonly ofOthers?: (state: BatchState) => boolean;
    readonly leavesLaunched?: boolean;
  }): Promise<unknown> {
    this.#leavesLaunched = leavesLaunched;
    this.#drive.add(this.#unsettled(only));
    await this.#shared.toEnd(ofOthers);
    const stopped = await this.#drive.idle();
    if (stopped) return stopped.error;
    if ([...this.#batches.all].every((batch) => isAtEnd(this.#batches.state(batch))))
      return undefined;
    const { closedBy } = this.#drive.gate;
    if (closedBy || !leavesLaunched) return closedBy;
    return new DetachedError(
      'all batches are at the service, and paid; run again to collect the results',
    );
  }

  #unsettled(only: (state: BatchState) => boolean): readonly Batch[] {
    return [...this.#batches.all].filter(
      (batch) =>
        this.#batches.isHeld(batch) &&
        !this.#settling.isSettled(batch) &&
        only(this.#batches.state(batch)),
    );
  }

  async #leave(batch: Batch, state: BatchState, parts: readonly Batch[]): Promise<void> {
    if (parts.length > 0) await this.#batches.split(batch, parts);
    if (!isAtEnd(state)) return;
    await this.#settling.settle(batch, state, this.#knownEnd(batch));
    if (state.stage === 'exported') await this.#deletions.exported({ batch, state });
  }

  #knownEnd(batch: Batch): KnownEnd {
    const { log } = this.#batches;
    const verifiedAt = log.times(batch).exported_at ?? this.#batches.now();
    return { verifiedAt, charge: log.charge(batch) };
  }
}
