import type { Batch } from './batch.js';
import type { Charge } from './charge.js';
import type { ComparedExport } from './judge-export.js';
import type { KnownBatch } from './known-batch.js';

/** What has changed about a batch. */
export interface BatchProgress {
  readonly batch: Batch;
  readonly known: KnownBatch;
  /** Name of the upload under way or elected. */
  readonly name: string;
  readonly charge: Charge | undefined;
  /** What its latest whole export held; `undefined` before there is one. */
  readonly exported?: ComparedExport | undefined;
}
