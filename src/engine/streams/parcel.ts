import type { RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import { kindOfRow } from '../../lists/rows/chunks/object-chunk.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import type { Batch } from '../batches/batch.js';
import type { Charge } from '../batches/status-answer.js';
import type { BatchEnding } from '../plan/result-join.js';
import type { StreamPlan } from './stream-plan.js';
import { Duplex } from 'node:stream';

/** Rows on their way, with a ticket for each verified cell. */
export interface RowsParcel {
  readonly kind: 'rows';
  readonly plan: StreamPlan;
  readonly firstRow: number;
  readonly chunk: RowChunk;
  readonly tickets: Uint32Array;
}

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
}

/** By exports that were compared with what the service counted: their batches. */
const compared = new WeakMap<object, Batch>();

export function noteCompared(results: object, batch: Batch): void {
  compared.set(results, batch);
}

/** Whether this export was compared for this batch: a parcel may have been given another one's. */
export function isCompared(results: object, batch: Batch): boolean {
  return compared.get(results) === batch;
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
  return new ConfigurationError(`${what}, not ${kindOfRow(item)}: rows go into rowsToBatches()`, {
    option: 'plan',
    fault: 'other_format',
  });
}

/** A Duplex that knows when its reader has everything: an error destroys what is buffered, paid results too. */
export abstract class PatientDuplex extends Duplex {
  /** The reader came back for more and found nothing. */
  #isAsked = false;
  #onAsked: (() => void) | undefined;

  /** Calls back when everything pushed is read and more is wanted; at once if that is so. */
  protected whenAsked(listener: () => void): void {
    // A flowing stream is not asked: it delivers everything at once.
    const isAsked = this.#isAsked || this.readableFlowing === true;
    if (isAsked && this.readableLength === 0) listener();
    else this.#onAsked = listener;
  }

  override push(item: unknown): boolean {
    this.#isAsked = false;
    return super.push(item);
  }

  override read(size?: number): unknown {
    const item: unknown = super.read(size);
    // A read of 0 is the stream's own way to fill its buffer.
    if (item === null && size !== 0) {
      this.#isAsked = true;
      const listener = this.#onAsked;
      this.#onAsked = undefined;
      listener?.();
    }
    return item;
  }
}
