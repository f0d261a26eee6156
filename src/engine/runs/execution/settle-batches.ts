import { ClaimRevokedError } from '../../batches/claim.js';
import { batchLabel, type Batch } from '../../batches/batch.js';
import type { Charge } from '../../batches/status-answer.js';
import { type CollectedExport, tallyOf } from '../../batches/export-check.js';
import type { EndedBatch } from '../../batches/batch-state.js';
import type { ExportOpener } from '../../plan/result-join.js';
import type { BatchResults } from '../../results/match-export.js';
import type { DriveRunOptions } from './run-batches.js';
import type { RunClaim } from '../../stores/run-store.js';

export interface KnownEnd {
  readonly verifiedAt: string;
  readonly charge: Charge | undefined;
}

export class BatchSettling {
  readonly #options: DriveRunOptions;
  /** By label: stored results whose addresses are not settled yet. */
  readonly #results = new Map<string, BatchResults>();
  readonly #settled = new Set<Batch>();
  /** Batches fetched by other processes, until their outcomes are needed here. */
  #others: (() => Promise<void>)[] = [];

  constructor(options: DriveRunOptions) {
    this.#options = options;
  }

  isSettled(batch: Batch): boolean {
    return this.#settled.has(batch);
  }

  /** Reads a whole export. @param claim under which its results are stored */
  async collect(batch: Batch, open: ExportOpener, claim: RunClaim): Promise<CollectedExport> {
    const { join, outcomes } = this.#options.plan;
    const matched = await join.match(batch, open);
    return {
      ...tallyOf(matched),
      keep: async () => {
        await claim.keepResults(join.byLine(batch, matched), outcomes);
        this.#results.set(batchLabel(batch), matched);
      },
    };
  }

  /** A batch finished by another process is settled at once where its outcomes are needed. */
  async settleOther(batch: Batch, state: EndedBatch, known: KnownEnd): Promise<void> {
    const settle = async (): Promise<void> => this.settle(batch, state, known);
    this.#settled.add(batch);
    if (this.#options.wantsAll?.() ?? true) {
      try {
        await settle();
        return;
      } catch (error) {
        // Another process has ended the run: the outcomes are not needed here.
        if (!(error instanceof ClaimRevokedError)) throw error;
      }
    }
    this.#others.push(settle);
  }

  async settleAll(): Promise<void> {
    const others = this.#others;
    this.#others = [];
    for (const settle of others) await settle();
  }

  async settle(batch: Batch, state: EndedBatch, known: KnownEnd): Promise<void> {
    const { plan, run } = this.#options;
    const label = batchLabel(batch);
    await plan.settle(
      batch,
      state.stage === 'failed'
        ? { failure: state.reason }
        : { results: this.#results.get(label) ?? (await this.#readResults(batch)) },
      {
        ...known,
        batchUuid: state.uuid,
        history: run.history,
        onSettled: () => {
          this.#results.delete(label);
          this.#settled.add(batch);
          this.#options.onSettled?.();
        },
      },
    );
  }

  async #readResults(batch: Batch): Promise<BatchResults> {
    const { plan, store } = this.#options;
    const kept = await store.readResults(batch, plan.outcomes);
    return plan.join.byNumber(batch, kept);
  }
}
