import {
  ClaimRevokedError,
  type BatchClaim,
  type BatchProgress,
  batchStage,
} from '../../batches/claim.js';
import { batchLabel, type Batch, halveBatch } from '../../batches/batch.js';
import { elected, isExportRetriable, planned, type BatchState } from '../../batches/batch-state.js';
import { isVisible } from '../../batches/uploads/list-uploads.js';
import { noTimes, BatchLog, withKnown } from '../../batches/batch-log.js';
import { entryOf } from '../../stores/run-state.js';
import { noteLaunch } from '../../driver/collect-launched.js';
import type { RunClaim, BatchStore } from '../../stores/run-store.js';
import type { Client } from '../../../client/client.js';
import type { Plan } from '../../plan/plan.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { Reconciliation } from '../resume/reconcile.js';

export interface DriveRunOptions {
  readonly run: Omit<ResolvedRun, 'source' | 'sink' | 'client'>;
  readonly client: Client;
  readonly reconciliation: Reconciliation;
  readonly plan: Plan;
  readonly batches: readonly Batch[];
  readonly store: BatchStore;
  readonly onSettled?: () => void;
  /** Whether this process needs outcomes of others' batches; else they wait for `settleAll`. @default true */
  readonly wantsAll?: () => boolean;
  /** Claims the output of the run, unless another process has it. @returns whether this process has it */
  readonly claimOutput?: () => Promise<boolean>;
  /** Ends this process's work when another has stopped the run. */
  readonly stop?: (error: unknown) => void;
}

/** The batches of a run and their parts: their states, and which of them this process may drive. */
export class RunBatches {
  readonly #options: DriveRunOptions;
  readonly #onRecalled: (batch: Batch, state: BatchState, name: string) => void;
  readonly #claims = new Map<string, RunClaim>();
  readonly log = new BatchLog();
  /** By label: the batches, with parts in place of split ones. */
  readonly #all = new Map<string, Batch>();
  /** Batches whose launch the store lacks: no others are claimed before it has them, as a budget would not count them. */
  readonly #first = new Set<Batch>();
  /** Batches changed since the last call, apart from those recorded by others. */
  #changed = new Set<Batch>();

  /** @param onRecalled called with an earlier state, or one that another process recorded */
  constructor(
    options: DriveRunOptions,
    onRecalled: (batch: Batch, state: BatchState, name: string) => void,
  ) {
    this.#options = options;
    this.#onRecalled = onRecalled;
  }

  get all(): Iterable<Batch> {
    return this.#all.values();
  }

  has(batch: Batch): boolean {
    return this.#all.get(batchLabel(batch)) === batch;
  }

  /** Batches whose state or claim may have changed since the last call. */
  changed(): ReadonlySet<Batch> {
    const changed = this.#changed;
    this.#changed = new Set();
    for (const label of this.#options.store.others.takeUpdates()) {
      const batch = this.#all.get(label);
      if (batch) changed.add(batch);
    }
    return changed;
  }

  #put(batch: Batch): void {
    const label = batchLabel(batch);
    if (this.#all.has(label)) return;
    this.#all.set(label, batch);
    this.#changed.add(batch);
  }

  #drop(batch: Batch): void {
    this.#all.delete(batchLabel(batch));
    this.#changed.add(batch);
  }

  state(batch: Batch): BatchState {
    return this.log.state(batch);
  }

  /** Takes up the batches from the journal and the service, or the parts that they were split into. */
  async adopt(batches: readonly Batch[]): Promise<void> {
    const { store, reconciliation } = this.#options;
    for (const batch of batches) {
      const state = entryOf(store.state, batch)?.state ?? planned;
      if (reconciliation.lacksLaunch(batch, state)) this.#first.add(batch);
    }
    await this.claim(batches);
    for (const batch of batches) {
      const claim = this.#claims.get(batchLabel(batch));
      if (claim) await this.#recall(claim);
      else await this.applyRemote(batch);
    }
  }

  /** @returns the batches newly claimed by this process */
  async claim(wanted: Iterable<Batch>): Promise<readonly Batch[]> {
    const claims = await this.#options.store.claim(this.#firstOf(wanted));
    for (const claim of claims) {
      this.#claims.set(batchLabel(claim.batch), claim);
      this.#changed.add(claim.batch);
    }
    return claims.map(({ batch }) => batch);
  }

  reportRecalled(): void {
    const batches = this.log
      .batches()
      .flatMap(({ batch, state, name, charge, exported }) =>
        name === undefined || state.stage === 'planned'
          ? []
          : [batchStage({ batch, state, name, charge, exported })],
      );
    if (batches.length > 0) this.#options.run.onProgress?.({ stage: 'recalled', batches });
  }

  #firstOf(wanted: Iterable<Batch>): Iterable<Batch> {
    if (this.#first.size === 0) return wanted;
    const all = [...wanted];
    const first = all.filter((batch) => this.#first.has(batch));
    return first.length > 0 ? first : all;
  }

  /** Sends failed batches again, in a shared run; a run of one process takes them up so. */
  async reopen(): Promise<void> {
    const { store, reconciliation } = this.#options;
    const failed = this.log.batches().filter(({ state }) => state.stage === 'failed');
    const again: BatchProgress[] = [];
    for (const driven of failed) {
      const state = await reconciliation.retry(driven.batch, driven.state);
      const name = reconciliation.nameOf(driven.batch, state);
      again.push({ ...withKnown(driven, state), name });
    }
    if (again.length > 0) await store.others.reopen(again);
    for (const { batch } of failed) await this.applyRemote(batch);
  }

  /** @returns the batches that this process may drive from now on */
  async claimMore(wanted: Iterable<Batch>): Promise<readonly Batch[]> {
    const claimed = await this.claim(wanted);
    for (const batch of claimed) await this.#recall(this.held(batch));
    const { reconciliation, run } = this.#options;
    if (claimed.length > 0) reconciliation.reportChanges(() => this.log.uuids(), run.onProgress);
    return claimed.filter((batch) => this.has(batch) && this.isHeld(batch));
  }

  async applyRemote(batch: Batch): Promise<void> {
    const { store, reconciliation } = this.#options;
    const entry = entryOf(store.state, batch);
    const times = store.state.times.get(batchLabel(batch)) ?? noTimes;
    if (entry) {
      const { state, name, exported, replacedCharge, unconfirmed } = entry;
      const charge = entry.charge ?? undefined;
      const driven = { batch, state, name, charge, exported, replacedCharge, unconfirmed };
      const isNew = this.log.state(batch).stage !== state.stage;
      this.#onRecalled(batch, state, name);
      this.log.recall({ ...driven, times });
      if (isNew) this.#options.run.onProgress?.(batchStage(driven));
    }
    if (entry && !reconciliation.lacksLaunch(batch, entry.state)) this.#first.delete(batch);
    if (entry?.state.stage !== 'split') {
      this.#put(batch);
      return;
    }
    this.#drop(batch);
    for (const part of await halveBatch(batch)) await this.applyRemote(part);
  }

  async split(batch: Batch, parts: readonly Batch[]): Promise<void> {
    this.#drop(batch);
    for (const part of parts) this.#put(part);
    await this.claim(parts);
  }

  /** Launched batches that are not finished are left to the next process, of this run or of another. */
  leave(): void {
    this.#options.run.history?.release(this);
  }

  isHeld(batch: Batch): boolean {
    return this.#claims.has(batchLabel(batch));
  }

  held(batch: Batch): RunClaim {
    const label = batchLabel(batch);
    const claim = this.#claims.get(label);
    if (!claim) throw new ClaimRevokedError(label);
    return claim;
  }

  dropClaim(batch: Batch): void {
    this.#claims.delete(batchLabel(batch));
    this.#changed.add(batch);
  }

  /** The claim of a batch that also publishes what is recorded. */
  observedClaim(batch: Batch): BatchClaim {
    const claim = this.held(batch);
    return {
      ...(claim.revoked && { revoked: claim.revoked }),
      confirm: async () => claim.confirm(),
      reserve: async (most) => claim.reserve(most),
      record: async (progress) => this.#record(claim, progress),
    };
  }

  async record(progress: BatchProgress): Promise<void> {
    await this.#record(this.held(progress.batch), progress);
  }

  now(): string {
    return new Date(this.#options.run.clock.wallNow()).toISOString();
  }

  async #record(claim: RunClaim, progress: BatchProgress): Promise<void> {
    const at = this.now();
    const driven = this.log.withBefore(progress, at);
    const { charge, exported, replacedCharge, unconfirmed } = driven;
    const { batch, state } = progress;
    if (state.stage === 'launching') {
      const { run, store } = this.#options;
      const { history } = run;
      const note = { batchUuid: state.uuid, history, owner: this, run: store.path };
      await noteLaunch(batch, note);
    }
    await claim.record({ ...progress, charge, exported, replacedCharge, unconfirmed }, at);
    this.log.recall(driven);
    this.#options.run.onProgress?.(batchStage(progress));
  }

  /** @returns whether the claim was still valid */
  async #isRecorded(progress: BatchProgress): Promise<boolean> {
    try {
      await this.record(progress);
      return true;
    } catch (error) {
      if (!(error instanceof ClaimRevokedError)) throw error;
      this.dropClaim(progress.batch);
      this.#put(progress.batch);
      return false;
    }
  }

  /** What was exported, and lost here since, is exported again while the service has it: that is free. */
  async #stateToFetch(batch: Batch, state: BatchState): Promise<BatchState> {
    const { client, run, store } = this.#options;
    if (state.stage !== 'exported' || (await store.hasResults?.(batch)) !== false) return state;
    if (!(await isVisible(client, state.uuid, run.signal))) return state;
    return { ...elected(state), stage: 'done', broken: 0, isRetried: true };
  }

  async #recall({ batch, entry, times }: RunClaim): Promise<void> {
    const { reconciliation, run } = this.#options;
    const before = entry?.state ?? planned;
    const learned = await this.#stateToFetch(batch, reconciliation.learn(batch, before));
    const isTakenUp = run.retryFailed === true || isExportRetriable(learned);
    const state = isTakenUp ? await reconciliation.retry(batch, learned) : learned;
    const name = state === before && entry ? entry.name : reconciliation.nameOf(batch, state);
    const found = {
      batch,
      state: before,
      name,
      charge: entry?.charge ?? undefined,
      exported: entry?.exported,
      replacedCharge: entry?.replacedCharge,
      unconfirmed: entry?.unconfirmed,
      times,
    };
    const driven = { ...withKnown(found, state), name };
    this.#onRecalled(batch, state, driven.name);
    if (entry) this.log.recall(driven);
    if (state !== before && !(await this.#isRecorded(driven))) return;
    this.#first.delete(batch);
    if (state.stage === 'split') await this.adopt(await halveBatch(batch));
    else this.#put(batch);
  }
}
