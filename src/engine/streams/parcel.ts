import type { Batch } from '../batches/batch.js';
import type { Charge } from '../batches/charge.js';
import type { BatchEnding } from '../plan/result-join.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import type { RowChunk } from '../../lists/rows/chunks/row-chunk.js';

/** Rows on their way, with a ticket for each verified cell. */
export interface RowsParcel {
  readonly kind: 'rows';
  readonly chunk: RowChunk;
  readonly tickets: Uint32Array;
}

/** A batch that wants to go through the service. */
export interface BatchParcel {
  readonly kind: 'batch';
  readonly batch: Batch;
}

/** A batch at its end, or a part of one that was too large for the service. */
export interface SettledParcel {
  readonly kind: 'settled';
  readonly batch: Batch;
  readonly batchUuid: string | undefined;
  readonly charge: Charge | undefined;
  readonly ending: BatchEnding;
}

/** The last parcel, when nothing more may be launched: the error that ends the stream behind it. */
export interface StoppedParcel {
  readonly kind: 'stopped';
  readonly error: SluiceError;
}

/** What travels between the three Transforms: rows and batches, in one stream. */
export type Parcel = RowsParcel | BatchParcel | SettledParcel | StoppedParcel;
