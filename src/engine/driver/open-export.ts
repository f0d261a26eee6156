import type { VerificationService } from '../../client/client.js';
import type { Batch } from '../batches/batch.js';
import type { ExportOpener } from '../plan/result-join.js';

/** Asks for the records of a batch, without sections, as often as it is opened. */
export function openExport(
  service: Pick<VerificationService, 'exportBatch'>,
  batch: Batch,
  uuid: string,
  signal: AbortSignal,
): ExportOpener {
  return async () => {
    const query = { format: 'json', include_details: false, include_statistics: false } as const;
    const { body } = await service.exportBatch(uuid, query, { signal, sent: batch });
    return body;
  };
}
