import pLimit, { type LimitFunction } from 'p-limit';
import type { VerificationService } from '../../client/client.js';
import { DeadlineError } from '../../platform/errors/errors.js';
import {
  beforeDeadline,
  systemClock,
  type Clock,
  systemRandom,
} from '../../platform/waiting/clock.js';
import { orAborted } from '../../platform/waiting/on-abort.js';
import { BatchSlots } from './batch-slots.js';
import { ClaimLostError, type BatchClaim } from '../batches/claim.js';
import { type Batch, halveBatch } from '../batches/batch.js';
import {
  defaults,
  type CollectedExport,
  type DriveOptions,
  type DriveSettings,
} from './driver-options.js';
import {
  deleteOrphans,
  mayHaveOrphans,
  namesOf,
  type LeftBatch,
} from '../batches/uploads/delete-uploads.js';
import { UploadRegistry } from '../batches/uploads/list-uploads.js';
import { isAtEnd, planned, type KnownBatch } from '../batches/batch-state.js';
import type { Charge } from '../batches/charge.js';
import { LaunchGate, RefusedSizes } from './launch-limits.js';
import { openExport } from './batch-requests.js';
import type { ExportOpener } from '../plan/result-join.js';

/** Where it is recorded what becomes known of batches, and where their results go. */
export interface DrivePorts extends Pick<DriveOptions, 'leavesLaunched' | 'lookAgain'> {
  /** The right to drive a batch that was added, or a part of one. @throws ClaimLostError */
  claim(batch: Batch): BatchClaim;
  /** What an earlier process knew. @default nothing */
  known?(batch: Batch): KnownBatch;
  /** What an earlier process heard that it has cost. @default nothing */
  charge?(batch: Batch): Charge | undefined;
  /** Reads an export to its end; see {@link DriveOptions.collect}. */
  collect(batch: Batch, open: ExportOpener): Promise<CollectedExport>;
  /**
   * A batch is let go of, and stands so; waited for, before another takes its place. One that is too
   * large for the service goes on as its two parts.
   */
  leave(batch: Batch, known: KnownBatch, parts: readonly Batch[]): Promise<void> | void;
  /** Another process may have the batch by now. */
  lost?(batch: Batch): void;
  /** There may be room for another batch, or nothing is under way any more, or it has stopped. */
  freed?(): void;
}

export interface BatchPoolOptions {
  readonly service: VerificationService;
  readonly runId: string;
  readonly settings: DriveSettings;
  /** Most batches in hand at once, those among them whose results come. @default `concurrency` */
  readonly places?: number;
  readonly signal: AbortSignal;
}

/**
 * Drives the batches of a run, in the order in which they were added: many are in hand at once, as many of
 * them on the service as the runner has places. The parts of one that is too large go on in its place. What
 * stops one stops all. When the gate closes, what runs is finished, and nothing else begun.
 */
export class BatchPool {
  readonly gate: LaunchGate;
  readonly #uuids = new UploadRegistry();
  readonly #options: BatchPoolOptions;
  readonly #ports: DrivePorts;
  readonly #runner: BatchSlots;
  readonly #inHand: LimitFunction;
  readonly #refusedSizes = new RefusedSizes();
  readonly #stageDeadlineMs: number;
  #stoppedBy: { readonly error: unknown } | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: BatchPoolOptions, ports: DrivePorts) {
    const { settings, service, runId, signal } = options;
    this.#options = options;
    this.#ports = ports;
    const { concurrency = defaults.concurrency } = settings;
    this.#inHand = pLimit(options.places ?? concurrency);
    this.#stageDeadlineMs = settings.batchDeadlineMs ?? defaults.batchDeadlineMs;
    this.gate = new LaunchGate({ maxCredits: settings.maxCredits });
    this.#runner = new BatchSlots({
      ...ports,
      service,
      concurrency,
      runId,
      namePrefix: settings.batchName ?? defaults.batchName,
      settings: settings.settings ?? {},
      pollIntervalMs: settings.pollIntervalMs ?? defaults.pollIntervalMs,
      stageDeadlineMs: this.#stageDeadlineMs,
      gate: this.gate,
      refusedSizes: this.#refusedSizes,
      uuids: this.#uuids,
      clock: this.#clock,
      random: settings.random ?? systemRandom,
      signal,
      onPlace: () => ports.freed?.(),
      collect: async (batch, uuid, within) =>
        ports.collect(batch, openExport(service, batch, uuid, within)),
    });
  }

  get #clock(): Clock {
    return this.#options.settings.clock ?? systemClock;
  }

  /** What stopped it at once; `undefined` while it goes on, and when the gate has closed. */
  get stoppedBy(): { readonly error: unknown } | undefined {
    return this.#stoppedBy;
  }

  get isIdle(): boolean {
    return this.#inHand.activeCount + this.#inHand.pendingCount === 0;
  }

  /** Whether another batch would be driven at once. */
  get hasRoom(): boolean {
    return this.#inHand.activeCount < this.#inHand.concurrency && this.#runner.hasPlace;
  }

  /** Whether every batch that was added is in hand. */
  get isTaken(): boolean {
    return this.#inHand.pendingCount === 0;
  }

  /**
   * A batch, or a part of one, is taken up where an earlier process left it.
   *
   * @throws ContractError `broken_contract` when its uuid belongs to another upload
   */
  recall(batch: Batch, known: KnownBatch, name: string): void {
    const { uuid } = { uuid: undefined, ...known };
    if (uuid !== undefined) this.#uuids.mustTake(uuid, name, isAtEnd(known));
    if (known.stage === 'split') this.#refusedSizes.note(batch);
    else if (uuid !== undefined) this.#runner.noteProven();
  }

  /** No upload of this run has a uuid that one of another run has. */
  reserve(uuid: string, name: string): void {
    this.#uuids.take(uuid, name);
  }

  /** Drives batches as soon as there are places for them. */
  add(batches: Iterable<Batch>): void {
    for (const batch of batches) {
      void this.#inHand(async () => this.#drive(batch)).then(() => {
        this.#ports.freed?.();
        if (!this.isIdle) return;
        this.#onIdle?.();
        this.#onIdle = undefined;
      });
    }
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

  /** Makes another request for a batch as soon as it is its turn. */
  async inTurn<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    return this.#runner.inTurn(request);
  }

  /** Deletes the uploads that nothing waits for, once all is idle; see {@link deleteOrphans}. */
  async deleteOrphans(
    batches: Parameters<typeof deleteOrphans>[2],
    which: {
      readonly isGivenUp: boolean;
      readonly hasSurplus: boolean;
      readonly deletesRefused?: boolean;
    },
  ): Promise<readonly string[]> {
    const { service, runId, signal } = this.#options;
    const options = { signal, clock: this.#clock, deadlineMs: this.#stageDeadlineMs };
    return deleteOrphans(service, runId, batches, { ...which, ...options });
  }

  /**
   * The same after an abort, of what was never launched, once nothing is under way any more. A service
   * deletes nothing while it prepares it: that is tried again until the time is over. An upload that was
   * cut off is looked for a few times.
   *
   * @param left what is left once nothing is under way
   * @returns the names of those that may still be there
   */
  async deleteCutOff(left: () => readonly LeftBatch[], ms: number): Promise<readonly string[]> {
    const { service, runId } = this.#options;
    const clock = this.#clock;
    const suspects = (): readonly LeftBatch[] =>
      left().filter(({ known }) => mayHaveOrphans(known, true));
    let isWorthAnotherTry = false;
    const watched: Parameters<typeof deleteOrphans>[0] = {
      listBatches: async (query, options) => service.listBatches(query, options),
      deleteBatch: async (uuid, options) => service.deleteBatch(uuid, options),
      async batchStatus(uuid, options) {
        const answer = await service.batchStatus(uuid, options);
        isWorthAnotherTry ||= answer.status === 'parsing_content';
        return answer;
      },
    };
    let names: readonly string[] | undefined;
    const work = async (signal: AbortSignal): Promise<void> => {
      await orAborted(this.idle(), signal);
      const found = suspects();
      const isCutOff = found.some(({ known }) => known.stage === 'uploading');
      const which = { isGivenUp: true, hasSurplus: false, isCutOff: true };
      const options = { ...which, signal, clock, deadlineMs: ms };
      for (let pauseMs = 50; ; pauseMs *= 2) {
        isWorthAnotherTry = isCutOff && pauseMs < 400;
        names = await orAborted(deleteOrphans(watched, runId, found, options), signal);
        if (names.length === 0 || !isWorthAnotherTry) return;
        await clock.sleep(pauseMs, signal);
      }
    };
    const toError = (): Error => new DeadlineError(`not all was deleted within ${ms} ms`);
    // Whatever it fails with: the work has ended for a reason of its own, which is the one to be told.
    await beforeDeadline(work, { clock, ms, toError }).catch(() => undefined);
    return names ?? namesOf(suspects(), runId);
  }

  async #drive(batch: Batch): Promise<void> {
    if (this.#stoppedBy) return;
    try {
      const before = this.#ports.known?.(batch) ?? planned;
      const known = isAtEnd(before)
        ? before
        : await this.#runner.run(batch, before, this.#ports.claim(batch));
      const parts = known.stage === 'split' ? await halveBatch(batch) : [];
      await this.#ports.leave(batch, known, parts);
      await Promise.all(parts.map(async (part) => this.#drive(part)));
    } catch (error) {
      if (error instanceof ClaimLostError) {
        this.#ports.lost?.(batch);
      } else {
        this.#stoppedBy ??= { error };
      }
      // Its other part may be under way.
      this.#ports.freed?.();
    }
  }
}
