import type { RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import { kindOfRow } from '../../lists/rows/chunks/object-chunk.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import type { Batch } from '../batches/batch.js';
import type { Charge } from '../batches/status-answer.js';
import type { BatchEnding } from '../plan/result-join.js';
import type { StreamPlan } from './stream-plan.js';

/** Rows on their way, with a ticket for each verified cell. */
export interface RowsParcel {
  readonly kind: 'rows';
  /** The plan of the rows. */
  readonly plan: StreamPlan;
  /** The number of the first row, from 0. */
  readonly firstRow: number;
  readonly chunk: RowChunk;
  readonly tickets: Uint32Array;
}

/** A batch to be driven. */
interface BatchParcel {
  readonly kind: 'batch';
  readonly batch: Batch;
}

/** A finished batch, or a part of one that was too large for the service. */
export interface SettledParcel {
  readonly kind: 'settled';
  readonly batch: Batch;
  readonly batchUuid: string | undefined;
  readonly charge: Charge | undefined;
  readonly ending: BatchEnding;
  /**
   * Whether its export was compared with the service's count; an export of your own is compared with the
   * batch.
   */
  readonly isChecked?: boolean | undefined;
}

/** The last parcel once nothing more may be launched: the stream's error follows it. */
interface StoppedParcel {
  readonly kind: 'stopped';
  readonly error: SluiceError;
}

/** The items between the three Transforms: rows and batches in one stream. */
export type Parcel = RowsParcel | BatchParcel | SettledParcel | StoppedParcel;

export const parcelKinds: ReadonlySet<unknown> = new Set<Parcel['kind']>([
  'rows',
  'batch',
  'settled',
  'stopped',
]);

/** Anything but a parcel would be lost on the way. */
export function strangerError(what: string, item: unknown): ConfigurationError {
  return new ConfigurationError(`${what}, not ${kindOfRow(item)}: rows go into rowsToBatches()`);
}
