import type { VerificationService } from '../../../client/client.js';
import { batchLabel } from '../batch-label.js';
import { parseBatchName } from '../batch-name.js';
import type { Batch } from '../batch.js';
import { deleteUnwanted, type ListedUpload } from './delete-uploads.js';
import type { ListOptions } from './find-upload.js';
import { uuidKey } from './uuid-key.js';
import { mayHaveLaunched, type KnownBatch } from '../batch-state.js';

/** A batch that is let go of, and what is known of it. */
export interface LeftBatch {
  readonly batch: Batch;
  readonly known: KnownBatch;
  /** Of its elected or latest upload, where that is known. */
  readonly name?: string | undefined;
}

/**
 * Whether a batch may have an upload on the service that nothing waits for. One that was repeated or
 * looked for may stand there twice, one that was split is of no use, and so is one that was never
 * launched when the run is given up.
 */
export function mayHaveOrphans(known: KnownBatch, isGivenUp: boolean): boolean {
  if (known.stage === 'split' && known.uuid !== undefined) return true;
  if (isGivenUp && isBeforeLaunch(known)) return true;
  return known.attempt > 1 || ('isFound' in known && known.isFound);
}

/**
 * Deletes the uploads of a run that nothing waits for: those whose answer was lost and that were sent
 * again, those that were refused later for their size, and, when the run is given up, those that were
 * never launched. What was launched stays, whoever launched it.
 *
 * @param batches all that may have orphans; with `hasSurplus` all of the run
 * @returns the names of those that may still be there
 * @throws the signal's reason
 */
export async function deleteOrphans(
  service: Pick<VerificationService, 'batchStatus' | 'deleteBatch' | 'listBatches'>,
  runId: string,
  batches: readonly LeftBatch[],
  options: {
    /** Whether no process goes on with what was not launched. */
    readonly isGivenUp: boolean;
    /** Whether uploads of other processes are known to be there. */
    readonly hasSurplus: boolean;
    /** Whether what the service has refused, and never launched, is to be deleted, too. */
    readonly deletesRefused?: boolean;
    /** Whether uploads were cut off just now: the list may have them later. */
    readonly isCutOff?: boolean;
  } & ListOptions,
): Promise<readonly string[]> {
  const { isGivenUp, hasSurplus, deletesRefused = false, isCutOff = false } = options;
  const isRefused = (known: KnownBatch): boolean =>
    deletesRefused && known.stage === 'failed' && known.uuid !== undefined && !known.launched;
  const suspects = batches.filter(
    ({ known }) => isRefused(known) || mayHaveOrphans(known, isGivenUp),
  );
  if (!hasSurplus && suspects.length === 0) return [];
  /** By label: the upload that stays. */
  const kept = new Map(
    batches.map(({ batch, known }) => [
      batchLabel(batch),
      isRefused(known) ? undefined : keptKey(known, isGivenUp),
    ]),
  );
  /** Labels of what the list has. */
  const listed = new Set<string>();
  const isUnwanted = ({ batch_uuid, name }: ListedUpload): boolean => {
    const upload = parseBatchName(name, runId);
    if (!upload) return false;
    const { id, lines } = upload;
    const label = batchLabel({
      id,
      addresses: lines ? lines.end - lines.start : 0,
      part: lines && { start: lines.start, of: lines.end },
    });
    listed.add(label);
    return kept.has(label) ? kept.get(label) !== uuidKey(batch_uuid) : hasSurplus;
  };
  const left = await deleteUnwanted(service, isUnwanted, options);
  if (!left) return namesOf(suspects, runId);
  const isAwaited = ({ batch, known }: LeftBatch): boolean =>
    isCutOff && known.stage === 'uploading' && !listed.has(batchLabel(batch));
  return [...left, ...namesOf(suspects.filter(isAwaited), runId)];
}

/** Names of uploads; of one whose name is not known, all that is. */
export function namesOf(batches: readonly LeftBatch[], runId: string): readonly string[] {
  return batches.map(({ name, batch }) => name ?? `${runId}-${batchLabel(batch)}`);
}

function keptKey(known: KnownBatch, isGivenUp: boolean): string | undefined {
  if (known.stage === 'split' || (isGivenUp && isBeforeLaunch(known))) return undefined;
  return 'uuid' in known && known.uuid !== undefined ? uuidKey(known.uuid) : undefined;
}

/** Whether something was sent that nobody asked to launch. */
export function isBeforeLaunch(known: KnownBatch): boolean {
  switch (known.stage) {
    case 'uploading':
    case 'uploaded':
    case 'parsing':
    case 'ready':
      return !mayHaveLaunched(known);
    default:
      return false;
  }
}
