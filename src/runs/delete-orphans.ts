import { deleteListed, mayHaveOrphans, type ListOptions } from '../batches/delete-uploads.js';
import { mayHaveLaunched } from '../batches/known-batch.js';
import type { VerificationService } from '../client/verification-service.js';
import type { DrivenBatch } from './drive-log.js';

/**
 * Deletes the uploads of a run that nothing waits for: those whose answer was lost and that were sent
 * again, those that were refused later for their size, and, when the service refused the run, its
 * first. They were never launched.
 *
 * @returns the names of those that may still be there
 */
export async function deleteOrphans(
  service: Pick<VerificationService, 'deleteBatch' | 'listBatches'>,
  runId: string,
  batches: readonly DrivenBatch[],
  options: { readonly isRefused: boolean } & ListOptions,
): Promise<readonly string[]> {
  const { isRefused } = options;
  const suspects = batches.filter(({ known }) => mayHaveOrphans(known));
  if (!isRefused && suspects.length === 0) return [];
  const kept = new Set(
    batches
      .filter(({ known }) => (isRefused ? mayHaveLaunched(known) : known.stage !== 'split'))
      .map(({ known }) => ('uuid' in known ? known.uuid : undefined)),
  );
  const left = await deleteListed(
    service,
    ({ batch_uuid, name }) => name.includes(`-${runId}-`) && !kept.has(batch_uuid),
    options,
  );
  return left ?? suspects.map(({ name, batch }) => name ?? `${batch.id}`);
}
