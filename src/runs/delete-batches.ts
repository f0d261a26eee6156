import { scanBatches } from '../batches/find-upload.js';
import { mayHaveLaunched } from '../batches/known-batch.js';
import type { VerificationService } from '../client/verification-service.js';
import { isSluiceError } from '../errors/sluice-error.js';
import type { DrivenBatch } from './drive-log.js';

type Deleting = Pick<VerificationService, 'deleteBatch' | 'listBatches'>;

/**
 * Deletes a batch from the service, as far as that goes.
 *
 * @returns whether it is gone
 * @throws the signal's reason
 */
export async function deleteBatch(
  service: Pick<Deleting, 'deleteBatch'>,
  uuid: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await service.deleteBatch(uuid, { signal });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (isSluiceError(error, 'not_found')) return true;
    if (isSluiceError(error)) return false;
    throw error;
  }
}

/**
 * Deletes the uploads of a run that nothing waits for: those whose answer was lost and that were sent
 * again, those that were refused later for their size, and, when the service refused the run, its
 * first. They were never launched.
 *
 * @returns the names of those that may still be there
 */
export async function deleteOrphans(
  service: Deleting,
  runId: string,
  batches: readonly DrivenBatch[],
  options: { readonly isRefused: boolean; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const { isRefused, signal } = options;
  const isNeeded = isRefused || batches.some(mayHaveOrphans);
  if (!isNeeded) return [];
  const kept = new Set(
    batches
      .filter(({ known }) => (isRefused ? mayHaveLaunched(known) : known.stage !== 'split'))
      .map(({ known }) => ('uuid' in known ? known.uuid : undefined)),
  );
  const left: string[] = [];
  try {
    const orphans = new Map<string, string>();
    for await (const { batch_uuid, name } of scanBatches(service, signal)) {
      if (name.includes(`-${runId}-`) && !kept.has(batch_uuid)) orphans.set(batch_uuid, name);
    }
    for (const [uuid, name] of orphans) {
      if (!(await deleteBatch(service, uuid, signal))) left.push(name);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!isSluiceError(error)) throw error;
    left.push(...batches.filter(mayHaveOrphans).map(({ name, batch }) => name ?? `${batch.id}`));
  }
  return left;
}

/** An upload that was repeated or looked for may stand there twice; one that was split is of no use. */
function mayHaveOrphans({ known }: DrivenBatch): boolean {
  if (known.stage === 'split' && known.uuid !== undefined) return true;
  return known.attempt > 1 || ('isFound' in known && known.isFound);
}
