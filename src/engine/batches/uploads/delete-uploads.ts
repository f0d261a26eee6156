import type { BatchLister } from '../../../client/batch-list.js';
import type { CallOptions } from '../../../client/client-options.js';
import type { VerificationService } from '../../../client/client.js';
import type { BatchStatus } from '../../../contract/enums.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { uuidKey } from '../batch.js';
import { isVisible, type ListOptions, readList, type StatusReader } from './list-uploads.js';

export interface Deleting extends BatchLister, StatusReader {
  deleteBatch: VerificationService['deleteBatch'];
}

/** How long a request may take that only shows whether what the service said is true. */
export const longestCheckMs = 10_000;

export interface ListedUpload {
  readonly batch_uuid: string;
  readonly name: string;
  readonly status: string;
}

/** Deleted uploads, and the names of the others. */
export interface Deletions {
  readonly deleted: number;
  /** Not deleted by the service, or broken there: whether they were paid is unknown. */
  readonly left: readonly string[];
  /** Launched, and so paid: no deletion was requested. */
  readonly launched: readonly string[];
}

const neverLaunched: ReadonlySet<string> = new Set<BatchStatus>([
  'parsing_content',
  'ready_for_verification',
  'internal_error',
]);

/** Whether a batch of this status may have been paid for; an unknown status may. */
export function isLaunched(status: string): boolean {
  return !neverLaunched.has(status);
}

/** Why a batch of this status is kept until its results are safe. A broken one may be paid; support needs its uuid. */
function keptFor(status: string): 'launched' | 'left' | undefined {
  if (isLaunched(status)) return 'launched';
  return status === 'internal_error' ? 'left' : undefined;
}

/**
 * Deletes a batch from the service, as far as that goes: one that was launched only when its results
 * are safe. All deletions of a run go through here. The status is read right before, because a process that
 * asks may know an old one, or another process may have launched the batch since.
 */
export async function deleteBatch(
  service: Deleting,
  uuid: string,
  call: CallOptions & { readonly signal: AbortSignal },
  areResultsSafe = false,
): Promise<'gone' | 'left' | 'launched'> {
  const end = await tryToDelete(service, uuid, areResultsSafe, call);
  return end === 'not_found' ? 'gone' : end;
}

/** @returns `not_found` where nothing was deleted, as the service does not find it */
async function tryToDelete(
  service: Deleting,
  uuid: string,
  areResultsSafe: boolean,
  call: CallOptions & { readonly signal: AbortSignal },
): Promise<'gone' | 'left' | 'launched' | 'not_found'> {
  let isAsked = false;
  try {
    if (!areResultsSafe) {
      const { status } = await service.batchStatus(uuid, call);
      const kept = keptFor(status);
      if (kept) return kept;
    }
    isAsked = true;
    const { status } = await service.deleteBatch(uuid, call);
    // The answer's content is not shown: all other operations answer `error` where nothing was done.
    return status === 'error' ? 'left' : 'gone';
  } catch (error) {
    call.signal.throwIfAborted();
    if (isSluiceError(error, 'not_found')) return isAsked ? 'gone' : 'not_found';
    if (isSluiceError(error)) return 'left';
    throw error;
  }
}

/**
 * Deletes uploads that are in the list of batches, except launched ones.
 *
 * @param areResultsSafe batches whose launched uploads are deleted, too. @default none
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
  /** By key: whether the service was asked to delete it; else its status did not find it. */
  const gone = new Map<string, boolean>();
  const deleteEach = async (uploads: Iterable<ListedUpload>): Promise<void> => {
    for (const { batch_uuid: uuid, name, status } of uploads) {
      const isSafe = areResultsSafe(uuid);
      const kept = isSafe ? undefined : keptFor(status);
      const end = kept ?? (await tryToDelete(service, uuid, isSafe, { signal }));
      if (end === 'gone' || end === 'not_found') gone.set(uuidKey(uuid), end === 'gone');
      else names[end].push(name);
    }
  };
  await deleteEach(unwanted.values());
  if (gone.size === 0) return { deleted: 0, ...names };
  // The service may not find what it has, or not do what it says: what it lists is there, unless the list is late.
  const stillListed: ListedUpload[] = [];
  // An upload whose answer was lost may have come meanwhile.
  const late: ListedUpload[] = [];
  await readList(service, options, (upload) => {
    const key = uuidKey(upload.batch_uuid);
    if (gone.has(key)) stillListed.push(upload);
    else if (!unwanted.has(key) && isUnwanted(upload)) late.push(upload);
  });
  await deleteEach(late);
  for (const { batch_uuid: uuid, name } of stillListed) {
    const wasAsked = gone.get(uuidKey(uuid));
    if (wasAsked === true && !(await isVisible(service, uuid, signal))) continue;
    if (gone.delete(uuidKey(uuid))) names.left.push(name);
  }
  return { deleted: gone.size, ...names };
}

/**
 * Deletes uploads that are no longer needed.
 *
 * @param unread names of what may be there if the list cannot be read to its end; what it had shown by then is
 * added
 * @returns the names of those that may still be there
 */
export async function deleteUnwanted(
  service: Deleting,
  isUnwanted: (upload: ListedUpload) => boolean,
  options: ListOptions,
  unread: readonly string[],
  areResultsSafe?: (uuid: string) => boolean,
): Promise<readonly string[]> {
  const shown = new Set<string>();
  const isShown = (upload: ListedUpload): boolean => {
    if (!isUnwanted(upload)) return false;
    shown.add(upload.name);
    return true;
  };
  try {
    const { left, launched } = await deleteListed(service, isShown, options, areResultsSafe);
    return [...left, ...launched];
  } catch (error) {
    options.signal.throwIfAborted();
    if (isSluiceError(error)) return [...shown, ...unread.filter((name) => !shown.has(name))];
    throw error;
  }
}
