import { observeBatch } from '../../platform/observability/observe-batch.js';
import { batchLabel } from '../batches/batch-label.js';
import type { Batch } from '../batches/batch.js';
import type { Charge } from '../batches/charge.js';
import { driveBatch } from './batch-driver.js';
import type { DriveOptions } from './driver-options.js';
import type { KnownBatch } from '../batches/batch-state.js';

/** Drives a batch as `driveBatch` does, and tells those who listen of its way. */
export async function observeDrive(
  batch: Batch,
  known: KnownBatch,
  options: DriveOptions,
): Promise<KnownBatch> {
  const { group, addresses } = batch;
  let charge: Charge | undefined;
  return observeBatch(
    { batch: batchLabel(batch), type: group.type, country: group.country, addresses },
    async (observe) =>
      driveBatch(batch, known, {
        ...options,
        record: async (progress) => {
          // Written down first: what is told has happened.
          await options.record(progress);
          charge = progress.charge;
          const { name, known: now } = progress;
          observe({
            name,
            batchUuid: 'uuid' in now ? now.uuid : undefined,
            stage: now.stage,
            reason: now.stage === 'failed' ? now.reason : undefined,
          });
        },
      }),
    (ended) => ({ stage: ended?.stage, spent: charge?.spent, refunded: charge?.refunded }),
  );
}
