import pLimit, { type LimitFunction } from 'p-limit';
import type { VerificationService } from '../../client/client.js';
import type { VerificationType } from '../../contract/enums.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import { notice, type OnNotice } from '../../platform/text/notices.js';
import { systemClock, systemRandom } from '../../platform/waiting/clock.js';
import { isAtEnd, type BatchState, mayHaveLaunched, planned } from '../batches/batch-state.js';
import { type Batch, batchLabel, halveBatch } from '../batches/batch.js';
import type { Charge } from '../batches/status-answer.js';
import { type BatchClaim, ClaimRevokedError, heldCredits } from '../batches/claim.js';
import { type KnownAccount, OneAccount } from '../batches/uploads/list-uploads.js';
import { UploadRegistry } from '../batches/uploads/upload-registry.js';
import type { ExportOpener } from '../plan/result-join.js';
import { refusedAtOnce } from './batch-errors.js';
import { openExport, type DrivePorts, type LaunchPorts } from './batch-requests.js';
import { BatchQueues } from './batch-queues.js';
import type { CollectedExport } from '../batches/export-check.js';
import { eachKindOnce, observeDrive } from './observe-drive.js';
import { defaults, type DriveSettings, namePrefixOf } from './driver-options.js';
import { LaunchGate, RefusedSizes } from './launch-limits.js';
import { PollEstimator } from './poll-learning.js';

interface PoolPorts extends LaunchPorts {
  /** The claim on an added batch or part. @throws ClaimRevokedError */
  claim(batch: Batch): BatchClaim;
  /** Its state in an earlier process. @default none */
  state?(batch: Batch): BatchState;
  /** Its cost in an earlier process. @default unknown */
  charge?(batch: Batch): Charge | undefined;
  /** Reads an export to its end; see {@link DrivePorts.collect}. */
  collect(batch: Batch, open: ExportOpener): Promise<CollectedExport>;
  /**
   * Called when a batch leaves the pool in this state, and awaited before another takes its place. A batch
   * that is too large is replaced by its two parts.
   */
  leave(batch: Batch, state: BatchState, parts: readonly Batch[]): Promise<void> | void;
  /** Called when another process may have the batch. */
  claimRevoked?(batch: Batch): void;
  /** Called when a batch has stayed in a stage for too long. @returns whether others go on. @default they do not */
  overdue?(batch: Batch): boolean;
  onNotice?: OnNotice | undefined;
  /** Whether a process of the run has seen a uuid that was another batch's. @default none has */
  isDistrusted?(): boolean;
  /** See {@link DrivePorts.noteDistrust}. */
  noteDistrust?(): Promise<void>;
  /** Called when there may be room for another batch, when nothing is under way, or when the pool has stopped. */
  freed?(): void;
  /** How many batches may still be added. @default any number */
  claimable?(): number;
}

interface BatchPoolOptions {
  readonly service: VerificationService;
  readonly runId: string;
  readonly settings: DriveSettings;
  /** What the names of its batches begin with. @default by the settings */
  readonly namePrefix?: string;
  readonly account?: KnownAccount | undefined;
  /** Whether finished batches stay on the service. @default false */
  readonly keepsBatches?: boolean;
  /** Whether a later process goes on with what this one leaves. @default true */
  readonly isResumable?: boolean;
  /** Most batches in hand at once, including those being exported. @default `concurrency` */
  readonly places?: number;
  readonly signal: AbortSignal;
}

/**
 * Drives the batches of a run concurrently, in the order in which they were added: `concurrency` of them are
 * on the service, from upload until verified, beside those being exported. The parts of one that is too large
 * come next. The first goes ahead alone through upload and preparation: what the service refuses there it
 * refuses of all, and nothing was paid. A batch that was only too large proves nothing: the next goes ahead.
 * What stops one stops all. When the gate closes, running batches are finished, and no others begun.
 */
export class BatchPool {
  readonly gate: LaunchGate;
  readonly #ports: PoolPorts;
  readonly #options: Omit<DrivePorts, 'claim' | 'record' | 'signal'>;
  readonly #signal: AbortSignal;
  readonly #stop = new AbortController();
  readonly #requests: LimitFunction;
  readonly #concurrency: number;
  readonly #places: number;
  readonly #waiting: BatchQueues;
  #inHand = 0;
  #onService = 0;
  readonly #uuidsInHand = new Map<string, string>();
  /** Labels of those that the service verifies, or has verified. */
  readonly #running = new Set<string>();
  readonly #keepsBatches: boolean;
  /** Of the latest finished batch that stays on the service. */
  #uuidKept: string | undefined;
  /** Whether the service has accepted a batch of the run. */
  #isProven = false;
  /** Whether one goes ahead while the others wait. */
  #isOneAhead = false;
  #stoppedBy: { readonly error: unknown } | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: BatchPoolOptions, ports: PoolPorts) {
    const { settings, service, runId, signal } = options;
    const { concurrency = defaults.concurrency, pollIntervalMs = defaults.pollIntervalMs } =
      settings;
    this.#ports = ports;
    this.#concurrency = concurrency;
    this.#places = options.places ?? concurrency;
    this.#requests = pLimit(concurrency);
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
    this.#keepsBatches = options.keepsBatches ?? false;
    this.gate = new LaunchGate({
      maxCredits: settings.maxCredits,
      // What a run leaves to the service frees nothing.
      mayWait: () => ports.leavesLaunched?.() !== true,
      onClosed: (reason, type) => this.#noteClosed(reason, type),
      onWaited: () => this.#goOn(),
    });
    this.#waiting = new BatchQueues((type) => this.gate.isShortOf(type));
    this.#options = {
      ...ports,
      service,
      runId,
      namePrefix: options.namePrefix ?? namePrefixOf(settings),
      settings: settings.settings ?? {},
      pollIntervalMs,
      batchDeadlineMs: settings.batchDeadlineMs ?? defaults.batchDeadlineMs,
      pace: new PollEstimator(
        pollIntervalMs,
        () => this.#inHand + this.#waiting.size + (ports.claimable?.() ?? Infinity),
      ),
      isResumable: options.isResumable,
      gate: this.gate,
      refusedSizes: new RefusedSizes(),
      uuids: new UploadRegistry(runId, () => ports.isDistrusted?.() === true),
      account: new OneAccount({
        service,
        known: options.account,
        uuids: () => [...this.#uuidsInHand.values(), ...(this.#uuidKept ? [this.#uuidKept] : [])],
        signal: this.#signal,
      }),
      clock: settings.clock ?? systemClock,
      random: settings.random ?? systemRandom,
      inTurn: async (request) => this.inTurn(request),
      noteOdd: eachKindOnce(ports.onNotice),
      onFatal: (error) => this.#halt(this.#isProven ? error : refusedAtOnce(error)),
      collect: async (batch, uuid, within) =>
        ports.collect(batch, openExport(service, batch, uuid, within)),
    };
  }

  /** What stopped it at once; `undefined` while it goes on, and when the gate has closed. */
  get stoppedBy(): { readonly error: unknown } | undefined {
    return this.#stoppedBy;
  }

  get isIdle(): boolean {
    return this.#inHand + this.#waiting.size === 0;
  }

  /** Whether another batch would start at once, or as soon as the first has gone ahead. */
  get hasRoom(): boolean {
    return this.hasPlace && this.#onService + this.#waiting.startable < this.#concurrency;
  }

  /** Whether another launched batch would start at once. */
  get hasPlace(): boolean {
    return this.#inHand + this.#waiting.startable < this.#places;
  }

  /** Whether no more batches were added than fit in hand. */
  get isTaken(): boolean {
    return this.#inHand + this.#waiting.size <= this.#places;
  }

  /** Takes up a batch or part from an earlier process. @throws ContractError when its uuid belongs to another upload */
  recall(batch: Batch, state: BatchState, name: string): void {
    const { uuid } = { uuid: undefined, ...state };
    if (uuid !== undefined) this.#options.uuids.mustTake(uuid, name, isAtEnd(state));
    if (this.#keepsBatches && state.stage === 'exported') this.#uuidKept = state.uuid;
    if (state.stage === 'split') this.#options.refusedSizes.note(batch);
    else if (uuid !== undefined) this.#isProven = true;
  }

  get uploads(): UploadRegistry {
    return this.#options.uuids;
  }

  add(batches: Iterable<Batch>): void {
    if (this.#stoppedBy) return;
    this.#waiting.add(batches, (batch) => mayHaveLaunched(this.#state(batch)));
    this.#begin();
  }

  /** Resolves when nothing is under way any more, with what stopped it. */
  async idle(): Promise<{ readonly error: unknown } | undefined> {
    if (!this.isIdle) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    return this.#stoppedBy;
  }

  async inTurn<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    return this.#requests(request);
  }

  #state(batch: Batch): BatchState {
    return this.#ports.state?.(batch) ?? planned;
  }

  #begin(): void {
    while (this.#inHand < this.#places && (this.#isProven || !this.#isOneAhead)) {
      // A launched one is on the service already.
      const batch = this.#waiting.next(this.#onService < this.#concurrency);
      if (!batch) return;
      void this.#take(batch);
    }
  }

  async #take(batch: Batch): Promise<void> {
    this.#inHand += 1;
    this.#onService += 1;
    let isOnService = true;
    const leaveService = (): void => {
      if (isOnService) this.#onService -= 1;
      isOnService = false;
    };
    const isAhead = !this.#isProven;
    if (isAhead) this.#isOneAhead = true;
    const letOthersFollow = (): void => {
      if (isAhead) this.#isOneAhead = false;
    };
    try {
      const before = this.#state(batch);
      const state = isAtEnd(before)
        ? before
        : await this.#drive(batch, before, {
            onVerified: () => {
              leaveService();
              this.#goOn();
            },
            onPrepared: () => {
              this.#isProven = true;
              letOthersFollow();
              if (isAhead) this.#goOn();
            },
          });
      const parts = state.stage === 'split' ? await halveBatch(batch) : [];
      await this.#ports.leave(batch, state, parts);
      if (!this.#stoppedBy) this.#waiting.addFirst(parts);
    } catch (error) {
      if (error instanceof ClaimRevokedError) this.#ports.claimRevoked?.(batch);
      else if (!isSluiceError(error, 'deadline_exceeded') || !this.#ports.overdue?.(batch)) {
        this.#halt(error);
      }
    }
    leaveService();
    letOthersFollow();
    this.#inHand -= 1;
    this.#goOn();
  }

  #goOn(): void {
    this.#begin();
    this.#ports.freed?.();
    if (!this.isIdle) return;
    this.#onIdle?.();
    this.#onIdle = undefined;
  }

  #halt(error: unknown): void {
    this.#stoppedBy ??= { error };
    this.#waiting.clear();
    this.#stop.abort(this.#stoppedBy.error);
    this.#ports.freed?.();
  }

  async #drive(
    batch: Batch,
    state: BatchState,
    on: { readonly onVerified: () => void; readonly onPrepared: () => void },
  ): Promise<BatchState> {
    const claim = this.#ports.claim(batch);
    // What will not be launched is not uploaded.
    if (this.gate.isClosedTo(batch) && !mayHaveLaunched(state)) return state;
    this.#noteUuid(batch, state);
    try {
      return await observeDrive(batch, state, this.#ports.charge?.(batch), {
        ...this.#options,
        claim,
        signal: claim.revoked ? AbortSignal.any([this.#signal, claim.revoked]) : this.#signal,
        record: async (progress) => {
          await claim.record(progress);
          this.#noteUuid(batch, progress.state);
          if (heldCredits(batch.addresses, progress).reserved === 0) this.gate.noteFreed();
          if (progress.state.stage === 'done') on.onVerified();
        },
        onPrepared: on.onPrepared,
      });
    } catch (error) {
      if (error instanceof ClaimRevokedError || this.#isProven) throw error;
      throw refusedAtOnce(error);
    } finally {
      this.#uuidsInHand.delete(batchLabel(batch));
      this.#running.delete(batchLabel(batch));
    }
  }

  /** Where nothing goes on, what stops the run follows at once. */
  #noteClosed(
    { message: reason, code: stopped_by }: SluiceError,
    type: VerificationType | null,
  ): void {
    const running = this.#running.size;
    if (running === 0) return;
    this.#ports.onNotice?.(notice('launches_stopped', { reason, stopped_by, type, running }));
  }

  #noteUuid(batch: Batch, state: BatchState): void {
    const { uuid } = { uuid: undefined, ...state };
    if (this.#keepsBatches && state.stage === 'exported') this.#uuidKept = state.uuid;
    if (state.stage === 'verifying') this.#running.add(batchLabel(batch));
    if (uuid === undefined) this.#uuidsInHand.delete(batchLabel(batch));
    else this.#uuidsInHand.set(batchLabel(batch), uuid);
  }
}
