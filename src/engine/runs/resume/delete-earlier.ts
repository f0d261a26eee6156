import { parseBatchName } from '../../batches/batch-name.js';
import { mayHaveOrphans } from '../../batches/uploads/delete-orphans.js';
import { deleteUnwanted } from '../../batches/uploads/delete-uploads.js';
import type { ListOptions } from '../../batches/uploads/find-upload.js';
import { uuidKey } from '../../batches/uploads/uuid-key.js';
import type { VerificationService } from '../../../client/client.js';
import { carriedUuids } from './carried-results.js';
import type { EarlierRun } from '../../stores/run-state.js';

/**
 * Deletes uploads of the runs in whose place another began: their answers were lost, and they came after
 * the others of their run were deleted. What the list shows beside them of the run itself goes too.
 *
 * @param own the run that is at its end, and the uploads that it has used
 * @returns the names of those that may still be there; of a run whose uploads could not be listed its id
 * @throws the signal's reason
 */
export async function deleteEarlier(
  service: Pick<VerificationService, 'batchStatus' | 'deleteBatch' | 'listBatches'>,
  earlier: readonly EarlierRun[],
  own: { readonly runId: string; readonly uuids: ReadonlySet<string> },
  options: ListOptions,
): Promise<readonly string[]> {
  const ids = earlier
    .filter(({ batches }) => [...batches.values()].some(({ known }) => mayHaveOrphans(known, true)))
    .map(({ run }) => run.id);
  if (ids.length === 0) return [];
  const used = new Set([...carriedUuids(earlier), ...own.uuids].map(uuidKey));
  const left = await deleteUnwanted(
    service,
    ({ name, batch_uuid: uuid }) =>
      !used.has(uuidKey(uuid)) &&
      [...ids, own.runId].some((id) => parseBatchName(name, id) !== undefined),
    options,
  );
  return left ?? ids;
}
