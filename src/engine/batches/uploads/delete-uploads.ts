import type { VerificationService } from '../../../client/client.js';
import type { BatchStatus } from '../../../contract/enums.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { readList, type ListOptions } from './find-upload.js';
import { uuidKey } from './uuid-key.js';

type Deleting = Pick<VerificationService, 'batchStatus' | 'deleteBatch' | 'listBatches'>;

/** An upload as the list of batches has it. */
export interface ListedUpload {
  readonly batch_uuid: string;
  readonly name: string;
  readonly status: string;
}

/** What was deleted, and the names of what was not. */
export interface Deletions {
  readonly deleted: number;
  /** The service did not delete them, or they broke there: nobody knows whether they were paid before. */
  readonly left: readonly string[];
  /** They were launched, and so paid: nobody asked the service to delete them. */
  readonly launched: readonly string[];
}

const neverLaunched: ReadonlySet<string> = new Set<BatchStatus>([
  'parsing_content',
  'ready_for_verification',
  'internal_error',
]);

/** Whether a batch of this status may have been paid for. A word that is not known may mean it. */
export function isLaunched(status: string): boolean {
  return !neverLaunched.has(status);
}

/**
 * Why a batch of this status is not deleted while its results are not safe. One that broke may have been
 * launched before, and support is asked about it by its uuid.
 */
function keptFor(status: string): 'launched' | 'left' | undefined {
  if (isLaunched(status)) return 'launched';
  return status === 'internal_error' ? 'left' : undefined;
}

/**
 * Deletes a batch from the service, as far as that goes: one that was launched only when its results
 * are safe. All deletions of a run go through here. The status is read right before, because whoever
 * asks may know an old one, or another process may have launched the batch since.
 *
 * @throws the signal's reason
 */
export async function deleteBatch(
  service: Pick<Deleting, 'batchStatus' | 'deleteBatch'>,
  uuid: string,
  areResultsSafe: boolean,
  signal: AbortSignal,
): Promise<'gone' | 'left' | 'launched'> {
  try {
    if (!areResultsSafe) {
      const { status } = await service.batchStatus(uuid, { signal });
      const kept = keptFor(status);
      if (kept) return kept;
    }
    await service.deleteBatch(uuid, { signal });
    return 'gone';
  } catch (error) {
    signal.throwIfAborted();
    if (isSluiceError(error, 'not_found')) return 'gone';
    if (isSluiceError(error)) return 'left';
    throw error;
  }
}

/**
 * Deletes uploads in the list of batches, but for those that were launched.
 *
 * @param areResultsSafe of which batches launched uploads are deleted, too. @default of none
 * @throws when the list cannot be read to its end; the signal's reason
 */
export async function deleteListed(
  service: Deleting,
  isUnwanted: (upload: ListedUpload) => boolean,
  options: ListOptions,
  areResultsSafe: (uuid: string) => boolean = () => false,
): Promise<Deletions> {
  const { signal } = options;
  const unwanted = new Map<string, ListedUpload>();
  await readList(service, options, (upload) => {
    if (isUnwanted(upload)) unwanted.set(uuidKey(upload.batch_uuid), upload);
  });
  const names = { left: [] as string[], launched: [] as string[] };
  let deleted = 0;
  for (const { batch_uuid: uuid, name, status } of unwanted.values()) {
    const isSafe = areResultsSafe(uuid);
    const kept = isSafe ? undefined : keptFor(status);
    const end = kept ?? (await deleteBatch(service, uuid, isSafe, signal));
    if (end === 'gone') deleted += 1;
    else names[end].push(name);
  }
  return { deleted, ...names };
}

/**
 * Deletes uploads that nothing waits for.
 *
 * @returns the names of those that may still be there; undefined when the list could not be read
 * @throws the signal's reason
 */
export async function deleteUnwanted(
  service: Deleting,
  isUnwanted: (upload: ListedUpload) => boolean,
  options: ListOptions,
): Promise<readonly string[] | undefined> {
  try {
    const { left, launched } = await deleteListed(service, isUnwanted, options);
    return [...left, ...launched];
  } catch (error) {
    options.signal.throwIfAborted();
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}
