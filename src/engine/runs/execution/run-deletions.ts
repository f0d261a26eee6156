import { bounds } from '../../../client/batch-bounds.js';
import type { CallOptions } from '../../../client/client-options.js';
import type { BatchLog } from '../../batches/batch-log.js';
import type { BatchState } from '../../batches/batch-state.js';
import { type Batch, parseBatchName, uuidKey } from '../../batches/batch.js';
import {
  deleteOrphans,
  type LeftUploads,
  mayHaveOrphans,
} from '../../batches/uploads/delete-orphans.js';
import { deleteBatch, deleteUnwanted } from '../../batches/uploads/delete-uploads.js';
import type { ListOptions } from '../../batches/uploads/list-uploads.js';
import type { BatchPool } from '../../driver/batch-pool.js';
import { defaults } from '../../driver/driver-options.js';
import { uuidsOf } from '../resume/earlier-results.js';
import type { DriveRunOptions } from './run-batches.js';

interface ExportedBatch {
  readonly batch: Batch;
  readonly state: BatchState & { readonly stage: 'exported' };
}

/**
 * How a batch is deleted while others wait for its place: tried again, deletions that always fail would look
 * like an outage of the service, and all requests would wait for its end.
 */
const briefly = { timeoutMs: 10_000, maxRetries: 0 };

/** After so many in a row that failed, no more are deleted until all is collected. */
const mostRefused = 3;

export class RunDeletions {
  readonly #options: DriveRunOptions;
  readonly #log: BatchLog;
  readonly #drive: BatchPool;
  /** Names of useless uploads that could not be deleted. */
  readonly #left: string[] = [];
  /** Names of uploads that nothing has confirmed, and that the list does not show. */
  readonly #unconfirmed: string[] = [];
  /** Exported batches that could not be deleted at once: retried when all are collected. */
  readonly #undeleted: ExportedBatch[] = [];
  #refusedInRow = 0;
  /** Keys of the uuids that the service says to have deleted. */
  readonly #deleted = new Set<string>();

  constructor(options: DriveRunOptions, log: BatchLog, drive: BatchPool) {
    this.#options = options;
    this.#log = log;
    this.#drive = drive;
  }

  /** The results of a batch are safe, and settled. */
  async exported(exported: ExportedBatch): Promise<void> {
    const { run, store } = this.#options;
    // In a shared run the process that ends it deletes them: others may be gone by then.
    if (run.deleteBatches !== true || store.others.mayWork) return;
    if (this.#mustStay(exported.batch)) {
      await this.#delete(exported);
      return;
    }
    if (this.#refusedInRow < mostRefused && (await this.#isDeleted(exported, briefly))) {
      this.#refusedInRow = 0;
      return;
    }
    this.#refusedInRow += 1;
    this.#undeleted.push(exported);
  }

  async retry(): Promise<void> {
    for (const exported of this.#undeleted.splice(0)) await this.#delete(exported);
  }

  /**
   * Deletes the uploads of the run that nothing waits for.
   *
   * @param isGivenUp whether no process goes on with what was not launched, or looks for it
   */
  async deleteOrphans(isGivenUp: boolean): Promise<void> {
    const { clock, signal, pollIntervalMs = defaults.pollIntervalMs } = this.#options.run;
    let end = await this.#deleteOrphans(isGivenUp);
    if (isGivenUp && end.unconfirmed.length > 0) {
      this.#left.push(...end.left);
      await clock.sleep(pollIntervalMs * bounds.looksForMissingUpload, signal);
      end = await this.#deleteOrphans(isGivenUp);
    }
    this.#left.push(...end.left);
    this.#unconfirmed.push(...end.unconfirmed);
  }

  /** The same of a run in whose place another begins: that one names what nothing has confirmed. */
  async deleteReplaced(): Promise<void> {
    const { left } = await this.#deleteOrphans(true, true);
    this.#left.push(...left);
  }

  async #deleteOrphans(isGivenUp: boolean, isReplaced = false): Promise<LeftUploads> {
    const { client, reconciliation, run, store } = this.#options;
    const kept = this.#log.uuids();
    const surplus = [...reconciliation.surplus(kept), ...this.#drive.uploads.copies(kept)];
    // What the list has shown to other processes is not known here.
    const mayHaveMore = isReplaced || store.others.mayWork;
    return deleteOrphans(client, reconciliation.runId, this.#log.batches(), {
      isGivenUp,
      surplus: mayHaveMore || surplus.length > 0 ? surplus : undefined,
      ...this.#patience,
      keepsFailed: !isGivenUp && run.deleteBatches !== true,
      deleted: this.#deleted,
    });
  }
  /**
   * Deletes uploads of the runs in whose place another began: their answers were lost, and they came after
   * the others of their run were deleted. What the list shows beside them of the run itself goes too. Of a
   * run whose uploads cannot be listed the id is named.
   */
  async deleteEarlier(): Promise<void> {
    const { client, store, reconciliation } = this.#options;
    const { earlier } = store.state;
    const ids = earlier
      .filter(({ batches }) =>
        [...batches.values()].some(({ state }) => mayHaveOrphans(state, true)),
      )
      .map(({ run }) => run.id);
    if (ids.length === 0) return;
    const used = new Set([...uuidsOf(earlier), ...this.#log.uuids()].map(uuidKey));
    const entries = earlier.flatMap(({ batches }) => [...batches.values()]);
    const unconfirmed = new Set(entries.flatMap(({ unconfirmed: names = [] }) => names));
    const names = await deleteUnwanted(
      client,
      ({ name, batch_uuid: uuid }) => {
        unconfirmed.delete(name);
        return (
          !used.has(uuidKey(uuid)) &&
          [...ids, reconciliation.runId].some((id) => parseBatchName(name, id) !== undefined)
        );
      },
      this.#patience,
      [...ids, ...unconfirmed],
    );
    this.#left.push(...names);
    this.#unconfirmed.push(...[...unconfirmed].filter((name) => !names.includes(name)));
  }

  /** See `DriveRunEnd.deleteUnneeded`. */
  async deleteUnneeded(confirm: () => Promise<void>): Promise<void> {
    const { run, store } = this.#options;
    if (!store.others.mayWork) return;
    for (const { batch, state } of this.#log.batches()) {
      if (run.deleteBatches !== true || state.stage !== 'exported') continue;
      await confirm();
      await this.#delete({ batch, state });
    }
    await confirm();
    await this.deleteOrphans(false);
    this.report();
  }

  report(): void {
    const { onProgress } = this.#options.run;
    const report = (names: readonly string[], isConfirmed: boolean): void => {
      if (names.length > 0) onProgress?.({ stage: 'left_behind', names, isConfirmed });
    };
    report(this.#left, true);
    report(this.#unconfirmed, false);
  }

  async #delete(exported: ExportedBatch): Promise<void> {
    if (await this.#isDeleted(exported)) return;
    this.#left.push(this.#options.reconciliation.nameOf(exported.batch, exported.state));
  }

  async #isDeleted({ batch, state }: ExportedBatch, only?: CallOptions): Promise<boolean> {
    const { client, run } = this.#options;
    if (this.#mustStay(batch)) return false;
    const end = await this.#drive.inTurn(async () =>
      deleteBatch(client, state.uuid, { ...only, signal: run.signal }, true),
    );
    if (end === 'gone') this.#deleted.add(uuidKey(state.uuid));
    return end === 'gone';
  }

  /**
   * Whether its results exist on the service alone: the process with the other copy of the state has not
   * fetched them, or this one lacks them.
   */
  #mustStay(batch: Batch): boolean {
    return this.#options.reconciliation.isCopied || this.#log.lacksResults(batch);
  }

  get #patience(): ListOptions {
    const { signal, clock, batchDeadlineMs = defaults.batchDeadlineMs } = this.#options.run;
    return { signal, clock, deadlineMs: batchDeadlineMs };
  }
}
