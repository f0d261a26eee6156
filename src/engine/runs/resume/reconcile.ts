import { isDeepStrictEqual } from 'node:util';
import { verifiedStatuses } from '../../batches/status-answer.js';
import { batchLabel, batchName, type Batch, uuidKey } from '../../batches/batch.js';
import { isLaunched } from '../../batches/uploads/delete-uploads.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import {
  elected,
  isLaunchInDoubt,
  isExportRetriable,
  mayHaveLaunched,
  planned,
  retried,
  type BatchState,
} from '../../batches/batch-state.js';
import { findStatus } from '../../batches/uploads/list-uploads.js';
import {
  type BatchUpload,
  isOf,
  adoptUploads,
  RunUploads,
} from '../../batches/uploads/adopt-uploads.js';
import type { VerificationService } from '../../../client/client.js';
import { StateError } from '../../../platform/errors/errors.js';
import { defaults, namePrefixOf } from '../../driver/driver-options.js';
import { entryOf, type JournaledBatches } from '../../stores/run-state.js';
import type { RunEntry, StateLocation } from '../../stores/journal-entries.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { RunStore } from '../../stores/run-store.js';
import { isRetryAsked } from './compare-run.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';
import { isElsewhere } from '../../stores/directory/folders.js';
import { optionName } from '../../../platform/text/sentence.js';

/** Where it is a state directory, it says where it is. */
type ReconciledStore = RunStore & { readonly place?: StateDirectory['place'] };

/**
 * Reconciles the journal with the service, which may have more: the journal may be restored from a backup,
 * copied to another machine, or shared with another process.
 */
export class Reconciliation {
  readonly runId: string;
  readonly namePrefix: string;
  readonly uploads: RunUploads;
  readonly #service: VerificationService;
  readonly #store: ReconciledStore;
  readonly #options: ResolvedRun;
  readonly #here: StateLocation | undefined;
  /** Whether an earlier process worked on the run. */
  readonly #isResumed: boolean;
  /** A shared store's content before the list was read. */
  readonly #sharedBefore: JournaledBatches | undefined;
  /** Whether the state directory is a copy: another process may continue with the other. */
  readonly isCopied: boolean;
  /** Whether the batches of the run are deleted once their results are safe. */
  readonly #deletes: boolean;
  #isListRead = false;
  readonly #learned = new Set<string>();
  /** Labels of batches that another process has continued since the list was read. */
  readonly #unlisted = new Set<string>();
  /** Uuids of a copy's elected batches that are not in the list. */
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
    this.namePrefix = namePrefixOf(run);
    this.uploads = new RunUploads(service, run.id, { signal, clock, deadlineMs });
    this.#service = service;
    this.#store = store;
    this.#options = options;
    this.#here = here;
    this.#isResumed = store.state.run !== undefined;
    // Its maps change later.
    this.#sharedBefore = store.others.mayWork
      ? { batches: new Map(store.state.batches) }
      : undefined;
    this.isCopied = this.#isResumed && !moved && isElsewhere(run.place, here);
    const isMoved = moved && !store.others.mayWork;
    this.#deletes = !isMoved && (options.deleteBatches === true || run.deletes === true);
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
   * Reads the service's list before a resumed run sends anything. Each process of a shared run does so, too:
   * its store may have been restored, or replaced by a copy without the latest entries. Until then only the
   * journal is known.
   */
  async readList(): Promise<void> {
    if (this.#isResumed) {
      await this.uploads.read();
      const place = this.#options.moved === true ? this.#here : undefined;
      if (place) await this.#store.record({ entry: 'place', place });
    }
    this.#isListRead = true;
  }

  /** Whether the list is read, and neither it nor a copy says that anything was sent. */
  get foundNothing(): boolean {
    return this.#isListRead && this.uploads.all().length === 0 && !this.isCopied;
  }

  /** The state of a batch from journal and list together. */
  learn(batch: Batch, state: BatchState): BatchState {
    if (!this.#isResumed) return state;
    if (this.#isNewerThanList(batch, state)) {
      this.#unlisted.add(batchLabel(batch));
      return state;
    }
    const listed = this.uploads.of(batch);
    for (const { uuid, name, attempt, status } of listed) {
      const isOfState = isOf(state, uuid);
      const mayBeOfThisState =
        state.stage === 'planned' ? attempt < state.attempt : attempt <= state.attempt;
      const isNewlyLaunched =
        verifiedStatuses.has(status) && !(isOfState && mayHaveLaunched(state));
      if (!mayBeOfThisState || isNewlyLaunched) this.#learned.add(name);
    }
    const learned = adoptUploads(state, listed, this.isCopied);
    const wasLaunched = learned !== state && mayHaveLaunched(learned);
    if (wasLaunched || mayHaveLaunched(state) || !this.uploads.hasParts(batch)) {
      return listed.length > 0 ? learned : this.#doubtMissing(learned);
    }
    if (state.stage === 'split') return state;
    const { attempt, fresh, uploads } = state;
    const uuid = 'uuid' in state ? state.uuid : undefined;
    return { stage: 'split', uuid, attempt, fresh, uploads };
  }

  /** Whether a store that lost its latest writes lacks a launch of the batch, and so has no credits reserved for it. */
  lacksLaunch(batch: Batch, state: BatchState): boolean {
    if (!this.#sharedBefore || mayHaveLaunched(state) || state.stage === 'split') return false;
    const hasLaunched = this.uploads.of(batch).some(({ status }) => isLaunched(status));
    return hasLaunched || this.uploads.hasParts(batch);
  }

  /** Whether the list shows that a requested launch did not arrive: nothing is paid for it. */
  sawNoLaunch({ batch, state }: DrivenBatch): boolean {
    if (!isLaunchInDoubt(state)) return false;
    const elected = this.uploads.of(batch).find(({ uuid }) => isOf(state, uuid));
    return elected?.status === 'ready_for_verification';
  }

  /**
   * Checks right before a launch whether another process has launched an upload of the batch, or has one to
   * launch in its place. The first process of a run is alone, and checks only batches that were lost or sent
   * again. In a shared run another process may have continued the batch since the list was read, knowing a
   * store from before it was restored, which has lost a launch.
   */
  async checkBeforeLaunch(batch: Batch, state: BatchState): Promise<BatchState> {
    // A shared store refuses launches by processes that have not read the list since it was restored, if it
    // knows of that: where its files were put back unchanged, only its restart shows.
    const isAlone = !this.#isResumed || this.#store.others.refusesOldLaunches;
    const isListed = !this.#unlisted.has(batchLabel(batch));
    if (isAlone && state.attempt === 1 && isListed) return state;
    await this.uploads.read();
    // Another process sends the same lines in other parts: one of the two would pay for them again.
    if (this.uploads.overlapping(batch).some(({ status }) => isLaunched(status))) {
      throw this.#doubt();
    }
    const learned = adoptUploads(state, this.uploads.of(batch), this.isCopied);
    // It was lost before, and there is no other: whoever deleted that one may have verified it first.
    if (this.isCopied && learned === state && state.fresh > 0) throw this.#doubt();
    return learned;
  }

  /**
   * A run that deletes its batches leaves no trace on the service, so what a copy of its state would pay
   * again is unknown. The same holds for an elected batch of any copy that is gone: its status decides, as a
   * list may be late or empty.
   */
  async check(state: readonly BatchState[]): Promise<void> {
    const isOpen = state.some(({ stage }) => stage !== 'exported' && stage !== 'failed');
    if (isOpen && this.isCopied && this.#deletes) throw this.#doubt();
    for (const uuid of this.#missing)
      if ((await this.#statusOf(uuid)) === undefined) throw this.#doubt();
  }

  /** Another process may continue with the other copy and its list, under unknown names. */
  refuseCopy(): void {
    if (this.isCopied) throw this.#doubt();
  }

  /** @param keeping uuid keys of the uploads that the run continues with */
  reportChanges(keeping: () => ReadonlySet<string>, onProgress: ResolvedRun['onProgress']): void {
    const learned = [...this.#learned];
    this.#learned.clear();
    // In a shared run an unused upload may be another process's.
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
  #unused(kept: ReadonlySet<string>): readonly BatchUpload[] {
    return this.uploads
      .all()
      .filter(({ uuid, status }) => !kept.has(uuidKey(uuid)) && isLaunched(status));
  }

  /**
   * Retries a failed batch. A new upload gets an attempt after all others, of any process. A batch whose
   * launch may still arrive is continued: two uploads would both be paid for.
   */
  async retry(batch: Batch, state: BatchState): Promise<BatchState> {
    const inDoubt =
      state.stage === 'failed' && state.launched && !isExportRetriable(state) && state.uuid;
    const status = inDoubt ? await this.#statusOf(inDoubt) : undefined;
    const isUnbroken = status !== undefined && !isUseless(state, status);
    const again = retried(state, isUnbroken, isRetryAsked(this.#options));
    if (again === state || again.stage !== 'planned') return again;
    const attempts = this.uploads.of(batch).map(({ attempt }) => attempt + 1);
    return { ...again, attempt: Math.max(again.attempt, ...attempts) };
  }

  nameOf(batch: Batch, { attempt }: BatchState): string {
    return batchName(this.namePrefix, { runId: this.runId, batch, attempt });
  }

  /** Names of the uploads that the run does not continue with and may delete. */
  surplus(kept: ReadonlySet<string>): readonly string[] {
    return this.uploads
      .all()
      .filter(({ uuid, status }) => !isLaunched(status) && !kept.has(uuidKey(uuid)))
      .map(({ name }) => name);
  }

  /**
   * An elected batch that is not in the list, in a run that deletes its batches, may have been verified by a
   * process whose records are lost: if its status does not find it either, it fails and is not sent again. A
   * copy is refused instead.
   */
  #doubtMissing(state: BatchState): BatchState {
    if (!(this.isCopied || this.#deletes) || !isElected(state) || state.doubt) return state;
    if (this.#sharedBefore) throw this.#doubt();
    if (!this.isCopied) {
      return { ...elected(state), stage: 'launching', answeredError: false, doubt: true };
    }
    this.#missing.push(state.uuid);
    return state;
  }

  /** Whether another process has continued it since the list was read. */
  #isNewerThanList(batch: Batch, state: BatchState): boolean {
    if (!this.#sharedBefore) return false;
    return !isDeepStrictEqual(state, entryOf(this.#sharedBefore, batch)?.state ?? planned);
  }

  /** The status of a batch; `undefined` where it is missing. */
  async #statusOf(uuid: string): Promise<string | undefined> {
    return findStatus(this.#service, uuid, this.#options.signal);
  }

  #doubt(): StateError {
    if (this.#sharedBefore) {
      return new StateError(
        'the store may be older than the run: batches that were verified may have been deleted from the service since, and sending them again would pay twice, so they are not. Abandon the run, and verify what its output lacks as another list',
        { code: 'state_mismatch' },
      );
    }
    return doubtfulState(this.isCopied);
  }
}

export function doubtfulState(isCopied: boolean): StateError {
  const what = isCopied ? 'was copied or restored' : 'may be older than the run';
  return new StateError(
    `the state directory ${what}: another process may have resumed the run, verified batches and deleted them from the service, and sending them again would pay twice. If no other process has resumed it, add ${optionName('moved')}; if one has finished the run, use its output and remove this state directory; ${optionName('fresh')} starts over and pays for everything`,
    { code: 'state_mismatch', option: 'moved' },
  );
}

/** Whether an upload that may have been launched will give nothing, by its status. */
function isUseless(state: BatchState, status: string): boolean {
  const isLaunchUnknown = state.stage === 'failed' && state.reason === 'launch_lost';
  return status === 'internal_error' || (isLaunchUnknown && status === 'parsing_content');
}

function isElected(
  state: BatchState,
): state is Extract<BatchState, { readonly stage: 'uploaded' | 'parsing' | 'ready' }> {
  return state.stage === 'uploaded' || state.stage === 'parsing' || state.stage === 'ready';
}
