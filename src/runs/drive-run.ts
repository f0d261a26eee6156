import { randomInt } from 'node:crypto';
import { BatchRunner } from '../batches/batch-runner.js';
import { batchLabel } from '../batches/batch-label.js';
import type { Batch } from '../batches/batch.js';
import type { BatchProgress } from '../batches/drive-batch.js';
import { halveBatch } from '../batches/halve-batch.js';
import { mayHaveLaunched, planned, type KnownBatch } from '../batches/known-batch.js';
import { LaunchGate } from '../batches/launch-gate.js';
import { RefusedSizes } from '../batches/refused-sizes.js';
import type { ExportOpener } from '../batches/result-join.js';
import type { Client } from '../client/client.js';
import { systemClock } from '../client/clock.js';
import { isSluiceError, SluiceError } from '../errors/sluice-error.js';
import type { MatchedExport } from '../results/match-export.js';
import { defaults } from '../streams/defaults.js';
import type { Plan } from '../streams/plan.js';
import { deleteBatch, deleteOrphans } from './delete-batches.js';
import { DriveLog, type DrivenBatch } from './drive-log.js';
import { entryOf } from './known-run.js';
import type { RunOptions } from './run-options.js';
import type { RunStore } from './run-store.js';

export interface DriveRunOptions {
  readonly run: RunOptions;
  readonly client: Client;
  readonly runId: string;
  readonly concurrency: number;
  readonly plan: Plan;
  readonly batches: readonly Batch[];
  readonly state: RunStore;
  readonly signal: AbortSignal;
}

/** How the driving of a run's batches ended. */
export interface DriveRunEnd {
  readonly batches: readonly DrivenBatch[];
  /** What stopped it; `undefined` when every batch is at its end. */
  readonly stoppedBy: unknown;
  /** Whether every batch is at its end. */
  readonly isWhole: boolean;
  /** Whether what is not finished was settled as such, so that rows can be written. */
  readonly isPartial: boolean;
  /** Whether the service refused the run in its form: nothing of it is worth going on with. */
  readonly isRefused: boolean;
}

/**
 * Brings all batches of a run to their ends, those of an earlier process from where the journal left
 * them. When the gate closes, what runs is finished and kept.
 */
export async function driveRun(options: DriveRunOptions): Promise<DriveRunEnd> {
  return new RunDrive(options).toEnd();
}

class RunDrive {
  readonly #options: DriveRunOptions;
  readonly #gate: LaunchGate;
  readonly #runner: BatchRunner;
  readonly #log = new DriveLog();
  readonly #refusedSizes = new RefusedSizes();
  /** What is driven: the batches, and the parts of those that were split in their place. */
  readonly #driven = new Set<Batch>();
  /** Those that no walker has taken yet. */
  #waiting: Batch[] = [];
  readonly #results = new Map<string, MatchedExport>();

  constructor(options: DriveRunOptions) {
    const { run } = options;
    this.#options = options;
    this.#gate = new LaunchGate({ maxCredits: run.maxCredits });
    this.#runner = new BatchRunner({
      service: options.client,
      concurrency: options.concurrency,
      runId: options.runId,
      namePrefix: run.batchName ?? defaults.batchName,
      settings: run.settings ?? {},
      pollIntervalMs: run.pollIntervalMs ?? defaults.pollIntervalMs,
      stageDeadlineMs: run.batchDeadlineMs ?? defaults.batchDeadlineMs,
      gate: this.#gate,
      refusedSizes: this.#refusedSizes,
      clock: run.clock ?? systemClock,
      random: run.random ?? systemRandom,
      signal: options.signal,
      provenBefore: [...options.state.known.batches.values()].some(
        ({ known }) => known.stage !== 'split' && 'uuid' in known && known.uuid !== undefined,
      ),
      record: async (progress) => this.#record(progress),
      collect: async (batch, uuid) => this.#collect(batch, uuid),
    });
  }

  async toEnd(): Promise<DriveRunEnd> {
    for (const batch of this.#options.batches) await this.#recall(batch);
    const stoppedBy = await this.#driveAll();
    const { client, runId, batches, plan, signal, run } = this.#options;
    const isWhole = [...this.#driven].every((batch) => isAtEnd(this.#log.known(batch)));
    const isRefused = isSluiceError(stoppedBy, 'batch_refused');
    if (isWhole || isRefused) {
      const names = await deleteOrphans(client, runId, this.#log.batches(), { isRefused, signal });
      if (names.length > 0) run.onProgress?.({ stage: 'left_behind', names });
    }
    const isPartial = run.partial === true && !isWhole && stopsForNow(stoppedBy);
    if (isPartial) {
      run.onProgress?.({ stage: 'stopped', error: stoppedBy });
      for (const batch of batches) plan.join.settleUnfinished(batch);
    }
    return { batches: this.#log.batches(), stoppedBy, isWhole, isPartial, isRefused };
  }

  /** @returns what stopped it */
  async #driveAll(): Promise<unknown> {
    this.#waiting = [...this.#driven];
    const walkers: Promise<void>[] = [];
    let stoppedBy: { readonly error: unknown } | undefined;
    let walking = 0;
    const walk = async (): Promise<void> => {
      walking += 1;
      try {
        for (let batch = this.#waiting.shift(); batch; batch = this.#waiting.shift()) {
          await this.#drive(batch);
          // One that was split has left two.
          startWalkers();
        }
      } catch (error) {
        stoppedBy ??= { error };
      } finally {
        walking -= 1;
      }
    };
    // As many walkers as places: batches wait on disk, never in the limit's queue.
    const startWalkers = (): void => {
      const places = this.#options.concurrency - walking;
      const wanted = Math.min(places, this.#waiting.length);
      for (let started = 0; started < wanted; started += 1) walkers.push(walk());
    };
    startWalkers();
    // Those that are started meanwhile stand behind.
    for (const walker of walkers) await walker;
    return stoppedBy ? stoppedBy.error : this.#gate.closedBy;
  }

  /** Takes up what the journal knows of a batch, or of the parts that it was split into. */
  async #recall(batch: Batch): Promise<void> {
    const entry = entryOf(this.#options.state.known, batch);
    const driven = entry && {
      batch,
      known: entry.known,
      name: entry.name,
      charge: entry.charge ?? undefined,
    };
    if (driven?.known.stage === 'split') {
      this.#log.note(driven);
      this.#refusedSizes.note(batch);
      for (const part of await halveBatch(batch)) await this.#recall(part);
      return;
    }
    this.#driven.add(batch);
    if (!driven) return;
    const { known } = driven;
    if (known.stage === 'failed' && this.#options.run.retryFailed === true) {
      const { attempt } = known;
      await this.#record({
        ...driven,
        known: { ...planned, attempt: attempt + 1 },
      });
      return;
    }
    this.#log.note(driven);
    if (mayHaveLaunched(known)) this.#gate.count(batch.lane.type, batch.addresses);
  }

  async #drive(batch: Batch): Promise<void> {
    const before = this.#log.known(batch);
    if (this.#gate.closedBy && !mayHaveLaunched(before)) return;
    const known = isAtEnd(before) ? before : await this.#runner.run(batch, before);
    if (known.stage === 'split') await this.#takeParts(batch);
    if (!isAtEnd(known)) return;
    const { plan, run, client, signal, state } = this.#options;
    const label = batchLabel(batch);
    await plan.join.settle(
      batch,
      known.stage === 'failed'
        ? { failure: known.reason }
        : { results: this.#results.get(label) ?? state.openExport(batch) },
    );
    this.#results.delete(label);
    if (run.deleteBatches === true && known.stage === 'exported') {
      const isDeleted = await deleteBatch(client, known.uuid, signal);
      if (!isDeleted) run.onProgress?.({ stage: 'left_behind', names: [known.uuid] });
    }
  }

  async #takeParts(batch: Batch): Promise<void> {
    const parts = await halveBatch(batch);
    this.#driven.delete(batch);
    for (const part of parts) this.#driven.add(part);
    this.#waiting.unshift(...parts);
  }

  async #record(progress: BatchProgress): Promise<void> {
    const { state, run } = this.#options;
    await state.recordBatch(this.#log.note(progress));
    run.onProgress?.({ stage: 'batch', ...progress });
  }

  async #collect(batch: Batch, uuid: string): Promise<void> {
    const { client, signal, plan, state } = this.#options;
    const fetch: ExportOpener = async () => {
      const { body } = await client.exportBatch(
        uuid,
        { format: 'json', include_details: false, include_statistics: false },
        { signal },
      );
      return body;
    };
    const matched = await state.keepExport(batch, fetch, async (open) =>
      plan.join.match(batch, open),
    );
    this.#results.set(batchLabel(batch), matched);
  }
}

function isAtEnd(
  known: KnownBatch,
): known is Extract<KnownBatch, { readonly stage: 'exported' | 'failed' }> {
  return known.stage === 'exported' || known.stage === 'failed';
}

/** Whether the service or the credits stopped the run, and not the key, the disk or a person. */
function stopsForNow(error: unknown): error is SluiceError {
  const never = ['unauthorized', 'forbidden', 'batch_refused', 'output_failed'];
  return error instanceof SluiceError && !never.includes(error.code);
}

function systemRandom(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
