import { batchLabel } from '../batches/batch-label.js';
import type { Batch } from '../batches/batch.js';
import type { Charge } from '../batches/charge.js';
import type { BatchProgress } from '../batches/batch-progress.js';
import type { ComparedExport } from '../batches/judge-export.js';
import { mayHaveLaunched, planned, type KnownBatch } from '../batches/known-batch.js';
import { noteTime, noTimes, type BatchTimes } from './batch-times.js';

/** A batch and what is known of it, for the summary. */
export interface DrivenBatch {
  readonly batch: Batch;
  readonly known: KnownBatch;
  /** Name of its elected or latest upload; `undefined` before the first. */
  readonly name: string | undefined;
  readonly charge: Charge | undefined;
  /** What its latest whole export held. */
  readonly exported?: ComparedExport | undefined;
  readonly times: BatchTimes;
}

/** What a batch cost, where that is known: one that was never launched cost nothing. */
export function chargeOf({ known, charge }: DrivenBatch): Charge | undefined {
  return mayHaveLaunched(known) ? charge : nothing;
}

const nothing: Charge = { spent: 0, refunded: 0, net: 0 };

/** The latest of every batch, and of every part of one. */
export class DriveLog {
  /** By label. */
  readonly #driven = new Map<string, DrivenBatch>();

  /** @param at when it became known, as `2026-11-21T03:00:00.000Z` */
  note(progress: BatchProgress, at: string): void {
    this.recall(this.withBefore(progress, at));
  }

  /** What is known from now on, with what is known already. */
  withBefore({ batch, known, name, charge, exported }: BatchProgress, at: string): DrivenBatch {
    const before = this.#driven.get(batchLabel(batch));
    return {
      batch,
      known,
      name,
      charge: charge ?? before?.charge,
      exported: exported ?? before?.exported,
      times: noteTime(before?.times ?? noTimes, known, at),
    };
  }

  /** Takes up what an earlier process knew, or what is written down now. */
  recall(driven: DrivenBatch): void {
    this.#driven.set(batchLabel(driven.batch), driven);
  }

  /** When a batch got where it is. */
  times(batch: Batch): BatchTimes {
    return this.#driven.get(batchLabel(batch))?.times ?? noTimes;
  }

  /** Of all uploads that are gone on with. */
  uuids(): ReadonlySet<string> {
    return new Set(
      this.batches().flatMap(({ known }) =>
        known.stage !== 'split' && 'uuid' in known && known.uuid !== undefined ? [known.uuid] : [],
      ),
    );
  }

  known(batch: Batch): KnownBatch {
    return this.#driven.get(batchLabel(batch))?.known ?? planned;
  }

  /** In the order of their numbers and lines; those that were split come before their parts. */
  batches(): readonly DrivenBatch[] {
    return [...this.#driven.values()].toSorted(
      ({ batch: a }, { batch: b }) =>
        a.id - b.id || (a.part?.start ?? 0) - (b.part?.start ?? 0) || b.addresses - a.addresses,
    );
  }
}
