import type { Clock } from '../system/clock.js';
import type { VerificationService } from '../client/verification-service.js';
import { DeadlineError } from '../errors/family.js';
import { isSluiceError } from '../errors/sluice-error.js';
import { beforeDeadline } from './before-deadline.js';
import { scanBatches } from './find-upload.js';
import type { KnownBatch } from './known-batch.js';

type Deleting = Pick<VerificationService, 'deleteBatch' | 'listBatches'>;

/** An upload as the list tells it. */
export interface ListedUpload {
  readonly batch_uuid: string;
  readonly name: string;
}

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

/** How long the list may be read that is not read for one batch. */
export interface ListOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly deadlineMs: number;
}

/**
 * Deletes the uploads in the list of batches that nothing waits for.
 *
 * @returns the names of those that may still be there; undefined when the list could not be read to its
 *   end
 * @throws the signal's reason
 */
export async function deleteListed(
  service: Deleting,
  isUnwanted: (upload: ListedUpload) => boolean,
  { signal, clock, deadlineMs: ms }: ListOptions,
): Promise<readonly string[] | undefined> {
  const unwanted = new Map<string, string>();
  const scan = async (within: AbortSignal): Promise<void> => {
    for await (const upload of scanBatches(service, within)) {
      if (isUnwanted(upload)) unwanted.set(upload.batch_uuid, upload.name);
    }
  };
  const toError = (): Error => new DeadlineError(`the list of batches has no end in ${ms} ms`);
  try {
    await beforeDeadline(scan, { clock, ms, signal, toError });
  } catch (error) {
    signal.throwIfAborted();
    if (isSluiceError(error)) return undefined;
    throw error;
  }
  const left: string[] = [];
  for (const [uuid, name] of unwanted) {
    if (!(await deleteBatch(service, uuid, signal))) left.push(name);
  }
  return left;
}

/** An upload that was repeated or looked for may stand there twice; one that was split is of no use. */
export function mayHaveOrphans(known: KnownBatch): boolean {
  if (known.stage === 'split' && known.uuid !== undefined) return true;
  return known.attempt > 1 || ('isFound' in known && known.isFound);
}
