import { BatchRunner } from '../batches/batch-runner.js';
import type { Batch } from '../batches/batch.js';
import type { BatchProgress, DriveOptions } from '../batches/drive-batch.js';
import { mayHaveLaunched, type KnownBatch } from '../batches/known-batch.js';
import type { LaunchGate } from '../batches/launch-gate.js';
import type { ExportOpener } from '../batches/result-join.js';
import type { MatchedExport } from '../results/match-export.js';
import type { Plan } from '../streams/plan.js';
import { DriveLog, type DrivenBatch } from './drive-log.js';
import type { ExportStore } from './export-store.js';
import type { StateDirectory } from './state-directory.js';

export interface DriveRunOptions extends Omit<DriveOptions, 'record' | 'collect' | 'onPrepared'> {
  readonly concurrency: number;
  readonly plan: Plan;
  readonly batches: readonly Batch[];
  readonly state: StateDirectory;
  readonly exports: ExportStore;
  readonly gate: LaunchGate;
  onBatch(progress: BatchProgress): void;
}

/**
 * Brings all batches of a run to their ends, those of an earlier process from where the journal left
 * them. When the gate closes, what runs is finished and kept.
 *
 * @throws what stops the run; `gate.closedBy` when batches are left that may not be launched
 */
export async function driveRun(options: DriveRunOptions): Promise<readonly DrivenBatch[]> {
  return new RunDrive(options).toEnd();
}

class RunDrive {
  readonly #options: DriveRunOptions;
  readonly #runner: BatchRunner;
  readonly #log = new DriveLog();
  readonly #results = new Map<number, MatchedExport>();

  constructor(options: DriveRunOptions) {
    this.#options = options;
    this.#runner = new BatchRunner({
      ...options,
      provenBefore: [...options.state.known.batches.values()].some(
        (entry) => 'uuid' in entry.known,
      ),
      record: async (progress) => this.#record(progress),
      collect: async (batch, uuid) => this.#collect(batch, uuid),
    });
  }

  async toEnd(): Promise<readonly DrivenBatch[]> {
    const { batches, gate, concurrency } = this.#options;
    for (const batch of batches) this.#recall(batch);
    const waiting = batches.values();
    // As many walkers as places: batches wait on disk, never in the limit's queue.
    const walkers = Array.from({ length: concurrency }, async () => {
      for (const batch of waiting) await this.#drive(batch);
    });
    const ends = await Promise.allSettled(walkers);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    const isAnyLeft = batches.some((batch) => !isAtEnd(this.#log.known(batch)));
    if (isAnyLeft && gate.closedBy) throw gate.closedBy;
    return this.#log.batches();
  }

  #recall(batch: Batch): void {
    const entry = this.#options.state.known.batches.get(batch.id);
    if (!entry) return;
    const { known, name } = entry;
    this.#log.note({ batch, known, name, charge: entry.charge ?? undefined });
    if (mayHaveLaunched(known)) this.#options.gate.count(batch.lane.type, batch.addresses);
  }

  async #drive(batch: Batch): Promise<void> {
    const before = this.#log.known(batch);
    if (this.#options.gate.closedBy && !mayHaveLaunched(before)) return;
    const known = isAtEnd(before) ? before : await this.#runner.run(batch, before);
    if (!isAtEnd(known)) return;
    const { plan, exports } = this.#options;
    await plan.join.settle(
      batch,
      known.stage === 'failed'
        ? { failure: known.reason }
        : { results: this.#results.get(batch.id) ?? exports.opener(batch) },
    );
    this.#results.delete(batch.id);
  }

  async #record(progress: BatchProgress): Promise<void> {
    const { state } = this.#options;
    await state.recordBatch(this.#log.note(progress));
    this.#options.onBatch(progress);
  }

  async #collect(batch: Batch, uuid: string): Promise<void> {
    const { service, signal, plan, exports } = this.#options;
    const fetch: ExportOpener = async () => {
      const { body } = await service.exportBatch(
        uuid,
        { format: 'json', include_details: false, include_statistics: false },
        { signal },
      );
      return body;
    };
    const matched = await exports.keep(batch, fetch, async (open) => plan.join.match(batch, open));
    this.#results.set(batch.id, matched);
  }
}

function isAtEnd(
  known: KnownBatch,
): known is Extract<KnownBatch, { readonly stage: 'exported' | 'failed' }> {
  return known.stage === 'exported' || known.stage === 'failed';
}
