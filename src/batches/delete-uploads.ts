import type { VerificationService } from '../client/verification-service.js';
import type { BatchStatus } from '../contract/enums.js';
import { isSluiceError } from '../errors/is-sluice-error.js';
import { readList, type ListOptions } from './find-upload.js';

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
  /** The service did not delete them. */
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
      if (isLaunched(status)) return 'launched';
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
    if (isUnwanted(upload)) unwanted.set(upload.batch_uuid, upload);
  });
  const names = { left: [] as string[], launched: [] as string[] };
  let deleted = 0;
  for (const [uuid, { name, status }] of unwanted) {
    const isSafe = areResultsSafe(uuid);
    const end =
      isLaunched(status) && !isSafe ? 'launched' : await deleteBatch(service, uuid, isSafe, signal);
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
