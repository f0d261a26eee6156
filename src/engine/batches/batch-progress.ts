import type { Batch } from './batch.js';
import type { Charge } from './charge.js';
import type { ComparedExport } from './export-check.js';
import type { KnownBatch } from './batch-state.js';

/** What has changed about a batch. */
export interface BatchProgress {
  readonly batch: Batch;
  readonly known: KnownBatch;
  /** Name of the upload under way or elected. */
  readonly name: string;
  readonly charge: Charge | undefined;
  /** What its latest whole export held; `undefined` before there is one. */
  readonly exported?: ComparedExport | undefined;
  /**
   * What uploads in whose place it was sent again after they were launched have cost: `null` where the
   * service has not said it. Absent where there are none.
   */
  readonly inVain?: Charge | null | undefined;
}
