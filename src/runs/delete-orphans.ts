import { parseBatchName } from '../batches/batch-name.js';
import { deleteUnwanted, mayHaveOrphans } from '../batches/delete-uploads.js';
import type { ListOptions } from '../batches/find-upload.js';
import { mayHaveLaunched } from '../batches/known-batch.js';
import type { VerificationService } from '../client/verification-service.js';
import type { DrivenBatch } from './drive-log.js';

/**
 * Deletes the uploads of a run that nothing waits for: those whose answer was lost and that were sent
 * again, those that were refused later for their size, and, when the service refused the run, its
 * first. What was launched stays, whoever launched it.
 *
 * @returns the names of those that may still be there
 */
export async function deleteOrphans(
  service: Pick<VerificationService, 'batchStatus' | 'deleteBatch' | 'listBatches'>,
  runId: string,
  batches: readonly DrivenBatch[],
  options: {
    readonly isRefused: boolean;
    /** Whether uploads of other processes are known to be there. */
    readonly hasSurplus: boolean;
  } & ListOptions,
): Promise<readonly string[]> {
  const { isRefused, hasSurplus } = options;
  const suspects = batches.filter(({ known }) => mayHaveOrphans(known));
  if (!isRefused && !hasSurplus && suspects.length === 0) return [];
  const kept = new Set(
    batches
      .filter(({ known }) => (isRefused ? mayHaveLaunched(known) : known.stage !== 'split'))
      .map(({ known }) => ('uuid' in known ? known.uuid : undefined)),
  );
  const left = await deleteUnwanted(
    service,
    ({ batch_uuid, name }) => parseBatchName(name, runId) !== undefined && !kept.has(batch_uuid),
    options,
  );
  return left ?? suspects.map(({ name, batch }) => name ?? `${batch.id}`);
}
