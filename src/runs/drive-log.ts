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

/** The latest of every batch. */
export class DriveLog {
  readonly #driven = new Map<number, DrivenBatch>();

  note({ batch, known, name, charge }: BatchProgress): DrivenBatch {
    const driven = { batch, known, name, charge: charge ?? this.#driven.get(batch.id)?.charge };
    this.#driven.set(batch.id, driven);
    return driven;
  }

  known(batch: Batch): KnownBatch {
    return this.#driven.get(batch.id)?.known ?? planned;
  }

  /** In the order of their numbers. */
  batches(): readonly DrivenBatch[] {
    return [...this.#driven.values()].toSorted((a, b) => a.batch.id - b.batch.id);
  }
}
