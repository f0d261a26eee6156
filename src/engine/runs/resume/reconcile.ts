import { isDeepStrictEqual } from 'node:util';
import { batchName, type Batch, uuidKey } from '../../batches/batch.js';
import { isLaunched } from '../../batches/uploads/delete-uploads.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import {
  isLaunchInDoubt,
  isOwed,
  mayHaveLaunched,
  planned,
  retried,
  type BatchState,
} from '../../batches/batch-state.js';
import { findStatus } from '../../batches/uploads/list-uploads.js';
import { isOf, adoptUploads, RunUploads } from '../../batches/uploads/adopt-uploads.js';
import type { VerificationService } from '../../../client/client.js';
import { StateError } from '../../../platform/errors/errors.js';
import { defaults } from '../../driver/driver-options.js';
import { entryOf, type RunState } from '../../stores/run-state.js';
import type { RunEntry, StateLocation } from '../../stores/journal-entries.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { RunStore } from '../../stores/run-store.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';
import { isElsewhere } from '../../stores/directory/folders.js';
import { optionName } from '../../../platform/text/option-name.js';

/** Where it is a state directory, it says where it is. */
type ReconciledStore = RunStore & { readonly place?: StateDirectory['place'] };

/**
 * What the service has of a run, beside what the journal knows. A journal may be older than the service:
 * restored from a backup, copied to another machine, or shared with another process.
 */
export class Reconciliation {
  readonly runId: string;
  readonly uploads: RunUploads;
  readonly #service: VerificationService;
  readonly #store: ReconciledStore;
  readonly #options: ResolvedRun;
  readonly #here: StateLocation | undefined;
  /** Whether an earlier process worked on the run. */
  readonly #isTakenUp: boolean;
  /** What a store that other processes share had before the list was read. */
  readonly #sharedBefore: Pick<RunState, 'batches'> | undefined;
  /**
   * Whether the state directory was copied from where the run was begun: another process may go on
   * with the other copy.
   */
  readonly isCopied: boolean;
  /** Whether the batches of the run are deleted once their results are safe. */
  readonly #deletes: boolean;
  readonly #learned = new Set<string>();
  /** Uuids of batches that were elected and that the list lacks. */
  readonly #missing: string[] = [];

  private constructor(
    service: VerificationService,
    run: RunEntry,
    store: ReconciledStore,
    options: ResolvedRun,
    here: StateLocation | undefined,
  ) {
    const { signal, clock, batchDeadlineMs, moved = false } = options;
    const deadlineMs = batchDeadlineMs ?? defaults.batchDeadlineMs;
    this.runId = run.id;
    this.uploads = new RunUploads(service, run.id, { signal, clock, deadlineMs });
    this.#service = service;
    this.#store = store;
    this.#options = options;
    this.#here = here;
    this.#isTakenUp = store.state.run !== undefined;
    // Its maps take in what comes later.
    this.#sharedBefore = store.isShared ? { batches: new Map(store.state.batches) } : undefined;
    this.isCopied = this.#isTakenUp && !moved && isElsewhere(run.place, here);
    this.#deletes = !moved && (options.deleteBatches === true || run.deletes === true);
  }

  static async of(
    service: VerificationService,
    run: RunEntry,
    store: ReconciledStore,
    options: ResolvedRun,
  ): Promise<Reconciliation> {
    return new Reconciliation(service, run, store, options, await store.place?.());
  }

  /**
   * A run reads the list of an earlier process's uploads before it sends anything. So does each process of
   * a shared run: its store may have been restored, or a copy that lacks the last of it has taken over.
   * Until then the journal alone is known.
   */
  async readList(): Promise<void> {
    if (!this.#isTakenUp) return;
    await this.uploads.read();
    const place = this.#options.moved === true ? this.#here : undefined;
    if (place) await this.#store.record({ entry: 'place', place });
  }

  /** What is known of a batch when the journal and the list are taken together. */
  learn(batch: Batch, state: BatchState): BatchState {
    if (!this.#isTakenUp || this.#isNewerThanList(batch, state)) return state;
    const listed = this.uploads.of(batch);
    for (const { uuid, name, attempt, status } of listed) {
      const isOwn = isOf(state, uuid);
      const mayBeOfThisState =
        state.stage === 'planned' ? attempt < state.attempt : attempt <= state.attempt;
      const isNewlyLaunched = isVerified(status) && !(isOwn && mayHaveLaunched(state));
      if (!mayBeOfThisState || isNewlyLaunched) this.#learned.add(name);
    }
    const learned = adoptUploads(state, listed, this.isCopied);
    const wasLaunched = learned !== state && mayHaveLaunched(learned);
    if (wasLaunched || mayHaveLaunched(state) || !this.uploads.hasParts(batch)) {
      this.#noteMissing(learned, listed.length);
      return learned;
    }
    if (state.stage === 'split') return state;
    const { attempt, fresh, uploads } = state;
    const uuid = 'uuid' in state ? state.uuid : undefined;
    return { stage: 'split', uuid, attempt, fresh, uploads };
  }

  /**
   * Whether a store that has lost its last writes lacks the launch of a batch, or of its parts: no credits
   * are reserved for it there.
   */
  lacksLaunch(batch: Batch, state: BatchState): boolean {
    if (!this.#sharedBefore || mayHaveLaunched(state) || state.stage === 'split') return false;
    const isOwn = this.uploads.of(batch).some(({ status }) => isLaunched(status));
    return isOwn || this.uploads.hasParts(batch);
  }

  /** Whether a launch was asked for that the list shows not to have arrived: nothing is paid for it. */
  sawNoLaunch({ batch, state }: Pick<DrivenBatch, 'batch' | 'state'>): boolean {
    if (!isLaunchInDoubt(state)) return false;
    const own = this.uploads.of(batch).find(({ uuid }) => isOf(state, uuid));
    return own?.status === 'ready_for_verification';
  }

  /**
   * Asks the service right before a launch whether another process has launched an upload of the batch,
   * or has one that is to be launched in place of this one. The first process of a run has nobody beside
   * it, and asks only for a batch that was lost or sent again.
   */
  async lookAgain(batch: Batch, state: BatchState): Promise<BatchState> {
    // A shared run's store lets nobody launch who has not read the list since it was restored, as far as it
    // knows: where its files were put back as they were, only its new start shows.
    const isShared = this.#sharedBefore !== undefined;
    const isAlone = !this.#isTakenUp || (isShared && this.#store.isRestarted !== true);
    if (isAlone && state.attempt === 1) return state;
    await this.uploads.read();
    // Another process sends the same lines in other parts: one of the two would pay for them again.
    if (this.uploads.overlapping(batch).some(({ status }) => isLaunched(status))) {
      throw this.#doubt();
    }
    const learned = adoptUploads(state, this.uploads.of(batch), this.isCopied);
    // It was lost before, and nobody else's is there: anyone who deleted that may have verified it first.
    if (this.isCopied && learned === state && state.fresh > 0) throw this.#doubt();
    return learned;
  }

  /**
   * Anyone who deletes its batches leaves no trace of them on the service, so nobody can know what a copy
   * of its state would pay for again. The same holds for a batch that was elected and is not there any
   * more: its status decides, as a list may be late or empty.
   */
  async check(state: readonly BatchState[]): Promise<void> {
    const isOpen = state.some(({ stage }) => stage !== 'exported' && stage !== 'failed');
    if (isOpen && this.isCopied && this.#deletes) throw this.#doubt();
    for (const uuid of this.#missing)
      if ((await this.#statusOf(uuid)) === undefined) throw this.#doubt();
  }

  /**
   * Another process may continue with the other copy and its list: under which names it sends what is new
   * there, nobody knows here.
   */
  refuseCopy(): void {
    if (this.isCopied) throw this.#doubt();
  }

  /** @param keeping keys of the uuids of the uploads that the run continues with */
  reportChanges(keeping: () => ReadonlySet<string>, onProgress: ResolvedRun['onProgress']): void {
    const learned = [...this.#learned];
    this.#learned.clear();
    // What is unused to one of many processes may be what another continues with.
    const unused = this.#sharedBefore ? [] : this.#unused(keeping());
    if (!this.isCopied && learned.length === 0 && unused.length === 0) return;
    onProgress?.({
      stage: 'older_state',
      isCopied: this.isCopied,
      learned,
      unused: unused.map(({ name }) => name),
    });
  }

  /** Uploads that may have been paid for and that the run does not continue with. */
  #unused(kept: ReadonlySet<string>): ReturnType<RunUploads['all']> {
    return this.uploads
      .all()
      .filter(({ uuid, status }) => !kept.has(uuidKey(uuid)) && isLaunched(status));
  }

  /**
   * A failed batch is tried again. A new upload is an attempt after all that were made, by whichever
   * process. One whose launch may still arrive is gone on with: two uploads would both be paid for.
   */
  async retry(batch: Batch, state: BatchState): Promise<BatchState> {
    const inDoubt = state.stage === 'failed' && state.launched && !isOwed(state) && state.uuid;
    const status = inDoubt ? await this.#statusOf(inDoubt) : undefined;
    const again = retried(state, status !== undefined && status !== 'internal_error');
    if (again === state || again.stage !== 'planned') return again;
    const attempts = this.uploads.of(batch).map(({ attempt }) => attempt + 1);
    return { ...again, attempt: Math.max(again.attempt, ...attempts) };
  }

  nameOf(batch: Batch, { attempt }: BatchState): string {
    return batchName(this.#options.batchName ?? defaults.batchName, {
      runId: this.runId,
      batch,
      attempt,
    });
  }

  /** Whether uploads are there that the run does not continue with and may delete. */
  hasSurplus(kept: ReadonlySet<string>): boolean {
    return this.uploads
      .all()
      .some(({ uuid, status }) => !isLaunched(status) && !kept.has(uuidKey(uuid)));
  }

  #noteMissing(state: BatchState, listed: number): void {
    if (listed > 0 || !(this.isCopied || this.#deletes)) return;
    if (isElected(state) && !mayHaveLaunched(state)) this.#missing.push(state.uuid);
    if (this.#sharedBefore && this.#missing.length > 0) throw this.#doubt();
  }

  /** Whether another process has gone on with it since the list was read: it had read the list, too. */
  #isNewerThanList(batch: Batch, state: BatchState): boolean {
    if (!this.#sharedBefore) return false;
    return !isDeepStrictEqual(state, entryOf(this.#sharedBefore, batch)?.state ?? planned);
  }

  /** The word of the service on where a batch is; `undefined` where it is not there. */
  async #statusOf(uuid: string): Promise<string | undefined> {
    return findStatus(this.#service, uuid, this.#options.signal);
  }

  #doubt(): StateError {
    if (this.#sharedBefore) {
      return new StateError(
        'the store may be older than the run: batches that were verified may have been deleted from the service since, and sending them again would pay twice. Nothing was sent now. Abandon the run, and verify what its output lacks as another list',
        { code: 'state_mismatch' },
      );
    }
    const what = this.isCopied ? 'was copied or restored' : 'may be older than the run';
    return new StateError(
      `the state directory ${what}: another process may have resumed the run, verified batches and deleted them from the service, and sending them again would pay twice. If no other process has resumed it, add ${optionName('moved')}; if one has finished the run, use its output and remove this state directory; ${optionName('fresh')} starts over and pays for everything`,
      { code: 'state_mismatch' },
    );
  }
}

function isElected(
  state: BatchState,
): state is Extract<BatchState, { readonly stage: 'uploaded' | 'parsing' | 'ready' }> {
  return state.stage === 'uploaded' || state.stage === 'parsing' || state.stage === 'ready';
}

function isVerified(status: string): boolean {
  return status === 'verification_ongoing' || status === 'verification_done';
}
