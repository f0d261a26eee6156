import { batchLabel } from '../batches/batch-label.js';
import type { Batch } from '../batches/batch.js';
import type { Charge } from '../batches/charge.js';
import type { BatchProgress } from '../batches/drive-batch.js';
import { mayHaveLaunched, planned, type KnownBatch } from '../batches/known-batch.js';

/** A batch and what is known of it, for the summary. */
export interface DrivenBatch {
  readonly batch: Batch;
  readonly known: KnownBatch;
  /** Name of its elected or latest upload; `undefined` before the first. */
  readonly name: string | undefined;
  readonly charge: Charge | undefined;
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

  note({ batch, known, name, charge }: BatchProgress): DrivenBatch {
    const label = batchLabel(batch);
    const driven = { batch, known, name, charge: charge ?? this.#driven.get(label)?.charge };
    this.#driven.set(label, driven);
    return driven;
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
