import type { Batch } from '../../batches/batch.js';
import { defaults } from '../../driver/driver-options.js';
import {
  deleteBatch,
  deleteOrphans,
  isBeforeLaunch,
} from '../../batches/uploads/delete-uploads.js';
import type { ListOptions } from '../../batches/uploads/list-uploads.js';
import { BatchPool } from '../../driver/batch-pool.js';
import { elected, isAtEnd, mayHaveLaunched, type BatchState } from '../../batches/batch-state.js';
import { replaced } from '../../batches/transitions.js';
import { stopsForNow } from '../../driver/batch-errors.js';
import { DeadlineError, DetachedError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { BatchSettling } from './settle-batches.js';
import { type DriveRunEnd, type DriveRunOptions, RunBatches } from './run-batches.js';
import { noticed } from '../reporting/run-progress.js';
import { deleteEarlier } from '../resume/earlier-results.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import { hasPaid } from '../../stores/run-state.js';
import { WorkerLoop } from './worker-loop.js';

/**
 * Brings all batches of a run to their ends, those of an earlier process from where the journal left
 * them. When the gate closes, what runs is finished and kept.
 */
export async function driveRun(options: DriveRunOptions): Promise<DriveRunEnd> {
  return new RunDrive(options).toEnd();
}

/** Settles a run that cannot begin, as far as its journal shows: nothing is sent. */
export async function settleStopped(
  options: DriveRunOptions,
  stoppedBy: unknown,
): Promise<DriveRunEnd> {
  return new RunDrive(options).toStop(stoppedBy);
}

/**
 * Brings what a run has launched to its end, and deletes what it has not: another takes its place.
 *
 * @param decide called with what is known of its batches before anything is sent; when it throws, nothing is
 * @throws what stops it: it is not settled then
 */
export async function settleRun(
  options: DriveRunOptions,
  decide?: (batches: readonly DrivenBatch[]) => Promise<void>,
): Promise<void> {
  return new RunDrive(options).toSettled(decide);
}

interface ExportedBatch {
  readonly batch: Batch;
  readonly state: BatchState & { readonly stage: 'exported' };
}

/** How long a deletion may hold up the batches that wait for the place of the one that is deleted. */
const longestDeletionMs = 10_000;

class RunDrive {
  readonly #options: DriveRunOptions;
  readonly #drive: BatchPool;
  readonly #batches: RunBatches;
  readonly #settling: BatchSettling;
  readonly #shared: WorkerLoop;
  /** Names of uploads that are of no use any more and could not be deleted. */
  readonly #left: string[] = [];
  /** Whose results are safe, and that were not deleted when they came: asked for again when all is collected. */
  readonly #undeleted: ExportedBatch[] = [];
  /** Whether a batch is left alone once the service verifies it. */
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
        settings: run,
        keepsBatches: run.deleteBatches !== true,
        account: begun && { salt: begun.seed, fingerprint: begun.account },
        // As many as are on the service, and as many again whose results come: all others wait on disk.
        places: run.concurrency * 2,
        signal: run.signal,
      },
      {
        state: (batch) => this.#batches.state(batch),
        charge: (batch) => this.#batches.log.charge(batch),
        leavesLaunched: () => this.#leavesLaunched,
        lookAgain: async (batch, state) => reconciliation.lookAgain(batch, state),
        claim: (batch) => this.#batches.observedClaim(batch),
        collect: async (batch, open) =>
          this.#settling.collect(batch, open, this.#batches.held(batch)),
        leave: async (batch, state, parts) => this.#leave(batch, state, parts),
        claimRevoked: (batch) => this.#batches.dropClaim(batch),
        freed: () => this.#shared.notify(),
        toCome: () => this.#shared.toCome,
        onNotice: (given) => run.onProgress?.(noticed(given)),
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
        await this.#settling.settleOther(batch, state, this.#exportedAt(batch));
      },
    });
  }

  async toEnd(): Promise<DriveRunEnd> {
    for (const { batches } of this.#options.store.state.earlier) {
      for (const { state, name } of batches.values()) {
        if ('uuid' in state && state.uuid !== undefined) this.#drive.reserve(state.uuid, name);
      }
    }
    await this.#batches.adopt(this.#options.batches);
    const { reconciliation, run, store } = this.#options;
    if (run.retryFailed === true && store.state.finished) await this.#batches.reopen();
    this.#batches.reportRecalled();
    await reconciliation.check([...this.#batches.all].map((batch) => this.#batches.state(batch)));
    reconciliation.reportChanges(() => this.#batches.log.uuids(), run.onProgress);
    // A run that collects does not leave again for what is new in the list.
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
    // What looks like an orphan to one of many processes may be what another goes on with.
    if ((isWhole || isRefused) && !store.isShared) {
      await this.#deleteOrphans({ isGivenUp: isRefused, hasSurplus: this.#hasSurplus });
    }
    if (isWhole) {
      await this.#deleteAgain();
      this.#left.push(...(await this.#deleteEarlier()));
    }
    this.#reportLeft();
    return this.#endOf(stoppedBy, isWhole);
  }

  /** Where the service could not be asked what it has, the journal alone counts. */
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
        // Others may have ended theirs since.
        if (isPartial) await this.#shared.applyRemote();
        await this.#settling.settleAll();
        if (isPartial) for (const batch of batches) plan.join.settleUnfinished(batch);
      },
      tidy: async (confirm) => this.#tidy(confirm),
    };
  }

  async toSettled(decide?: (batches: readonly DrivenBatch[]) => Promise<void>): Promise<void> {
    await this.#batches.adopt(this.#options.batches);
    const { reconciliation, run } = this.#options;
    await reconciliation.check([...this.#batches.all].map((batch) => this.#batches.state(batch)));
    reconciliation.reportChanges(() => this.#batches.log.uuids(), run.onProgress);
    await decide?.(this.#batches.log.batches());
    for (const driven of this.#batches.log.batches()) {
      if (isBeforeLaunch(driven.state)) await this.#giveUp(driven);
    }
    // Nothing is launched for a list that is not tonight's, not even what was in doubt.
    this.#drive.gate.hold();
    const kept = new Set<string>();
    await this.#giveUpReady(kept);
    do {
      const stoppedBy = await this.#driveAll({ only: mayHaveLaunched });
      // The reason of an abort is the caller's, whatever it is.
      // oxlint-disable-next-line typescript/only-throw-error
      if (stoppedBy !== undefined) throw stoppedBy;
    } while (await this.#giveUpReady(kept));
    if (reconciliation.uploads.all().length === 0 && this.#batches.log.batches().length === 0)
      return;
    await this.#deleteAgain();
    await this.#deleteOrphans({ isGivenUp: true, hasSurplus: true });
    this.#reportLeft();
  }

  async #giveUp(driven: DrivenBatch): Promise<void> {
    const { name = '', state } = driven;
    await this.#batches.record({ ...driven, name, state: replaced(state) });
  }

  /**
   * Deletes the batches whose launch was asked for and that the service calls ready: it was not carried out.
   *
   * @param kept uuids of those that were not deleted: their launch may have come after all
   * @returns whether where some are is to be asked again
   * @throws DeadlineError when one is ready for the second time, and still not deleted
   */
  async #giveUpReady(kept: Set<string>): Promise<boolean> {
    const { client, run } = this.#options;
    let isAnyInDoubt = false;
    for (const driven of this.#batches.log.batches()) {
      const { state, name = '' } = driven;
      const isGivenUp = state.stage === 'launching' && state.isGivenUp === true;
      if (state.stage !== 'ready' && !isGivenUp) continue;
      // A process that is killed here leaves the next one the same upload, or knows why it is gone.
      const noted: BatchState = {
        ...elected(state),
        stage: 'launching',
        answeredError: false,
        isGivenUp: true,
      };
      await this.#batches.record({ ...driven, name, state: noted });
      const end = await this.#drive.inTurn(async () =>
        deleteBatch(client, state.uuid, false, run.signal),
      );
      if (end === 'gone') {
        await this.#giveUp({ ...driven, state: noted });
        continue;
      }
      if (kept.has(state.uuid)) {
        throw new DeadlineError(
          `batch ${name} (${state.uuid}): its launch was asked for and may still come, and the service does not delete it`,
          { code: 'service_unavailable' },
        );
      }
      kept.add(state.uuid);
      isAnyInDoubt = true;
    }
    return isAnyInDoubt;
  }

  async #tidy(confirm: () => Promise<void>): Promise<void> {
    const { run, store } = this.#options;
    if (!store.isShared) return;
    await confirm();
    await this.#deleteOrphans({ isGivenUp: false, hasSurplus: this.#hasSurplus });
    for (const { batch, state } of this.#batches.log.batches()) {
      if (run.deleteBatches !== true || state.stage !== 'exported') continue;
      await confirm();
      await this.#deleteExported({ batch, state });
    }
    this.#reportLeft();
  }

  get #hasSurplus(): boolean {
    return this.#options.reconciliation.hasSurplus(this.#batches.log.uuids());
  }

  async #deleteOrphans(
    which: Pick<Parameters<typeof deleteOrphans>[3], 'isGivenUp' | 'hasSurplus'>,
  ): Promise<void> {
    const { client, reconciliation, run } = this.#options;
    const names = await deleteOrphans(client, reconciliation.runId, this.#batches.log.batches(), {
      ...which,
      ...this.#patience,
      keepsFailed: !which.isGivenUp && run.deleteBatches !== true,
    });
    this.#left.push(...names);
  }

  get #patience(): ListOptions {
    const { signal, clock, batchDeadlineMs = defaults.batchDeadlineMs } = this.#options.run;
    return { signal, clock, deadlineMs: batchDeadlineMs };
  }

  #reportLeft(): void {
    const names = this.#left;
    if (names.length > 0) this.#options.run.onProgress?.({ stage: 'left_behind', names });
  }

  /**
   * Prepares every batch, which is free, and asks whether they may be launched.
   *
   * @returns what stops the run
   */
  async #askBeforeLaunch(): Promise<unknown> {
    const { run } = this.#options;
    if (!run.onPrepared || !this.#isAnyUnlaunched()) return undefined;
    const { gate } = this.#drive;
    gate.hold();
    const stoppedBy = await this.#driveAll({
      only: (state) => !mayHaveLaunched(state),
      // What another process has prepared it keeps.
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
   * @param options.only which batches are meant. @default all
   * @param options.ofOthers which of those that another process may have. @default the same
   * @param options.leavesLaunched whether what is launched is left to the service
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
    return new DetachedError('all batches are launched; run again to collect');
  }

  /** Those that this process may drive. */
  #unsettled(only: (state: BatchState) => boolean): readonly Batch[] {
    return [...this.#batches.all].filter(
      (batch) =>
        this.#batches.isHeld(batch) &&
        !this.#settling.isSettled(batch) &&
        only(this.#batches.state(batch)),
    );
  }

  async #deleteEarlier(): Promise<readonly string[]> {
    const { client, store, reconciliation } = this.#options;
    const own = { runId: reconciliation.runId, uuids: this.#batches.log.uuids() };
    return deleteEarlier(client, store.state.earlier, own, this.#patience);
  }

  async #leave(batch: Batch, state: BatchState, parts: readonly Batch[]): Promise<void> {
    if (parts.length > 0) await this.#batches.split(batch, parts);
    if (!isAtEnd(state)) return;
    const { client, run, store } = this.#options;
    await this.#settling.settle(batch, state, this.#exportedAt(batch));
    if (run.deleteBatches !== true || state.stage !== 'exported') return;
    // Where others work on the run, too, the process that ends it deletes them: others may be gone by then.
    if (store.isShared) return;
    if (this.#mustStay(batch)) {
      await this.#deleteExported({ batch, state });
      return;
    }
    const isFailing = this.#undeleted.length > 0;
    const briefMs = Math.min(longestDeletionMs, (client.giveUpAfterMs ?? Infinity) / 2);
    if (isFailing || !(await this.#isDeleted({ batch, state }, briefMs))) {
      this.#undeleted.push({ batch, state });
    }
  }

  async #deleteAgain(): Promise<void> {
    for (const exported of this.#undeleted.splice(0)) await this.#deleteExported(exported);
  }

  async #deleteExported(exported: ExportedBatch): Promise<void> {
    if (await this.#isDeleted(exported)) return;
    this.#left.push(this.#options.reconciliation.nameOf(exported.batch, exported.state));
  }

  /**
   * Whether its results are on the service alone: the process that goes on with the other copy of the state has
   * not fetched them, or this one lacks them.
   */
  #mustStay(batch: Batch): boolean {
    return this.#options.reconciliation.isCopied || this.#batches.log.lacksResults(batch);
  }

  async #isDeleted({ batch, state }: ExportedBatch, timeoutMs?: number): Promise<boolean> {
    const { client, run } = this.#options;
    if (this.#mustStay(batch)) return false;
    const end = await this.#drive.inTurn(async () =>
      deleteBatch(client, state.uuid, true, run.signal, timeoutMs),
    );
    return end === 'gone';
  }

  #exportedAt(batch: Batch): string {
    return this.#batches.log.times(batch).exported_at ?? this.#batches.now();
  }
}
